// SPDX-License-Identifier: GPL-3.0-or-later
// Models against QAbstractItemModelTester, fed literal rows and long random sequences of deltas.
#include <QAbstractItemModelTester>
#include <QItemSelectionModel>
#include <QSignalSpy>
#include <QtTest>
#include <algorithm>
#include <random>

#include "gui/models/entry_model.h"
#include "gui/models/key_model.h"
#include "gui/models/model_table.h"
#include "gui/models/pack_model.h"
#include "gui/models/pin_model.h"
#include "gui/models/request_model.h"
#include "gui/models/tenant_model.h"
#include "gui/models/tree_model.h"
#include "tests/gui/support/scripted_client.h"

namespace larder::gui {
namespace {

using Tester = QAbstractItemModelTester;
constexpr auto kMode = Tester::FailureReportingMode::QtTest;

// Runs are split, joined, grown, added and removed, as the prefix tree does.
QVector<TreeNode> mutated(QVector<TreeNode> nodes, std::mt19937& random, std::uint64_t& next_id) {
  const auto pick = [&] { return static_cast<qsizetype>(random() % static_cast<unsigned>(nodes.size())); };
  switch (random() % 5) {
    case 0: {  // split: a new run takes the head, the old one keeps its id and hangs below
      const qsizetype at = pick();
      if (nodes[at].tokens < 64) break;
      TreeNode head = nodes[at];
      head.id = NodeId{next_id++};
      head.tokens = 32;
      head.blocks = 1;
      nodes[at].parent = head.id;
      nodes[at].tokens -= 32;
      nodes.insert(at, head);
      break;
    }
    case 1: {  // join: a run with one child is taken into it
      const qsizetype at = pick();
      QVector<qsizetype> children;
      for (qsizetype i = 0; i < nodes.size(); ++i) {
        if (nodes[i].parent == nodes[at].id) children.push_back(i);
      }
      if (children.size() != 1) break;
      nodes[children[0]].parent = nodes[at].parent;
      nodes[children[0]].tokens += nodes[at].tokens;
      nodes.remove(at);
      break;
    }
    case 2:
      nodes[pick()].hits += 1;
      break;
    case 3: {
      TreeNode leaf = nodes[pick()];
      leaf.parent = leaf.id;
      leaf.id = NodeId{next_id++};
      nodes.push_back(leaf);
      break;
    }
    default: {  // a leaf gives way
      const qsizetype at = pick();
      const bool leaf =
          std::none_of(nodes.begin(), nodes.end(), [&](const TreeNode& one) { return one.parent == nodes[at].id; });
      if (leaf && nodes.size() > 4) nodes.remove(at);
    }
  }
  return nodes;
}

void compareBranch(const TreeModel& model, const QModelIndex& index, const TreeRows& rows, int row) {
  const TreeRow& wanted = rows.rows[static_cast<std::size_t>(row)];
  QCOMPARE(model.keyOf(index), wanted.key);
  QCOMPARE(model.rowCount(index), wanted.child_count);
  for (int i = 0; i < wanted.child_count; ++i) {
    compareBranch(model, model.index(i, 0, index), rows, wanted.first_child + i);
  }
}

}  // namespace

class ModelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyTableShowsTheSnapshot();
  void everyColumnHasATitleAndAnOrder();
  void requestRowsAreLaidOverById();
  void selectionSurvivesInsertsAndRemovals();
  void randomRowOrdersEndAsGiven();
  void aDoubleIdKeepsItsFirstRow();
  void treeFollowsSplitsAndJoins();
  void treeSelectionSurvivesASplit();
};

