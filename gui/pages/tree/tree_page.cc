// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tree/tree_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QSlider>
#include <QSplitter>
#include <QStackedWidget>
#include <QStringList>
#include <QTreeView>
#include <QVBoxLayout>
#include <cmath>

#include "gui/bridge/answer_stream.h"
#include "gui/bridge/tree_rows.h"
#include "gui/models/job_words.h"
#include "gui/models/tree_model.h"
#include "gui/pages/tree/delete_dialog.h"
#include "gui/pages/tree/prefix_tree_view.h"
#include "gui/pages/tree/tree_inspector.h"
#include "gui/pages/tree/tree_legend.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/confirm_dialog.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/row_delegate.h"
#include "gui/widgets/search_field.h"
#include "gui/widgets/segmented.h"

namespace larder::gui {
namespace {

constexpr int kOutlineEveryMs = 500;
// The slider runs over 0.01 % .. 5 % on a log scale.
double joinShare(int slider) { return std::pow(10, -4 + 2.7 * slider / 100.0); }
constexpr int kJoinDefault = 37;  // 0.1 %

}  // namespace

TreePage::TreePage(const QString& title, PageContext context)
    : Page(title, Body::kFixed, context),
      tree_(new PrefixTreeView(context.theme)),
      outline_model_(new TreeModel(this)),
      outline_(new QTreeView),
      inspector_(new TreeInspector(context.theme)),
      inspector_scroll_(new QScrollArea),
      states_(new QStackedWidget),
      mode_(new Segmented(tr("View"), {tr("Icicle"), tr("Outline")})),
      width_(new QComboBox),
      search_(new SearchField(context.theme, tr("Search labels"), QStringLiteral("Ctrl+F"))),
      search_sum_(new QLabel),
      counts_(new QLabel),
      join_text_(new QLabel),
      join_(new QSlider(Qt::Horizontal)),
      drawn_(new QWidget) {
  tree_->setObjectName(QStringLiteral("prefixTree"));
  outline_->setObjectName(QStringLiteral("outline"));
  outline_->setModel(outline_model_);
  outline_->setUniformRowHeights(true);
  outline_->setItemDelegate(new RowDelegate(theme(), outline_));
  outline_->setAccessibleName(tr("Outline of the prefix tree"));
  outline_->header()->setStretchLastSection(false);
  outline_->header()->setSectionResizeMode(TreeModel::kLabel, QHeaderView::Stretch);
  for (int column = TreeModel::kTokens; column < TreeModel::kColumns; ++column) {
    outline_->header()->resizeSection(column, column == TreeModel::kBytes || column == TreeModel::kCompute ? 96 : 78);
  }
  outline_->setIndentation(14);
  inspector_->setObjectName(QStringLiteral("treeInspector"));
  inspector_scroll_->setWidgetResizable(true);
  inspector_scroll_->setFrameShape(QFrame::NoFrame);
  inspector_scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  inspector_scroll_->setFocusPolicy(Qt::NoFocus);
  inspector_scroll_->setStyleSheet(QStringLiteral(
      "QScrollArea, QScrollArea > QWidget > QWidget#treeInspector { background: transparent; border: 0; }"));
  inspector_scroll_->setWidget(inspector_);
  buildControls();
  buildEmpty();
  connect(tree_, &PrefixTreeView::selectionChanged, this, [this](quint64 key) {
    selectInOutline(key);
    showInspector();
  });
  connect(tree_, &PrefixTreeView::layoutChanged, this, &TreePage::showSummary);
  connect(tree_, &PrefixTreeView::pinWanted, this, &TreePage::pinOrUnpin);
  connect(tree_, &PrefixTreeView::deleteWanted, this, &TreePage::askDelete);
  connect(tree_, &PrefixTreeView::moveWanted, inspector_, &TreeInspector::popupMoves);
  connect(tree_, &PrefixTreeView::verifyWanted, this, &TreePage::askVerify);
  connect(tree_, &PrefixTreeView::codecsWanted, inspector_, &TreeInspector::popupCodecs);
  connect(tree_, &PrefixTreeView::searchTyped, this, [this](const QString& text) {
    search_->setFocus();
    search_->setText(text);
  });
  connect(inspector_, &TreeInspector::pinWanted, this, &TreePage::pinOrUnpin);
  connect(inspector_, &TreeInspector::unpinWanted, this, &TreePage::pinOrUnpin);
  connect(inspector_, &TreeInspector::deleteWanted, this, &TreePage::askDelete);
  connect(inspector_, &TreeInspector::moveWanted, this, &TreePage::askMove);
  connect(inspector_, &TreeInspector::verifyWanted, this, &TreePage::askVerify);
  connect(inspector_, &TreeInspector::compressWanted, this, &TreePage::askCompress);
  connect(inspector_, &TreeInspector::decompressWanted, this, &TreePage::askDecompress);
  connect(inspector_, &TreeInspector::cancelWanted, this, &TreePage::cancelJob);
  connect(inspector_, &TreeInspector::requestWanted, this,
          [this](quint64 id) { shell().openPage(QStringLiteral("requests"), QVariant::fromValue(id)); });
  connect(outline_->selectionModel(), &QItemSelectionModel::currentChanged, this, &TreePage::followOutline);
  connect(&client(), &EngineClient::linkChanged, this, &TreePage::showInspector);
}

TreePage::~TreePage() = default;

void TreePage::buildControls() {
  auto* controls = new QHBoxLayout;
  controls->setSpacing(8);
  controls->addWidget(mode_);
  width_->addItems({tr("Width: tokens"), tr("Width: bytes"), tr("Width: time to compute")});
  width_->setAccessibleName(tr("Width of a box"));
  controls->addWidget(width_);
  controls->addStretch(1);
  search_->setObjectName(QStringLiteral("treeSearch"));
  controls->addWidget(search_);
  body()->addLayout(controls);

  auto* column = new QVBoxLayout(drawn_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  auto* legend = new QHBoxLayout;
  legend->addWidget(new TreeLegend(theme()), 1);
  legend->addWidget(search_sum_, 0, Qt::AlignTop);
  column->addLayout(legend);
  column->addWidget(tree_, 1);
  auto* hints = new QHBoxLayout;
  hints->addWidget(counts_, 1);
  join_->setRange(0, 100);
  join_->setValue(kJoinDefault);
  join_->setFixedWidth(90);
  join_->setAccessibleName(tr("Join boxes narrower than"));
  hints->addWidget(new QLabel(tr("join below")));
  hints->addWidget(join_);
  hints->addWidget(join_text_);
  column->addLayout(hints);

  auto* split = new QSplitter(Qt::Vertical);
  split->addWidget(drawn_);
  split->addWidget(outline_);
  split->setStretchFactor(0, 1);
  split->setStretchFactor(1, 1);
  split->setChildrenCollapsible(false);
  states_->addWidget(split);
  body()->addWidget(states_, 1);

  connect(mode_, &Segmented::chosen, this, [this](int mode) { drawn_->setVisible(mode == 0); });
  connect(width_, &QComboBox::currentIndexChanged, this,
          [this](int index) { tree_->setWidthBy(static_cast<WidthBy>(index)); });
  connect(join_, &QSlider::valueChanged, this, [this](int value) { tree_->setJoinShare(joinShare(value)); });
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    tree_->setSearch(text);
    showSummary();
  });
  connect(search_, &SearchField::nextWanted, this, [this] { tree_->nextMatch(1); });
  connect(search_, &SearchField::previousWanted, this, [this] { tree_->nextMatch(-1); });
  tree_->setJoinShare(joinShare(kJoinDefault));
}

