// SPDX-License-Identifier: GPL-3.0-or-later
// Models, Tenants and keys, Packs and Chat over the real engine: what a hand does on the page is true in the engine
// afterwards, and the page shows it.
#include <QAbstractItemView>
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <future>

#include "gui/models/model_table.h"
#include "gui/models/tenant_model.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/figure_grid.h"
#include "test_paths.h"
#include "tests/gui/support/live_engine.h"
#include "tests/support/fake_device.h"

namespace larder::gui {
namespace {

constexpr int kWaitMs = 20'000;

std::string packsFolder() { return std::string(LARDER_SOURCE_DIR) + "/resources/packs"; }

// Row of a table whose first column reads `text`; -1 when there is none.
int rowOf(const QAbstractItemView& table, const QString& text, int column = 0) {
  for (int row = 0; row < table.model()->rowCount(); ++row) {
    if (table.model()->index(row, column).data().toString() == text) return row;
  }
  return -1;
}

}  // namespace

class LivePagesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { live_ = std::make_unique<LiveEngine>("larder_live_pages_test"); }
  void cleanup() { live_.reset(); }
  void aModelFileIsLoadedAndUnloaded();
  void aFileThatIsNoModelSaysWhy();
  void theFirstModelAnswersWhileTheSecondIsRefused();
  void aTenantIsMadeUsedAndDeletedWithAllItHeld();
  void aKeyIsShownOnceAndRevoked();
  void aPackIsWarmedPinnedAndUnpinned();
  void theSecondTurnReusesTheFirst();
  void aLongAnswerIsStopped();

 private:
  LiveEngine& live() { return *live_; }
  template <typename Widget>
  Widget* find(const char* name) {
    return live().window().findChild<Widget*>(QString::fromLatin1(name));
  }
  void click(const char* button) {
    auto* found = find<QPushButton>(button);
    QVERIFY2(found != nullptr, button);
    QTRY_VERIFY2_WITH_TIMEOUT(found->isVisible() && found->isEnabled(), button, kWaitMs);
    QTest::mouseClick(found, Qt::LeftButton);
  }
  bool waitFor(const std::function<bool()>& seen) { return QTest::qWaitFor(seen, kWaitMs); }
  void openWith(const std::string& model, const char* page);
  void setLongestAnswer(int tokens) {
    live().window().page(QStringLiteral("chat"))->findChild<QSpinBox*>()->setValue(tokens);
  }
  void sendPrompt(const QString& text);
  TenantId makeTenant(const QString& name);
  QString makeKey(const QString& label);

  std::unique_ptr<LiveEngine> live_;
};

void LivePagesTest::openWith(const std::string& model, const char* page) {
  QVERIFY(live().open(model, packsFolder()));
  live().showWindow();
  live().window().openPage(QString::fromLatin1(page));
  if (!model.empty()) QVERIFY(live().waitForModel());
}

void LivePagesTest::aModelFileIsLoadedAndUnloaded() {
  std::filesystem::create_directories(live().folder() + "/models");
  QVERIFY(writeChatModel(live().folder() + "/models/kitchen.gguf"));
  openWith({}, "models");
  auto* files = find<QAbstractItemView>("modelFiles");
  QTRY_VERIFY_WITH_TIMEOUT(files->model()->rowCount() == 1, kWaitMs);
  QVERIFY(files->model()->index(0, ModelTable::kName).data().toString().contains(QLatin1String("kitchen")));
  bool loading = false;
  connect(&live().client(), &EngineClient::viewChanged, this, [&](const SnapshotPtr& view) {
    for (const ModelInfo& model : view->models) {
      QVERIFY(model.progress >= 0 && model.progress <= 1);
      loading = loading || model.state == ModelInfo::State::kLoading;
    }
  });
  click("modelLoad");
  QVERIFY(live().waitForModel());
  QVERIFY(live().engine().ready());
  const ModelInfo model = *readyModel(live().view());
  QVERIFY(model.has_chat_template);
  QCOMPARE(model.n_context, 8192u);
  QTRY_VERIFY_WITH_TIMEOUT(find<QWidget>("modelCard") != nullptr && find<QWidget>("modelCard")->isVisible(), kWaitMs);
  const auto* figures = find<QWidget>("modelCard")->findChild<FigureGrid*>();
  QTRY_VERIFY_WITH_TIMEOUT(figures->figureOf(QStringLiteral("Context")).startsWith(countText(8192)), kWaitMs);
  QCOMPARE(figures->figureOf(QStringLiteral("Chat template")), QStringLiteral("yes"));

  click("modelStop");
  QVERIFY(waitFor([&] { return find<QDialog>("confirmDialog") != nullptr; }));
  click("confirmAct");
  QTRY_VERIFY_WITH_TIMEOUT(readyModel(live().view()) == nullptr, kWaitMs);
  QVERIFY(!live().engine().ready());
  QTRY_VERIFY_WITH_TIMEOUT(!find<QWidget>("modelCard")->isVisible(), kWaitMs);
  QCOMPARE(files->model()->rowCount(), 1);
}

