// SPDX-License-Identifier: GPL-3.0-or-later
// The window attached to a larderd: programs against programs. What clients ask over HTTP stands on Overview, Prefix
// tree and Requests with the server's own figures; pins and deletions reach the server; its death and return are seen.
#include <QAbstractItemView>
#include <QDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>
#include <QtTest>
#include <memory>

#include "gui/bridge/remote_client.h"
#include "gui/bridge/tree_rows.h"
#include "gui/models/request_model.h"
#include "gui/models/words.h"
#include "gui/pages/overview/figures.h"
#include "gui/pages/shell/main_window.h"
#include "gui/pages/tree/prefix_tree_view.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/kpi_card.h"
#include "tests/gui/support/live_engine.h"

namespace larder::gui {
namespace {

constexpr int kWaitMs = 60'000;
const char* const kSystem =
    "You keep the pantry of the house. On the shelves there are flour, rice, beans, oil, salt, honey and tomatoes. "
    "Answer in one short sentence and never invent what is not there.";

}  // namespace

// A larderd of the test's own, on one data folder, so that its first key stays good when it is started again.
class Larderd {
 public:
  Larderd(const QString& folder, const QString& model) : folder_(folder), model_(model) {}
  ~Larderd() { kill(); }

  bool start() {
    process_ = std::make_unique<QProcess>();
    process_->setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process_->start(QStringLiteral(LARDERD),
                    {QStringLiteral("--data"), folder_ + QStringLiteral("/data"), QStringLiteral("--model"), model_,
                     QStringLiteral("--listen"), QStringLiteral("127.0.0.1:%1").arg(url_.port(0))});
    QByteArray said;
    while (!said.contains("larderd ready ") || !said.endsWith('\n')) {
      if (!process_->waitForReadyRead(kWaitMs)) return false;
      said += process_->readAllStandardOutput();
    }
    url_ = QUrl(QString::fromLatin1(said.mid(said.indexOf("http://")).trimmed()));
    QFile key(folder_ + QStringLiteral("/data/first.key"));
    if (!key.open(QIODevice::ReadOnly)) return false;
    key_ = QString::fromLatin1(key.readAll().trimmed());
    return true;
  }

  void kill() {
    if (process_ == nullptr) return;
    process_->kill();
    process_->waitForFinished(kWaitMs);
    process_.reset();
  }

  // Status and JSON of one call.
  std::pair<int, QJsonObject> call(const QByteArray& method, const QString& path, const QJsonObject& body = {}) {
    QUrl url = url_;
    url.setPath(path);
    QNetworkRequest request(url);
    request.setRawHeader("Authorization", "Bearer " + key_.toLatin1());
    request.setRawHeader("Content-Type", "application/json");
    const QByteArray sent = method == "GET" ? QByteArray() : QJsonDocument(body).toJson();
    const std::unique_ptr<QNetworkReply> reply(network_.sendCustomRequest(request, method, sent));
    if (!QTest::qWaitFor([&] { return reply->isFinished(); }, kWaitMs)) return {};
    return {reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt(),
            QJsonDocument::fromJson(reply->readAll()).object()};
  }

  QJsonObject chat(const QString& question) {
    const QJsonArray messages{
        QJsonObject{{QStringLiteral("role"), QStringLiteral("system")},
                    {QStringLiteral("content"), QString::fromLatin1(kSystem)}},
        QJsonObject{{QStringLiteral("role"), QStringLiteral("user")}, {QStringLiteral("content"), question}}};
    const auto [status, answer] = call("POST", QStringLiteral("/v1/chat/completions"),
                                       {{QStringLiteral("messages"), messages},
                                        {QStringLiteral("max_tokens"), 6},
                                        {QStringLiteral("temperature"), 0}});
    return status == 200 ? answer : QJsonObject{};
  }

  QJsonArray list(const QString& name) {
    return call("GET", QStringLiteral("/larder/v1/") + name).second.value(name).toArray();
  }

  QUrl url() const { return url_; }
  QString key() const { return key_; }
  QString place() const { return QStringLiteral("127.0.0.1:%1").arg(url_.port()); }

 private:
  const QString folder_, model_;
  QUrl url_;
  QString key_;
  std::unique_ptr<QProcess> process_;
  QNetworkAccessManager network_;
};

class AttachedWindowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void init();
  void cleanup();
  void pagesShowTheServersOwnFigures();
  void pinUnpinAndDeleteReachTheServer();
  void otherPagesNameTheHost();
  void deathIsShownAndTheReturnToo();
  void tryNowFindsTheServerAgain();
  void aWrongKeyIsSaid();

