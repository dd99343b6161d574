// SPDX-License-Identifier: GPL-3.0-or-later
// The drawn tree's layout, the Overview's figures and the merging of deltas: pure parts, recounted from their inputs.
#include <QTranslator>
#include <QtTest>
#include <cmath>
#include <random>

#include "gui/bridge/convert.h"
#include "gui/bridge/error_words.h"
#include "gui/models/words.h"
#include "gui/pages/overview/figures.h"
#include "gui/pages/tree/icicle_layout.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/stacked_bars.h"
#include "gui/widgets/time_chart.h"
#include "tests/gui/support/scripted_client.h"

namespace larder::gui {

class LayoutTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sumsOfRowsAddUp();
  void aParentThatIsUnknownHangsBelowItsTenant();
  void boxesOfOneLevelNeverOverlap();
  void shownJoinedAndOutsideAreAllRuns();
  void hitTestInvertsTheLayout();
  void hundredThousandNodesAreLaidQuickly();
  void figuresAreTheSumsOfTheIntervals();
  void lostSecondsAreCountedPerCause();
  void mergedDeltasEqualTheWholeSnapshot();
  void aNewEngineReplacesTheView();
  void recordsGoWithTheirTenant();
  void numbersCarryThreeDigitsAndAUnit();
  void everyErrorCodeHasASentence();
  void labelsOfTheEngineAreTranslated();
  void timesStandOnWholeMinutes();
  void countsHaveWholeTicks_data();
  void countsHaveWholeTicks();
};

void LayoutTest::sumsOfRowsAddUp() {
  const auto rows = buildTreeRows(sampleNodes(500));
  std::uint64_t tokens = 0, bytes = 0;
  for (const TreeNode& node : rows->nodes) tokens += node.tokens, bytes += node.bytes;
  QCOMPARE(rows->rows[0].all.tokens, tokens);
  QCOMPARE(rows->rows[0].all.bytes, bytes);
  QCOMPARE(rows->rows[0].all.nodes, 500u);
  for (std::size_t i = 0; i < rows->rows.size(); ++i) {
    const TreeRow& row = rows->rows[i];
    QVERIFY(row.parent < static_cast<int>(i));
    std::uint64_t sum = row.own.tokens;
    for (int c = 0; c < row.child_count; ++c) {
      const TreeRow& child = rows->rows[static_cast<std::size_t>(row.first_child + c)];
      QCOMPARE(child.parent, static_cast<int>(i));
      sum += child.all.tokens;
    }
    QCOMPARE(sum, row.all.tokens);
  }
}

void LayoutTest::aParentThatIsUnknownHangsBelowItsTenant() {
  TreeNode node;
  node.id = NodeId{9};
  node.parent = NodeId{77};
  node.tenant = TenantId{2};
  node.tokens = 32;
  const auto rows = buildTreeRows({node});
  const TreeRow& run = rows->rows[static_cast<std::size_t>(rows->indexOfNode(NodeId{9}))];
  QCOMPARE(rows->rows[static_cast<std::size_t>(run.parent)].kind, TreeRow::Kind::kTenant);
}

void LayoutTest::boxesOfOneLevelNeverOverlap() {
  const auto rows = buildTreeRows(sampleNodes(3000));
  for (const double scale : {1.0, 3.7, 100.0}) {
    for (const double ratio : {1.0, 1.25, 2.0}) {
      IcicleFrame frame;
      frame.viewport = 917;
      frame.scale = scale;
      frame.offset = 0.3 * frame.viewport * (scale - 1);
      frame.ratio = ratio;
      const Icicle drawn = layIcicle(*rows, frame);
      QVERIFY(drawn.boxes.size() > 3);
      std::vector<double> end(static_cast<std::size_t>(drawn.levels), -1e9);
      for (const IcicleBox& box : drawn.boxes) {
        auto& last = end[static_cast<std::size_t>(box.level)];
        QVERIFY2(box.x >= last - 1e-9, "siblings overlap");
        last = box.x + box.width;
        QVERIFY(std::abs(box.x * ratio - std::round(box.x * ratio)) < 1e-6);
        if (box.parent < 0) continue;
        const IcicleBox& parent = drawn.boxes[static_cast<std::size_t>(box.parent)];
        QVERIFY(box.x >= parent.x - 1e-9 && box.x + box.width <= parent.x + parent.width + 1e-9);
      }
    }
  }
}

