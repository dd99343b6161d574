// SPDX-License-Identifier: GPL-3.0-or-later
// The Tiers page over literal snapshots: what each tier holds and moves, why the disk is not used, faults, empty
// states.
#include "gui/pages/tiers/tiers_page.h"

#include <QLabel>
#include <QPushButton>
#include <QtTest>

#include "gui/pages/tiers/tier_card.h"
#include "gui/widgets/chip.h"
#include "gui/widgets/empty_state.h"
#include "tests/gui/support/page_rig.h"
#include "tests/gui/support/page_shell.h"

namespace larder::gui {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

std::shared_ptr<SnapshotView> tierView() {
  auto view = sampleView(12, 0);
  view->pool = {1000, 400, 500, 100, 60, kMiB, 250 * kMiB, 17, 12};
  QVector<TreeNode> nodes = view->tree->nodes;
  nodes[0].stored_blocks = nodes[0].blocks + 3;  // three of them on disk only
  nodes[0].disk_blocks = 3;
  view->tree = buildTreeRows(nodes);
  StoreInfo& store = view->store;
  store.used = true;
  store.mode = QStringLiteral("on");
  store.blocks = 661;
  store.bytes_on_disk = 574 * kMiB;
  store.cap_bytes = 2048 * kMiB;
  store.pinned_blocks = 66;
  store.read_bytes_per_s = 910.0 * kMiB;
  store.budget_bytes = 20 * 1024 * kMiB;
  store.budget_spent = 2 * 1024 * kMiB;
  store.restored_blocks = 419;
  store.restored_tokens = 13'417;
  store.restore_ms = 2100;
  store.declined_slower = 3;
  store.declined_damaged = 1;
  store.io_path = QStringLiteral("io_uring");
  store.cipher = QStringLiteral("AES-256-GCM");
  sumPool(*view);
  return view;
}

QString figure(const TierFacts& facts, const char* caption) {
  for (const CaptionedFigure& one : facts.figures) {
    if (one.caption == QLatin1String(caption)) return one.figure;
  }
  return QStringLiteral("no such figure");
}

}  // namespace

class TiersPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }
  void poolSaysWhatItHolds();
  void diskSaysWhatItHoldsAndMoves();
  void copiesInMemoryHaveACardWhereTheyMayBeKept();
  void whatWaitsForTheDiskIsShownWithItsAge();
  void whatWasNeverMeasuredIsADash();
  void faultsAreNamedWithTheLastOne();
  void restingModesSaySo();
  void unusedDiskSaysWhy_data();
  void unusedDiskSaysWhy();
  void nonsenseFiguresAreBounded();
  void pageShowsACardPerTier();
  void serverWithoutADiskTierHasNoSuchCard();
  void emptyPageOffersAModelOnlyWhereOneCanBeLoaded();
  void lostLinkKeepsTheLastValues();
};

void TiersPageTest::poolSaysWhatItHolds() {
  const auto view = tierView();
  const auto facts = poolFacts(*view);
  QVERIFY(facts.has_value());
  QCOMPARE(facts->tier, Tier::kHost);
  QCOMPARE(facts->amount, QStringLiteral("600\u00a0MiB of 0.98\u00a0GiB"));
  QCOMPARE(facts->content, QStringLiteral("600 blocks, 60 pinned"));
  QCOMPARE(facts->used / facts->capacity, 0.6);
  QCOMPARE(figure(*facts, "In use now"), QStringLiteral("100 blocks"));
  QCOMPARE(figure(*facts, "Gave way here"), QStringLiteral("17 blocks"));
  QCOMPARE(figure(*facts, "With a copy on disk"), QStringLiteral("%1 blocks").arg(view->tree->nodes[0].blocks));
  view->models[0].arithmetic_id = QStringLiteral("cuda/sm90/1");
  QCOMPARE(poolFacts(*view)->tier, Tier::kDevice);
}

