// SPDX-License-Identifier: GPL-3.0-or-later
// The main window over a scripted client: pages, keys, selection, verbs, empty and error states.
#include <QAccessible>
#include <QApplication>
#include <QDialog>
#include <QDropEvent>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QtTest>

#include "gui/pages/shell/main_window.h"
#include "gui/pages/shell/navigation.h"
#include "gui/pages/tree/prefix_tree_view.h"
#include "gui/pages/tree/tree_page.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/figure_grid.h"
#include "gui/widgets/kpi_card.h"
#include "gui/widgets/search_field.h"
#include "gui/widgets/toast.h"
#include "tests/gui/support/scripted_client.h"

namespace larder::gui {
namespace {

std::uint64_t runKey(std::uint64_t node) { return treeKey(TreeRow::Kind::kRun, node, ModelId{1}); }

}  // namespace

class WindowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void cleanup();
  void firstPaintShowsLiveData();
  void everyPageOpensFromTheKeyboard();
  void withoutAModelTheMissingStepIsNamed();
  void droppedModelIsLoaded();
  void attachedWindowRefusesAFileOfThisComputer();
  void attachedEmptyPagesOfferOnlyWhatTheyCanDo();
  void arrowsWalkTheTree();
  void pinByKeyCanBeUndone();
  void deleteAsksWithTheEnginesFigures();
  void aMoveIsChosenShownWithItsArithmeticAndBegun();
  void aRunIsCompressedOrComputedAgainByItsLineage();
  void withoutADiskTierNothingIsOffered();
  void jobsShowTheirProgressAndCanBeStopped();
  void refusalStaysOnScreenWithItsReason();
  void searchDimsAndSumsMatches();
  void selectionSurvivesASnapshot();
  void zoomAndBackRestoresTheBoxes();
  void lostConnectionKeepsTheLastValues();
  void spacePausesAndFunctionKeysMove();
  void commandFieldRunsACommand();
  void everyFocusableWidgetHasAName();
  void hiddenWindowPullsNothing();

 private:
  PrefixTreeView* openTree() {
    window_->openPage(QStringLiteral("tree"));
    auto* tree = window_->findChild<PrefixTreeView*>(QStringLiteral("prefixTree"));
    tree->setFocus();
    return tree;
  }

  std::unique_ptr<Theme> theme_;
  std::unique_ptr<ScriptedClient> client_;
  std::unique_ptr<MainWindow> window_;
};

void WindowTest::init() {
  theme_ = std::make_unique<Theme>();
  client_ = std::make_unique<ScriptedClient>();
  client_->link(LinkState::kConnected);
  window_ = std::make_unique<MainWindow>(*theme_, *client_);
  window_->show();
  QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
  window_->activateWindow();
  client_->show(sampleView());
}

void WindowTest::cleanup() {
  window_.reset();
  client_.reset();
  theme_.reset();
}

void WindowTest::firstPaintShowsLiveData() {
  window_->page(QStringLiteral("overview"))->refreshNow();
  const auto cards = window_->findChildren<KpiCard*>();
  QCOMPARE(cards.size(), 6);
  for (const KpiCard* card : cards)
    QVERIFY2(card->figureText() != QStringLiteral("\u2013"), qPrintable(card->accessibleName()));
}

void WindowTest::everyPageOpensFromTheKeyboard() {
  for (int i = 0; i < window_->pages().size() && i < 9; ++i) {
    QTest::keyClick(window_.get(), static_cast<Qt::Key>(Qt::Key_1 + i), Qt::ControlModifier);
    QCOMPARE(window_->currentPage(), window_->pages()[i].id);
  }
  QTest::keyClick(window_.get(), Qt::Key_Left, Qt::AltModifier);
  QCOMPARE(window_->currentPage(), window_->pages()[std::min<qsizetype>(window_->pages().size(), 9) - 2].id);
}

