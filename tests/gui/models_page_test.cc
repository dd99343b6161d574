// SPDX-License-Identifier: GPL-3.0-or-later
// The Models page over literal snapshots: the ledger adds up, states say what to do, verbs reach the engine.
#include "gui/pages/models/models_page.h"

#include <QDialog>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTableView>
#include <QtTest>

#include "gui/pages/models/memory_ledger.h"
#include "gui/pages/models/model_card.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/figure_grid.h"
#include "tests/gui/support/page_rig.h"

namespace larder::gui {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

ModelInfo fileModel(const char* name) {
  ModelInfo file;
  file.name = QString::fromLatin1(name);
  file.path = QStringLiteral("/models/") + file.name;
  file.file_bytes = 644 * kMiB;
  return file;
}

// 100 MiB of weights; a pool of 400 blocks of 1 MiB: 20 in use, 180 kept of which 30 pinned, 200 free.
std::shared_ptr<SnapshotView> loadedView() {
  auto view = std::make_shared<SnapshotView>();
  view->epoch = 1;
  view->tree = buildTreeRows({});
  ModelInfo model = fileModel("Smol.gguf");
  model.id = ModelId{1};
  model.state = ModelInfo::State::kReady;
  model.weight_bytes = 100 * kMiB;
  model.kv_bytes_per_token = 32 * 1024;
  model.n_context = 8192;
  model.quantisation = QStringLiteral("Q4_1");
  view->models = {model, fileModel("Other.gguf")};
  view->pool = {400, 200, 180, 20, 30, kMiB, 128 * kMiB, 0, 0};
  view->resident_bytes = 444 * kMiB;
  sumPool(*view);
  return view;
}

}  // namespace

class ModelsPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void ledgerAddsUp();
  void ledgerIsWrittenUnderItsBar();
  void figuresOfTheLoadedModel();
  void missingFiguresAreADash();
  void loadSaysItsCostBeforeTheClick();
  void loadAsksTheEngine();
  void aSecondLoadWaitsForTheFirst();
  void loadingShowsProgressAndCanBeCancelled();
  void cancelledLoadIsNoProblem();
  void refusalSaysWhyAndWhatToDo();
  void unloadAsksWithFigures();
  void withoutAModelTheStepIsNamed();
  void verbsAreOffWhileTheEngineIsLost();
};

void ModelsPageTest::ledgerAddsUp() {
  const auto parts = ledgerParts(*loadedView());
  using Kind = LedgerPart::Kind;
  const QVector<LedgerPart> expected = {{Kind::kWeights, 100 * kMiB},
                                        {Kind::kInUse, 20 * kMiB},
                                        {Kind::kPinned, 30 * kMiB},
                                        {Kind::kKept, 150 * kMiB},
                                        {Kind::kFree, 200 * kMiB}};
  QCOMPARE(parts, expected);
  QCOMPARE(ledgerTotal(parts), 500 * kMiB);  // 100 of weights, 400 of pool
  SnapshotView odd = *loadedView();
  odd.pool.blocks_free = 500;  // more than there are: still no part below nothing
  sumPool(odd);
  QCOMPARE(ledgerTotal(ledgerParts(odd)), 500 * kMiB);
}

void ModelsPageTest::ledgerIsWrittenUnderItsBar() {
  PageRig<ModelsPage> rig;
  rig.show(loadedView());
  const auto* ledger = rig.find<MemoryLedger>("memoryLedger");
  const QVector<CaptionedFigure> expected = {{QStringLiteral("Weights"), QStringLiteral("100\u00a0MiB")},
                                             {QStringLiteral("Pool (Device), in use"), QStringLiteral("20.0\u00a0MiB")},
                                             {QStringLiteral("Pool (Device), pinned"), QStringLiteral("30.0\u00a0MiB")},
                                             {QStringLiteral("Pool (Device), kept"), QStringLiteral("150\u00a0MiB")},
                                             {QStringLiteral("Pool (Device), free"), QStringLiteral("200\u00a0MiB")},
                                             {QStringLiteral("KV per token"), QStringLiteral("32.0\u00a0KiB")}};
  QVector<CaptionedFigure> shown = ledger->findChild<FigureGrid*>()->figures();
  for (CaptionedFigure& one : shown) one.caption.replace(QStringLiteral("Host"), QStringLiteral("Device"));
  QCOMPARE(shown, expected);
  bool total = false;
  for (const QLabel* label : ledger->findChildren<QLabel*>())
    total |= label->text() == QStringLiteral("total 500\u00a0MiB");
  QVERIFY(total);
}