void TreePage::buildEmpty() {
  empty_ = new EmptyState(theme(), EmptyState::Outline::kTree);
  connect(empty_, &EmptyState::primaryWanted, this, [this] {
    if (readyModel(*client().view()) != nullptr) {
      sendTest();
    } else {
      shell().chooseModel();
    }
  });
  states_->addWidget(empty_);
}

// It may be taller than the window: with jobs at work, or verbs whose costs take two lines.
QWidget* TreePage::inspector() { return inspector_scroll_; }

void TreePage::focusSearch() {
  search_->setFocus(Qt::ShortcutFocusReason);
  search_->selectAll();
}

void TreePage::openWith(const QVariant& argument) {
  refreshNow();
  tree_->select(treeKey(TreeRow::Kind::kRun, argument.toULongLong(), ModelId{}));
}

void TreePage::showSnapshot(const SnapshotView& view) {
  const bool empty = view.tree->nodes.isEmpty();
  states_->setCurrentIndex(empty ? 1 : 0);
  if (empty) {
    const ModelInfo* model = readyModel(view);
    empty_->setText(model == nullptr ? tr("No model loaded") : tr("Nothing is kept yet"),
                    model == nullptr
                        ? tr("Load a model; the tree grows with the first request.")
                        : tr("After the first request this shows one box for each text that %1 will not have to read "
                             "again.")
                              .arg(model->name));
    const QString action = model == nullptr ? tr("Choose a model\u2026") : tr("Send a test request");
    empty_->setActions(client().attached() ? QString() : action);  // either needs the window at the engine
  }
  tree_->setView(client().view());
  if (!outline_shown_.isValid() || outline_shown_.elapsed() >= kOutlineEveryMs) {
    outline_shown_.start();
    const bool first = outline_model_->rowCount() == 0;
    following_ = true;  // rows moving under the cursor are no choice of the user
    outline_model_->setView(client().view());
    following_ = false;
    if (first) outline_->expandToDepth(3);
  }
  showInspector();
}

