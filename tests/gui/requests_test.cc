// SPDX-License-Identifier: GPL-3.0-or-later
// The Requests page over literal snapshots: sentences, filter, selection, evidence without prompt text, empty states.
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QtTest>

#include "gui/models/request_model.h"
#include "gui/models/words.h"
#include "gui/pages/requests/miss_text.h"
#include "gui/pages/requests/request_filter.h"
#include "gui/pages/requests/requests_page.h"
#include "gui/pages/requests/token_rows.h"
#include "gui/pages/requests/waterfall.h"
#include "gui/theme/roles.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/search_field.h"
#include "tests/gui/support/page_shell.h"
#include "tests/gui/support/scripted_client.h"

namespace larder::gui {
namespace {

constexpr WallTime kAt = 1'760'000'000'000;

// The clock of a prompt moved by a minute: 2,411 tokens reused, 1,620 equal ones after the difference.
RequestRecord clockRecord() {
  RequestRecord record;
  record.id = RequestId{5127};
  record.state = RequestRecord::State::kDone;
  record.tenant = TenantId{1};
  record.model = ModelId{1};
  record.submitted = kAt - 20'000;
  record.usage = {4078, 2411, 48};
  record.timings = {2, 4, 0.2, 2030, 2050, 3400, 41};
  record.sections = {{SectionKind::kSystem, QStringLiteral("system"), 0, 4000, 0, 1006},
                     {SectionKind::kTool, QStringLiteral("tools"), 4000, 9000, 1006, 2382},
                     {SectionKind::kDocument, QStringLiteral("Entities"), 9000, 14'000, 2382, 4078}};
  Verdict& verdict = record.verdict;
  verdict.kind = VerdictKind::kDiverged;
  verdict.prompt_tokens = 4078;
  verdict.reused_tokens = 2411;
  verdict.copied_tokens = 11;
  verdict.computed_tokens = 1667;
  verdict.prefill_tokens_per_s = 820;
  verdict.saved_ms = 2940;
  verdict.tier = QStringLiteral("host");
  verdict.divergence = Divergence{2411, 2, 33, 32, {900, 901, 33, 198}, {900, 901, 32, 198}, 1620, RequestId{5123}};
  record.here_tokens = {QStringLiteral("Time:"), QStringLiteral(" 22:"), QStringLiteral("41"), QStringLiteral("\n")};
  record.cached_tokens = {QStringLiteral("Time:"), QStringLiteral(" 22:"), QStringLiteral("40"), QStringLiteral("\n")};
  return record;
}

RequestRecord evictedRecord() {
  RequestRecord record = clockRecord();
  record.id = RequestId{5119};
  record.submitted = kAt - 220'000;
  record.here_tokens.clear();
  record.cached_tokens.clear();
  record.verdict.divergence.reset();
  record.verdict.kind = VerdictKind::kEvicted;
  record.verdict.prefill_tokens_per_s = 142;
  record.verdict.eviction =
      Eviction{kAt - 752'000, RequestId{5098}, TenantId{2}, QStringLiteral("lru"), 2656, kAt - 1'062'000};
  record.timings.prefill_ms = 19'100;
  record.timings.first_token_ms = 19'146;
  return record;
}

RequestRecord restoredRecord() {
  RequestRecord record = clockRecord();
  record.verdict.restored = Restored{1984, QStringLiteral("disk"), 31, 35, 1900, QString(), 0, 0, 0};
  record.timings.queue_ms = 40;
  return record;
}

std::shared_ptr<SnapshotView> viewWith(const QVector<RequestRecord>& records) {
  auto view = sampleView(60, 40);
  view->models[0].kv_bytes_per_token = view->pool.block_bytes / 32;
  for (const RequestRecord& record : records) {
    view->requests.push_back(std::make_shared<const RequestRecord>(record));
  }
  return view;
}

}  // namespace

class RequestsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void cleanup();
  void movedClockIsNamedWithBothTextsAndItsCost();
  void withoutTextTheSentenceNamesThePosition();
  void positionCountsFromOneInPromptBlockAndSection();
  void evictionNamesWhoAndWhen();
  void hiddenEvictorIsAnotherRequest();
  void restoreSaysWhatItGaveAndWhatItSpared();
  void whatWasNotRestoredSaysWhy_data();
  void whatWasNotRestoredSaysWhy();
  void whatLayOnDiskBlamesNobody();
  void everyVerdictHasASentence();
  void unknownRateIsADash();
  void reportHoldsNoPromptText();
  void filterWordsAreUnderstood_data();
  void filterWordsAreUnderstood();
  void wrongFilterSaysWhatItTakes_data();
  void wrongFilterSaysWhatItTakes();
  void openedRequestShowsItsCard();
  void lostPartOfThePrefillIsHatched();
  void restoreEndsTheWaitInTheQueue();
  void filterNarrowsAndFaultKeepsTheLastResult();
  void arrowKeysChangeTheCard();
  void selectionSurvivesANewSnapshot();
  void copyPutsTheReportInTheClipboard();
  void requestsOutsideTheRangeAreLeftOut();
  void emptyPageOffersTheNextStep();
  void attachedEmptyPageOffersNoFile();
  void failedRequestShowsItsError();
  void picturesInBothThemes();

 private:
  QString labelText(const char* name) const {
    const auto* label = page_->findChild<QLabel*>(QString::fromLatin1(name));
    return label == nullptr ? QString() : label->text();
  }
  QTableView* table() const { return page_->findChild<QTableView*>(QStringLiteral("requestTable")); }

  std::unique_ptr<Theme> theme_;
  std::unique_ptr<ScriptedClient> client_;
  std::unique_ptr<PageShell> shell_;
  std::unique_ptr<RequestsPage> page_;
};

void RequestsTest::init() {
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
  theme_ = std::make_unique<Theme>();
  theme_->setMode(Theme::Mode::kLight);
  client_ = std::make_unique<ScriptedClient>();
  client_->link(LinkState::kConnected);
  shell_ = std::make_unique<PageShell>();
  page_ = std::make_unique<RequestsPage>(QStringLiteral("Requests"), PageContext{*theme_, *client_, *shell_});
  page_->resize(1264, 780);
  page_->show();
  QVERIFY(QTest::qWaitForWindowExposed(page_.get()));
  client_->show(viewWith({evictedRecord(), clockRecord()}));
  page_->refreshNow();
}

void RequestsTest::cleanup() {
  page_.reset();
  client_.reset();
  theme_.reset();
}

void RequestsTest::movedClockIsNamedWithBothTextsAndItsCost() {
  QCOMPARE(
      missSentence(*client_->view(), clockRecord()),
      QStringLiteral("\u201c41\u201d stands where \u201c40\u201d stood in \u201cEntities\u201d, so the 1,620 equal "
                     "tokens after it were computed again. That cost 1.98\u00a0s."));
}

void RequestsTest::withoutTextTheSentenceNamesThePosition() {
  RequestRecord record = clockRecord();
  record.here_tokens.clear();
  record.cached_tokens.clear();
  QCOMPARE(
      missSentence(*client_->view(), record),
      QStringLiteral("Token 2,412, in \u201cEntities\u201d, is another one, so the 1,620 equal tokens after it were "
                     "computed again. That cost 1.98\u00a0s."));
}

void RequestsTest::positionCountsFromOneInPromptBlockAndSection() {
  QCOMPARE(positionText(*client_->view(), clockRecord()),
           QStringLiteral("First difference: token 2,412 of 4,078 \u00b7 block 76, token 12 of 32 \u00b7 section "
                          "\u201cEntities\u201d"));
  QCOMPARE(differingPlace(*clockRecord().verdict.divergence), 2);
}

void RequestsTest::evictionNamesWhoAndWhen() {
  const QString sentence = missSentence(*client_->view(), evictedRecord());
  QVERIFY2(sentence.contains(QStringLiteral("when request #5098 of Open WebUI needed room. Computing them again cost "
                                            "18.7\u00a0s.")),
           qPrintable(sentence));
  QVERIFY(sentence.startsWith(QStringLiteral("These 2,656 tokens were cached until ")));
}

void RequestsTest::hiddenEvictorIsAnotherRequest() {
  RequestRecord record = evictedRecord();
  record.verdict.eviction->by_request = RequestId{};
  record.verdict.eviction->by_tenant = TenantId{};
  const QString sentence = missSentence(*client_->view(), record);
  QVERIFY2(sentence.contains(QStringLiteral("when another request needed room")), qPrintable(sentence));
  record.verdict.eviction->policy = QStringLiteral("unloaded");
  QVERIFY(missSentence(*client_->view(), record).contains(QStringLiteral("when the model was unloaded")));
}

void RequestsTest::restoreSaysWhatItGaveAndWhatItSpared() {
  Verdict verdict = restoredRecord().verdict;
  QCOMPARE(restoreText(verdict), QStringLiteral("Restored 1,984 tokens from disk in 31.0\u00a0ms; computing them would "
                                                "take 1.90\u00a0s."));
  verdict.restored->compute_ms = 0;  // no rate is known yet
  QCOMPARE(restoreText(verdict), QStringLiteral("Restored 1,984 tokens from disk in 31.0\u00a0ms."));
  verdict.lineage = QStringLiteral("int8");
  QCOMPARE(restoreText(verdict),
           QStringLiteral("Restored 1,984 tokens from disk in 31.0\u00a0ms. The reused tokens were "
                          "kept rounded to int8."));
  verdict.lineage = QStringLiteral("exact");
  verdict.restored.reset();
  QVERIFY(restoreText(verdict).isEmpty());

  client_->show(viewWith({restoredRecord(), evictedRecord()}));
  page_->refreshNow();
  page_->openWith(QVariant::fromValue<quint64>(5127));
  QCOMPARE(labelText("missRestored"), restoreText(restoredRecord().verdict));
  QVERIFY(reportWithoutText(*client_->view(), restoredRecord()).contains(restoreText(restoredRecord().verdict)));
  page_->openWith(QVariant::fromValue<quint64>(5119));
  QVERIFY(!page_->findChild<QLabel*>(QStringLiteral("missRestored"))->isVisible());
}

void RequestsTest::whatWasNotRestoredSaysWhy_data() {
  QTest::addColumn<QString>("reason");
  QTest::addColumn<QString>("says");
  QTest::newRow("slower") << QStringLiteral("slower")
                          << QStringLiteral(": restoring would take 35.0\u00a0ms, computing 20.0\u00a0ms.");
  QTest::newRow("no_room") << QStringLiteral("no_room") << QStringLiteral(": memory had no room for them in time.");
  QTest::newRow("late") << QStringLiteral("late") << QStringLiteral(": another request was still reading them.");
  QTest::newRow("damaged") << QStringLiteral("damaged")
                           << QStringLiteral(": what was read did not pass its checks and was dropped.");
  QTest::newRow("stalled") << QStringLiteral("stalled")
                           << QStringLiteral(
                                  ": reading fell behind and would have taken about 35.0\u00a0ms more, "
                                  "computing 20.0\u00a0ms.");
  QTest::newRow("mixed") << QStringLiteral("mixed")
                         << QStringLiteral(
                                ": the rest was read meanwhile, about 20.0\u00a0ms in all, where reading "
                                "everything would take 35.0\u00a0ms.");
  QTest::newRow("newer engine") << QStringLiteral("moon") << QStringLiteral(".");
}

void RequestsTest::whatWasNotRestoredSaysWhy() {
  QFETCH(QString, reason);
  QFETCH(QString, says);
  Verdict verdict;
  verdict.restored = Restored{0, QStringLiteral("disk"), 0, 0, 0, reason, 96, 35, 20};
  QCOMPARE(restoreText(verdict),
           QStringLiteral("96 tokens were computed though they could be restored from disk") + says);
  verdict.restored->tokens = 64;
  QVERIFY(restoreText(verdict).startsWith(QStringLiteral("Restored 64 tokens from disk in ")));
  QVERIFY(restoreText(verdict).endsWith(says));
}

void RequestsTest::whatLayOnDiskBlamesNobody() {
  RequestRecord record = evictedRecord();
  record.verdict.eviction = Eviction{0, RequestId{}, TenantId{}, QStringLiteral("demoted"), 2656, 0};
  QVERIFY(missSentence(*client_->view(), record).startsWith(QStringLiteral("These 2,656 tokens lay on disk only.")));
  QCOMPARE(causeSentence(*client_->view(), record), QStringLiteral("It lay on disk only"));
  const auto fact = [&](const char* name) {
    for (const Fact& one : missFacts(*client_->view(), record)) {
      if (one.name == QLatin1String(name)) return one.value;
    }
    return QString();
  };
  QCOMPARE(fact("Evicted by"), QStringLiteral("nobody, it lay on disk only"));
  QCOMPARE(fact("Rule"), QStringLiteral("lay on disk only"));
  record.verdict.eviction->policy = QStringLiteral("disk_lru");
  record.verdict.eviction->at = kAt - 752'000;
  QVERIFY(missSentence(*client_->view(), record).contains(QStringLiteral("when their copy on disk gave way.")));
  QCOMPARE(fact("Rule"), QStringLiteral("its copy on disk gave way"));
}

void RequestsTest::everyVerdictHasASentence() {
  QSet<QString> said;
  for (const VerdictKind kind :
       {VerdictKind::kFullPrefix, VerdictKind::kCold, VerdictKind::kDiverged, VerdictKind::kEvicted,
        VerdictKind::kOtherIdentity, VerdictKind::kTooShort, VerdictKind::kBypassed}) {
    RequestRecord record = clockRecord();
    record.verdict.kind = kind;
    record.verdict.identity_part = QStringLiteral("kv_type");
    if (kind == VerdictKind::kEvicted) record = evictedRecord();
    const QString sentence = missSentence(*client_->view(), record);
    QVERIFY(sentence.endsWith(QLatin1Char('.')));
    said.insert(sentence);
  }
  QCOMPARE(said.size(), 7);
}

void RequestsTest::unknownRateIsADash() {
  RequestRecord record = clockRecord();
  record.verdict.prefill_tokens_per_s = 0;
  QVERIFY(missSentence(*client_->view(), record).endsWith(QStringLiteral("That cost \u2013.")));
}

void RequestsTest::reportHoldsNoPromptText() {
  RequestRecord record = clockRecord();
  record.here_tokens = {QStringLiteral("geheim"), QStringLiteral("secret-here")};
  record.cached_tokens = {QStringLiteral("geheim"), QStringLiteral("secret-cached")};
  record.diverged_here = QStringLiteral("geheim secret-here");
  const QString report = reportWithoutText(*client_->view(), record);
  QVERIFY(!report.contains(QStringLiteral("secret")) && !report.contains(QStringLiteral("geheim")));
  QVERIFY(report.contains(QStringLiteral("Token ids: 33 here, 32 cached (request #5123)")));
  QVERIFY(report.contains(QStringLiteral("Verdict: diverged")));
}

void RequestsTest::filterWordsAreUnderstood_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("clock");
  QTest::addColumn<bool>("evicted");
  QTest::newRow("empty") << QString() << true << true;
  QTest::newRow("verdict") << QStringLiteral("verdict:div") << true << false;
  QTest::newRow("id") << QStringLiteral("#5119") << false << true;
  QTest::newRow("seconds") << QStringLiteral("ttft>3s") << false << true;
  QTest::newRow("ms") << QStringLiteral("ttft<3000ms") << true << false;
  QTest::newRow("prompt") << QStringLiteral("prompt>5000") << false << false;
  QTest::newRow("reused") << QStringLiteral("reused>50%") << true << true;
  QTest::newRow("two") << QStringLiteral("verdict:evicted prompt>4000") << false << true;
  QTest::newRow("tenant") << QStringLiteral("tenant:HOME") << true << true;
  QTest::newRow("free") << QStringLiteral("evict") << false << true;
}

void RequestsTest::filterWordsAreUnderstood() {
  QFETCH(QString, text);
  QFETCH(bool, clock);
  QFETCH(bool, evicted);
  const ParsedFilter parsed = parseRequestFilter(text);
  QVERIFY2(parsed.error.isEmpty(), qPrintable(parsed.error));
  const auto row = [](const RequestRecord& record) {
    return RequestRow{std::make_shared<const RequestRecord>(record), QStringLiteral("home"), QStringLiteral("SmolLM2"),
                      0};
  };
  QCOMPARE(parsed.filter.matches(row(clockRecord())), clock);
  QCOMPARE(parsed.filter.matches(row(evictedRecord())), evicted);
}

void RequestsTest::wrongFilterSaysWhatItTakes_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("says");
  QTest::newRow("verdict") << QStringLiteral("verdict:xyz") << QStringLiteral("full_prefix");
  QTest::newRow("field") << QStringLiteral("colour:red") << QStringLiteral("tenant:");
  QTest::newRow("number") << QStringLiteral("ttft>soon") << QStringLiteral("ttft>500");
  QTest::newRow("id") << QStringLiteral("#abc") << QStringLiteral("#5127");
  QTest::newRow("nothing") << QStringLiteral("tenant:") << QStringLiteral("missing");
}

void RequestsTest::wrongFilterSaysWhatItTakes() {
  QFETCH(QString, text);
  QFETCH(QString, says);
  const QString error = parseRequestFilter(text).error;
  QVERIFY2(error.contains(says), qPrintable(error));
}

void RequestsTest::openedRequestShowsItsCard() {
  page_->openWith(QVariant::fromValue<quint64>(5127));
  QCOMPARE(table()->currentIndex().data(kIdRole).toULongLong(), 5127ull);
  QCOMPARE(labelText("missSentence"), missSentence(*client_->view(), clockRecord()));
  QVERIFY(labelText("missPosition").contains(QStringLiteral("block 76")));
  QVERIFY(page_->findChild<TokenRows*>()->isVisible());
  page_->openWith(QVariant::fromValue<quint64>(5119));
  QVERIFY(!page_->findChild<TokenRows*>()->isVisible());
  QVERIFY(labelText("missSentence").contains(QStringLiteral("#5098")));
}

void RequestsTest::lostPartOfThePrefillIsHatched() {
  page_->openWith(QVariant::fromValue<quint64>(5127));
  const auto steps = page_->findChild<Waterfall*>()->steps();
  QCOMPARE(steps.size(), 5);
  QCOMPARE(steps[3].length_ms, 2030.0);
  QVERIFY(std::abs(steps[3].lost_ms - 1000.0 * 1620 / 820) < 0.01);
  QVERIFY(labelText("lostLine").contains(QStringLiteral("1.98\u00a0s")));
  double sum = 0;
  for (const WaterfallStep& step : steps) sum += step.length_ms;
  QVERIFY(std::abs(sum - 2050) < 0.01);
}

void RequestsTest::restoreEndsTheWaitInTheQueue() {
  RequestRecord record = restoredRecord();
  const auto restored = [&](qsizetype step) {
    client_->show(viewWith({record}));
    page_->refreshNow();
    page_->openWith(QVariant::fromValue<quint64>(5127));
    return page_->findChild<Waterfall*>()->steps()[step].restored_ms;
  };
  QCOMPARE(restored(1), 31.0);
  QCOMPARE(restored(3), 0.0);
  record.timings.queue_ms = 20;  // never longer than the wait it is part of
  QCOMPARE(restored(1), 20.0);
  record.verdict.restored->tokens = 0;
  QCOMPARE(restored(1), 0.0);
}

void RequestsTest::filterNarrowsAndFaultKeepsTheLastResult() {
  auto* field = page_->findChild<SearchField*>(QStringLiteral("requestFilter"));
  QTest::keyClicks(field, QStringLiteral("verdict:evicted"));
  const int rows = table()->model()->rowCount();
  QVERIFY(rows > 0 && rows < 42);
  for (int i = 0; i < rows; ++i) {
    QCOMPARE(table()->model()->index(i, RequestModel::kVerdict).data().toString(), QStringLiteral("evicted"));
  }
  field->setText(QStringLiteral("verdict:evicted ttft>soon"));
  QVERIFY(!labelText("filterError").isEmpty());
  QCOMPARE(table()->model()->rowCount(), rows);
  QTest::keyClick(field, Qt::Key_Escape);
  QCOMPARE(table()->model()->rowCount(), 42);
}

void RequestsTest::arrowKeysChangeTheCard() {
  page_->openWith(QVariant::fromValue<quint64>(5127));
  const QString before = labelText("missSentence");
  QTest::keyClick(table(), Qt::Key_Down);
  QVERIFY(labelText("missSentence") != before);
}

void RequestsTest::selectionSurvivesANewSnapshot() {
  page_->openWith(QVariant::fromValue<quint64>(5119));
  RequestRecord newest = clockRecord();
  newest.id = RequestId{5200};
  client_->show(viewWith({evictedRecord(), clockRecord(), newest}));
  page_->refreshNow();
  QCOMPARE(table()->currentIndex().data(kIdRole).toULongLong(), 5119ull);
  QCOMPARE(table()->model()->rowCount(), 43);
}

void RequestsTest::copyPutsTheReportInTheClipboard() {
  page_->openWith(QVariant::fromValue<quint64>(5127));
  QTest::mouseClick(page_->findChild<QPushButton*>(QStringLiteral("copyReport")), Qt::LeftButton);
  QCOMPARE(QApplication::clipboard()->text(), reportWithoutText(*client_->view(), clockRecord()));
  QVERIFY(!shell_->toast.isEmpty());
}

void RequestsTest::requestsOutsideTheRangeAreLeftOut() {
  shell_->range = 60'000;
  page_->refreshNow();
  const int rows = table()->model()->rowCount();
  QVERIFY(rows > 0 && rows < 10);
  page_->openWith(QVariant::fromValue<quint64>(5119));
  QCOMPARE(table()->currentIndex().data(kIdRole).toULongLong(), 5119ull);
}

void RequestsTest::emptyPageOffersTheNextStep() {
  client_->show(sampleView(10, 0));
  page_->refreshNow();
  auto* button = page_->findChild<EmptyState*>()->findChild<QPushButton*>(QStringLiteral("emptyPrimary"));
  QVERIFY(button->isVisible());
  QTest::mouseClick(button, Qt::LeftButton);
  QCOMPARE(shell_->opened.at(0).first, QStringLiteral("chat"));
  auto none = sampleView(10, 0);
  none->models.clear();
  client_->show(none);
  page_->refreshNow();
  QTest::mouseClick(button, Qt::LeftButton);
  QCOMPARE(shell_->choices, 1);
  keepPicture(*page_, QStringLiteral("requests-empty"));
}

void RequestsTest::attachedEmptyPageOffersNoFile() {
  client_->beAttached();
  client_->show(sampleView(10, 0));
  page_->refreshNow();
  QVERIFY(!page_->findChild<EmptyState*>()->findChild<QPushButton*>(QStringLiteral("emptyPrimary"))->isVisible());
}

void RequestsTest::failedRequestShowsItsError() {
  RequestRecord failed = clockRecord();
  failed.id = RequestId{5300};
  failed.state = RequestRecord::State::kFailed;
  failed.verdict = {};
  failed.error = QStringLiteral("resource_exhausted: the queue is full");
  client_->show(viewWith({failed}));
  page_->openWith(QVariant::fromValue<quint64>(5300));
  QVERIFY(labelText("missSentence").contains(QStringLiteral("the queue is full")));
}

void RequestsTest::picturesInBothThemes() {
  for (const auto mode : {Theme::Mode::kLight, Theme::Mode::kDark}) {
    theme_->setMode(mode);
    const QString side = mode == Theme::Mode::kDark ? QStringLiteral("dark") : QStringLiteral("light");
    page_->openWith(QVariant::fromValue<quint64>(5127));
    QVERIFY(!page_->grab().isNull());
    keepPicture(*page_, QStringLiteral("requests-diverged-") + side);
    page_->openWith(QVariant::fromValue<quint64>(5119));
    keepPicture(*page_, QStringLiteral("requests-evicted-") + side);
  }
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::RequestsTest)
#include "requests_test.moc"
