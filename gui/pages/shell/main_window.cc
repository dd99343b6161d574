// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/shell/main_window.h"

#include <QAction>
#include <QApplication>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMimeData>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/pages/overview/figures.h"
#include "gui/pages/shell/link_banner.h"
#include "gui/pages/shell/navigation.h"
#include "gui/pages/shell/needs_server_page.h"
#include "gui/pages/shell/status_strip.h"
#include "gui/pages/shell/tool_strip.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/search_field.h"
#include "gui/widgets/toast.h"

namespace larder::gui {
namespace {

constexpr int kRate = 5;  // snapshots a second while visible
constexpr int kBadgeEveryMs = 1000;
constexpr int kCollapseBelow = 1200;  // width under which the navigation shows icons only

}  // namespace

MainWindow::MainWindow(Theme& theme, EngineClient& client, QWidget* parent)
    : QMainWindow(parent), theme_(theme), client_(client), specs_(pageList()) {
  setWindowTitle(QStringLiteral("Larder"));
  setWindowIcon(theme.appIcon());
  setAcceptDrops(true);
  resize(1440, 900);
  setMinimumSize(1024, 640);
  buildFrame();
  buildActions();
  buildMenu();
  buildCommandField();
  connect(&client_, &EngineClient::viewChanged, this, &MainWindow::showView);
  connect(&client_, &EngineClient::linkChanged, this, &MainWindow::showLink);
  connect(&client_, &EngineClient::apiChanged, this, &MainWindow::showLink);
  connect(&theme_, &Theme::changed, this, &MainWindow::restyle);
  openPage(specs_.constFirst().id);
  showLink();
  navigation_->focusCurrent();
}

MainWindow::~MainWindow() = default;

void MainWindow::buildFrame() {
  auto* central = new QWidget;
  auto* rows = new QVBoxLayout(central);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  auto* columns = new QHBoxLayout;
  columns->setSpacing(0);
  navigation_ = new Navigation(theme_, specs_);
  columns->addWidget(navigation_);
  auto* right = new QVBoxLayout;
  right->setSpacing(0);
  tools_ = new ToolStrip(theme_, client_);
  right->addWidget(tools_);
  banner_ = new Banner(theme_);
  right->addWidget(banner_);
  auto* middle = new QHBoxLayout;
  middle->setSpacing(0);
  stack_ = new QStackedWidget;
  middle->addWidget(stack_, 1);
  inspector_ = new QStackedWidget;
  inspector_->setFixedWidth(theme_.metrics().inspector);
  inspector_->setObjectName(QStringLiteral("inspectorPanel"));
  inspector_->hide();
  middle->addWidget(inspector_);
  right->addLayout(middle, 1);
  columns->addLayout(right, 1);
  rows->addLayout(columns, 1);
  status_ = new StatusStrip(theme_, client_);
  rows->addWidget(status_);
  setCentralWidget(central);
  toast_ = new Toast(theme_, central);
  connect(navigation_, &Navigation::chosen, this, [this](const QString& id) { openPage(id); });
  connect(status_, &StatusStrip::pageWanted, this, [this](const QString& id) { openPage(id); });
  connect(tools_, &ToolStrip::rangeChanged, this, [this] {
    if (Page* open = built_.value(current_)) open->refreshNow();
    showView();
  });
  connect(tools_, &ToolStrip::undoWanted, this, &MainWindow::undo);
  restyle();
}

QAction* MainWindow::addCommand(const QString& text, const QKeySequence& key, std::function<void()> act) {
  auto* action = new QAction(QString(text).replace(QLatin1Char('&'), QStringLiteral("&&")), this);
  action->setShortcut(key);
  connect(action, &QAction::triggered, this, [act = std::move(act)] { act(); });
  addAction(action);
  commands_.insert(text, action);
  command_order_.push_back(action);
  return action;
}

void MainWindow::buildActions() {
  for (int i = 0; i < specs_.size(); ++i) {
    const QKeySequence key = i < 9 ? QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i)) : QKeySequence();
    addCommand(tr("Open %1").arg(specs_[i].title), key, [this, id = specs_[i].id] { openPage(id); });
  }
  addCommand(tr("Load a model file\u2026"), QKeySequence(Qt::CTRL | Qt::Key_O), [this] { chooseModel(); });
  addCommand(tr("Pause or go on"), QKeySequence(), [this] { client_.setPaused(!client_.paused()); });
  addCommand(tr("Refresh"), QKeySequence(Qt::Key_F5), [this] {
    client_.retryNow();
    if (Page* open = built_.value(current_)) open->refreshNow();
  });
  addCommand(tr("Search on this page"), QKeySequence(Qt::CTRL | Qt::Key_F), [this] {
    if (Page* open = built_.value(current_)) open->focusSearch();
  });
  addCommand(tr("Find a command"), QKeySequence(Qt::CTRL | Qt::Key_K), [this] {
    tools_->commandField()->setFocus(Qt::ShortcutFocusReason);
    tools_->commandField()->selectAll();
  });
  addCommand(tr("Show or hide the names of the pages"), QKeySequence(Qt::CTRL | Qt::Key_B), [this] {
    navigation_by_hand_ = true;
    navigation_->setCollapsed(!navigation_->collapsed());
  });
  addCommand(tr("Show or hide the inspector"), QKeySequence(Qt::Key_F4), [this] {
    inspector_wanted_ = !inspector_wanted_;
    showInspector();
  });
  addCommand(tr("Next pane"), QKeySequence(Qt::Key_F6), [this] { nextPane(); });
  addCommand(tr("Back"), QKeySequence(Qt::ALT | Qt::Key_Left), [this] { goBack(-1); });
  addCommand(tr("Forward"), QKeySequence(Qt::ALT | Qt::Key_Right), [this] { goBack(1); });
  addCommand(tr("Undo"), QKeySequence(Qt::CTRL | Qt::Key_Z), [this] { undo(); });
  addCommand(tr("Light colours"), QKeySequence(), [this] { theme_.setMode(Theme::Mode::kLight); });
  addCommand(tr("Dark colours"), QKeySequence(), [this] { theme_.setMode(Theme::Mode::kDark); });
  addCommand(tr("Colours of the system"), QKeySequence(), [this] { theme_.setMode(Theme::Mode::kSystem); });
  addCommand(tr("Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), [this] {
    Q_EMIT quitWanted();
    close();
  });
}