void TreePage::showSummary() {
  const Icicle& drawn = tree_->icicle();
  QString text = tr("showing %1 of %2 runs").arg(drawn.shown).arg(drawn.shown + drawn.joined + drawn.outside);
  if (drawn.joined > 0)
    text += tr(" \u00b7 %n smaller ones joined as %1", nullptr, static_cast<int>(drawn.joined)).arg(drawn.joined_boxes);
  if (drawn.outside > 0) text += tr(" \u00b7 %1 outside the view").arg(drawn.outside);
  counts_->setText(text);
  join_text_->setText(percentText(joinShare(join_->value()) * 1000, 1000));
  const SearchSum sum = tree_->searchSum();
  search_sum_->setText(search_->text().isEmpty()
                           ? tr("width of a box = its own blocks and all below")
                           : tr("%n matches \u00b7 %1 tokens \u00b7 %2", nullptr, static_cast<int>(sum.matches))
                                 .arg(countText(sum.tokens), bytesText(sum.bytes)));
  QStringList crumbs;
  for (const std::uint64_t key : tree_->zoomPath()) crumbs.push_back(labelOf(key));
  QString path = crumbs.join(QStringLiteral("  \u203a  "));
  if (crumbs.size() > 1) path += QStringLiteral("     ") + tr("Esc: whole tree");
  setSubtitle(path);
}

QString TreePage::labelOf(std::uint64_t key) const {
  const SnapshotView& view = *client().view();
  const int index = view.tree->indexOfKey(key);
  return index < 0 ? QString() : view.tree->labelOf(view.tree->rows[static_cast<std::size_t>(index)], view);
}

const TreeNode* TreePage::selectedNode() const {
  const TreeRows& tree = *client().view()->tree;
  const int index = tree.indexOfKey(tree_->selected());
  return index < 0 ? nullptr : tree.nodeOf(tree.rows[static_cast<std::size_t>(index)]);
}

void TreePage::showInspector() {
  inspector_->showRow(*client().view(), tree_->selected(), client().linkState() == LinkState::kConnected);
}

void TreePage::followOutline() {
  if (following_) return;
  const std::uint64_t key = outline_model_->keyOf(outline_->currentIndex());
  if (key != 0) tree_->select(key);
}

void TreePage::selectInOutline(quint64 key) {
  const QModelIndex index = outline_model_->indexOfKey(key);
  if (!index.isValid()) return;
  following_ = true;
  outline_->setCurrentIndex(index);
  outline_->scrollTo(index);
  following_ = false;
}

void TreePage::pinOrUnpin() {
  const TreeNode* node = selectedNode();
  if (node == nullptr) return;
  const QString label = labelOf(tree_->selected());
  if (node->pinned) {
    unpin(node->id, label);
  } else {
    pin(node->id, label);
  }
}

void TreePage::pin(NodeId node, const QString& label) {
  client().perform(command::PinNode{node, tr("pinned in the window"), 0, false}, this,
                   [this, node, label](const CommandOutcome& outcome) {
                     if (!outcome.ok) {
                       shell().showProblem(tr("\u201c%1\u201d was not pinned").arg(label), outcome.message);
                       return;
                     }
                     shell().showToast(tr("Pinned \u201c%1\u201d: %2").arg(label, bytesText(outcome.bytes)), tr("Undo"),
                                       [this, node, label] { unpin(node, label); });
                   });
}

void TreePage::unpin(NodeId node, const QString& label) {
  client().perform(command::Unpin{PinId{}, node}, this, [this, node, label](const CommandOutcome& outcome) {
    if (!outcome.ok) {
      shell().showProblem(tr("\u201c%1\u201d was not unpinned").arg(label), outcome.message);
      return;
    }
    shell().showToast(tr("Unpinned \u201c%1\u201d").arg(label), tr("Undo"), [this, node, label] { pin(node, label); });
  });
}

void TreePage::askDelete() {
  const TreeNode* node = selectedNode();
  if (node == nullptr) return;
  const NodeId id = node->id;
  const QString label = labelOf(tree_->selected());
  const TreeRows& tree = *client().view()->tree;
  const double compute_ms = tree.rows[static_cast<std::size_t>(tree.indexOfNode(id))].all.compute_ms;
  client().perform(
      command::DeleteNode{id, false, true}, this, [this, id, label, compute_ms](const CommandOutcome& dry) {
        if (!dry.ok) {
          shell().showProblem(tr("\u201c%1\u201d cannot be deleted now").arg(label), dry.message);
          return;
        }
        auto* dialog = new DeleteDialog(theme(), label, dry, compute_ms, this);
        connect(dialog, &QDialog::accepted, this, [this, id, label] {
          client().perform(command::DeleteNode{id, false, false}, this, [this, label](const CommandOutcome& done) {
            if (done.ok) {
              shell().showToast(tr("Deleted \u201c%1\u201d: %2 free").arg(label, bytesText(done.bytes)));
            } else {
              shell().showProblem(tr("\u201c%1\u201d was not deleted").arg(label), done.message);
            }
          });
        });
        dialog->open();
      });
}