void ModelsTest::everyTableShowsTheSnapshot() {
  auto view = sampleView();
  view->pins = {{PinId{1}, NodeId{1}, TenantId{1}, QStringLiteral("pack"), 4, 1 << 20, 1, 0}};
  view->entries = {{EntryId{1}, NodeId{1}, TenantId{1}, QStringLiteral("Casa"), 1056, 1 << 20, true, 32, 1500}};
  view->packs = {{QStringLiteral("casa-it"), QStringLiteral("Casa"), QStringLiteral("it"), QStringLiteral("testo"), 4,
                  1056, true, false, NodeId{1}}};
  RequestModel requests;
  TenantModel tenants;
  KeyModel keys;
  ModelTable models;
  PinModel pins;
  EntryModel entries;
  PackModel packs;
  Tester t1(&requests, kMode), t2(&tenants, kMode), t3(&keys, kMode), t4(&models, kMode), t5(&pins, kMode),
      t6(&entries, kMode), t7(&packs, kMode);
  requests.setView(*view);
  tenants.setView(*view);
  keys.setView(*view);
  models.setView(*view);
  pins.setView(*view);
  entries.setView(*view);
  packs.setView(*view);
  QCOMPARE(requests.rowCount(), 40);
  QCOMPARE(requests.index(0, RequestModel::kId).data().toString(), QStringLiteral("#5039"));
  QCOMPARE(requests.index(38, RequestModel::kVerdict).data().toString(), QStringLiteral("diverged"));
  QCOMPARE(tenants.index(0, TenantModel::kKeys).data().toString(), QStringLiteral("1"));
  QCOMPARE(keys.index(0, KeyModel::kRight).data().toString(), QStringLiteral("admin"));
  QCOMPARE(models.index(0, ModelTable::kState).data().toString(), QStringLiteral("ready"));
  QCOMPARE(pins.index(0, PinModel::kLabel).data().toString(), QStringLiteral("Casa v4 (it) 1"));
  QCOMPARE(entries.index(0, EntryModel::kSaved).data().toString(), QStringLiteral("1.50\u00a0s"));
  QCOMPARE(packs.index(0, PackModel::kState).data().toString(), QStringLiteral("warm"));
}

void ModelsTest::everyColumnHasATitleAndAnOrder() {
  const auto view = sampleView();
  RequestModel requests;
  TenantModel tenants;
  requests.setView(*view);
  tenants.setView(*view);
  const QVector<QPair<QAbstractItemModel*, int>> tables = {{&requests, RequestModel::kSaved + 1},
                                                           {&tenants, TenantModel::kKeys + 1}};
  for (const auto& [table, columns] : tables) {
    QCOMPARE(table->columnCount(), columns);
    for (int column = 0; column < columns; ++column) {
      const QModelIndex cell = table->index(0, column);
      QVERIFY(!table->headerData(column, Qt::Horizontal).toString().isEmpty());
      QVERIFY(cell.data(kSortRole).isValid());
      QCOMPARE(cell.data(Qt::TextAlignmentRole), table->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole));
      const bool figure = cell.data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight;
      if (figure) QVERIFY(cell.data(kSortRole).typeId() != QMetaType::QString);
    }
    QVERIFY(!table->headerData(columns, Qt::Horizontal).isValid());
    QVERIFY(!table->headerData(-1, Qt::Horizontal).isValid());
    QVERIFY(!table->headerData(0, Qt::Vertical).isValid());
    QVERIFY(!table->index(0, columns).data().isValid());
  }
  QCOMPARE(tenants.index(0, TenantModel::kName).data(kMarkRole).toInt(), tenantMark(*view, view->tenants[0].id));
}

void ModelsTest::requestRowsAreLaidOverById() {
  RequestModel model;
  Tester tester(&model, kMode);
  auto view = sampleView(10, 20);
  model.setView(*view);
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  QSignalSpy inserts(&model, &QAbstractItemModel::rowsInserted);
  QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
  auto next = std::make_shared<SnapshotView>(*view);
  auto newer = std::make_shared<RequestRecord>(*view->requests.back());
  newer->id = RequestId{6000};
  newer->state = RequestRecord::State::kDecode;
  next->requests.push_back(newer);
  auto changed = std::make_shared<RequestRecord>(*view->requests.front());
  changed->state = RequestRecord::State::kFailed;
  next->requests.front() = changed;
  model.setView(*next);
  QCOMPARE(model.rowCount(), 21);
  QCOMPARE(inserts.count(), 1);
  QCOMPARE(changes.count(), 1);
  QCOMPARE(resets.count(), 0);
  model.setView(*next);
  QCOMPARE(changes.count(), 1);  // nothing differs, nothing is told
}

