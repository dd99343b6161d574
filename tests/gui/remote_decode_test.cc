// SPDX-License-Identifier: GPL-3.0-or-later
// What the control API writes is read back by an attached window as the window beside the engine has it: random
// snapshots, outcomes and commands take both ways and every field is compared. Then what no honest server writes.
#include "gui/bridge/remote_decode.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <concepts>
#include <cstdint>

#include "gui/pages/shell/main_window.h"
#include "runtime/http/control_answer.h"
#include "runtime/http/control_request.h"
#include "runtime/http/errors.h"
#include "tests/gui/support/random_snapshot.h"
#include "tests/gui/support/scripted_client.h"

namespace larder::gui {
namespace {

constexpr int kRounds = 100;

QByteArray bytesOf(const std::string& text) { return QByteArray(text.data(), static_cast<qsizetype>(text.size())); }

void compareRequests(const QVector<RequestPtr>& here, const QVector<RequestPtr>& there) {
  QCOMPARE(here.size(), there.size());
  for (qsizetype i = 0; i < here.size(); ++i) {
    const RequestRecord &a = *here[i], &b = *there[i];
    QVERIFY(a.verdict == b.verdict);
    QVERIFY(a.sections == b.sections);
    QVERIFY(a.timings == b.timings);
    QVERIFY(a == b);
  }
}

void compare(const ViewDelta& here, const ViewDelta& there) {
  const auto& [epoch, at, started, version, device, pool, store, models, tenants, keys, pins, entries, packs, jobs,
               tree, requests, history, running, queued, decode, prefill, dropped, resident] = there.view;
  QCOMPARE(there.full, here.full);
  QCOMPARE(epoch, here.view.epoch);
  QCOMPARE(at, here.view.at);
  QCOMPARE(started, here.view.started);
  QCOMPARE(version, here.view.version);
  QCOMPARE(device, here.view.device);
  QVERIFY(pool == here.view.pool);
  QVERIFY(store == here.view.store);
  QVERIFY(models == here.view.models);
  QVERIFY(tenants == here.view.tenants);
  QVERIFY(keys == here.view.keys);
  QVERIFY(pins == here.view.pins);
  QVERIFY(entries == here.view.entries);
  QVERIFY(packs == here.view.packs);
  QVERIFY(jobs == here.view.jobs);
  QVERIFY(history == here.view.history);
  QCOMPARE(running, here.view.running);
  QCOMPARE(queued, here.view.queued);
  QCOMPARE(decode, here.view.decode_tokens_per_s);
  QCOMPARE(prefill, here.view.prefill_tokens_per_s);
  QCOMPARE(dropped, here.view.dropped_events);
  QCOMPARE(resident, here.view.resident_bytes);
  QVERIFY(tree == nullptr && requests.isEmpty());  // these two come beside the view
  QCOMPARE(there.tree == nullptr, here.tree == nullptr);
  if (here.tree != nullptr) QVERIFY(there.tree->nodes == here.tree->nodes);
  compareRequests(here.requests, there.requests);
}

// What stands for a value whose writer lied about its type.
const QJsonValue kLies[] = {
    QJsonValue(), true, -1, 1e308, QStringLiteral("lie"), QJsonArray{1}, QJsonObject{}, QJsonArray{QJsonArray{}}};

// The same document with its value number `nth`, counted depth first, replaced.
QJsonValue withLie(const QJsonValue& value, int& nth, const QJsonValue& lie) {
  if (nth-- == 0) return lie;
  if (value.isArray()) {
    QJsonArray list = value.toArray();
    for (qsizetype i = 0; i < list.size() && nth >= 0; ++i) list[i] = withLie(list[i], nth, lie);
    return list;
  }
  if (value.isObject()) {
    QJsonObject object = value.toObject();
    for (auto it = object.begin(); it != object.end() && nth >= 0; ++it) it.value() = withLie(it.value(), nth, lie);
    return object;
  }
  return value;
}

QByteArray snapshotWith(const char* member, const QByteArray& json) {
  return QByteArrayLiteral("{\"epoch\":1,\"pool\":{},\"") + member + "\":" + json + '}';
}

QByteArray repeated(const QByteArray& item, int times) {
  QByteArray list = "[" + (item + ',').repeated(times);
  list.back() = ']';
  return list;
}

Command commandNumber(int kind, Filler& f) {
  const auto text = [&] {
    std::string made;
    f.fill(made);
    return toQt(made);
  };
  const auto id = [&](auto& one) {
    f.fill(one);
    one.value |= 1;  // 0 is no id
  };
  switch (kind) {
    case 0: {
      command::PinNode c{NodeId{}, text(), 0, f.coin()};
      id(c.node);
      c.ttl_ms = static_cast<std::int64_t>(f.count(1'000'000'000));
      return c;
    }
    case 1: {
      command::Unpin c;
      f.coin() ? id(c.pin) : id(c.node);
      return c;
    }
    case 2: {
      command::DeleteNode c{NodeId{}, f.coin(), f.coin()};
      id(c.node);
      return c;
    }
    case 3: {
      command::Locate c;
      id(c.node);
      return c;
    }
    case 4: {
      command::MoveBlocks c{NodeId{}, f.coin() ? QStringLiteral("disk") : QStringLiteral("pool"), f.coin(), f.coin()};
      id(c.node);
      return c;
    }
    case 5: {
      command::VerifyBlocks c{NodeId{}, f.coin()};
      id(c.node);
      return c;
    }
    case 6: {
      command::CancelJob c;
      id(c.job);
      return c;
    }
    case 7: {
      command::CompressBlocks c{NodeId{}, f.coin() ? QStringLiteral("int8") : QStringLiteral("int4"), f.coin()};
      id(c.node);
      return c;
    }
    case 8: {
      command::DecompressBlocks c{NodeId{}, f.coin()};
      id(c.node);
      return c;
    }
    default: {
      command::CancelRequest c;
      id(c.request);
      return c;
    }
  }
}

bool sameVerb(const engine::Verb& a, const engine::Verb& b) {
  if (a.index() != b.index()) return false;
  if (const auto* pin = std::get_if<engine::PinNode>(&a)) {
    const auto& [node, reason, ttl_ms, dry_run] = *pin;
    const auto& other = std::get<engine::PinNode>(b);
    return node == other.node && reason == other.reason && ttl_ms == other.ttl_ms && dry_run == other.dry_run;
  }
  if (const auto* unpin = std::get_if<engine::Unpin>(&a)) {
    const auto& [pin, node] = *unpin;
    return pin == std::get<engine::Unpin>(b).pin && node == std::get<engine::Unpin>(b).node;
  }
  if (const auto* erase = std::get_if<engine::DeleteNode>(&a)) {
    const auto& [node, when_idle, dry_run] = *erase;
    const auto& other = std::get<engine::DeleteNode>(b);
    return node == other.node && when_idle == other.when_idle && dry_run == other.dry_run;
  }
  if (const auto* locate = std::get_if<engine::Locate>(&a)) return locate->node == std::get<engine::Locate>(b).node;
  if (const auto* move = std::get_if<engine::MoveBlocks>(&a)) {
    const auto& [what, to, keep, dry_run] = *move;
    const auto& other = std::get<engine::MoveBlocks>(b);
    return what.node == other.what.node && what.path == other.what.path && to == other.to && keep == other.keep &&
           dry_run == other.dry_run;
  }
  if (const auto* verify = std::get_if<engine::VerifyBlocks>(&a)) {
    const auto& other = std::get<engine::VerifyBlocks>(b);
    return verify->what.node == other.what.node && verify->dry_run == other.dry_run;
  }
  if (const auto* compress = std::get_if<engine::CompressBlocks>(&a)) {
    const auto& other = std::get<engine::CompressBlocks>(b);
    return compress->what.node == other.what.node && compress->scheme == other.scheme &&
           compress->dry_run == other.dry_run;
  }
  if (const auto* back = std::get_if<engine::DecompressBlocks>(&a)) {
    const auto& other = std::get<engine::DecompressBlocks>(b);
    return back->what.node == other.what.node && back->dry_run == other.dry_run;
  }
  if (const auto* cancel = std::get_if<engine::CancelJob>(&a)) return cancel->job == std::get<engine::CancelJob>(b).job;
  return std::get<engine::CancelRequest>(a).request == std::get<engine::CancelRequest>(b).request;
}

}  // namespace

class RemoteDecodeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bothWaysOfASnapshotGiveTheSameRows();
  void bothWaysOfAnOutcomeGiveTheSame();
  void aCommandArrivesAsItsVerb();
  void refusalsKeepTheirCodeAndMessage();
  void wordsOfANewerServerReadAsTheDefault();
  void cutAnswersAreRefused();
  void liesNeitherCrashTheDecoderNorThePages();
  void hugeAnswersAreRefused();
};

void RemoteDecodeTest::bothWaysOfASnapshotGiveTheSameRows() {
  int full = 0, delta = 0;
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    const engine::Snapshot snapshot = randomSnapshot(seed);
    const auto there = decodeSnapshot(bytesOf(http::snapshot_json(snapshot)));
    QVERIFY(there.has_value());
    compare(toDelta(snapshot), *there);
    if (QTest::currentTestFailed()) QFAIL(qPrintable(QStringLiteral("seed %1").arg(seed)));
    ++(there->full ? full : delta);
  }
  QVERIFY(full > 10 && delta > 10);
}

void RemoteDecodeTest::bothWaysOfAnOutcomeGiveTheSame() {
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    Filler f(seed);
    engine::VerbResult result;
    auto& [pin, tenant, key, secret, blocks, bytes, tokens, detail, placement, ranges, identity, job, restart] = result;
    f.fill(pin, tenant, key, secret, blocks, bytes, tokens, detail, restart);
    fillRows(f, placement);
    if (f.coin()) fill(f, job.emplace());
    const CommandOutcome there = decodeOutcome(bytesOf(http::result_json(result)), 200);
    const CommandOutcome here = toQt(Result<engine::VerbResult>(result));
    const auto& [ok, code, message, a, b, c, d, e, g, h, i, j, its_job, k] = there;
    QVERIFY(ok && here.ok && code.isEmpty() && message.isEmpty());
    QVERIFY(a == here.pin && b == here.tenant && c == here.key);
    QCOMPARE(d, here.secret);
    QVERIFY(e == here.blocks && g == here.bytes && h == here.tokens);
    QCOMPARE(i, here.detail);
    QVERIFY(j == here.placement);
    QVERIFY(its_job == here.job);
    QCOMPARE(k, here.restart_needed);
  }
}

