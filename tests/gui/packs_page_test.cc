// SPDX-License-Identifier: GPL-3.0-or-later
// The Packs page over literal snapshots: costs before the click, warm, pin and unpin with undo.
#include "gui/pages/packs/packs_page.h"

#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTableView>
#include <QtTest>

#include "gui/pages/packs/pack_cost.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/figure_grid.h"
#include "tests/gui/support/page_rig.h"

namespace larder::gui {
namespace {

constexpr std::uint64_t kKiB = 1024;

// 32 tokens a block; 820 tokens a second.
std::shared_ptr<SnapshotView> packView() {
  auto view = std::make_shared<SnapshotView>();
  view->epoch = 1;
  view->tree = buildTreeRows({});
  ModelInfo model;
  model.id = ModelId{1};
  model.state = ModelInfo::State::kReady;
  model.name = QStringLiteral("SmolLM2-135M-Instruct");
  model.kv_bytes_per_token = 22 * kKiB;
  view->models = {model};
  view->pool = {400, 300, 100, 0, 16, 704 * kKiB, 64ull << 20, 0, 0};
  view->prefill_tokens_per_s = 820;
  PackInfo casa;
  casa.id = QStringLiteral("casa-it");
  casa.name = QStringLiteral("Casa");
  casa.language = QStringLiteral("it");
  casa.text = QStringLiteral("# Istruzioni\n\nSii breve.");
  casa.tokens = 2080;
  PackInfo home = casa;
  home.id = QStringLiteral("home-en");
  home.name = QStringLiteral("Home");
  home.language = QStringLiteral("en");
  home.text = QStringLiteral("# Instructions");
  home.tokens = 0;
  view->packs = {casa, home};
  sumPool(*view);
  return view;
}

}  // namespace

class PacksPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void costIsWholeBlocksAtTheMeasuredRate();
  void textIsReadOnlyAndThatOfTheChosenPack();
  void figuresAndVerbsSayTheCost();
  void uncountedPackIsADash();
  void warmAsksTheEngine();
  void warmPackIsPinnedByItsNodeAndCanBeUndone();
  void aSecondClickDoesNotPinAgain();
  void coldPackIsWarmedAndPinnedAtOnce();
  void refusalIsShownWithItsReason();
  void aRunningJobTurnsTheVerbsOff();
  void withoutAModelNothingCanBeWarmed();
  void withoutPacksThePageSaysSo();
};

void PacksPageTest::costIsWholeBlocksAtTheMeasuredRate() {
  const auto view = packView();
  const PackCost cost = packCost(*view, view->packs[0]);
  QCOMPARE(cost.blocks, std::uint64_t{65});
  QCOMPARE(cost.bytes, 65 * 704 * kKiB);
  QCOMPARE(qRound(cost.compute_ms), 2537);
  view->packs[0].tokens = 2081;
  QCOMPARE(packCost(*view, view->packs[0]).blocks, std::uint64_t{66});
  view->packs[0].warm = true;
  QCOMPARE(packCost(*view, view->packs[0]).compute_ms, 0.0);
  view->prefill_tokens_per_s = 0;
  view->packs[0].warm = false;
  QCOMPARE(packCost(*view, view->packs[0]).compute_ms, -1.0);
}

void PacksPageTest::textIsReadOnlyAndThatOfTheChosenPack() {
  PageRig<PacksPage> rig;
  rig.show(packView());
  auto* text = rig.find<QPlainTextEdit>("packText");
  QVERIFY(text->isReadOnly());
  QCOMPARE(text->toPlainText(), QStringLiteral("# Istruzioni\n\nSii breve."));
  rig.page->openWith(QStringLiteral("home-en"));
  QCOMPARE(text->toPlainText(), QStringLiteral("# Instructions"));
}

void PacksPageTest::figuresAndVerbsSayTheCost() {
  PageRig<PacksPage> rig;
  rig.show(packView());
  const auto* grid = rig.page->findChild<FigureGrid*>();
  QCOMPARE(grid->figureOf(QStringLiteral("Tokens")), QStringLiteral("2,080"));
  QCOMPARE(grid->figureOf(QStringLiteral("Language")), QStringLiteral("Italian"));
  QCOMPARE(grid->figureOf(QStringLiteral("To compute")), QStringLiteral("2.54\u00a0s"));
  QVERIFY(grid->figureOf(QStringLiteral("In the pool")).startsWith(QStringLiteral("44.7\u00a0MiB, 65 block")));
  QCOMPARE(
      rig.find<QLabel>("packCost")->text(),
      QStringLiteral("Warming takes at most 2.54\u00a0s (2,080 tokens at the measured rate) and keeps 44.7\u00a0MiB."));
  QCOMPARE(rig.find<QPushButton>("packWarm")->text(), QStringLiteral(" &Warm now \u00b7 2.54\u00a0s"));
  QCOMPARE(rig.find<QPushButton>("packPin")->text(), QStringLiteral(" Warm and &pin \u00b7 44.7\u00a0MiB"));
}

