// SPDX-License-Identifier: GPL-3.0-or-later
// Marks of the prefix tree: the folded corner of runs whose cold blocks have a copy in memory, and what the inspector
// says of them.
#include <QtTest>

#include "gui/pages/shell/main_window.h"
#include "gui/pages/tree/prefix_tree_view.h"
#include "gui/pages/tree/tree_page.h"
#include "gui/widgets/fact_rows.h"
#include "tests/gui/support/scripted_client.h"

namespace larder::gui {
namespace {

constexpr NodeId kRun{5};

// The view with the run on disk, and so many of its blocks copied in memory.
std::shared_ptr<SnapshotView> withCopies(const SnapshotView& view, std::uint32_t copied) {
  QVector<TreeNode> nodes = view.tree->nodes;
  for (TreeNode& node : nodes) {
    if (node.id != kRun) continue;
    node.disk_blocks = node.stored_blocks = node.blocks;
    node.host_blocks = 0;
    node.ram_blocks = copied;
    node.ram_bytes = copied * (1ull << 20);
  }
  auto next = std::make_shared<SnapshotView>(view);
  ++next->epoch;
  next->tree = buildTreeRows(nodes);
  return next;
}

QString factOf(const QWidget& window, const QString& name) {
  return window.findChild<FactRows*>(QStringLiteral("inspectorFacts"))->valueOf(name);
}

const QString kFact = QStringLiteral("Copies in memory");

}  // namespace

class TreeMarksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void cleanup();
  void aCornerIsFilledWhereAllIsCopiedAndHollowWhereAPartIs();
  void theInspectorCountsThemForARunAndForAllBelow();
  void sumsOfTheTreeAreThoseOfItsRuns();

 private:
  // Shown, painted, and the colour just inside the upper right corner of the run's box.
  QColor cornerWith(std::uint32_t copied);

  std::unique_ptr<Theme> theme_;
  std::unique_ptr<ScriptedClient> client_;
  std::unique_ptr<MainWindow> window_;
  PrefixTreeView* tree_ = nullptr;
  std::uint32_t blocks_ = 0;
};

void TreeMarksTest::init() {
  theme_ = std::make_unique<Theme>();
  theme_->setMode(Theme::Mode::kLight);
  client_ = std::make_unique<ScriptedClient>();
  client_->link(LinkState::kConnected);
  window_ = std::make_unique<MainWindow>(*theme_, *client_);
  window_->show();
  QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
  client_->show(sampleView());
  window_->openPage(QStringLiteral("tree"));
  tree_ = window_->findChild<PrefixTreeView*>(QStringLiteral("prefixTree"));
  blocks_ = client_->view()->tree->nodes[static_cast<qsizetype>(kRun.value) - 1].blocks;
  QVERIFY(blocks_ > 2);
}

void TreeMarksTest::cleanup() {
  window_.reset();
  client_.reset();
  theme_.reset();
}

QColor TreeMarksTest::cornerWith(std::uint32_t copied) {
  client_->show(withCopies(*client_->view(), copied));
  window_->page(QStringLiteral("tree"))->refreshNow();
  const QImage picture = tree_->viewport()->grab().toImage();
  for (const IcicleBox& box : tree_->icicle().boxes) {
    if (box.row != client_->view()->tree->indexOfNode(kRun)) continue;
    const QPointF at = tree_->boxRect(box).topRight() + QPointF(-5, 3);
    return picture.pixelColor((at * picture.devicePixelRatio()).toPoint());
  }
  return {};
}

void TreeMarksTest::aCornerIsFilledWhereAllIsCopiedAndHollowWhereAPartIs() {
  for (const Theme::Mode mode : {Theme::Mode::kLight, Theme::Mode::kDark}) {
    theme_->setMode(mode);
    const QColor none = cornerWith(0);
    QVERIFY(none.isValid());
    QVERIFY(none != theme_->tierFill(Tier::kHost) && none != theme_->color(Tone::kSurface));
    QCOMPARE(cornerWith(blocks_).name(), theme_->tierFill(Tier::kHost).name());
    QCOMPARE(cornerWith(blocks_ - 1).name(), theme_->color(Tone::kSurface).name());
  }
}

void TreeMarksTest::theInspectorCountsThemForARunAndForAllBelow() {
  tree_->select(kRootKey);
  cornerWith(0);
  QVERIFY(factOf(*window_, kFact).isEmpty());
  cornerWith(2);
  const QString all = factOf(*window_, kFact);
  QVERIFY2(all.startsWith(QStringLiteral("2 of %1 ").arg(blocks_)), qPrintable(all));
  QVERIFY2(all.contains(QString::fromUtf8("2.00\u00a0MiB")), qPrintable(all));
  tree_->select(treeKey(TreeRow::Kind::kRun, kRun.value, ModelId{1}));
  QCOMPARE(factOf(*window_, kFact), all);  // no other run has any
  QVERIFY2(tree_->accessibleDescription().contains(QString::fromUtf8("2.00\u00a0MiB")),
           qPrintable(tree_->accessibleDescription()));
  cornerWith(0);
  QVERIFY(factOf(*window_, kFact).isEmpty());
}

void TreeMarksTest::sumsOfTheTreeAreThoseOfItsRuns() {
  QVector<TreeNode> nodes = sampleNodes(30);
  std::uint64_t blocks = 0, bytes = 0;
  for (TreeNode& node : nodes) {
    node.disk_blocks = node.blocks;
    node.ram_blocks = node.blocks / 3;
    node.ram_bytes = node.ram_blocks * 1000;
    blocks += node.ram_blocks;
    bytes += node.ram_bytes;
  }
  const auto rows = buildTreeRows(nodes);
  QCOMPARE(rows->rows.front().all.ram_blocks, blocks);
  QCOMPARE(rows->rows.front().all.ram_bytes, bytes);
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::TreeMarksTest)
#include "tree_marks_test.moc"