void LayoutTest::shownJoinedAndOutsideAreAllRuns() {
  const auto rows = buildTreeRows(sampleNodes(5000));
  for (const double scale : {1.0, 8.0, 400.0}) {
    for (const double join : {0.0001, 0.001, 0.02}) {
      IcicleFrame frame;
      frame.viewport = 900;
      frame.scale = scale;
      frame.offset = 450 * (scale - 1);
      frame.join_share = join;
      const Icicle drawn = layIcicle(*rows, frame);
      QCOMPARE(drawn.shown + drawn.joined + drawn.outside, 5000u);
      std::uint32_t joined = 0;
      for (const IcicleBox& box : drawn.boxes) joined += box.joined_nodes;
      QCOMPARE(joined, drawn.joined);
    }
  }
}

void LayoutTest::hitTestInvertsTheLayout() {
  const auto rows = buildTreeRows(sampleNodes(400));
  IcicleFrame frame;
  frame.viewport = 900;
  const Icicle drawn = layIcicle(*rows, frame);
  for (std::size_t i = 0; i < drawn.boxes.size(); ++i) {
    const IcicleBox& box = drawn.boxes[i];
    if (box.width <= 0) continue;
    QCOMPARE(boxAt(drawn, box.x + box.width / 2, box.level), static_cast<int>(i));
  }
  QCOMPARE(boxAt(drawn, -5, 0), -1);
}