void WindowTest::withoutAModelTheMissingStepIsNamed() {
  auto empty = std::make_shared<SnapshotView>();
  empty->epoch = 2;
  empty->tree = buildTreeRows({});
  ModelInfo file;
  file.name = QStringLiteral("SmolLM2");
  file.path = QStringLiteral("/models/smol.gguf");
  empty->models = {file};
  client_->show(empty);
  window_->page(QStringLiteral("overview"))->refreshNow();
  auto* state = window_->page(QStringLiteral("overview"))->findChild<EmptyState*>();
  QVERIFY(state->isVisible());
  auto* load = state->findChild<QPushButton*>(QStringLiteral("emptyPrimary"));
  QVERIFY(load->text().contains(QStringLiteral("SmolLM2")));
  QTest::mouseClick(load, Qt::LeftButton);
  QCOMPARE(client_->commands.size(), std::size_t{1});
  QCOMPARE(std::get<command::LoadModel>(client_->commands[0]).path, QStringLiteral("/models/smol.gguf"));
}

namespace {

void drop(QWidget* on, const QString& path) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(path)});
  QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(on, &enter);
  if (!enter.isAccepted()) return;
  QDropEvent event(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(on, &event);
}

}  // namespace

void WindowTest::droppedModelIsLoaded() {
  client_->next.ok = true;
  drop(window_.get(), QStringLiteral("/tmp/notes.txt"));
  QVERIFY(client_->commands.empty());
  drop(window_.get(), QStringLiteral("/tmp/Other.GGUF"));
  QCOMPARE(client_->commands.size(), std::size_t{1});
  QCOMPARE(std::get<command::LoadModel>(client_->commands[0]).path, QStringLiteral("/tmp/Other.GGUF"));
}

void WindowTest::attachedWindowRefusesAFileOfThisComputer() {
  client_->beAttached();
  drop(window_.get(), QStringLiteral("/tmp/Other.gguf"));
  QVERIFY(client_->commands.empty());
  QVERIFY(window_->findChild<Banner*>()->isVisible());
}

void WindowTest::attachedEmptyPagesOfferOnlyWhatTheyCanDo() {
  client_->beAttached();
  auto empty = std::make_shared<SnapshotView>();
  empty->epoch = 2;
  empty->tree = buildTreeRows({});
  ModelInfo file;
  file.name = QStringLiteral("SmolLM2");
  file.path = QStringLiteral("/models/smol.gguf");
  for (const auto state : {ModelInfo::State::kFile, ModelInfo::State::kReady}) {
    file.state = state;
    empty->models = {file};
    client_->show(std::make_shared<SnapshotView>(*empty));
    for (const char* id : {"overview", "tree", "requests"}) {
      window_->openPage(QString::fromLatin1(id));
      window_->page(QString::fromLatin1(id))->refreshNow();
      for (const auto* state_shown : window_->page(QString::fromLatin1(id))->findChildren<EmptyState*>()) {
        for (const auto* button : state_shown->findChildren<QPushButton*>()) QVERIFY2(!button->isVisible(), id);
      }
    }
  }
}

void WindowTest::arrowsWalkTheTree() {
  PrefixTreeView* tree = openTree();
  QTest::keyClick(tree, Qt::Key_Home);
  QCOMPARE(tree->selected(), kRootKey);
  QTest::keyClick(tree, Qt::Key_Down);
  QTest::keyClick(tree, Qt::Key_Down);
  QTest::keyClick(tree, Qt::Key_Down);
  QCOMPARE(tree->selected(), runKey(1));
  QTest::keyClick(tree, Qt::Key_Up);
  QTest::keyClick(tree, Qt::Key_Right);
  QTest::keyClick(tree, Qt::Key_Down);
  QCOMPARE(tree->selected(), runKey(2));
  auto* title = window_->findChild<QLabel*>(QStringLiteral("inspectorTitle"));
  QCOMPARE(title->text(), QStringLiteral("Attrezzi di casa (9) 2"));
}