void TreePage::askMove(const QString& to, bool keep) {
  const TreeNode* node = selectedNode();
  if (node == nullptr) return;
  askTierVerb(command::MoveBlocks{node->id, to, keep, true}, command::MoveBlocks{node->id, to, keep, false});
}

void TreePage::askVerify() {
  const TreeNode* node = selectedNode();
  if (node == nullptr) return;
  askTierVerb(command::VerifyBlocks{node->id, true}, command::VerifyBlocks{node->id, false});
}

void TreePage::askCompress(const QString& scheme) {
  const TreeNode* node = selectedNode();
  if (node == nullptr) return;
  askTierVerb(command::CompressBlocks{node->id, scheme, true}, command::CompressBlocks{node->id, scheme, false});
}

void TreePage::askDecompress() {
  const TreeNode* node = selectedNode();
  if (node == nullptr) return;
  askTierVerb(command::DecompressBlocks{node->id, true}, command::DecompressBlocks{node->id, false});
}

// What it would do is asked of the engine and shown before it is done.
void TreePage::askTierVerb(const Command& dry, const Command& real) {
  const QString label = labelOf(tree_->selected());
  client().perform(dry, this, [this, label, real](const CommandOutcome& planned) {
    if (!planned.ok || !planned.job) {
      shell().showProblem(tr("\u201c%1\u201d cannot be moved, verified or compressed now").arg(label), planned.message);
      return;
    }
    const JobInfo& job = *planned.job;
    const QString verb = jobVerb(job);
    const auto facts = jobFacts(job, blockBytesOf(*client().view(), job.node));
    if (!doesSomething(job)) {
      QStringList lines{tr("There is nothing to do.")};
      for (const auto& [name, value] : facts) lines.push_back(QStringLiteral("%1: %2").arg(name, value));
      shell().showToast(QStringLiteral("%1: %2").arg(verb, lines.join(QStringLiteral(" \u00b7 "))));
      return;
    }
    Question question;
    question.title = tr("%1: \u201c%2\u201d with all below?").arg(verb, label);
    for (const auto& [name, value] : facts) question.figures.push_back({name, value});
    question.text = tierVerbText(job);
    question.verb = verb;
    question.harmless = true;
    auto* dialog = new ConfirmDialog(theme(), question, this);
    connect(dialog, &QDialog::accepted, this, [this, label, real, verb] {
      client().perform(real, this, [this, label, verb](const CommandOutcome& begun) {
        if (!begun.ok) shell().showProblem(tr("%1: \u201c%2\u201d was not begun").arg(verb, label), begun.message);
      });
    });
    dialog->open();
  });
}

// What it means for answers, and at whose cost it goes on.
QString TreePage::tierVerbText(const JobInfo& job) {
  QStringList lines;
  if (job.verb == QLatin1String("compress")) {
    lines.push_back(tr("Answers that reuse it are then close to the exact ones and not bit for bit the same; each says "
                       "so. Computing it exactly again undoes this."));
  }
  lines.push_back(job.codec.compute_tokens > 0
                      ? tr("It is computed as a request is, between the others, and can be stopped.")
                      : tr("It goes on behind the requests, with at most a fifth of one core, and can be stopped."));
  return lines.join(QLatin1Char('\n'));
}

void TreePage::cancelJob(quint64 job) {
  client().perform(command::CancelJob{JobId{job}}, this, [this](const CommandOutcome& outcome) {
    if (!outcome.ok) shell().showProblem(tr("The job was not stopped"), outcome.message);
  });
}

void TreePage::sendTest() {
  Ask ask;
  const ModelInfo* model = readyModel(*client().view());
  const QString question = tr("Which three things should be in every larder?");
  if (model != nullptr && model->has_chat_template) {
    ask.messages = {{QStringLiteral("system"), tr("You answer in one short sentence.")},
                    {QStringLiteral("user"), question}};
  } else {
    ask.text = question;
  }
  ask.max_tokens = 24;
  ask.label = tr("Test request");
  AnswerStream* stream = client().ask(ask, this);
  connect(stream, &AnswerStream::failed, this,
          [this](const QString& message) { shell().showProblem(tr("The test request failed"), message); });
  connect(stream, &AnswerStream::failed, stream, &QObject::deleteLater);
  connect(stream, &AnswerStream::finished, stream, &QObject::deleteLater);
}

}  // namespace larder::gui