void ModelsPageTest::figuresOfTheLoadedModel() {
  PageRig<ModelsPage> rig;
  auto view = loadedView();
  view->prefill_tokens_per_s = 820;
  rig.show(view);
  const auto* grid = rig.find<ModelCard>("modelCard")->findChild<FigureGrid*>();
  QCOMPARE(grid->figureOf(QStringLiteral("Weights")), QStringLiteral("Q4_1, 100\u00a0MiB"));
  QCOMPARE(grid->figureOf(QStringLiteral("Context")), QStringLiteral("8,192 tokens"));
  QCOMPARE(grid->figureOf(QStringLiteral("Reading (prefill)")), QStringLiteral("820\u00a0tok/s"));
}

void ModelsPageTest::missingFiguresAreADash() {
  PageRig<ModelsPage> rig;
  rig.show(loadedView());
  const auto* grid = rig.find<ModelCard>("modelCard")->findChild<FigureGrid*>();
  for (const char* caption : {"Longest request", "Writing (decode)", "Architecture", "Arithmetic"}) {
    QCOMPARE(grid->figureOf(QString::fromLatin1(caption)), QStringLiteral("\u2013"));
  }
}

void ModelsPageTest::loadSaysItsCostBeforeTheClick() {
  PageRig<ModelsPage> rig;
  rig.show(loadedView());
  auto* load = rig.find<QPushButton>("modelLoad");
  QVERIFY(!load->isEnabled());
  QCOMPARE(rig.find<QLabel>("loadCost")->text(), QStringLiteral("Smol.gguf is in memory."));
  rig.find<QTableView>("modelFiles")->selectRow(1);
  QVERIFY(load->isEnabled());
  QCOMPARE(rig.find<QLabel>("loadCost")->text(),
           QStringLiteral(
               "Reads 644\u00a0MiB from disk. It answers beside Smol.gguf; where there is no room for both, the idle "
               "one used longest ago is unloaded."));
}

void ModelsPageTest::loadAsksTheEngine() {
  PageRig<ModelsPage> rig;
  rig.show(loadedView());
  rig.find<QTableView>("modelFiles")->selectRow(1);
  rig.client.next.ok = false;
  rig.client.next.code = QStringLiteral("corrupt");
  rig.client.next.message = QStringLiteral("tensor 3 lies beyond the file");
  QTest::mouseClick(rig.find<QPushButton>("modelLoad"), Qt::LeftButton);
  QCOMPARE(std::get<command::LoadModel>(rig.client.commands.at(0)).path, QStringLiteral("/models/Other.gguf"));
  QCOMPARE(rig.shell.problems,
           QVector<QString>{QStringLiteral("Other.gguf was not loaded | tensor 3 lies beyond the file")});
}

void ModelsPageTest::aSecondLoadWaitsForTheFirst() {
  PageRig<ModelsPage> rig;
  auto view = loadedView();
  ModelInfo more = fileModel("Third.gguf");
  more.state = ModelInfo::State::kLoading;
  view->models.push_back(more);
  rig.show(view);
  rig.find<QTableView>("modelFiles")->selectRow(1);
  QVERIFY(!rig.find<QPushButton>("modelLoad")->isEnabled());
}

void ModelsPageTest::loadingShowsProgressAndCanBeCancelled() {
  PageRig<ModelsPage> rig;
  auto view = std::make_shared<SnapshotView>(*loadedView());
  ModelInfo loading = fileModel("Other.gguf");
  loading.id = ModelId{2};
  loading.state = ModelInfo::State::kLoading;
  loading.progress = 0.425;
  view->models = {loading};
  rig.show(view);
  auto* card = rig.find<ModelCard>("modelCard");
  QVERIFY(card->findChild<QProgressBar*>()->isVisible());
  QCOMPARE(card->findChild<QProgressBar*>()->value(), 425);
  QVERIFY(rig.find<QLabel>("modelReason")->text().startsWith(QStringLiteral("42.5\u00a0% of the file")));
  auto* stop = rig.find<QPushButton>("modelStop");
  QCOMPARE(stop->text(), QStringLiteral("&Cancel loading"));
  QTest::mouseClick(stop, Qt::LeftButton);
  QCOMPARE(std::get<command::UnloadModel>(rig.client.commands.at(0)).model, ModelId{2});
}