void WindowTest::pinByKeyCanBeUndone() {
  PrefixTreeView* tree = openTree();
  tree->select(runKey(5));
  client_->next.ok = true;
  client_->next.bytes = 1 << 20;
  QTest::keyClick(tree, Qt::Key_P);
  QCOMPARE(std::get<command::PinNode>(client_->commands.at(0)).node, NodeId{5});
  QVERIFY(window_->findChild<Toast*>()->text().contains(QStringLiteral("1.00\u00a0MiB")));
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QCOMPARE(std::get<command::Unpin>(client_->commands.at(1)).node, NodeId{5});
}

void WindowTest::deleteAsksWithTheEnginesFigures() {
  PrefixTreeView* tree = openTree();
  tree->select(runKey(5));
  client_->next.ok = true;
  client_->next.bytes = 3 << 20;
  client_->next.blocks = 5;
  QTest::keyClick(tree, Qt::Key_Delete);
  QVERIFY(std::get<command::DeleteNode>(client_->commands.at(0)).dry_run);
  auto* dialog = window_->findChild<QDialog*>(QStringLiteral("deleteDialog"));
  QVERIFY(dialog != nullptr && dialog->isVisible());
  auto* confirm = dialog->findChild<QPushButton*>(QStringLiteral("deleteConfirm"));
  QVERIFY(confirm->text().contains(QStringLiteral("3.00\u00a0MiB")));
  QVERIFY(!confirm->hasFocus());
  QCOMPARE(client_->commands.size(), std::size_t{1});
  QTest::mouseClick(confirm, Qt::LeftButton);
  QVERIFY(!std::get<command::DeleteNode>(client_->commands.at(1)).dry_run);
}

void WindowTest::aMoveIsChosenShownWithItsArithmeticAndBegun() {
  auto view = sampleView();
  view->store.used = true;
  client_->show(view);
  PrefixTreeView* tree = openTree();
  tree->select(runKey(5));
  JobInfo planned;
  planned.verb = QStringLiteral("move");
  planned.to = QStringLiteral("disk");
  planned.dry_run = true;
  planned.tally.left_pool = 1234;
  planned.tally.pinned = 7;
  client_->next.ok = true;
  client_->next.job = planned;
  QTest::keyClick(tree, Qt::Key_M);
  auto* menu = window_->findChild<QMenu*>(QStringLiteral("moveMenu"));
  QVERIFY(menu != nullptr && menu->isVisible());
  QCOMPARE(menu->activeAction(), menu->actions().first());
  QTest::keyClick(menu, Qt::Key_Return);
  const auto dry = std::get<command::MoveBlocks>(client_->commands.at(0));
  QVERIFY(dry.dry_run && !dry.keep && dry.node == NodeId{5} && dry.to == QStringLiteral("disk"));
  auto* dialog = window_->findChild<QDialog*>(QStringLiteral("confirmDialog"));
  QVERIFY(dialog != nullptr && dialog->isVisible());
  const auto* figures = dialog->findChild<FigureGrid*>(QStringLiteral("confirmFigures"));
  QVERIFY(figures->figureOf(QStringLiteral("Leave memory")).startsWith(QStringLiteral("1,234 blocks")));
  QCOMPARE(figures->figureOf(QStringLiteral("Stay: pinned")), QStringLiteral("7"));
  auto* act = dialog->findChild<QPushButton*>(QStringLiteral("confirmAct"));
  QCOMPARE(act->text(), QStringLiteral("Move to disk"));
  QCOMPARE(client_->commands.size(), std::size_t{1});
  QTest::mouseClick(act, Qt::LeftButton);
  QVERIFY(!std::get<command::MoveBlocks>(client_->commands.at(1)).dry_run);
  QTest::keyClick(tree, Qt::Key_V);
  QVERIFY(std::get<command::VerifyBlocks>(client_->commands.at(2)).dry_run);
}