void LivePagesTest::aFileThatIsNoModelSaysWhy() {
  std::filesystem::create_directories(live().folder() + "/models");
  std::ofstream(live().folder() + "/models/shopping.gguf") << "flour, rice, beans";
  openWith({}, "models");
  click("modelLoad");
  auto* banner = live().window().findChild<Banner*>();
  QTRY_VERIFY_WITH_TIMEOUT(banner->isVisible(), kWaitMs);
  QVERIFY2(banner->content().title.contains(QLatin1String("shopping.gguf")), qPrintable(banner->content().title));
  QVERIFY2(banner->content().text.contains(QLatin1String("'flou'")), qPrintable(banner->content().text));
  QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>("modelReason") != nullptr && find<QLabel>("modelReason")->isVisible(), kWaitMs);
  const QString reason = find<QLabel>("modelReason")->text();
  QVERIFY2(reason.contains(QLatin1String("'flou'")), qPrintable(reason));
  click("modelStop");  // Dismiss
  QTRY_VERIFY_WITH_TIMEOUT(!find<QWidget>("modelCard")->isVisible(), kWaitMs);
}

void LivePagesTest::theFirstModelAnswersWhileTheSecondIsRefused() {
  std::filesystem::create_directories(live().folder() + "/models");
  std::ofstream(live().folder() + "/models/half.gguf", std::ios::binary) << std::ifstream(storiesPath()).rdbuf();
  std::filesystem::resize_file(live().folder() + "/models/half.gguf", 300'000);
  openWith(storiesPath(), "models");
  auto* files = find<QAbstractItemView>("modelFiles");
  QTRY_VERIFY_WITH_TIMEOUT(files->model()->rowCount() == 2, kWaitMs);
  for (int row = 0; row < 2; ++row) {
    if (!files->model()->index(row, ModelTable::kName).data().toString().contains(QLatin1String("half"))) continue;
    files->setCurrentIndex(files->model()->index(row, 0));
  }
  click("modelLoad");
  QTRY_VERIFY_WITH_TIMEOUT(live().window().findChild<Banner*>()->isVisible(), kWaitMs);
  QVERIFY(live().engine().ready());
  Ask ask;
  ask.text = QStringLiteral("Once upon a time");
  ask.max_tokens = 4;
  QVERIFY(live().ask(ask).usage.completion_tokens > 0);
}

TenantId LivePagesTest::makeTenant(const QString& name) {
  click("tenantCreate");
  find<QLineEdit>("tenantName")->setText(name);
  click("formAct");
  auto* table = find<QAbstractItemView>("tenantTable");
  if (!waitFor([&] { return rowOf(*table, name, TenantModel::kName) >= 0; })) return {};
  // What was made is chosen, so that its key can be made next.
  if (!waitFor([&] { return find<QLabel>("tenantTitle")->text() == name; })) return {};
  for (const TenantInfo& tenant : live().view().tenants) {
    if (tenant.name == name) return tenant.id;
  }
  return {};
}

QString LivePagesTest::makeKey(const QString& label) {
  click("keyCreate");
  find<QLineEdit>("keyLabel")->setText(label);
  click("formAct");
  if (!waitFor([&] { return find<QDialog>("keyShown") != nullptr; })) return {};
  const QString secret = find<QLineEdit>("keySecret")->text();
  click("keyClose");
  return secret;
}

void LivePagesTest::aTenantIsMadeUsedAndDeletedWithAllItHeld() {
  openWith(storiesPath(), "tenants");
  const TenantId kids = makeTenant(QStringLiteral("kids"));
  QVERIFY(kids.value != 0);
  const QString secret = makeKey(QStringLiteral("tablet"));
  const auto who = live().engine().authenticate(secret.toStdString());
  QVERIFY2(who.ok(), "the key that was shown must open the engine");
  QCOMPARE(who->tenant, kids);
  QVERIFY(!who->admin);

  engine::Request request;
  request.prompt = engine::TextPrompt{
      "Once upon a time there was a little girl who lived in a house with a garden and a "
      "dog and a cat and a bird, and every day she went out to play with all of them."};
  request.max_tokens = 8;
  auto stream = live().engine().submit(*who, std::move(request));
  QVERIFY(stream.ok());
  const auto ofKids = [&](const auto& rows) {
    return std::count_if(rows.begin(), rows.end(), [&](const auto& row) { return row.tenant == kids; });
  };
  const auto requestsOfKids = [&] {
    const auto& all = live().view().requests;
    return std::count_if(all.begin(), all.end(), [&](const RequestPtr& one) {
      return one->tenant == kids && one->state == RequestRecord::State::kDone;
    });
  };
  QTRY_COMPARE_WITH_TIMEOUT(requestsOfKids(), 1, kWaitMs);
  QTRY_VERIFY_WITH_TIMEOUT(ofKids(live().view().tree->nodes) > 0, kWaitMs);
  const auto* figures = live().window().page(QStringLiteral("tenants"))->findChild<FigureGrid*>();
  const std::uint64_t blocks = findTenant(live().view(), kids)->blocks;
  QVERIFY(blocks > 0);
  QTRY_COMPARE_WITH_TIMEOUT(figures->figureOf(QStringLiteral("Blocks")), countText(blocks), kWaitMs);

  click("tenantDelete");
  QVERIFY(waitFor([&] { return find<QDialog>("confirmDialog") != nullptr; }));
  QVERIFY(!find<QPushButton>("confirmAct")->isEnabled());
  find<QLineEdit>("confirmName")->setText(QStringLiteral("kids"));
  click("confirmAct");
  auto* table = find<QAbstractItemView>("tenantTable");
  QTRY_VERIFY_WITH_TIMEOUT(rowOf(*table, QStringLiteral("kids"), TenantModel::kName) < 0, kWaitMs);
  QCOMPARE(ofKids(live().view().keys), 0);
  QCOMPARE(requestsOfKids(), 0);
  QTRY_COMPARE_WITH_TIMEOUT(ofKids(live().view().tree->nodes), 0, kWaitMs);
  QVERIFY(!live().engine().authenticate(secret.toStdString()).ok());
}

void LivePagesTest::aKeyIsShownOnceAndRevoked() {
  openWith({}, "tenants");
  QVERIFY(makeTenant(QStringLiteral("guest")).value != 0);
  const QString secret = makeKey(QStringLiteral("phone"));
  QVERIFY(secret.size() > 20);
  QTRY_VERIFY_WITH_TIMEOUT(find<QDialog>("keyShown") == nullptr, kWaitMs);
  auto* keys = find<QAbstractItemView>("keyTable");
  QTRY_COMPARE_WITH_TIMEOUT(keys->model()->rowCount(), 1, kWaitMs);
  const auto shows = [&](const QString& text) { return text.contains(secret); };
  for (const auto* label : live().window().findChildren<QLabel*>()) QVERIFY(!shows(label->text()));
  for (const auto* field : live().window().findChildren<QLineEdit*>()) QVERIFY(!shows(field->text()));
  for (const auto* table : live().window().findChildren<QAbstractItemView*>()) {
    if (table->model() == nullptr) continue;
    for (int row = 0; row < table->model()->rowCount(); ++row) {
      for (int column = 0; column < table->model()->columnCount(); ++column) {
        QVERIFY(!shows(table->model()->index(row, column).data().toString()));
      }
    }
  }
  QVERIFY(live().engine().authenticate(secret.toStdString()).ok());
  keys->setCurrentIndex(keys->model()->index(0, keys->model()->columnCount() - 1));
  click("keyRevoke");
  QVERIFY(waitFor([&] { return find<QDialog>("confirmDialog") != nullptr; }));
  click("confirmAct");
  QTRY_COMPARE_WITH_TIMEOUT(keys->model()->rowCount(), 0, kWaitMs);
  QVERIFY(!live().engine().authenticate(secret.toStdString()).ok());
}

void LivePagesTest::aPackIsWarmedPinnedAndUnpinned() {
  const std::string model = live().folder() + ".gguf";
  QVERIFY(writeChatModel(model));
  openWith(model, "packs");
  QTRY_COMPARE_WITH_TIMEOUT(find<QAbstractItemView>("packTable")->model()->rowCount(), 2, kWaitMs);
  const PackInfo pack = live().view().packs[0];
  QCOMPARE(find<QPlainTextEdit>("packText")->toPlainText(), pack.text);
  QVERIFY(!pack.warm && !pack.pinned);
  // What every conversation with the pack begins with, counted by the tokenizer alone.
  const auto counted = live().engine().tokenize("<s><|system|>\n" + pack.text.toStdString(), true);
  QVERIFY(counted.ok());
  const auto tokens = static_cast<std::uint32_t>(counted->size());
  QTRY_COMPARE_WITH_TIMEOUT(live().view().packs[0].tokens, tokens, kWaitMs);
  const auto* figures = live().window().page(QStringLiteral("packs"))->findChild<FigureGrid*>();
  QTRY_COMPARE_WITH_TIMEOUT(figures->figureOf(QStringLiteral("Tokens")), countText(tokens), kWaitMs);
  click("packWarm");
  QTRY_VERIFY_WITH_TIMEOUT(live().view().packs[0].warm, kWaitMs);
  QCOMPARE(live().view().packs[0].tokens, tokens);
  click("packPin");
  QTRY_VERIFY_WITH_TIMEOUT(live().view().packs[0].pinned, kWaitMs);
  QCOMPARE(live().view().pins.size(), 1);
  QCOMPARE(live().view().pins[0].node, live().view().packs[0].node);
  click("packPin");
  QTRY_VERIFY_WITH_TIMEOUT(live().view().pins.isEmpty(), kWaitMs);
  QTRY_VERIFY_WITH_TIMEOUT(!live().view().packs[0].pinned, kWaitMs);
  QVERIFY(live().view().packs[0].warm);
  // A conversation that begins with the pack starts at its first new token.
  Ask ask;
  ask.messages = {{QStringLiteral("system"), pack.text}, {QStringLiteral("user"), QStringLiteral("Hello")}};
  ask.max_tokens = 2;
  QCOMPARE(live().ask(ask).usage.cached_tokens, tokens);
  std::filesystem::remove(model);
}

void LivePagesTest::sendPrompt(const QString& text) {
  find<QPlainTextEdit>("prompt")->setPlainText(text);
  click("send");
}

void LivePagesTest::theSecondTurnReusesTheFirst() {
  const std::string model = live().folder() + ".gguf";
  QVERIFY(writeChatModel(model));
  openWith(model, "chat");
  setLongestAnswer(24);
  sendPrompt(QStringLiteral("Tell me about the little girl who lived in a house with a big garden and a dog."));
  const auto done = [&](qsizetype count) {
    const auto& all = live().view().requests;
    return all.size() == count && all.back()->state == RequestRecord::State::kDone;
  };
  QVERIFY(waitFor([&] { return done(1); }));
  sendPrompt(QStringLiteral("And what did the dog do?"));
  QVERIFY(waitFor([&] { return done(2); }));
  const RequestRecord second = *live().view().requests.back();
  QVERIFY(second.verdict.kind == VerdictKind::kFullPrefix);
  QVERIFY(second.verdict.reused_tokens >= live().view().requests[0]->usage.prompt_tokens);
  const auto cards = live().window().page(QStringLiteral("chat"))->findChildren<QLabel*>(QStringLiteral("figures"));
  QCOMPARE(cards.size(), 2);
  const QString reuse = QStringLiteral("%1 of %2 prompt tokens reused")
                            .arg(countText(second.verdict.reused_tokens), countText(second.verdict.prompt_tokens));
  QTRY_VERIFY_WITH_TIMEOUT(cards[1]->text().startsWith(reuse), kWaitMs);
  for (const auto* answer :
       live().window().page(QStringLiteral("chat"))->findChildren<QLabel*>(QStringLiteral("answer"))) {
    QVERIFY(!answer->text().isEmpty());
  }
  std::filesystem::remove(model);
}

void LivePagesTest::aLongAnswerIsStopped() {
  auto knobs = std::make_shared<test::FakeDeviceKnobs>();
  live().useFakeDevice(knobs);
  openWith(storiesPath(), "chat");
  setLongestAnswer(400);
  knobs->hold();
  sendPrompt(QStringLiteral("Once upon a time"));
  const auto text = [&] {
    const auto* answer = find<QLabel>("answer");
    return answer == nullptr ? QString() : answer->text();
  };
  // The device stands in the middle of the answer when the button is pressed.
  QVERIFY(waitFor([&] {
    knobs->let_through(1);
    return live().view().running == 1 && text().size() > 20;
  }));
  click("stop");
  knobs->release();
  QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>("figures")->text().endsWith(QStringLiteral("stopped")), kWaitMs);
  QTRY_COMPARE_WITH_TIMEOUT(live().view().running, 0u, kWaitMs);
  QCOMPARE(live().view().requests.back()->state, RequestRecord::State::kCancelled);
  QVERIFY(text().size() > 20);  // what had come stays
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::LivePagesTest)
#include "live_pages_test.moc"