 private:
  void attach(const QString& key);
  Banner* banner() { return window_->findChild<Banner*>(); }
  bool shows(qsizetype requests);
  std::uint64_t selectFirstRun(PrefixTreeView& tree);

  QTemporaryDir folder_;
  QString model_;
  Theme theme_;
  std::unique_ptr<Larderd> server_;
  std::unique_ptr<RemoteClient> client_;
  std::unique_ptr<MainWindow> window_;
};

void AttachedWindowTest::initTestCase() {
  model_ = folder_.filePath(QStringLiteral("pantry.gguf"));
  QVERIFY(writeChatModel(model_.toStdString()));
}

void AttachedWindowTest::init() {
  const QString home = folder_.filePath(QString::fromLatin1(QTest::currentTestFunction()));
  QVERIFY(QDir().mkpath(home));
  server_ = std::make_unique<Larderd>(home, model_);
  QVERIFY(server_->start());
}

void AttachedWindowTest::cleanup() {
  window_.reset();
  client_.reset();
  server_.reset();
}

void AttachedWindowTest::attach(const QString& key) {
  client_ = std::make_unique<RemoteClient>(server_->url(), key);
  window_ = std::make_unique<MainWindow>(theme_, *client_);
  window_->show();
  window_->activateWindow();
}

bool AttachedWindowTest::shows(qsizetype requests) {
  return QTest::qWaitFor(
      [&] {
        const SnapshotView& view = *client_->view();
        return view.requests.size() == requests && view.running == 0 && !view.tree->nodes.isEmpty() &&
               std::all_of(view.requests.begin(), view.requests.end(),
                           [](const RequestPtr& one) { return one->state == RequestRecord::State::kDone; });
      },
      kWaitMs);
}

void AttachedWindowTest::pagesShowTheServersOwnFigures() {
  attach(server_->key());
  QTRY_VERIFY_WITH_TIMEOUT(client_->linkState() == LinkState::kConnected, kWaitMs);
  QVERIFY(!banner()->isVisible());
  const QJsonObject cold = server_->chat(QStringLiteral("What can be cooked tonight?"));
  const QJsonObject warm = server_->chat(QStringLiteral("What keeps longest?"));
  QVERIFY(!cold.isEmpty() && !warm.isEmpty());
  QVERIFY(shows(2));

  // The list of requests: every row against the server's own record.
  window_->openPage(QStringLiteral("requests"));
  window_->page(QStringLiteral("requests"))->refreshNow();
  const auto* model = window_->page(QStringLiteral("requests"))->findChild<RequestModel*>();
  const QJsonArray records = server_->list(QStringLiteral("requests"));
  QCOMPARE(model->rowCount(), 2);
  QCOMPARE(records.size(), 2);
  const auto cell = [&](int row, int column) { return model->index(row, column).data().toString(); };
  for (int row = 0; row < 2; ++row) {  // newest first
    const QJsonObject record = records[1 - row].toObject();
    const QJsonObject usage = record.value(QStringLiteral("usage")).toObject();
    const QJsonObject verdict = record.value(QStringLiteral("verdict")).toObject();
    const RequestPtr shown = client_->view()->requests[1 - row];
    QCOMPARE(shown->id.value, static_cast<std::uint64_t>(record.value(QStringLiteral("id")).toInteger()));
    QVERIFY(cell(row, RequestModel::kId).contains(QString::number(shown->id.value)));
    QCOMPARE(verdictWord(shown->verdict.kind), verdict.value(QStringLiteral("kind")).toString());
    QCOMPARE(cell(row, RequestModel::kVerdict), verdictLabel(shown->verdict.kind).text);
    const auto count = [&](const char* name) {
      return countText(static_cast<std::uint64_t>(usage.value(QLatin1String(name)).toInteger()));
    };
    QCOMPARE(cell(row, RequestModel::kPrompt), count("prompt_tokens"));
    QVERIFY2(cell(row, RequestModel::kReused).contains(count("cached_tokens")) ||
                 usage.value(QStringLiteral("cached_tokens")).toInteger() == 0,
             qPrintable(cell(row, RequestModel::kReused)));
    QCOMPARE(shown->sections.size(), record.value(QStringLiteral("sections")).toArray().size());
    QVERIFY(shown->sections.size() >= 2);
  }
  QCOMPARE(client_->view()->requests[0]->verdict.kind, VerdictKind::kCold);
  QVERIFY(client_->view()->requests[1]->verdict.reused_tokens > 32);

  // The tree: as many runs, blocks and tokens as the server counts.
  window_->openPage(QStringLiteral("tree"));
  auto* tree = window_->findChild<PrefixTreeView*>(QStringLiteral("prefixTree"));
  QTRY_VERIFY_WITH_TIMEOUT(tree->icicle().boxes.size() >= 4, kWaitMs);
  const QJsonArray nodes = server_->list(QStringLiteral("tree"));
  const TreeRows& rows = *client_->view()->tree;
  QCOMPARE(rows.nodes.size(), nodes.size());
  std::uint64_t blocks = 0, tokens = 0;
  for (const QJsonValue& node : nodes) {
    blocks += static_cast<std::uint64_t>(node.toObject().value(QStringLiteral("blocks")).toInteger());
    tokens += static_cast<std::uint64_t>(node.toObject().value(QStringLiteral("tokens")).toInteger());
    QVERIFY(rows.indexOfNode(
                NodeId{static_cast<std::uint64_t>(node.toObject().value(QStringLiteral("id")).toInteger())}) >= 0);
  }
  QCOMPARE(rows.rows[0].all.blocks, blocks);
  QCOMPARE(rows.rows[0].all.tokens, tokens);

  // Overview: the share of prompt tokens that was reused.
  window_->openPage(QStringLiteral("overview"));
  std::int64_t asked = 0, reused = 0;
  for (const QJsonValue& record : records) {
    const QJsonObject usage = record.toObject().value(QStringLiteral("usage")).toObject();
    asked += usage.value(QStringLiteral("prompt_tokens")).toInteger();
    reused += usage.value(QStringLiteral("cached_tokens")).toInteger();
  }
  const auto* share = window_->page(QStringLiteral("overview"))->findChildren<KpiCard*>().constFirst();
  QTRY_COMPARE_WITH_TIMEOUT(share->figureText(), percentText(static_cast<double>(reused), static_cast<double>(asked)),
                            kWaitMs);
}