void PacksPageTest::uncountedPackIsADash() {
  PageRig<PacksPage> rig;
  rig.show(packView());
  rig.page->openWith(QStringLiteral("home-en"));
  const auto* grid = rig.page->findChild<FigureGrid*>();
  for (const char* caption : {"Tokens", "To compute", "In the pool"}) {
    QCOMPARE(grid->figureOf(QString::fromLatin1(caption)), QStringLiteral("\u2013"));
  }
}

void PacksPageTest::warmAsksTheEngine() {
  PageRig<PacksPage> rig;
  rig.show(packView());
  rig.client.next.tokens = 2080;
  QTest::mouseClick(rig.find<QPushButton>("packWarm"), Qt::LeftButton);
  const auto& asked = std::get<command::WarmPack>(rig.client.commands.at(0));
  QCOMPARE(asked.pack, QStringLiteral("casa-it"));
  QVERIFY(!asked.pin);
  QCOMPARE(rig.shell.toasts, QVector<QString>{QStringLiteral("Casa is warm: 2,080 tokens are kept")});
}

void PacksPageTest::warmPackIsPinnedByItsNodeAndCanBeUndone() {
  PageRig<PacksPage> rig;
  auto view = packView();
  view->packs[0].warm = true;
  view->packs[0].node = NodeId{12};
  rig.show(view);
  QVERIFY(!rig.find<QPushButton>("packWarm")->isEnabled());
  QTest::mouseClick(rig.find<QPushButton>("packPin"), Qt::LeftButton);
  QCOMPARE(std::get<command::PinNode>(rig.client.commands.at(0)).node, NodeId{12});
  rig.shell.toast_act();
  QCOMPARE(std::get<command::Unpin>(rig.client.commands.at(1)).node, NodeId{12});
}

void PacksPageTest::aSecondClickDoesNotPinAgain() {
  PageRig<PacksPage> rig;
  auto view = packView();
  view->packs[0].warm = true;
  rig.show(view);
  auto* pin = rig.find<QPushButton>("packPin");
  QTest::mouseDClick(pin, Qt::LeftButton);
  QTest::mouseClick(pin, Qt::LeftButton);
  QCOMPARE(rig.client.commands.size(), std::size_t{1});
  auto next = std::make_shared<SnapshotView>(*view);
  next->epoch += 2;
  next->packs[0].pinned = true;
  rig.show(next);
  QTest::mouseClick(pin, Qt::LeftButton);
  QVERIFY(std::holds_alternative<command::Unpin>(rig.client.commands.at(1)));
}

void PacksPageTest::coldPackIsWarmedAndPinnedAtOnce() {
  PageRig<PacksPage> rig;
  rig.show(packView());
  QTest::mouseClick(rig.find<QPushButton>("packPin"), Qt::LeftButton);
  QVERIFY(std::get<command::WarmPack>(rig.client.commands.at(0)).pin);
}

void PacksPageTest::refusalIsShownWithItsReason() {
  PageRig<PacksPage> rig;
  rig.show(packView());
  rig.client.next.ok = false;
  rig.client.next.message = QStringLiteral("pin budget: 64 MiB, taken 60 MiB, asked 45 MiB");
  QTest::mouseClick(rig.find<QPushButton>("packPin"), Qt::LeftButton);
  QCOMPARE(rig.shell.problems,
           QVector<QString>{QStringLiteral("The pack Casa was not pinned | ") + rig.client.next.message});
}

void PacksPageTest::aRunningJobTurnsTheVerbsOff() {
  PageRig<PacksPage> rig;
  auto view = packView();
  view->jobs.resize(1);
  view->jobs[0].verb = QStringLiteral("warm casa-it");
  rig.show(view);
  QVERIFY(!rig.find<QPushButton>("packWarm")->isEnabled());
  QVERIFY(rig.page->findChild<QProgressBar*>()->isVisible());
  rig.page->openWith(QStringLiteral("home-en"));
  QVERIFY(rig.find<QPushButton>("packWarm")->isEnabled());
}

void PacksPageTest::withoutAModelNothingCanBeWarmed() {
  PageRig<PacksPage> rig;
  auto view = packView();
  view->models.clear();
  rig.show(view);
  QVERIFY(!rig.find<QPushButton>("packWarm")->isEnabled());
  QVERIFY(!rig.find<QPushButton>("packPin")->isEnabled());
  QVERIFY(rig.find<QLabel>("packCost")->text().startsWith(QStringLiteral("Load a model first")));
}

void PacksPageTest::withoutPacksThePageSaysSo() {
  PageRig<PacksPage> rig;
  auto view = packView();
  view->packs.clear();
  rig.show(view);
  QVERIFY(rig.page->findChild<EmptyState*>()->isVisible());
  QVERIFY(!rig.find<QPushButton>("packWarm")->isVisible());
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::PacksPageTest)
#include "packs_page_test.moc"
