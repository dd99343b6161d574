// SPDX-License-Identifier: GPL-3.0-or-later
// RemoteClient against servers that answer wrongly, late, for ever or not at all, and one that is another process than
// before: it says so in words, keeps what it had, and never takes one process's rows for another's.
#include "gui/bridge/remote_client.h"

#include <QSignalSpy>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTimer>
#include <QtTest>
#include <functional>
#include <memory>
#include <optional>

#include "gui/bridge/answer_stream.h"
#include "gui/bridge/error_words.h"
#include "gui/bridge/tree_rows.h"

namespace larder::gui {
namespace {

constexpr int kWaitMs = 15'000;

// Answers each request with what `answer` makes of its first line; an answer that says no Content-Length in these
// letters is followed by the connection's end.
class ScriptedServer : public QTcpServer {
 public:
  using Answer = std::function<QByteArray(const QByteArray& request_line)>;

  explicit ScriptedServer(Answer answer) : answer_(std::move(answer)) {
    connect(this, &QTcpServer::newConnection, this, [this] {
      while (QTcpSocket* socket = nextPendingConnection()) serve(socket);
    });
    if (!listen(QHostAddress::LocalHost)) qWarning("%s", qPrintable(errorString()));
  }

  QUrl url() const { return QUrl(QStringLiteral("http://127.0.0.1:%1").arg(serverPort())); }
  QVector<QByteArray> seen;  // request lines
  QByteArray last_head;

 private:
  void serve(QTcpSocket* socket) {
    connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
    connect(socket, &QTcpSocket::readyRead, this, [this, socket] {
      QByteArray held = socket->property("held").toByteArray() + socket->readAll();
      const qsizetype end = held.indexOf("\r\n\r\n");
      socket->setProperty("held", end < 0 ? held : QByteArray());
      if (end < 0) return;
      last_head = held.left(end);
      seen.push_back(held.left(held.indexOf("\r\n")));
      const QByteArray answer = answer_(seen.back());
      if (answer == "silence") return;
      socket->write(answer);
      if (!answer.contains("Content-Length")) socket->disconnectFromHost();
    });
  }

  Answer answer_;
};

QByteArray http(const QByteArray& status, const QByteArray& body) {
  return "HTTP/1.1 " + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + QByteArray::number(body.size()) + "\r\n\r\n" + body;
}

QByteArray snapshot(int epoch, int since, int started, const QByteArray& requests) {
  return http("200 OK", QByteArrayLiteral("{\"epoch\":") + QByteArray::number(epoch) +
                            ",\"since\":" + QByteArray::number(since) + ",\"started\":" + QByteArray::number(started) +
                            ",\"pool\":{},\"tenants\":[{\"id\":1,\"name\":\"home\"}],\"tree\":" +
                            (since == 0 ? "[{\"id\":" + QByteArray::number(started) + ",\"tenant\":1,\"blocks\":1}]"
                                        : QByteArrayLiteral("null")) +
                            ",\"requests\":[" + requests + "]}");
}

QByteArray request(int id) { return "{\"id\":" + QByteArray::number(id) + ",\"tenant\":1,\"state\":\"done\"}"; }

int sinceOf(const QByteArray& line) {
  const qsizetype at = line.indexOf("since=") + 6;
  return line.mid(at, line.indexOf(' ', at) - at).toInt();
}

QVector<std::uint64_t> idsOf(const EngineClient& client) {
  QVector<std::uint64_t> ids;
  for (const RequestPtr& one : client.view()->requests) ids.push_back(one->id.value);
  return ids;
}

}  // namespace

class RemoteClientTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aWrongAnswerIsSaidInWords_data();
  void aWrongAnswerIsSaidInWords();
  void anEndlessAnswerIsCutOff();
  void silenceIsALossAfterAWhile();
  void theKeyGoesIntoTheHeaderAlone();
  void anotherProcessStartsFromNothing();
  void afterALossEverythingIsAskedAgain();
  void tryNowBringsTheLinkBack();
  void refusedAndCutVerbsAreFailures();
  void whatNeedsTheEnginesComputerNamesIt();
};