void TiersPageTest::diskSaysWhatItHoldsAndMoves() {
  const auto facts = diskFacts(*tierView());
  QVERIFY(facts.has_value());
  QCOMPARE(facts->tier, Tier::kDisk);
  QCOMPARE(facts->note, QStringLiteral("io_uring \u00b7 sealed with AES-256-GCM"));
  QCOMPARE(facts->amount, QStringLiteral("574\u00a0MiB of 2.00\u00a0GiB"));
  QCOMPARE(facts->content, QStringLiteral("661 blocks, 66 pinned"));
  QCOMPARE(figure(*facts, "Read"), QStringLiteral("910\u00a0MiB/s"));
  QCOMPARE(figure(*facts, "On the way down"), QStringLiteral("nothing"));
  QCOMPARE(figure(*facts, "Restored"), QStringLiteral("13,417 tokens"));
  QCOMPARE(figure(*facts, "Requests waited for it"), QStringLiteral("2.10\u00a0s"));
  QCOMPARE(figure(*facts, "Computed instead, requests"), QStringLiteral("3 faster computed, 1 damaged"));
  QCOMPARE(figure(*facts, "Written today"), QStringLiteral("2.00\u00a0GiB of 20.0\u00a0GiB (10.0\u00a0%)"));
  QCOMPARE(figure(*facts, "Left free on the disk"), QStringLiteral("5 %, at least 1 GiB"));  // what 0 stands for
  QCOMPARE(facts->health.mood, Mood::kOk);
}

void TiersPageTest::copiesInMemoryHaveACardWhereTheyMayBeKept() {
  const auto view = tierView();
  QVERIFY(!ramFacts(*view).has_value());
  view->store.ram_cap_bytes = 512 * kMiB;
  view->store.ram_bytes = 128 * kMiB;
  view->store.ram_blocks = 300;
  view->store.ram_reads = 45;
  const auto facts = ramFacts(*view);
  QVERIFY(facts.has_value());
  QCOMPARE(facts->name, QStringLiteral("Copies in memory"));
  QCOMPARE(facts->amount, QStringLiteral("128\u00a0MiB of 512\u00a0MiB"));
  QCOMPARE(facts->content, QStringLiteral("300 blocks"));
  QCOMPARE(figure(*facts, "Read"), QStringLiteral("\u2013"));
  QCOMPARE(figure(*facts, "Read instead of the disk"), QStringLiteral("45 blocks"));
  view->store.used = false;
  QVERIFY(!ramFacts(*view).has_value());
}

void TiersPageTest::whatWaitsForTheDiskIsShownWithItsAge() {
  const auto view = tierView();
  view->store.queued_blocks = 12;
  view->store.queued_bytes = 9 * kMiB;
  view->store.lag_ms = 140;
  const auto facts = diskFacts(*view);
  QCOMPARE(figure(*facts, "On the way down"), QStringLiteral("12 blocks, 9.00\u00a0MiB"));
  QCOMPARE(figure(*facts, "Oldest of them waits"), QStringLiteral("140\u00a0ms"));
}

void TiersPageTest::whatWasNeverMeasuredIsADash() {
  const auto view = tierView();
  view->store.read_bytes_per_s = 0;
  view->store.restored_blocks = 0;
  const auto facts = diskFacts(*view);
  for (const char* caption : {"Read", "Written", "Oldest of them waits", "Requests waited for it"}) {
    QCOMPARE(figure(*facts, caption), QStringLiteral("\u2013"));
  }
}

void TiersPageTest::faultsAreNamedWithTheLastOne() {
  const auto view = tierView();
  view->store.damaged_blocks = 2;
  view->store.failed_io = 5;
  view->store.last_failure = QStringLiteral("write: no space left on device");
  const auto facts = diskFacts(*view);
  QCOMPARE(facts->health.mood, Mood::kError);
  QCOMPARE(facts->health.text, QStringLiteral("2 damaged, 5 failed"));
  QCOMPARE(facts->health_text, QStringLiteral("write: no space left on device"));
}

void TiersPageTest::restingModesSaySo() {
  const auto view = tierView();
  view->store.mode = QStringLiteral("frozen");
  QCOMPARE(diskFacts(*view)->health.text, QStringLiteral("frozen"));
  view->store.mode = QStringLiteral("bypass");
  QCOMPARE(diskFacts(*view)->health.text, QStringLiteral("bypassed"));
  view->store.budget_bytes = 0;
  QCOMPARE(figure(*diskFacts(*view), "Written today"), QStringLiteral("nothing may be written"));
}

void TiersPageTest::unusedDiskSaysWhy_data() {
  QTest::addColumn<QString>("mode");
  QTest::addColumn<QString>("reason");
  QTest::addColumn<QString>("chip");
  QTest::addColumn<QString>("text");
  QTest::newRow("off") << QStringLiteral("off") << QStringLiteral("store.mode is off") << QStringLiteral("off")
                       << QStringLiteral("It is turned off in the settings.");
  QTest::newRow("refused") << QStringLiteral("on") << QStringLiteral("the folder is locked")
                           << QStringLiteral("not used") << QStringLiteral("the folder is locked");
  QTest::newRow("early") << QStringLiteral("on") << QString() << QStringLiteral("not open yet")
                         << QStringLiteral("It is opened with the model.");
}