void RemoteDecodeTest::aCommandArrivesAsItsVerb() {
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    Filler f(seed);
    const Command command = commandNumber(static_cast<int>(seed % 10), f);
    const RemoteCall call = encodeCommand(command);
    std::vector<std::string> segments;
    for (const QString& part : call.path.split(QLatin1Char('/'))) segments.push_back(fromQt(part));
    const auto verb = http::parse_verb(call.method.toStdString(), segments, call.body.toStdString(), {});
    if (const auto* fault = std::get_if<http::Fault>(&verb)) QFAIL(fault->error.message.c_str());
    QVERIFY2(sameVerb(fromQt(command), std::get<engine::Verb>(verb)), call.body.constData());
  }
  QVERIFY(encodeCommand(command::LoadModel{QStringLiteral("/model.gguf")}).path.isEmpty());
}

void RemoteDecodeTest::refusalsKeepTheirCodeAndMessage() {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const Error error{static_cast<ErrorCode>(code), "no: “7” of 3", ""};
    if (error.code == ErrorCode::kUnauthorized) continue;  // OpenAI's own word, invalid_api_key
    const http::Answer answer = http::error_answer(error);
    const CommandOutcome there = decodeOutcome(bytesOf(answer.body), answer.status);
    const CommandOutcome here = toQt(Result<engine::VerbResult>(error));
    QVERIFY(!there.ok);
    QCOMPARE(there.code, here.code);
    QCOMPARE(there.message, here.message);
  }
  QCOMPARE(decodeOutcome("<html>", 502).message, QStringLiteral("It answered with HTTP status 502."));
}