void RemoteClientTest::aWrongAnswerIsSaidInWords_data() {
  QTest::addColumn<QByteArray>("answer");
  QTest::addColumn<int>("state");
  QTest::addColumn<QString>("says");
  const auto row = [](const char* name, const QByteArray& answer, LinkState state, const char* says) {
    QTest::newRow(name) << answer << static_cast<int>(state) << QString::fromLatin1(says);
  };
  const auto refused = LinkState::kRefused, failed = LinkState::kFailed;
  row("text", http("200 OK", "hello"), refused, "not a snapshot");
  row("another program's JSON", http("200 OK", "{\"status\":\"ok\"}"), refused, "not a snapshot");
  row("wrong types", http("200 OK", "[{\"epoch\":1}]"), refused, "not a snapshot");
  row("deep", http("200 OK", QByteArray(100'000, '[')), refused, "not a snapshot");
  row("broken JSON", http("200 OK", "{\"epoch\":3,\"pool\":{"), refused, "not a snapshot");
  row("cut body", "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{\"epoch\":3,", failed, "closed the connection");
  row("closed at once", "", failed, "closed the connection");
  row("no HTTP", QByteArray("\x00\xff\x16\x03 what\r\n\r\n", 13), failed, "");
  row("redirect", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", refused, "302");
  row("no key", http("401 Unauthorized", R"({"error":{"message":"x","code":"invalid_api_key"}})"), refused, "key");
  row("forbidden", http("403 Forbidden", R"({"error":{"message":"not from there"}})"), refused, "not from there");
  row("no such path", http("404 Not Found", "<html>"), refused, "No Larder");
  row("not yet", http("503 Service Unavailable", R"({"error":{"message":"not answered yet"}})"), failed,
      "not answered yet");
}

void RemoteClientTest::aWrongAnswerIsSaidInWords() {
  QFETCH(QByteArray, answer);
  QFETCH(int, state);
  QFETCH(QString, says);
  ScriptedServer server([&](const QByteArray&) { return answer; });
  RemoteClient client(server.url(), QStringLiteral("lk_secret"));
  QTRY_VERIFY_WITH_TIMEOUT(client.linkState() != LinkState::kConnecting, kWaitMs);
  QCOMPARE(static_cast<int>(client.linkState()), state);
  QVERIFY2(client.linkReason().contains(says), qPrintable(client.linkReason()));
  QVERIFY(!client.linkReason().contains(QStringLiteral("lk_secret")));
  QVERIFY(client.view()->tree != nullptr && client.view()->requests.isEmpty());
}

// A mebibyte every other millisecond, for as long as somebody takes it.
void RemoteClientTest::anEndlessAnswerIsCutOff() {
  constexpr qint64 kPiece = 1 << 20;
  QTcpServer server;
  QVERIFY(server.listen(QHostAddress::LocalHost));
  qint64 written = 0;
  bool closed = false;
  connect(&server, &QTcpServer::newConnection, &server, [&] {
    QTcpSocket* socket = server.nextPendingConnection();
    auto* pace = new QTimer(socket);
    pace->setInterval(2);
    connect(pace, &QTimer::timeout, socket, [socket, &written] {
      const QByteArray chunk = "100000\r\n" + QByteArray(kPiece, ' ') + "\r\n";
      if (socket->bytesToWrite() < 4 * kPiece) written += socket->write(chunk);
    });
    connect(socket, &QTcpSocket::readyRead, socket, [socket, pace] {
      socket->readAll();
      socket->write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      pace->start();
    });
    connect(socket, &QTcpSocket::disconnected, socket, [pace, &closed] {
      pace->stop();
      closed = true;
    });
  });
  RemoteClient client(QUrl(QStringLiteral("http://127.0.0.1:%1").arg(server.serverPort())), QString());
  QTRY_VERIFY_WITH_TIMEOUT(client.linkState() == LinkState::kFailed, 60'000);
  QVERIFY2(client.linkReason().contains(QStringLiteral("64 MiB")), qPrintable(client.linkReason()));
  QTRY_VERIFY_WITH_TIMEOUT(closed, 60'000);
  QVERIFY(written < 256 * kPiece);
}

void RemoteClientTest::silenceIsALossAfterAWhile() {
  ScriptedServer server([](const QByteArray&) { return QByteArray("silence"); });
  RemoteClient client(server.url(), QString());
  QTRY_VERIFY_WITH_TIMEOUT(client.linkState() == LinkState::kFailed, 20'000);
  QVERIFY2(client.linkReason().contains(QStringLiteral("Nothing came")), qPrintable(client.linkReason()));
}

void RemoteClientTest::theKeyGoesIntoTheHeaderAlone() {
  ScriptedServer server([](const QByteArray&) { return snapshot(1, 0, 1, {}); });
  RemoteClient client(server.url(), QStringLiteral("lk_secret"));
  QTRY_VERIFY_WITH_TIMEOUT(client.linkState() == LinkState::kConnected, kWaitMs);
  QVERIFY(server.last_head.contains("Authorization: Bearer lk_secret"));
  QVERIFY(!server.seen[0].contains("lk_secret"));
  QCOMPARE(client.place(), QStringLiteral("127.0.0.1:%1").arg(server.serverPort()));
  QCOMPARE(client.apiUrl(), server.url().toString());
}

// A server that was ended and begun again behind the window's back, and has counted past the old epoch meanwhile.
void RemoteClientTest::anotherProcessStartsFromNothing() {
  ScriptedServer server([&](const QByteArray& line) {
    if (server.seen.size() == 1) return snapshot(5, 0, 1, request(1) + ',' + request(2));
    const int since = sinceOf(line);
    return since == 0 ? snapshot(9, 0, 2, request(1)) : snapshot(9, since, 2, {});
  });
  RemoteClient client(server.url(), QString());
  QTRY_COMPARE_WITH_TIMEOUT(client.view()->started, 2, kWaitMs);
  QCOMPARE(idsOf(client), QVector<std::uint64_t>{1});
  QCOMPARE(client.view()->tree->nodes.size(), 1);
  QCOMPARE(client.view()->tree->nodes[0].id, NodeId{2});
}

void RemoteClientTest::afterALossEverythingIsAskedAgain() {
  bool down = false;
  ScriptedServer server([&](const QByteArray& line) {
    if (down) return QByteArray();
    return snapshot(5, sinceOf(line), 1, sinceOf(line) == 0 ? request(7) : QByteArray());
  });
  RemoteClient client(server.url(), QString());
  QTRY_COMPARE_WITH_TIMEOUT(idsOf(client), QVector<std::uint64_t>{7}, kWaitMs);
  down = true;
  QTRY_VERIFY_WITH_TIMEOUT(client.linkState() == LinkState::kLost, kWaitMs);
  QCOMPARE(idsOf(client), QVector<std::uint64_t>{7});  // the last values stay
  QVERIFY(client.linkReason().contains(QStringLiteral("Trying again in")));
  down = false;
  server.seen.clear();
  QTRY_VERIFY_WITH_TIMEOUT(client.linkState() == LinkState::kConnected, kWaitMs);
  QCOMPARE(sinceOf(server.seen[0]), 0);
}

void RemoteClientTest::tryNowBringsTheLinkBack() {
  bool down = false;
  ScriptedServer server(
      [&](const QByteArray& line) { return down ? QByteArray() : snapshot(5, sinceOf(line), 1, {}); });
  RemoteClient client(server.url(), QString());
  QTRY_VERIFY_WITH_TIMEOUT(client.linkState() == LinkState::kConnected, kWaitMs);
  down = true;
  QTRY_VERIFY_WITH_TIMEOUT(client.linkState() == LinkState::kLost, kWaitMs);
  down = false;
  client.retryNow();
  QTRY_VERIFY_WITH_TIMEOUT(client.linkState() == LinkState::kConnected, 900);  // sooner than the next try by itself
}

void RemoteClientTest::refusedAndCutVerbsAreFailures() {
  QByteArray verb;
  ScriptedServer server([&](const QByteArray& line) { return line.startsWith("GET") ? snapshot(1, 0, 1, {}) : verb; });
  RemoteClient client(server.url(), QString());
  const auto outcome = [&](const QByteArray& answer) {
    verb = answer;
    std::optional<CommandOutcome> came;
    client.perform(command::PinNode{NodeId{7}, QStringLiteral("test"), 0, false}, this,
                   [&](const CommandOutcome& done) { came = done; });
    if (!QTest::qWaitFor([&] { return came.has_value(); }, kWaitMs)) qWarning("no outcome");
    return came.value_or(CommandOutcome{});
  };
  QVERIFY(outcome(http("200 OK", "{\"pin\":3}")).ok);
  const CommandOutcome full =
      outcome(http("429 Too Many Requests", R"({"error":{"code":"resource_exhausted","message":"3 of 2"}})"));
  QVERIFY(!full.ok);
  QCOMPARE(full.code, QStringLiteral("resource_exhausted"));
  QCOMPARE(full.message, errorSentence(full.code) + QStringLiteral("\n3 of 2"));
  for (const QByteArray& wrong : {http("200 OK", "hello"), http("200 OK", "[3]"), QByteArray(), http("500 Oh", "")}) {
    const CommandOutcome failure = outcome(wrong);
    QVERIFY2(!failure.ok, wrong.constData());
    QVERIFY(!failure.message.isEmpty());
  }
  // A caller that is gone is not called.
  {
    QObject caller;
    client.perform(command::Locate{NodeId{7}}, &caller, [](const CommandOutcome&) { QFAIL("called"); });
  }
  QVERIFY(outcome(http("200 OK", "{}")).ok);
}

void RemoteClientTest::whatNeedsTheEnginesComputerNamesIt() {
  RemoteClient client(QUrl(QStringLiteral("http://127.0.0.1:1")), QString());
  std::optional<CommandOutcome> load;
  client.perform(command::LoadModel{QStringLiteral("/model.gguf")}, this,
                 [&](const CommandOutcome& done) { load = done; });
  QTRY_VERIFY_WITH_TIMEOUT(load.has_value(), kWaitMs);
  QVERIFY(!load->ok);
  QCOMPARE(load->code, QStringLiteral("unsupported"));
  QVERIFY2(load->message.contains(QStringLiteral("127.0.0.1")), qPrintable(load->message));
  AnswerStream* stream = client.ask(Ask{}, this);
  QSignalSpy failed(stream, &AnswerStream::failed);
  QVERIFY(failed.wait(kWaitMs));
  QVERIFY(failed[0][0].toString().contains(QStringLiteral("127.0.0.1")));
  delete stream;
  QString error;
  client.countTokens(Ask{}, this, [&](std::uint32_t, const QString& why) { error = why; });
  QTRY_VERIFY_WITH_TIMEOUT(error.contains(QStringLiteral("127.0.0.1")), kWaitMs);
  QTRY_VERIFY_WITH_TIMEOUT(client.linkState() == LinkState::kFailed, kWaitMs);
  QVERIFY2(client.linkReason().contains(QStringLiteral("Nothing listens")), qPrintable(client.linkReason()));
  QCOMPARE(RemoteClient(QUrl(QStringLiteral("http://u:p@[::1]:4114/x?y")), QString()).place(),
           QStringLiteral("[::1]:4114"));
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::RemoteClientTest)
#include "remote_client_test.moc"