void TiersPageTest::unusedDiskSaysWhy() {
  QFETCH(QString, mode);
  QFETCH(QString, reason);
  QFETCH(QString, chip);
  QFETCH(QString, text);
  const auto view = tierView();
  view->store = StoreInfo{};
  view->store.mode = mode;
  view->store.reason = reason;
  PageRig<TiersPage> rig;
  rig.show(view);
  auto* card = rig.find<TierCard>("diskTier");
  QVERIFY(card->isVisible());
  QCOMPARE(card->findChild<Chip*>()->label().text, chip);
  QCOMPARE(rig.find<QLabel>("diskTierHealth")->text(), text);
  QVERIFY(!card->findChild<FigureGrid*>()->isVisible());
}

void TiersPageTest::nonsenseFiguresAreBounded() {
  const auto view = tierView();
  view->pool.blocks_free = view->pool.blocks_total + 7;
  sumPool(*view);
  QCOMPARE(poolFacts(*view)->used, 0.0);
  view->store.pinned_blocks = 5000;
  view->store.blocks = 3;
  const auto facts = diskFacts(*view);
  QVERIFY(facts->pinned <= facts->used);
  view->store.blocks = 0;
  QCOMPARE(diskFacts(*view)->pinned, 0.0);
}

void TiersPageTest::pageShowsACardPerTier() {
  PageRig<TiersPage> rig;
  rig.show(tierView());
  for (const char* name : {"poolTier", "diskTier"}) QVERIFY(rig.find<TierCard>(name)->isVisible());
  QVERIFY(!rig.page->findChild<EmptyState*>()->isVisible());
  QCOMPARE(rig.find<TierCard>("diskTier")->findChild<FigureGrid*>()->figureOf(QStringLiteral("Restored")),
           QStringLiteral("13,417 tokens"));
  for (const auto mode : {Theme::Mode::kLight, Theme::Mode::kDark}) {
    rig.theme.setMode(mode);
    QVERIFY(!rig.page->grab().isNull());
    keepPicture(*rig.page, mode == Theme::Mode::kDark ? QStringLiteral("tiers-dark") : QStringLiteral("tiers-light"));
  }
}

void TiersPageTest::serverWithoutADiskTierHasNoSuchCard() {
  const auto view = tierView();
  view->store = StoreInfo{};
  PageRig<TiersPage> rig;
  rig.show(view);
  QVERIFY(rig.find<TierCard>("poolTier")->isVisible());
  QVERIFY(!rig.find<TierCard>("diskTier")->isVisible());
  QCOMPARE(figure(*poolFacts(*view), "With a copy on disk"), QStringLiteral("no such figure"));
}

void TiersPageTest::emptyPageOffersAModelOnlyWhereOneCanBeLoaded() {
  auto view = std::make_shared<SnapshotView>();
  view->tree = buildTreeRows({});
  for (const bool attached : {false, true}) {
    PageRig<TiersPage> rig;
    if (attached) rig.client.beAttached();
    rig.show(view);
    auto* empty = rig.page->findChild<EmptyState*>();
    QVERIFY(empty->isVisible());
    QVERIFY(!rig.find<TierCard>("poolTier")->isVisible());
    int buttons = 0;
    for (const QPushButton* button : empty->findChildren<QPushButton*>()) buttons += button->isVisible() ? 1 : 0;
    QCOMPARE(buttons, attached ? 0 : 1);
    Q_EMIT empty->primaryWanted();
    QCOMPARE(rig.shell.choices, 1);
  }
}

void TiersPageTest::lostLinkKeepsTheLastValues() {
  PageRig<TiersPage> rig;
  rig.client.beAttached();
  rig.show(tierView());
  rig.client.link(LinkState::kLost);
  rig.page->refreshNow();
  QVERIFY(rig.find<TierCard>("diskTier")->isVisible());
  bool said = false;
  for (const QLabel* label : rig.page->findChildren<QLabel*>()) {
    said = said || label->text().startsWith(QStringLiteral("last values from "));
  }
  QVERIFY(said);
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::TiersPageTest)
#include "tiers_page_test.moc"