void RemoteDecodeTest::wordsOfANewerServerReadAsTheDefault() {
  const auto from = decodeSnapshot(
      R"({"epoch":1,"pool":{},"new":{"a":[1]},"requests":[{"id":3,"state":"dreaming","verdict":{"kind":"remote_peer"},)"
      R"("sections":[{"kind":"image"}]},{}],"models":[{"state":"swapped"}]})");
  QVERIFY(from.has_value());
  QCOMPARE(from->requests.size(), 2);
  for (const RequestPtr& request : from->requests) {
    QVERIFY(request->state == RequestRecord{}.state);
    QVERIFY(request->verdict.kind == Verdict{}.kind);
  }
  QVERIFY(from->requests[0]->sections[0].kind == SectionKind::kTemplate);
  QVERIFY(from->view.models[0].state == ModelInfo{}.state);
}

void RemoteDecodeTest::cutAnswersAreRefused() {
  const QByteArray whole = bytesOf(http::snapshot_json(randomSnapshot(4)));
  QVERIFY(decodeSnapshot(whole).has_value());
  for (qsizetype size = 0; size < whole.size(); ++size) QVERIFY(!decodeSnapshot(whole.left(size)).has_value());
  for (const char* other :
       {"", "null", "[]", "7", "{}", "{\"epoch\":1}", "<html></html>", "\xff\xfe", "{\"pool\":{}}"}) {
    QVERIFY(!decodeSnapshot(other).has_value());
  }
  QVERIFY(!decodeSnapshot(QByteArray(1 << 20, '[')).has_value());
  QVERIFY(!decodeSnapshot(QByteArrayLiteral("{\"epoch\":").repeated(1 << 16)).has_value());
}