Page* MainWindow::page(const QString& id) {
  if (Page* found = built_.value(id)) return found;
  const auto spec = std::find_if(specs_.begin(), specs_.end(), [&](const PageSpec& one) { return one.id == id; });
  if (spec == specs_.end()) return nullptr;
  const PageContext context{theme_, client_, *this};
  Page* made =
      client_.attached() && !spec->works_attached ? new NeedsServerPage(spec->title, context) : spec->make(context);
  made->setObjectName(QStringLiteral("page-") + id);
  built_.insert(id, made);
  stack_->addWidget(made);
  if (QWidget* panel = made->inspector()) inspector_->addWidget(panel);
  return made;
}

void MainWindow::openPage(const QString& id, const QVariant& argument) {
  Page* wanted = page(id);
  if (wanted == nullptr) return;
  if (current_ != id) {
    history_.resize(history_at_ + 1);
    history_.push_back(id);
    history_at_ = history_.size() - 1;
  }
  current_ = id;
  navigation_->setCurrent(id);
  if (argument.isValid()) wanted->openWith(argument);
  stack_->setCurrentWidget(wanted);
  showInspector();
}

void MainWindow::goBack(int by) {
  const qsizetype at = history_at_ + by;
  if (at < 0 || at >= history_.size()) return;
  history_at_ = at;
  current_ = history_[at];  // so that openPage leaves the history as it is
  openPage(current_);
}

void MainWindow::showInspector() {
  Page* open = built_.value(current_);
  QWidget* panel = open != nullptr ? open->inspector() : nullptr;
  if (panel != nullptr) inspector_->setCurrentWidget(panel);
  inspector_->setVisible(panel != nullptr && inspector_wanted_);
}