std::uint64_t AttachedWindowTest::selectFirstRun(PrefixTreeView& tree) {
  QTest::keyClick(&tree, Qt::Key_Home);
  for (int i = 0; i < 3; ++i) QTest::keyClick(&tree, Qt::Key_Down);
  const TreeRows& rows = *client_->view()->tree;
  const int index = rows.indexOfKey(tree.selected());
  const TreeNode* node = index < 0 ? nullptr : rows.nodeOf(rows.rows[static_cast<std::size_t>(index)]);
  return node == nullptr ? 0 : node->id.value;
}

void AttachedWindowTest::pinUnpinAndDeleteReachTheServer() {
  attach(server_->key());
  QVERIFY(!server_->chat(QStringLiteral("What can be cooked tonight?")).isEmpty());
  QVERIFY(shows(1));
  window_->openPage(QStringLiteral("tree"));
  auto* tree = window_->findChild<PrefixTreeView*>(QStringLiteral("prefixTree"));
  tree->setFocus();
  QTRY_VERIFY_WITH_TIMEOUT(tree->icicle().boxes.size() >= 4, kWaitMs);
  const std::uint64_t node = selectFirstRun(*tree);
  QVERIFY(node != 0);

  QTest::keyClick(tree, Qt::Key_P);
  QTRY_COMPARE_WITH_TIMEOUT(client_->view()->pins.size(), 1, kWaitMs);
  const QJsonArray pins = server_->list(QStringLiteral("pins"));
  QCOMPARE(pins.size(), 1);
  QCOMPARE(static_cast<std::uint64_t>(pins[0].toObject().value(QStringLiteral("node")).toInteger()), node);
  QTRY_VERIFY_WITH_TIMEOUT(client_->view()->tree->nodes[0].pinned, kWaitMs);
  QTest::keyClick(tree, Qt::Key_P);
  QTRY_VERIFY_WITH_TIMEOUT(client_->view()->pins.isEmpty(), kWaitMs);
  QVERIFY(server_->list(QStringLiteral("pins")).isEmpty());

  QTest::keyClick(tree, Qt::Key_Delete);
  QTRY_VERIFY_WITH_TIMEOUT(window_->findChild<QDialog*>(QStringLiteral("deleteDialog")) != nullptr, kWaitMs);
  QVERIFY(!server_->list(QStringLiteral("tree")).isEmpty());  // asking alone deletes nothing
  QTest::mouseClick(window_->findChild<QPushButton*>(QStringLiteral("deleteConfirm")), Qt::LeftButton);
  QTRY_VERIFY_WITH_TIMEOUT(client_->view()->tree->nodes.isEmpty(), kWaitMs);
  QVERIFY(server_->list(QStringLiteral("tree")).isEmpty());
}

