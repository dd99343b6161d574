// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/remote_decode.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <limits>

#include "gui/bridge/error_words.h"

namespace larder::gui {
namespace {

struct DecodeWords {
  Q_DECLARE_TR_FUNCTIONS(RemoteDecode)
};

class Members {
 public:
  explicit Members(QJsonObject object) : object_(std::move(object)) {}
  explicit Members(const QJsonValue& value) : object_(value.toObject()) {}

  QJsonValue any(const char* name) const { return object_.value(QLatin1String(name)); }
  QString text(const char* name) const { return any(name).toString(); }
  bool flag(const char* name) const { return any(name).toBool(); }
  double real(const char* name, double missing = 0) const { return any(name).toDouble(missing); }
  std::int64_t integer(const char* name) const { return any(name).toInteger(); }
  std::uint64_t big(const char* name) const { return static_cast<std::uint64_t>(std::max<qint64>(0, integer(name))); }
  std::uint32_t count(const char* name) const {
    return static_cast<std::uint32_t>(std::clamp<qint64>(integer(name), 0, std::numeric_limits<std::uint32_t>::max()));
  }
  QJsonArray list(const char* name) const { return any(name).toArray(); }
  bool has(const char* name) const { return object_.contains(QLatin1String(name)); }

 private:
  QJsonObject object_;
};

// What stands at a word's place in the enum; `unknown` for a word of a newer server, or none.
template <typename Enum, std::size_t N>
Enum wordIn(const QString& word, const char* const (&words)[N], Enum unknown) {
  for (std::size_t at = 0; at < N; ++at) {
    if (word == QLatin1String(words[at])) return static_cast<Enum>(at);
  }
  return unknown;
}

constexpr const char* kRequestStates[] = {"preparing", "queued", "prefill", "decode", "done", "failed", "cancelled"};
constexpr const char* kModelStates[] = {"file", "loading", "ready", "unloading", "failed"};
constexpr const char* kJobStates[] = {"queued", "running", "done", "failed", "cancelled"};
constexpr const char* kIdentities[] = {"pending", "known", "failed"};
constexpr const char* kSectionKinds[] = {"template", "system", "tool", "document", "message"};
constexpr const char* kVerdicts[] = {"full_prefix",    "cold",      "diverged", "evicted",
                                     "other_identity", "too_short", "bypassed"};

QVector<Token> tokensFrom(const QJsonArray& list) {
  QVector<Token> out;
  for (const QJsonValue& one : list) out.push_back(static_cast<Token>(one.toInt(-1)));
  return out;
}

QVector<QString> textsFrom(const QJsonArray& list) {
  QVector<QString> out;
  for (const QJsonValue& one : list) out.push_back(one.toString());
  return out;
}

Verdict verdictFrom(const Members& from) {
  Verdict to;
  to.kind = wordIn<VerdictKind>(from.text("kind"), kVerdicts, to.kind);
  to.prompt_tokens = from.count("prompt_tokens");
  to.reused_tokens = from.count("reused_tokens");
  to.copied_tokens = from.count("copied_tokens");
  to.computed_tokens = from.count("computed_tokens");
  to.saved_ms = from.real("saved_ms");
  to.prefill_tokens_per_s = from.real("prefill_tokens_per_s");
  to.tier = from.text("tier");
  to.lineage = from.text("lineage");
  to.identity_part = from.text("identity_part");
  if (from.any("divergence").isObject()) {
    const Members d(from.any("divergence"));
    to.divergence = Divergence{d.count("token"),
                               d.count("section"),
                               static_cast<Token>(d.integer("here")),
                               static_cast<Token>(d.integer("cached")),
                               tokensFrom(d.list("here_run")),
                               tokensFrom(d.list("cached_run")),
                               d.count("equal_after"),
                               RequestId{d.big("cached_by")}};
  }
  if (from.any("eviction").isObject()) {
    const Members e(from.any("eviction"));
    to.eviction = Eviction{e.integer("at"),  RequestId{e.big("by_request")}, TenantId{e.count("by_tenant")},
                           e.text("policy"), e.count("lost_tokens"),         e.integer("last_hit")};
  }
  if (from.any("restored").isObject()) {
    const Members r(from.any("restored"));
    to.restored = Restored{r.count("tokens"),
                           r.text("tier"),
                           r.real("ms"),
                           r.real("estimate_ms"),
                           r.real("compute_ms"),
                           r.text("declined"),
                           r.count("declined_tokens"),
                           r.real("declined_read_ms"),
                           r.real("declined_compute_ms")};
  }
  return to;
}

RequestRecord requestFrom(const Members& from) {
  RequestRecord to;
  to.id = RequestId{from.big("id")};
  to.state = wordIn<RequestRecord::State>(from.text("state"), kRequestStates, to.state);
  to.epoch = from.big("epoch");
  to.tenant = TenantId{from.count("tenant")};
  to.model = ModelId{from.count("model")};
  to.submitted = from.integer("submitted");
  const Members usage(from.any("usage"));
  to.usage = {usage.count("prompt_tokens"), usage.count("cached_tokens"), usage.count("completion_tokens")};
  const Members t(from.any("timings"));
  to.timings = {t.real("queue_ms"),       t.real("prepare_ms"), t.real("match_ms"),           t.real("prefill_ms"),
                t.real("first_token_ms"), t.real("total_ms"),   t.real("decode_tokens_per_s")};
  to.verdict = verdictFrom(Members(from.any("verdict")));
  for (const QJsonValue& value : from.list("sections")) {
    const Members s(value);
    to.sections.push_back({wordIn(s.text("kind"), kSectionKinds, SectionKind::kTemplate), s.text("label"),
                           s.count("byte_begin"), s.count("byte_end"), s.count("token_begin"), s.count("token_end")});
  }
  to.error = errorText(from.text("error"));
  to.diverged_here = from.text("diverged_here");
  to.diverged_cached = from.text("diverged_cached");
  to.here_tokens = textsFrom(from.list("here_tokens"));
  to.cached_tokens = textsFrom(from.list("cached_tokens"));
  return to;
}

TreeNode nodeFrom(const Members& from) {
  TreeNode to;
  to.id = NodeId{from.big("id")};
  to.parent = NodeId{from.big("parent")};
  to.tenant = TenantId{from.count("tenant")};
  to.model = ModelId{from.count("model")};
  to.first_position = from.count("first_position");
  to.tokens = from.count("tokens");
  to.blocks = from.count("blocks");
  to.bytes = from.big("bytes");
  to.device_blocks = from.count("device_blocks");
  to.host_blocks = from.count("host_blocks");
  to.disk_blocks = from.count("disk_blocks");
  to.stored_blocks = from.count("stored_blocks");
  to.ram_blocks = from.count("ram_blocks");
  to.ram_bytes = from.big("ram_bytes");
  to.pinned = from.flag("pinned");
  to.in_use = from.flag("in_use");
  to.growing = from.flag("growing");
  to.hits = from.big("hits");
  to.created = from.integer("created");
  to.last_hit = from.integer("last_hit");
  to.compute_ms = from.real("compute_ms");
  to.made_by = RequestId{from.big("made_by")};
  to.label = from.text("label");
  to.lineage = from.text("lineage");
  return to;
}

PoolInfo poolFrom(const Members& from) {
  return {from.count("blocks_total"),   from.count("blocks_free"),   from.count("blocks_cached"),
          from.count("blocks_in_use"),  from.count("blocks_pinned"), from.big("block_bytes"),
          from.big("pin_budget_bytes"), from.big("evicted_blocks"),  from.big("tree_nodes"),
          from.big("bytes_total"),      from.big("bytes_taken"),     from.big("bytes_pinned"),
          from.big("budget_bytes")};
}

ModelInfo modelFrom(const Members& from) {
  ModelInfo to;
  to.id = ModelId{from.count("id")};
  to.state = wordIn<ModelInfo::State>(from.text("state"), kModelStates, to.state);
  to.name = from.text("name");
  to.path = from.text("path");
  to.architecture = from.text("architecture");
  to.quantisation = from.text("quantisation");
  to.file_bytes = from.big("file_bytes");
  to.weight_bytes = from.big("weight_bytes");
  to.kv_bytes_per_token = from.big("kv_bytes_per_token");
  to.n_context = from.count("n_context");
  to.max_request_tokens = from.count("max_request_tokens");
  to.progress = from.real("progress");
  to.arithmetic_id = from.text("arithmetic_id");
  to.device = from.text("device");
  to.identity = wordIn<ModelInfo::Identity>(from.text("identity"), kIdentities, to.identity);
  to.digest_progress = from.real("digest_progress");
  to.digest = from.text("digest");
  to.digest_error = from.text("digest_error");
  to.error = errorText(from.text("error"));
  to.has_chat_template = from.flag("has_chat_template");
  to.pool = poolFrom(Members(from.any("pool")));
  return to;
}

TenantInfo tenantFrom(const Members& from) {
  TenantInfo to;
  to.id = TenantId{from.count("id")};
  to.name = from.text("name");
  to.blocks = from.big("blocks");
  to.bytes = from.big("bytes");
  to.pinned_bytes = from.big("pinned_bytes");
  to.quota_bytes = from.big("quota_bytes");
  to.foreign = from.flag("foreign");
  to.requests = from.big("requests");
  to.prompt_tokens = from.big("prompt_tokens");
  to.cached_tokens = from.big("cached_tokens");
  to.running = from.count("running");
  to.queued = from.count("queued");
  return to;
}

StoreInfo storeFrom(const Members& from) {
  StoreInfo to;
  to.used = from.flag("used");
  to.reason = from.text("reason");
  to.mode = from.text("mode");
  to.blocks = from.big("blocks");
  to.bytes_on_disk = from.big("bytes_on_disk");
  to.cap_bytes = from.big("cap_bytes");
  to.keep_free_bytes = from.big("keep_free_bytes");
  to.pinned_blocks = from.big("pinned_blocks");
  to.queued_blocks = from.big("queued_blocks");
  to.queued_bytes = from.big("queued_bytes");
  to.lag_ms = from.real("lag_ms");
  to.stored_blocks = from.big("stored_blocks");
  to.written_bytes = from.big("written_bytes");
  to.read_blocks = from.big("read_blocks");
  to.read_bytes = from.big("read_bytes");
  to.evicted_blocks = from.big("evicted_blocks");
  to.refused_blocks = from.big("refused_blocks");
  to.missed_reads = from.big("missed_reads");
  to.read_bytes_per_s = from.real("read_bytes_per_s");
  to.write_bytes_per_s = from.real("write_bytes_per_s");
  to.budget_bytes = from.big("budget_bytes");
  to.budget_spent = from.big("budget_spent");
  to.damaged_blocks = from.big("damaged_blocks");
  to.failed_io = from.big("failed_io");
  to.last_failure = from.text("last_failure");
  to.io_path = from.text("io_path");
  to.cipher = from.text("cipher");
  to.codec = from.text("codec");
  to.codec_note = from.text("codec_note");
  to.codec_error = from.real("codec_error");
  to.rounded_blocks = from.big("rounded_blocks");
  to.rounded_bytes = from.big("rounded_bytes");
  to.restored_blocks = from.big("restored_blocks");
  to.restored_tokens = from.big("restored_tokens");
  to.restore_ms = from.real("restore_ms");
  to.declined_slower = from.big("declined_slower");
  to.declined_room = from.big("declined_room");
  to.declined_late = from.big("declined_late");
  to.declined_damaged = from.big("declined_damaged");
  to.declined_stalled = from.big("declined_stalled");
  to.mixed_restores = from.big("mixed_restores");
  to.unlisted_blocks = from.big("unlisted_blocks");
  to.ram_blocks = from.big("ram_blocks");
  to.ram_bytes = from.big("ram_bytes");
  to.ram_cap_bytes = from.big("ram_cap_bytes");
  to.ram_reads = from.big("ram_reads");
  to.ram_damaged = from.big("ram_damaged");
  to.ram_bytes_per_s = from.real("ram_bytes_per_s");
  return to;
}

Interval intervalFrom(const Members& from) {
  Interval to;
  to.begin = from.integer("begin");
  to.requests = from.count("requests");
  to.full_prefix = from.count("full_prefix");
  to.prompt_tokens = from.big("prompt_tokens");
  to.cached_tokens = from.big("cached_tokens");
  to.completion_tokens = from.big("completion_tokens");
  to.evicted_blocks = from.big("evicted_blocks");
  to.blocks_used = from.count("blocks_used");
  to.blocks_pinned = from.count("blocks_pinned");
  to.saved_ms = from.real("saved_ms");
  to.warm_p50_ms = from.real("warm_p50_ms", -1);
  to.warm_p99_ms = from.real("warm_p99_ms", -1);
  to.cold_p50_ms = from.real("cold_p50_ms", -1);
  to.cold_p99_ms = from.real("cold_p99_ms", -1);
  return to;
}

JobInfo jobFrom(const Members& from) {
  JobInfo to;
  to.id = JobId{from.big("id")};
  to.verb = from.text("verb");
  to.progress = from.real("progress");
  to.done = from.flag("done");
  to.error = errorText(from.text("error"));
  to.state = wordIn<JobInfo::State>(from.text("state"), kJobStates, to.state);
  to.node = NodeId{from.big("node")};
  to.to = from.text("to");
  to.dry_run = from.flag("dry_run");
  to.blocks_done = from.big("blocks_done");
  to.blocks_total = from.big("blocks_total");
  to.bytes_moved = from.big("bytes_moved");
  const Members t(from.any("result"));
  to.tally = {t.big("written"), t.big("read_up"), t.big("left_pool"), t.big("left_disk"), t.big("computed"),
              t.big("already"), t.big("pinned"),  t.big("in_use"),    t.big("growing"),   t.big("below"),
              t.big("refused"), t.big("no_room"), t.big("gone"),      t.big("good"),      t.big("damaged"),
              t.big("missing"), t.big("unread"),  t.text("refusal")};
  to.codec = {from.big("bytes_before"), from.big("bytes_after"), from.real("codec_error"),
              from.count("compute_tokens"), from.real("compute_ms")};
  to.warning = from.text("warning");
  to.started = from.integer("started");
  to.ended = from.integer("ended");
  return to;
}

void readLists(const Members& from, SnapshotView& to) {
  for (const QJsonValue& one : from.list("models")) to.models.push_back(modelFrom(Members(one)));
  for (const QJsonValue& one : from.list("tenants")) to.tenants.push_back(tenantFrom(Members(one)));
  for (const QJsonValue& one : from.list("history")) to.history.push_back(intervalFrom(Members(one)));
  for (const QJsonValue& one : from.list("keys")) {
    const Members k(one);
    to.keys.push_back({KeyId{k.count("id")}, TenantId{k.count("tenant")}, k.text("prefix"), k.text("label"),
                       k.flag("admin"), k.integer("created"), k.integer("last_used")});
  }
  for (const QJsonValue& one : from.list("pins")) {
    const Members p(one);
    to.pins.push_back({PinId{p.big("id")}, NodeId{p.big("node")}, TenantId{p.count("tenant")}, p.text("reason"),
                       p.count("blocks"), p.big("bytes"), p.integer("created"), p.integer("expires")});
  }
  for (const QJsonValue& one : from.list("entries")) {
    const Members e(one);
    to.entries.push_back({EntryId{e.big("id")}, NodeId{e.big("node")}, TenantId{e.count("tenant")}, e.text("name"),
                          e.count("tokens"), e.big("bytes"), e.flag("pinned"), e.big("hits"), e.real("saved_ms")});
  }
  for (const QJsonValue& one : from.list("packs")) {
    const Members p(one);
    to.packs.push_back({p.text("id"), p.text("name"), p.text("language"), p.text("text"), p.count("version"),
                        p.count("tokens"), p.flag("warm"), p.flag("pinned"), NodeId{p.big("node")}});
  }
  for (const QJsonValue& one : from.list("jobs")) {
    to.jobs.push_back(jobFrom(Members(one)));
  }
}

bool withinBounds(const Members& from) {
  for (const char* name : {"models", "tenants", "keys", "pins", "entries", "packs", "jobs", "history"}) {
    if (from.list(name).size() > kMaxListRows) return false;
  }
  return from.list("tree").size() <= kMaxTreeNodes;
}

struct ToCall {
  static QByteArray json(const QJsonObject& object) { return QJsonDocument(object).toJson(QJsonDocument::Compact); }
  static QJsonValue id(std::uint64_t value) { return QJsonValue(static_cast<qint64>(value)); }