void MainWindow::showView() {
  status_->showNow(rangeMs());
  const SnapshotView& view = *client_.view();
  tools_->showJob(view);
  if (badge_shown_.isValid() && badge_shown_.elapsed() < kBadgeEveryMs) return;
  badge_shown_.start();
  const OverviewFigures figures = countFigures(view, rangeMs(), 1);
  navigation_->setBadge(QStringLiteral("requests"), static_cast<int>(figures.misses.size()));
}

void MainWindow::showLink() {
  const auto content = linkBanner(client_, theme_);
  if (content) {
    banner_->setContent(*content);
    problem_of_link_ = true;
  } else if (problem_of_link_) {
    banner_->hide();
    problem_of_link_ = false;
  }
  status_->showNow(rangeMs());
}

void MainWindow::showToast(const QString& text, const QString& action, std::function<void()> act) {
  toast_->say(text, action, std::move(act));
}

void MainWindow::showProblem(const QString& title, const QString& text) {
  BannerContent content;
  content.title = title;
  content.text = text;
  banner_->setContent(content);
  problem_of_link_ = false;
}

qint64 MainWindow::rangeMs() const { return tools_->rangeMs(); }

bool MainWindow::undo() { return toast_->act(); }

void MainWindow::nextPane() {
  QVector<QWidget*> panes{navigation_, stack_->currentWidget()};
  if (inspector_->isVisible()) panes.push_back(inspector_->currentWidget());
  const QWidget* focus = QApplication::focusWidget();
  qsizetype at = -1;
  for (qsizetype i = 0; i < panes.size(); ++i) {
    if (focus != nullptr && (panes[i] == focus || panes[i]->isAncestorOf(focus))) at = i;
  }
  // A pane with nothing to focus (an empty inspector) is passed over.
  for (qsizetype step = 1; step <= panes.size(); ++step) {
    QWidget* next = panes[(at + step) % panes.size()];
    if (next == navigation_) {
      navigation_->focusCurrent();
      return;
    }
    const auto children = next->findChildren<QWidget*>();
    const auto takes_focus = [](QWidget* child) {
      return child->isVisible() && child->isEnabled() && (child->focusPolicy() & Qt::TabFocus) == Qt::TabFocus;
    };
    const auto first = std::find_if(children.begin(), children.end(), takes_focus);
    if (first == children.end()) continue;
    (*first)->setFocus(Qt::TabFocusReason);
    return;
  }
}

void MainWindow::chooseModel() {
  if (client_.attached()) {
    refuseFile();
    return;
  }
  auto* dialog = new QFileDialog(this, tr("Load a model"), QString(), tr("GGUF models (*.gguf)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::loadFile);
  dialog->open();
}

void MainWindow::refuseFile() {
  showProblem(tr("The file was not loaded"),
              tr("The engine runs on %1 and cannot read a file of this computer. Load it there.").arg(client_.place()));
}

void MainWindow::loadFile(const QString& path) {
  if (client_.attached()) {
    refuseFile();
    return;
  }
  client_.perform(command::LoadModel{path}, this, [this, path](const CommandOutcome& outcome) {
    if (!outcome.ok) showProblem(tr("%1 was not loaded").arg(path), outcome.message);
  });
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const auto urls = event->mimeData()->urls();
  const bool model = std::any_of(urls.begin(), urls.end(), [](const QUrl& url) {
    return url.isLocalFile() && url.path().endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive);
  });
  if (model) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (!url.isLocalFile() || !url.path().endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive)) continue;
    event->acceptProposedAction();
    loadFile(url.toLocalFile());
    return;
  }
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && event->modifiers() == Qt::NoModifier) {
    client_.setPaused(!client_.paused());
    return;
  }
  QMainWindow::keyPressEvent(event);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  if (!navigation_by_hand_) navigation_->setCollapsed(width() < kCollapseBelow);
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  client_.setRate(kRate);
}

void MainWindow::hideEvent(QHideEvent* event) {
  QMainWindow::hideEvent(event);
  client_.setRate(0);
}

void MainWindow::restyle() {
  inspector_->setStyleSheet(
      QStringLiteral("QStackedWidget#inspectorPanel { background: %1; border-left: 1px solid %2; }")
          .arg(theme_.color(Tone::kSurface).name(), theme_.color(Tone::kBorder).name()));
}

}  // namespace larder::gui