void WindowTest::aRunIsCompressedOrComputedAgainByItsLineage() {
  auto view = sampleView();
  view->store.used = true;
  client_->show(view);
  PrefixTreeView* tree = openTree();
  tree->select(runKey(5));
  JobInfo planned;
  planned.verb = QStringLiteral("compress");
  planned.to = QStringLiteral("int8");
  planned.dry_run = true;
  planned.tally.written = 12;
  planned.codec.bytes_before = 2u << 20;
  planned.codec.bytes_after = 1u << 20;
  planned.codec.error = 0.0061;
  client_->next.ok = true;
  client_->next.job = planned;
  QTest::keyClick(tree, Qt::Key_C);
  auto* menu = window_->findChild<QMenu*>(QStringLiteral("codecMenu"));
  QVERIFY(menu != nullptr && menu->isVisible());
  QTest::keyClick(menu, Qt::Key_Return);
  const auto dry = std::get<command::CompressBlocks>(client_->commands.at(0));
  QVERIFY(dry.dry_run && dry.node == NodeId{5} && dry.scheme == QStringLiteral("int8"));
  auto* dialog = window_->findChild<QDialog*>(QStringLiteral("confirmDialog"));
  QVERIFY(dialog != nullptr && dialog->isVisible());
  const auto* figures = dialog->findChild<FigureGrid*>(QStringLiteral("confirmFigures"));
  QCOMPARE(figures->figureOf(QStringLiteral("Blocks rounded on disk")), QStringLiteral("12"));
  QVERIFY(figures->figureOf(QStringLiteral("Bytes before and after")).endsWith(QString::fromUtf8("1.00\u00a0MiB")));
  QCOMPARE(figures->figureOf(QStringLiteral("Rounding error")), QString::fromUtf8("0.61\u00a0%"));
  const QString text = dialog->findChild<QLabel*>(QStringLiteral("confirmText"))->text();
  QVERIFY2(text.contains(QStringLiteral("not bit for bit the same")), qPrintable(text));
  auto* act = dialog->findChild<QPushButton*>(QStringLiteral("confirmAct"));
  QCOMPARE(act->text(), QStringLiteral("Compress to int8"));
  QTest::mouseClick(act, Qt::LeftButton);
  QVERIFY(!std::get<command::CompressBlocks>(client_->commands.at(1)).dry_run);
  auto rounded = std::make_shared<TreeRows>(*view->tree);
  for (TreeNode& node : rounded->nodes) node.lineage = QStringLiteral("int8");
  auto next = std::make_shared<SnapshotView>(*view);
  ++next->epoch;
  next->tree = rounded;
  client_->show(next);
  window_->page(QStringLiteral("tree"))->refreshNow();
  QVERIFY(!window_->findChild<QAbstractButton*>(QStringLiteral("compressButton"))->isVisible());
  QVERIFY(window_->findChild<QAbstractButton*>(QStringLiteral("decompressButton"))->isVisible());
  client_->next.job->verb = QStringLiteral("decompress");
  QTest::keyClick(tree, Qt::Key_C);
  QVERIFY(std::get<command::DecompressBlocks>(client_->commands.at(2)).dry_run);
}

void WindowTest::withoutADiskTierNothingIsOffered() {
  PrefixTreeView* tree = openTree();
  tree->select(runKey(5));
  auto* move = window_->findChild<QAbstractButton*>(QStringLiteral("moveButton"));
  QVERIFY(move->isVisible() && !move->isEnabled());
  QTest::keyClick(tree, Qt::Key_M);
  QVERIFY(window_->findChild<QMenu*>(QStringLiteral("moveMenu")) == nullptr);
}