void ModelsTest::selectionSurvivesInsertsAndRemovals() {
  RequestModel model;
  auto view = sampleView(10, 20);
  model.setView(*view);
  QItemSelectionModel selection(&model);
  selection.select(model.index(7, 0), QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  const auto chosen = selection.selectedIndexes().constFirst().data(kIdRole);
  auto next = std::make_shared<SnapshotView>(*view);
  next->requests.remove(0, 3);
  for (std::uint64_t id = 6000; id < 6005; ++id) {
    auto newer = std::make_shared<RequestRecord>(*view->requests.back());
    newer->id = RequestId{id};
    next->requests.push_back(newer);
  }
  model.setView(*next);
  QCOMPARE(selection.selectedIndexes().constFirst().data(kIdRole), chosen);
  QCOMPARE(selection.selectedIndexes().constFirst().row(), 12);
}

void ModelsTest::randomRowOrdersEndAsGiven() {
  TenantModel model;
  Tester tester(&model, kMode);
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    SnapshotView view;
    view.tree = buildTreeRows({});
    QVector<std::uint32_t> ids;
    for (std::uint32_t id = 1; id <= 12; ++id) {
      if (random() % 3 != 0) ids.push_back(id);
    }
    std::shuffle(ids.begin(), ids.end(), random);
    for (const std::uint32_t id : std::as_const(ids)) {
      TenantInfo tenant;
      tenant.id = TenantId{id};
      tenant.requests = random() % 2;
      view.tenants.push_back(tenant);
    }
    model.setView(view);
    QCOMPARE(model.rowCount(), static_cast<int>(ids.size()));
    for (int i = 0; i < ids.size(); ++i) {
      QCOMPARE(model.row(i).info.id.value, ids[i]);
      QCOMPARE(model.row(i).info.requests, view.tenants[i].requests);
    }
  }
}

void ModelsTest::aDoubleIdKeepsItsFirstRow() {
  PackModel model;
  Tester tester(&model, kMode);
  SnapshotView view;
  view.packs = {{QStringLiteral("a"), QStringLiteral("first"), {}, {}, 1, 0, false, false, NodeId{}},
                {QStringLiteral("a"), QStringLiteral("second"), {}, {}, 1, 0, false, false, NodeId{}}};
  model.setView(view);
  QCOMPARE(model.rowCount(), 1);
  QCOMPARE(model.row(0).info.name, QStringLiteral("first"));
}

void ModelsTest::treeFollowsSplitsAndJoins() {
  TreeModel model;
  Tester tester(&model, kMode);
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  std::mt19937 random(5);
  std::uint64_t next_id = 1000;
  QVector<TreeNode> nodes = sampleNodes(30);
  for (int round = 0; round < 400; ++round) {
    nodes = mutated(nodes, random, next_id);
    auto view = sampleView(3, 1);
    view->tree = buildTreeRows(nodes);
    model.setView(view);
    compareBranch(model, model.index(0, 0), *view->tree, 0);
    if (QTest::currentTestFailed()) QFAIL(qPrintable(QStringLiteral("round %1").arg(round)));
  }
  QCOMPARE(resets.count(), 0);
}

void ModelsTest::treeSelectionSurvivesASplit() {
  TreeModel model;
  auto view = sampleView(12, 1);
  model.setView(view);
  const std::uint64_t key = treeKey(TreeRow::Kind::kRun, 5, ModelId{1});
  QItemSelectionModel selection(&model);
  selection.setCurrentIndex(model.indexOfKey(key), QItemSelectionModel::ClearAndSelect);
  QVector<TreeNode> nodes = sampleNodes(12);
  TreeNode head = nodes[4];
  head.id = NodeId{500};
  head.tokens = 32;
  nodes[4].parent = head.id;
  nodes.insert(4, head);
  auto next = std::make_shared<SnapshotView>(*view);
  next->tree = buildTreeRows(nodes);
  model.setView(next);
  QCOMPARE(model.keyOf(selection.currentIndex()), key);
  QCOMPARE(model.keyOf(model.parent(selection.currentIndex())), treeKey(TreeRow::Kind::kRun, 500, ModelId{1}));
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::ModelsTest)
#include "models_test.moc"