void AttachedWindowTest::otherPagesNameTheHost() {
  attach(server_->key());
  QTRY_VERIFY_WITH_TIMEOUT(client_->linkState() == LinkState::kConnected, kWaitMs);
  int waiting = 0;
  for (const PageSpec& spec : window_->pages()) {
    window_->openPage(spec.id);
    if (spec.works_attached) continue;
    ++waiting;
    QString said;
    for (const auto* label : window_->page(spec.id)->findChildren<QLabel*>()) said += label->text();
    QVERIFY2(said.contains(server_->place()), qPrintable(spec.id + QStringLiteral(": ") + said));
    for (const auto* button : window_->page(spec.id)->findChildren<QPushButton*>()) QVERIFY(!button->isVisible());
  }
  QCOMPARE(waiting, 5);
  window_->chooseModel();
  QVERIFY(window_->findChild<QDialog*>() == nullptr);  // no dialog for a file that cannot be read
  QVERIFY(banner()->isVisible());
  QVERIFY(banner()->content().text.contains(server_->place()));
}

void AttachedWindowTest::deathIsShownAndTheReturnToo() {
  attach(server_->key());
  QVERIFY(!server_->chat(QStringLiteral("What can be cooked tonight?")).isEmpty());
  QVERIFY(shows(1));
  const WallTime before = client_->view()->started;
  server_->kill();
  QTRY_VERIFY_WITH_TIMEOUT(banner()->isVisible(), kWaitMs);
  QVERIFY(client_->linkState() == LinkState::kLost);
  QVERIFY2(banner()->content().title.contains(server_->place()), qPrintable(banner()->content().title));
  QVERIFY(banner()->content().text.contains(QStringLiteral("Trying again in")));
  QCOMPARE(client_->view()->requests.size(), 1);  // the last values stay
  QVERIFY(server_->start());
  QTRY_VERIFY_WITH_TIMEOUT(client_->linkState() == LinkState::kConnected, kWaitMs);
  QTRY_VERIFY_WITH_TIMEOUT(!banner()->isVisible(), kWaitMs);
  QTRY_VERIFY_WITH_TIMEOUT(client_->view()->started > before, kWaitMs);
  QVERIFY(client_->view()->requests.isEmpty());  // the new process has none
  // Of the tree there is what had reached the disk.
  for (const TreeNode& node : client_->view()->tree->nodes) QCOMPARE(node.disk_blocks, node.blocks);
  QVERIFY(!server_->chat(QStringLiteral("What keeps longest?")).isEmpty());
  QVERIFY(shows(1));
}

void AttachedWindowTest::tryNowFindsTheServerAgain() {
  attach(server_->key());
  QTRY_VERIFY_WITH_TIMEOUT(client_->linkState() == LinkState::kConnected, kWaitMs);
  server_->kill();
  QTRY_VERIFY_WITH_TIMEOUT(banner()->isVisible(), kWaitMs);
  QVERIFY(server_->start());
  for (auto* button : banner()->findChildren<QPushButton*>()) {
    if (button->text() == QStringLiteral("Try now")) QTest::mouseClick(button, Qt::LeftButton);
  }
  QTRY_VERIFY_WITH_TIMEOUT(!banner()->isVisible(), kWaitMs);
}

void AttachedWindowTest::aWrongKeyIsSaid() {
  const QString wrong = server_->key().left(server_->key().size() - 4) + QStringLiteral("AAAA");
  attach(wrong);
  QTRY_VERIFY_WITH_TIMEOUT(banner()->isVisible(), kWaitMs);
  QVERIFY(client_->linkState() == LinkState::kRefused);
  QVERIFY(banner()->content().title.contains(server_->place()));
  QVERIFY2(banner()->content().text.contains(QStringLiteral("--key-file")), qPrintable(banner()->content().text));
  QVERIFY(!banner()->content().text.contains(wrong));
  window_.reset();
  attach(QString());
  QTRY_VERIFY_WITH_TIMEOUT(banner()->isVisible(), kWaitMs);
  QVERIFY(banner()->content().text.contains(QStringLiteral("wants a key")));
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::AttachedWindowTest)
#include "attached_window_test.moc"