void WindowTest::jobsShowTheirProgressAndCanBeStopped() {
  auto view = sampleView();
  view->store.used = true;
  JobInfo loading;
  loading.verb = QStringLiteral("load a.gguf");
  JobInfo ended;
  ended.id = JobId{3};
  ended.verb = QStringLiteral("verify");
  ended.node = NodeId{2};
  ended.state = JobInfo::State::kDone;
  ended.done = true;
  ended.tally.good = 20;
  ended.warning = QStringLiteral("request 9 reused 0 of them");
  JobInfo running;
  running.id = JobId{4};
  running.verb = QStringLiteral("copy");
  running.to = QStringLiteral("host");
  running.node = NodeId{5};
  running.progress = 0.42;
  view->jobs = {loading, ended, running};
  client_->show(view);
  openTree()->select(runKey(5));
  auto* panel = window_->findChild<QWidget*>(QStringLiteral("jobPanel"));
  QVERIFY(panel->isVisible());
  QString shown;
  for (const QLabel* label : panel->findChildren<QLabel*>()) {
    if (label->isVisible()) shown += label->text() + QLatin1Char('\n');
  }
  for (const char* part : {"Copy to memory: ", "42", "Verify: ", "Good copies\n20\n", "request 9 reused 0"}) {
    QVERIFY2(shown.contains(QString::fromUtf8(part)), qPrintable(shown));
  }
  QVERIFY(!shown.contains(QStringLiteral("load a.gguf")));
  QPushButton* stop = nullptr;
  for (QPushButton* button : panel->findChildren<QPushButton*>(QStringLiteral("jobCancel"))) {
    if (button->isVisible()) stop = button;
  }
  QVERIFY(stop != nullptr && stop->focusPolicy() != Qt::NoFocus);
  client_->next.ok = true;
  QTest::mouseClick(stop, Qt::LeftButton);
  QCOMPARE(std::get<command::CancelJob>(client_->commands.back()).job, JobId{4});
}

void WindowTest::refusalStaysOnScreenWithItsReason() {
  PrefixTreeView* tree = openTree();
  tree->select(runKey(5));
  client_->next.ok = false;
  client_->next.message = QStringLiteral("pin budget: 512 MiB, taken 510 MiB, asked 33 MiB");
  QTest::keyClick(tree, Qt::Key_P);
  auto* banner = window_->findChild<Banner*>();
  QVERIFY(banner->isVisible());
  QCOMPARE(banner->content().text, client_->next.message);
}

void WindowTest::searchDimsAndSumsMatches() {
  PrefixTreeView* tree = openTree();
  QTest::keyClicks(tree, QStringLiteral("r"));
  auto* search = window_->findChild<SearchField*>(QStringLiteral("treeSearch"));
  QVERIFY(search->hasFocus());
  search->setText(QStringLiteral("restic"));
  std::uint64_t tokens = 0;
  std::uint32_t matches = 0;
  for (const TreeNode& node : client_->view()->tree->nodes) {
    if (!node.label.contains(QStringLiteral("restic"))) continue;
    tokens += node.tokens;
    ++matches;
  }
  QCOMPARE(tree->searchSum().matches, matches);
  QCOMPARE(tree->searchSum().tokens, tokens);
  QTest::keyClick(search, Qt::Key_Return);
  QVERIFY(tree->selected() != 0);
  QTest::keyClick(search, Qt::Key_Escape);
  QCOMPARE(tree->searchSum().matches, 0u);
}

void WindowTest::selectionSurvivesASnapshot() {
  PrefixTreeView* tree = openTree();
  tree->select(runKey(5));
  auto next = std::make_shared<SnapshotView>(*client_->view());
  QVector<TreeNode> nodes = client_->view()->tree->nodes;
  TreeNode leaf = nodes.back();
  leaf.parent = leaf.id;
  leaf.id = NodeId{900};
  nodes.push_back(leaf);
  next->tree = buildTreeRows(nodes);
  ++next->epoch;
  client_->show(next);
  window_->page(QStringLiteral("tree"))->refreshNow();
  QCOMPARE(tree->selected(), runKey(5));
  nodes.removeIf([](const TreeNode& node) { return node.id == NodeId{5}; });
  auto gone = std::make_shared<SnapshotView>(*next);
  gone->tree = buildTreeRows(nodes);
  client_->show(gone);
  window_->page(QStringLiteral("tree"))->refreshNow();
  QCOMPARE(tree->selected(), std::uint64_t{0});
}