void ModelsPageTest::cancelledLoadIsNoProblem() {
  PageRig<ModelsPage> rig;
  rig.show(loadedView());
  rig.find<QTableView>("modelFiles")->selectRow(1);
  rig.client.next.ok = false;
  rig.client.next.code = QStringLiteral("cancelled");
  QTest::mouseClick(rig.find<QPushButton>("modelLoad"), Qt::LeftButton);
  QVERIFY(rig.shell.problems.isEmpty());
  QCOMPARE(rig.shell.toasts, QVector<QString>{QStringLiteral("Loading Other.gguf was cancelled")});
}

void ModelsPageTest::refusalSaysWhyAndWhatToDo() {
  PageRig<ModelsPage> rig;
  auto view = loadedView();
  view->models[1].id = ModelId{9};
  view->models[1].state = ModelInfo::State::kFailed;
  view->models[1].error = QStringLiteral("the architecture \u201cmamba\u201d is not supported");
  view->models.removeFirst();
  rig.show(view);
  const QString reason = rig.find<QLabel>("modelReason")->text();
  QVERIFY(reason.startsWith(view->models[0].error));
  QVERIFY(reason.contains(QStringLiteral("What to do: check the file at /models/Other.gguf")));
  QTest::mouseClick(rig.find<QPushButton>("modelRetry"), Qt::LeftButton);
  QCOMPARE(std::get<command::LoadModel>(rig.client.commands.at(0)).path, QStringLiteral("/models/Other.gguf"));
  QTest::mouseClick(rig.find<QPushButton>("modelStop"), Qt::LeftButton);
  QCOMPARE(std::get<command::UnloadModel>(rig.client.commands.at(1)).model, ModelId{9});
}

void ModelsPageTest::unloadAsksWithFigures() {
  PageRig<ModelsPage> rig;
  auto view = loadedView();
  view->running = 2;
  rig.show(view);
  QTest::mouseClick(rig.find<QPushButton>("modelStop"), Qt::LeftButton);
  QVERIFY(rig.client.commands.empty());
  auto* dialog = rig.find<QDialog>("confirmDialog");
  QVERIFY(dialog != nullptr && dialog->isVisible());
  const QString text = dialog->findChild<QLabel*>(QStringLiteral("confirmText"))->text();
  QVERIFY2(text.contains(QStringLiteral("100\u00a0MiB of weights and 200\u00a0MiB kept")), qPrintable(text));
  QVERIFY2(text.contains(QStringLiteral("2 running")), qPrintable(text));
  auto* act = dialog->findChild<QPushButton*>(QStringLiteral("confirmAct"));
  QVERIFY(!act->hasFocus());
  QTest::mouseClick(act, Qt::LeftButton);
  QCOMPARE(std::get<command::UnloadModel>(rig.client.commands.at(0)).model, ModelId{1});
}

void ModelsPageTest::withoutAModelTheStepIsNamed() {
  PageRig<ModelsPage> rig;
  auto view = loadedView();
  view->models = {fileModel("Other.gguf")};
  view->pool = {};
  sumPool(*view);
  rig.show(view);
  auto* empty = rig.page->findChild<EmptyState*>();
  QVERIFY(empty->isVisible());
  QVERIFY(!rig.find<MemoryLedger>("memoryLedger")->isVisible());
  QTest::mouseClick(empty->findChild<QPushButton*>(QStringLiteral("emptyPrimary")), Qt::LeftButton);
  QCOMPARE(rig.shell.choices, 1);
  QCOMPARE(rig.find<QLabel>("loadCost")->text(), QStringLiteral("Reads 644\u00a0MiB from disk."));
}

void ModelsPageTest::verbsAreOffWhileTheEngineIsLost() {
  PageRig<ModelsPage> rig;
  rig.show(loadedView());
  rig.client.link(LinkState::kLost, QStringLiteral("gone"));
  QVERIFY(!rig.find<QPushButton>("modelStop")->isEnabled());
  rig.client.link(LinkState::kConnected);
  QVERIFY(rig.find<QPushButton>("modelStop")->isEnabled());
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::ModelsPageTest)
#include "models_page_test.moc"