void LayoutTest::hundredThousandNodesAreLaidQuickly() {
  const auto rows = buildTreeRows(sampleNodes(100'000));
  IcicleFrame frame;
  frame.viewport = 1600;
  frame.scale = 64;
  QElapsedTimer timer;
  timer.start();
  Icicle drawn;
  for (int i = 0; i < 5; ++i) drawn = layIcicle(*rows, frame);
  QVERIFY(drawn.boxes.size() <= static_cast<std::size_t>(kMaxBoxes));
  QVERIFY2(timer.elapsed() < 5 * 100, "layout of 100,000 nodes takes over 100 ms");
}

void LayoutTest::figuresAreTheSumsOfTheIntervals() {
  const auto view = sampleView(60, 40);
  const OverviewFigures figures = countFigures(*view, 30 * 60'000, 60);
  std::uint64_t asked = 0, reused = 0, in_buckets = 0;
  for (const RequestPtr& request : view->requests) {
    if (request->submitted < view->at - 30 * 60'000) continue;
    asked += request->usage.prompt_tokens;
    reused += request->usage.cached_tokens;
  }
  for (const Bucket& bucket : figures.buckets) in_buckets += bucket.asked;
  QVERIFY(asked > 0);
  QCOMPARE(figures.asked, asked);
  QCOMPARE(figures.reused, reused);
  QCOMPARE(in_buckets, asked);
  QCOMPARE(figures.warm.requests + figures.cold.requests, 40);
}

void LayoutTest::lostSecondsAreCountedPerCause() {
  const auto view = sampleView(60, 40);
  const OverviewFigures figures = countFigures(*view, 60 * 60'000, 60);
  double lost = 0;
  for (const RequestPtr& request : view->requests) lost += lostMs(*request);
  QVERIFY(lost > 0);
  QCOMPARE(figures.lost_ms, lost);
  double of_causes = 0;
  for (qsizetype i = 0; i < figures.misses.size(); ++i) {
    of_causes += figures.misses[i].lost_ms;
    if (i > 0) QVERIFY(figures.misses[i - 1].lost_ms >= figures.misses[i].lost_ms);
  }
  QVERIFY(std::abs(of_causes - lost) < 1e-6);
}

namespace {

engine::Snapshot snapshotWith(std::uint64_t epoch, std::uint64_t since, std::vector<std::uint64_t> requests) {
  engine::Snapshot snapshot;
  snapshot.epoch = epoch;
  snapshot.since = since;
  engine::TenantInfo tenant;
  tenant.id = TenantId{1};
  tenant.name = "home";
  snapshot.tenants = {tenant};
  for (const std::uint64_t id : requests) {
    engine::RequestRecord record;
    record.id = RequestId{id};
    record.tenant = 1;
    record.epoch = epoch;
    snapshot.requests.push_back(record);
  }
  return snapshot;
}

}  // namespace

void LayoutTest::mergedDeltasEqualTheWholeSnapshot() {
  std::mt19937 random(9);
  SnapshotPtr merged;
  std::vector<std::uint64_t> all;
  for (std::uint64_t epoch = 1; epoch < 60; ++epoch) {
    std::vector<std::uint64_t> fresh;
    for (unsigned i = 0; i < random() % 4; ++i) fresh.push_back(all.size() + fresh.size() + 1);
    if (!all.empty()) fresh.push_back(all[random() % all.size()]);  // an older request changed
    merged = mergeViews(merged, toDelta(snapshotWith(epoch, epoch - 1, fresh)));
    for (const std::uint64_t id : fresh) {
      if (id > all.size()) all.push_back(id);
    }
    QCOMPARE(merged->requests.size(), static_cast<qsizetype>(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      QCOMPARE(merged->requests[static_cast<qsizetype>(i)]->id.value, static_cast<std::uint64_t>(i + 1));
    }
    for (const std::uint64_t id : fresh) QCOMPARE(findRequest(*merged, RequestId{id})->epoch, epoch);
  }
}

void LayoutTest::aNewEngineReplacesTheView() {
  const SnapshotPtr before = mergeViews(nullptr, toDelta(snapshotWith(40, 0, {1, 2, 3})));
  const SnapshotPtr after = mergeViews(before, toDelta(snapshotWith(1, 0, {1})));
  QCOMPARE(after->requests.size(), 1);
}

void LayoutTest::recordsGoWithTheirTenant() {
  const SnapshotPtr before = mergeViews(nullptr, toDelta(snapshotWith(1, 0, {1, 2})));
  engine::Snapshot gone = snapshotWith(2, 1, {});
  gone.tenants.clear();
  QCOMPARE(mergeViews(before, toDelta(gone))->requests.size(), 0);
}

void LayoutTest::numbersCarryThreeDigitsAndAUnit() {
  QCOMPARE(bytesText(0), QStringLiteral("0\u00a0B"));
  QCOMPARE(bytesText(1'481'763'717), QStringLiteral("1.38\u00a0GiB"));
  QCOMPARE(bytesText(1023 * 1024), QStringLiteral("1.00\u00a0MiB"));
  QCOMPARE(durationText(81), QStringLiteral("81.0\u00a0ms"));
  QCOMPARE(durationText(2050), QStringLiteral("2.05\u00a0s"));
  QCOMPARE(durationText(-1), noData());
  QCOMPARE(spanText(10'000), QStringLiteral("10\u00a0s"));
  QCOMPARE(spanText(-1), QStringLiteral("0\u00a0s"));
  QCOMPARE(agoText(0, 90'000), noData());
  QCOMPARE(agoText(1, 90'001), QStringLiteral("1\u00a0min"));
  QCOMPARE(splitFigure(bytesText(2048)).unit, QStringLiteral("KiB"));
  QCOMPARE(splitFigure(noData()).unit, QString());
  QCOMPARE(percentText(1, 0), noData());
  QCOMPARE(percentText(865, 1000), QStringLiteral("86.5\u00a0%"));
  QLocale::setDefault(QLocale(QLocale::Italian));
  QCOMPARE(countText(2656), QStringLiteral("2.656"));
  QCOMPARE(durationText(18'700), QStringLiteral("18,7\u00a0s"));
  QLocale::setDefault(QLocale::c());
}

void LayoutTest::everyErrorCodeHasASentence() {
  QTranslator italian;
  QVERIFY(italian.load(QStringLiteral(":/i18n/larder_it.qm")));
  QSet<QString> sentences;
  constexpr int kCodes = static_cast<int>(ErrorCode::kInternal) + 1;
  for (int i = 0; i < kCodes; ++i) {
    const Error error{static_cast<ErrorCode>(i), "pin budget: 512 MiB", "pins"};
    const QString sentence = errorSentence(codeOf(error));
    sentences.insert(sentence);
    QVERIFY2(sentence.endsWith(QLatin1Char('.')), qPrintable(codeOf(error)));
    QCOMPARE(errorText(error), sentence + QStringLiteral("\npin budget: 512 MiB"));
    QCoreApplication::installTranslator(&italian);
    QVERIFY2(errorSentence(codeOf(error)) != sentence, qPrintable(sentence));
    QCoreApplication::removeTranslator(&italian);
  }
  QCOMPARE(sentences.size(), kCodes);
  const CommandOutcome refused = toQt(Result<engine::VerbResult>(Error{ErrorCode::kConflict, "it is in use", ""}));
  QCOMPARE(refused.code, QStringLiteral("conflict"));
  QCOMPARE(refused.message, errorSentence(refused.code) + QStringLiteral("\nit is in use"));
  QCOMPARE(errorText(QStringLiteral("of another server"), QStringLiteral("HTTP 418")), QStringLiteral("HTTP 418"));
  QCOMPARE(errorText(QStringLiteral("io"), QString()), errorSentence(QStringLiteral("io")));
  // As records and models hold it.
  QCOMPARE(errorText(toQt(to_string(Error{ErrorCode::kIo, "read: no such disk", ""}))),
           errorSentence(QStringLiteral("io")) + QStringLiteral("\nread: no such disk"));
  QCOMPARE(errorText(QStringLiteral("tools: none")), QStringLiteral("tools: none"));
}

void LayoutTest::labelsOfTheEngineAreTranslated() {
  QTranslator italian;
  QVERIFY(italian.load(QStringLiteral(":/i18n/larder_it.qm")));
  const QVector<QPair<const char*, const char*>> made = {
      {"system", "sistema"},        {"template", "modello di chat"},
      {"message 3", "messaggio 3"}, {"user message 3", "messaggio 3, utente"},
      {"tool web", "attrezzo web"}, {"critic message 3", "messaggio 3, critic"}};
  for (const auto& [label, words] : made) {
    QCOMPARE(labelInWords(QString::fromLatin1(label)), QString::fromLatin1(label));
    QCoreApplication::installTranslator(&italian);
    QCOMPARE(labelInWords(QString::fromLatin1(label)), QString::fromLatin1(words));
    QCoreApplication::removeTranslator(&italian);
  }
  QCoreApplication::installTranslator(&italian);
  for (const char* name : {"", "message", "message 3x", "tool", "tool box 4", "a user message 3", "user message -1"}) {
    QCOMPARE(labelInWords(QString::fromLatin1(name)), QString::fromLatin1(name));
  }
  QCoreApplication::removeTranslator(&italian);
}

void LayoutTest::timesStandOnWholeMinutes() {
  constexpr double kMinute = 60'000;
  QCOMPARE(timeStep(5 * kMinute, 5), kMinute);
  QCOMPARE(timeStep(5 * kMinute, 3), 2 * kMinute);
  QCOMPARE(timeStep(30 * kMinute, 5), 10 * kMinute);
  QCOMPARE(timeStep(60 * kMinute, 0), 60 * kMinute);  // a chart too narrow for any
  QCOMPARE(timeStep(1e12, 4), 1440 * kMinute);
}

void LayoutTest::countsHaveWholeTicks_data() {
  using Ticks = QVector<double>;
  QTest::addColumn<double>("highest");
  QTest::addColumn<Ticks>("ticks");
  QTest::newRow("nothing") << 0.0 << Ticks{0};
  QTest::newRow("below nothing") << -3.0 << Ticks{0};
  QTest::newRow("not a number") << std::nan("") << Ticks{0};
  QTest::newRow("one") << 1.0 << Ticks{0, 1};
  QTest::newRow("three") << 3.0 << Ticks{0, 1, 2, 3};
  QTest::newRow("five") << 5.0 << Ticks{0, 2, 4, 6};
  QTest::newRow("ten") << 10.0 << Ticks{0, 5, 10};
  QTest::newRow("forty") << 40.0 << Ticks{0, 10, 20, 30, 40};
  QTest::newRow("tokens") << 4078.0 << Ticks{0, 2000, 4000, 6000};
}

void LayoutTest::countsHaveWholeTicks() {
  QFETCH(double, highest);
  QFETCH(QVector<double>, ticks);
  QCOMPARE(countTicks(highest), ticks);
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::LayoutTest)
#include "layout_test.moc"