void WindowTest::zoomAndBackRestoresTheBoxes() {
  PrefixTreeView* tree = openTree();
  const Icicle before = tree->icicle();
  tree->select(runKey(2));
  QTest::keyClick(tree, Qt::Key_Return);
  QCOMPARE(tree->zoomRoot(), runKey(2));
  QCOMPARE(tree->icicle().boxes.front().width, static_cast<double>(tree->viewport()->width()));
  QTest::keyClick(tree, Qt::Key_Plus);
  QTest::keyClick(tree, Qt::Key_Escape);
  QCOMPARE(tree->icicle().boxes.size(), before.boxes.size());
  for (std::size_t i = 0; i < before.boxes.size(); ++i) {
    QCOMPARE(tree->icicle().boxes[i].x, before.boxes[i].x);
    QCOMPARE(tree->icicle().boxes[i].width, before.boxes[i].width);
  }
}

void WindowTest::lostConnectionKeepsTheLastValues() {
  window_->page(QStringLiteral("overview"))->refreshNow();
  const QString figure = window_->findChild<KpiCard*>()->figureText();
  client_->link(LinkState::kLost, QStringLiteral("The server closed the line."));
  auto* banner = window_->findChild<Banner*>();
  QVERIFY(banner->isVisible());
  QCOMPARE(banner->content().text, QStringLiteral("The server closed the line."));
  QCOMPARE(window_->findChild<KpiCard*>()->figureText(), figure);
  banner->content().buttons.constLast().act();
  QCOMPARE(client_->retries, 1);
  PrefixTreeView* tree = openTree();
  tree->select(runKey(5));
  QVERIFY(!window_->findChild<QAbstractButton*>(QStringLiteral("pinButton"))->isEnabled());
  client_->link(LinkState::kConnected);
  QVERIFY(!banner->isVisible());
}

void WindowTest::spacePausesAndFunctionKeysMove() {
  QTest::keyClick(window_.get(), Qt::Key_Space);
  QVERIFY(client_->paused());
  QCOMPARE(client_->rate, 0);
  QTest::keyClick(window_.get(), Qt::Key_Space);
  QVERIFY(!client_->paused());
  auto* navigation = window_->findChild<Navigation*>();
  const bool collapsed = navigation->collapsed();
  QTest::keyClick(window_.get(), Qt::Key_B, Qt::ControlModifier);
  QCOMPARE(navigation->collapsed(), !collapsed);
  openTree();
  QTest::keyClick(window_.get(), Qt::Key_F6);
  auto* panel = window_->findChild<QWidget*>(QStringLiteral("inspectorPanel"));
  QWidget* first = QApplication::focusWidget();
  QTest::keyClick(window_.get(), Qt::Key_F6);
  QVERIFY(QApplication::focusWidget() != first);
  QTest::keyClick(window_.get(), Qt::Key_F4);
  QVERIFY(!panel->isVisible());
}

void WindowTest::commandFieldRunsACommand() {
  QTest::keyClick(window_.get(), Qt::Key_K, Qt::ControlModifier);
  auto* field = window_->findChild<SearchField*>(QStringLiteral("commandField"));
  QVERIFY(field->hasFocus());
  field->setText(QStringLiteral("Dark colours"));
  QTest::keyClick(field, Qt::Key_Return);
  QVERIFY(theme_->dark());
}

void WindowTest::everyFocusableWidgetHasAName() {
  for (const PageSpec& spec : window_->pages()) {
    window_->openPage(spec.id);
    for (QWidget* widget : window_->findChildren<QWidget*>()) {
      if (!(widget->focusPolicy() & Qt::TabFocus) || !widget->isVisible()) continue;
      QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(widget);
      const bool named = accessible != nullptr && !accessible->text(QAccessible::Name).isEmpty();
      const QString where =
          QStringLiteral("%1 on %2, %3")
              .arg(QString::fromLatin1(widget->metaObject()->className()), spec.id, widget->objectName());
      QVERIFY2(named, qPrintable(where));
    }
  }
}

void WindowTest::hiddenWindowPullsNothing() {
  QVERIFY(client_->rate > 0);
  window_->hide();
  QCOMPARE(client_->rate, 0);
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::WindowTest)
#include "window_test.moc"