void RemoteDecodeTest::liesNeitherCrashTheDecoderNorThePages() {
  Theme theme;
  ScriptedClient client;
  client.beAttached();
  client.link(LinkState::kConnected);
  MainWindow window(theme, client);
  window.show();
  engine::Snapshot honest = randomSnapshot(7);
  honest.since = 0;
  const QJsonValue whole = QJsonDocument::fromJson(bytesOf(http::snapshot_json(honest))).object();
  int decoded = 0, lies = 0;
  for (int nth = 0;; ++nth) {
    int left = nth;
    const QJsonValue changed = withLie(whole, left, kLies[static_cast<std::size_t>(nth) % std::size(kLies)]);
    if (left >= 0) break;  // counted past the last value
    ++lies;
    const auto delta = decodeSnapshot(QJsonDocument(changed.toObject()).toJson());
    if (!delta) continue;
    ++decoded;
    client.show(mergeViews(nullptr, *delta));
    if (nth % 8 != 0) continue;
    for (const char* page : {"overview", "tree", "requests", "tiers"}) {
      const quint64 id = delta->requests.isEmpty() ? 1 : delta->requests.back()->id.value;
      window.openPage(QString::fromLatin1(page), QVariant::fromValue(id));
      window.page(QString::fromLatin1(page))->refreshNow();
      QVERIFY(!window.grab().isNull());
    }
  }
  QVERIFY(lies > 300 && decoded > 200);
}

void RemoteDecodeTest::hugeAnswersAreRefused() {
  QVERIFY(!decodeSnapshot(snapshotWith("tenants", repeated("{}", kMaxListRows + 1))).has_value());
  QVERIFY(!decodeSnapshot(snapshotWith("history", repeated("1", kMaxListRows + 1))).has_value());
  QByteArray blanks = snapshotWith("tree", "[]");
  blanks.append(QByteArray(kMaxAnswerBytes, ' '));
  QVERIFY(!decodeSnapshot(blanks).has_value());
  // More requests than the window keeps: the newest are read.
  QByteArray many = "[";
  for (int id = 1; id <= kMaxRequests + 10; ++id) many += "{\"id\":" + QByteArray::number(id) + "},";
  many.back() = ']';
  const auto delta = decodeSnapshot(snapshotWith("requests", many));
  QVERIFY(delta.has_value());
  QCOMPARE(delta->requests.size(), kMaxRequests);
  QCOMPARE(delta->requests.back()->id.value, std::uint64_t{kMaxRequests} + 10);
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::RemoteDecodeTest)
#include "remote_decode_test.moc"