  RemoteCall operator()(const command::PinNode& c) const {
    return {QStringLiteral("pin"), "POST",
            json({{QStringLiteral("node"), id(c.node.value)},
                  {QStringLiteral("reason"), c.reason},
                  {QStringLiteral("ttl_ms"), QJsonValue(static_cast<qint64>(c.ttl_ms))},
                  {QStringLiteral("dry_run"), c.dry_run}})};
  }
  RemoteCall operator()(const command::Unpin& c) const {
    const bool by_pin = c.pin.value != 0;
    return {QStringLiteral("unpin"), "POST",
            json({{by_pin ? QStringLiteral("pin") : QStringLiteral("node"), id(by_pin ? c.pin.value : c.node.value)}})};
  }
  RemoteCall operator()(const command::DeleteNode& c) const {
    return {QStringLiteral("delete"), "POST",
            json({{QStringLiteral("node"), id(c.node.value)},
                  {QStringLiteral("when_idle"), c.when_idle},
                  {QStringLiteral("dry_run"), c.dry_run}})};
  }
  RemoteCall operator()(const command::Locate& c) const {
    return {QStringLiteral("locate"), "POST", json({{QStringLiteral("node"), id(c.node.value)}})};
  }
  RemoteCall operator()(const command::CancelRequest& c) const {
    return {QStringLiteral("requests/%1/cancel").arg(c.request.value), "POST", "{}"};
  }
  RemoteCall operator()(const command::MoveBlocks& c) const {
    return {c.keep ? QStringLiteral("copy") : QStringLiteral("move"), "POST",
            json({{QStringLiteral("node"), id(c.node.value)},
                  {QStringLiteral("to"), c.to},
                  {QStringLiteral("dry_run"), c.dry_run}})};
  }
  RemoteCall operator()(const command::VerifyBlocks& c) const {
    return {QStringLiteral("verify"), "POST",
            json({{QStringLiteral("node"), id(c.node.value)}, {QStringLiteral("dry_run"), c.dry_run}})};
  }
  RemoteCall operator()(const command::CompressBlocks& c) const {
    return {QStringLiteral("compress"), "POST",
            json({{QStringLiteral("node"), id(c.node.value)},
                  {QStringLiteral("scheme"), c.scheme},
                  {QStringLiteral("dry_run"), c.dry_run}})};
  }
  RemoteCall operator()(const command::DecompressBlocks& c) const {
    return {QStringLiteral("decompress"), "POST",
            json({{QStringLiteral("node"), id(c.node.value)}, {QStringLiteral("dry_run"), c.dry_run}})};
  }
  RemoteCall operator()(const command::CancelJob& c) const {
    return {QStringLiteral("jobs/%1/cancel").arg(c.job.value), "POST", "{}"};
  }
  template <typename Other>
  RemoteCall operator()(const Other&) const {
    return {};
  }
};

}  // namespace

std::optional<ViewDelta> decodeSnapshot(const QByteArray& json) {
  if (json.size() > kMaxAnswerBytes) return std::nullopt;
  const QJsonDocument document = QJsonDocument::fromJson(json);
  if (!document.isObject()) return std::nullopt;
  const Members from(document.object());
  if (!from.has("epoch") || !from.has("pool") || !withinBounds(from)) return std::nullopt;
  ViewDelta delta;
  SnapshotView& to = delta.view;
  to.epoch = from.big("epoch");
  delta.full = from.big("since") == 0;
  to.at = from.integer("at");
  to.started = from.integer("started");
  to.version = from.text("version");
  to.device = from.text("device");
  to.pool = poolFrom(Members(from.any("pool")));
  to.store = storeFrom(Members(from.any("store")));
  readLists(from, to);
  to.running = from.count("running");
  to.queued = from.count("queued");
  to.decode_tokens_per_s = from.real("decode_tokens_per_s");
  to.prefill_tokens_per_s = from.real("prefill_tokens_per_s");
  to.dropped_events = from.big("dropped_events");
  to.resident_bytes = from.big("resident_bytes");
  if (from.any("tree").isArray()) {
    const QJsonArray list = from.list("tree");
    QVector<TreeNode> nodes;
    nodes.reserve(list.size());
    for (const QJsonValue& one : list) nodes.push_back(nodeFrom(Members(one)));
    delta.tree = buildTreeRows(std::move(nodes));
  }
  const QJsonArray requests = from.list("requests");  // newest last
  for (qsizetype i = std::max<qsizetype>(0, requests.size() - kMaxRequests); i < requests.size(); ++i) {
    delta.requests.push_back(std::make_shared<const RequestRecord>(requestFrom(Members(requests[i]))));
  }
  return delta;
}

CommandOutcome decodeOutcome(const QByteArray& json, int http_status) {
  CommandOutcome out;
  const QJsonDocument document = QJsonDocument::fromJson(json);
  const Members from(document.object());
  out.ok = http_status >= 200 && http_status < 300 && document.isObject();
  if (!out.ok) {
    const Members error(from.any("error"));
    out.code = error.text("code");
    out.message = errorText(out.code, error.text("message"));
    if (out.message.isEmpty()) out.message = DecodeWords::tr("It answered with HTTP status %1.").arg(http_status);
    return out;
  }
  out.pin = PinId{from.big("pin")};
  out.tenant = TenantId{from.count("tenant")};
  out.key = KeyId{from.count("key")};
  out.secret = from.text("secret");
  out.blocks = from.big("blocks");
  out.bytes = from.big("bytes");
  out.tokens = from.count("tokens");
  out.detail = from.text("detail");
  for (const QJsonValue& one : from.list("placement")) out.placement.push_back(nodeFrom(Members(one)));
  if (from.any("job").isObject()) out.job = jobFrom(Members(from.any("job")));
  out.restart_needed = from.flag("restart_needed");
  return out;
}

RemoteCall encodeCommand(const Command& command) { return std::visit(ToCall{}, command); }

}  // namespace larder::gui
