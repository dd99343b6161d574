// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/convert.h"

#include <algorithm>
#include <utility>

#include "gui/bridge/error_words.h"

namespace larder::gui {
namespace {

template <typename To, typename From>
To sameEnum(From value) {
  return static_cast<To>(static_cast<std::uint8_t>(value));
}

QVector<QString> listToQt(const std::vector<std::string>& list) {
  QVector<QString> out;
  out.reserve(static_cast<qsizetype>(list.size()));
  for (const auto& one : list) out.push_back(toQt(one));
  return out;
}

QVector<Token> tokensToQt(const std::vector<Token>& tokens) { return QVector<Token>(tokens.begin(), tokens.end()); }

TenantInfo tenantToQt(const engine::TenantInfo& from) {
  TenantInfo to;
  to.id = from.id;
  to.name = toQt(from.name);
  to.blocks = from.blocks;
  to.bytes = from.bytes;
  to.pinned_bytes = from.pinned_bytes;
  to.quota_bytes = from.quota_bytes;
  to.foreign = from.foreign;
  to.requests = from.requests;
  to.prompt_tokens = from.prompt_tokens;
  to.cached_tokens = from.cached_tokens;
  to.running = from.running;
  to.queued = from.queued;
  return to;
}

PoolInfo poolToQt(const engine::PoolInfo& from) {
  return PoolInfo{from.blocks_total,   from.blocks_free,    from.blocks_cached, from.blocks_in_use, from.blocks_pinned,
                  from.block_bytes,    from.pin_budget_bytes, from.evicted_blocks, from.tree_nodes, from.bytes_total,
                  from.bytes_taken,    from.bytes_pinned,   from.budget_bytes};
}

ModelInfo modelToQt(const engine::ModelInfo& from) {
  ModelInfo to;
  to.id = from.id;
  to.state = sameEnum<ModelInfo::State>(from.state);
  to.name = toQt(from.name);
  to.path = toQt(from.path);
  to.architecture = toQt(from.architecture);
  to.quantisation = toQt(from.quantisation);
  to.file_bytes = from.file_bytes;
  to.weight_bytes = from.weight_bytes;
  to.kv_bytes_per_token = from.kv_bytes_per_token;
  to.n_context = from.n_context;
  to.max_request_tokens = from.max_request_tokens;
  to.progress = from.progress;
  to.arithmetic_id = toQt(from.arithmetic_id);
  to.device = toQt(from.device);
  to.identity = sameEnum<ModelInfo::Identity>(from.identity);
  to.digest_progress = from.digest_progress;
  to.digest = toQt(from.digest);
  to.digest_error = toQt(from.digest_error);
  to.error = errorText(toQt(from.error));
  to.has_chat_template = from.has_chat_template;
  to.pool = poolToQt(from.pool);
  return to;
}

StoreInfo storeToQt(const engine::StoreInfo& from) {
  StoreInfo to;
  to.used = from.used;
  to.reason = toQt(from.reason);
  to.mode = toQt(from.mode);
  to.blocks = from.blocks;
  to.bytes_on_disk = from.bytes_on_disk;
  to.cap_bytes = from.cap_bytes;
  to.keep_free_bytes = from.keep_free_bytes;
  to.pinned_blocks = from.pinned_blocks;
  to.queued_blocks = from.queued_blocks;
  to.queued_bytes = from.queued_bytes;
  to.lag_ms = from.lag_ms;
  to.stored_blocks = from.stored_blocks;
  to.written_bytes = from.written_bytes;
  to.read_blocks = from.read_blocks;
  to.read_bytes = from.read_bytes;
  to.evicted_blocks = from.evicted_blocks;
  to.refused_blocks = from.refused_blocks;
  to.missed_reads = from.missed_reads;
  to.read_bytes_per_s = from.read_bytes_per_s;
  to.write_bytes_per_s = from.write_bytes_per_s;
  to.budget_bytes = from.budget_bytes;
  to.budget_spent = from.budget_spent;
  to.damaged_blocks = from.damaged_blocks;
  to.failed_io = from.failed_io;
  to.last_failure = toQt(from.last_failure);
  to.io_path = toQt(from.io_path);
  to.cipher = toQt(from.cipher);
  to.codec = toQt(from.codec);
  to.codec_note = toQt(from.codec_note);
  to.codec_error = from.codec_error;
  to.rounded_blocks = from.rounded_blocks;
  to.rounded_bytes = from.rounded_bytes;
  to.restored_blocks = from.restored_blocks;
  to.restored_tokens = from.restored_tokens;
  to.restore_ms = from.restore_ms;
  to.declined_slower = from.declined_slower;
  to.declined_room = from.declined_room;
  to.declined_late = from.declined_late;
  to.declined_damaged = from.declined_damaged;
  to.declined_stalled = from.declined_stalled;
  to.mixed_restores = from.mixed_restores;
  to.unlisted_blocks = from.unlisted_blocks;
  to.ram_blocks = from.ram_blocks;
  to.ram_bytes = from.ram_bytes;
  to.ram_cap_bytes = from.ram_cap_bytes;
  to.ram_reads = from.ram_reads;
  to.ram_damaged = from.ram_damaged;
  to.ram_bytes_per_s = from.ram_bytes_per_s;
  return to;
}

Interval intervalToQt(const engine::Interval& from) {
  Interval to;
  to.begin = from.begin;
  to.requests = from.requests;
  to.full_prefix = from.full_prefix;
  to.prompt_tokens = from.prompt_tokens;
  to.cached_tokens = from.cached_tokens;
  to.completion_tokens = from.completion_tokens;
  to.evicted_blocks = from.evicted_blocks;
  to.blocks_used = from.blocks_used;
  to.blocks_pinned = from.blocks_pinned;
  to.saved_ms = from.saved_ms;
  to.warm_p50_ms = from.warm_p50_ms;
  to.warm_p99_ms = from.warm_p99_ms;
  to.cold_p50_ms = from.cold_p50_ms;
  to.cold_p99_ms = from.cold_p99_ms;
  return to;
}

struct ToVerb {
  engine::Verb operator()(const command::PinNode& c) const {
    return engine::PinNode{c.node, fromQt(c.reason), c.ttl_ms, c.dry_run};
  }
  engine::Verb operator()(const command::Unpin& c) const { return engine::Unpin{c.pin, c.node}; }
  engine::Verb operator()(const command::DeleteNode& c) const {
    return engine::DeleteNode{c.node, c.when_idle, c.dry_run};
  }
  engine::Verb operator()(const command::Locate& c) const { return engine::Locate{c.node}; }
  engine::Verb operator()(const command::LoadModel& c) const { return engine::LoadModel{fromQt(c.path)}; }
  engine::Verb operator()(const command::UnloadModel& c) const { return engine::UnloadModel{c.model}; }
  engine::Verb operator()(const command::CreateTenant& c) const {
    return engine::CreateTenant{fromQt(c.name), c.quota_bytes};
  }
  engine::Verb operator()(const command::SetTenant& c) const { return engine::SetTenant{c.tenant, c.foreign}; }
  engine::Verb operator()(const command::DeleteTenant& c) const { return engine::DeleteTenant{c.tenant}; }
  engine::Verb operator()(const command::CreateKey& c) const {
    return engine::CreateKey{c.tenant, fromQt(c.label), c.admin, false};
  }
  engine::Verb operator()(const command::RevokeKey& c) const { return engine::RevokeKey{c.key}; }
  engine::Verb operator()(const command::WarmPack& c) const { return engine::WarmPack{fromQt(c.pack), c.pin}; }
  engine::Verb operator()(const command::CancelRequest& c) const { return engine::CancelRequest{c.request}; }
  engine::Verb operator()(const command::MoveBlocks& c) const {
    return engine::MoveBlocks{{c.node, false, 0, 0}, fromQt(c.to), c.keep, c.dry_run};
  }
  engine::Verb operator()(const command::VerifyBlocks& c) const {
    return engine::VerifyBlocks{{c.node, false, 0, 0}, c.dry_run};
  }
  engine::Verb operator()(const command::CompressBlocks& c) const {
    return engine::CompressBlocks{{c.node, false, 0, 0}, fromQt(c.scheme), c.dry_run};
  }
  engine::Verb operator()(const command::DecompressBlocks& c) const {
    return engine::DecompressBlocks{{c.node, false, 0, 0}, c.dry_run};
  }
  engine::Verb operator()(const command::CancelJob& c) const { return engine::CancelJob{c.job}; }
  engine::Verb operator()(const command::SetSetting& c) const {
    return engine::SetSetting{fromQt(c.key), fromQt(c.value)};
  }
};

}  // namespace

QString toQt(const std::string& text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

QString codeOf(const Error& error) {
  const std::string_view code = error_code_name(error.code);
  return QString::fromLatin1(code.data(), static_cast<qsizetype>(code.size()));
}

QString errorText(const Error& error) { return errorText(codeOf(error), toQt(error.message)); }

std::string fromQt(const QString& text) {
  const QByteArray bytes = text.toUtf8();
  return std::string(bytes.constData(), static_cast<std::size_t>(bytes.size()));
}

Verdict toQt(const kv::Verdict& from) {
  Verdict to;
  to.kind = sameEnum<VerdictKind>(from.kind);
  to.prompt_tokens = from.prompt_tokens;
  to.reused_tokens = from.reused_tokens;
  to.copied_tokens = from.copied_tokens;
  to.computed_tokens = from.computed_tokens;
  to.saved_ms = from.saved_ms;
  to.prefill_tokens_per_s = from.prefill_tokens_per_s;
  to.tier = toQt(from.tier);
  to.lineage = QString::fromLatin1(kv::lineage_name(from.lineage, from.foreign));
  to.identity_part = toQt(from.identity_part);
  if (from.divergence) {
    const auto& d = *from.divergence;
    to.divergence =
        Divergence{d.token,       d.section,  d.here, d.cached, tokensToQt(d.here_run), tokensToQt(d.cached_run),
                   d.equal_after, d.cached_by};
  }
  if (from.eviction) {
    const auto& e = *from.eviction;
    to.eviction = Eviction{e.at, e.by_request, e.by_tenant, toQt(e.policy), e.lost_tokens, e.last_hit};
  }
  if (const auto& r = from.restored; !r.tier.empty()) {
    to.restored = Restored{r.tokens,          toQt(r.tier),       r.ms,
                           r.estimate_ms,     r.compute_ms,       toQt(r.declined),
                           r.declined_tokens, r.declined_read_ms, r.declined_compute_ms};
  }
  return to;
}

QVector<Section> toQt(const std::vector<larder::Section>& sections) {
  QVector<Section> out;
  out.reserve(static_cast<qsizetype>(sections.size()));
  for (const auto& s : sections) {
    out.push_back(
        Section{sameEnum<SectionKind>(s.kind), toQt(s.label), s.byte_begin, s.byte_end, s.token_begin, s.token_end});
  }
  return out;
}

Usage toQt(const engine::Usage& from) { return Usage{from.prompt_tokens, from.cached_tokens, from.completion_tokens}; }

Timings toQt(const engine::Timings& from) {
  return Timings{from.queue_ms,       from.prepare_ms, from.match_ms,           from.prefill_ms,
                 from.first_token_ms, from.total_ms,   from.decode_tokens_per_s};
}

RequestRecord toQt(const engine::RequestRecord& from) {
  RequestRecord to;
  to.id = from.id;
  to.state = sameEnum<RequestRecord::State>(from.state);
  to.epoch = from.epoch;
  to.tenant = TenantId{from.tenant};
  to.model = ModelId{from.model};
  to.submitted = from.submitted;
  to.usage = toQt(from.usage);
  to.timings = toQt(from.timings);
  to.verdict = toQt(from.verdict);
  to.sections = toQt(from.sections);
  to.error = errorText(toQt(from.error));
  to.diverged_here = toQt(from.diverged_here);
  to.diverged_cached = toQt(from.diverged_cached);
  to.here_tokens = listToQt(from.here_tokens);
  to.cached_tokens = listToQt(from.cached_tokens);
  return to;
}

TreeNode toQt(const engine::TreeNode& from) {
  TreeNode to;
  to.id = from.id;
  to.parent = from.parent;
  to.tenant = TenantId{from.tenant};
  to.model = ModelId{from.model};
  to.first_position = from.first_position;
  to.tokens = from.tokens;
  to.blocks = from.blocks;
  to.bytes = from.bytes;
  to.device_blocks = from.device_blocks;
  to.host_blocks = from.host_blocks;
  to.disk_blocks = from.disk_blocks;
  to.stored_blocks = from.stored_blocks;
  to.ram_blocks = from.ram_blocks;
  to.ram_bytes = from.ram_bytes;
  to.pinned = from.pinned;
  to.in_use = from.in_use;
  to.growing = from.growing;
  to.hits = from.hits;
  to.created = from.created;
  to.last_hit = from.last_hit;
  to.compute_ms = from.compute_ms;
  to.made_by = from.made_by;
  to.label = toQt(from.label);
  to.lineage = toQt(from.lineage);
  return to;
}

JobInfo toQt(const engine::JobInfo& from) {
  JobInfo to;
  to.id = from.id;
  to.verb = toQt(from.verb);
  to.progress = from.progress;
  to.done = from.done;
  to.error = errorText(toQt(from.error));
  to.state = static_cast<JobInfo::State>(from.state);
  to.node = from.node;
  to.to = toQt(from.to);
  to.dry_run = from.dry_run;
  to.blocks_done = from.blocks_done;
  to.blocks_total = from.blocks_total;
  to.bytes_moved = from.bytes_moved;
  const engine::TierTally& t = from.tally;
  to.tally = {t.written, t.read_up, t.left_pool, t.left_disk, t.computed, t.already,
              t.pinned,  t.in_use,  t.growing,   t.below,     t.refused,  t.no_room,
              t.gone,    t.good,    t.damaged,   t.missing,   t.unread,   toQt(t.refusal)};
  to.codec = {from.codec.bytes_before, from.codec.bytes_after, from.codec.error, from.codec.compute_tokens,
              from.codec.compute_ms};
  to.warning = toQt(from.warning);
  to.started = from.started;
  to.ended = from.ended;
  return to;
}

engine::Verb fromQt(const Command& command) { return std::visit(ToVerb{}, command); }

CommandOutcome toQt(const Result<engine::VerbResult>& result) {
  CommandOutcome out;
  if (!result.ok()) {
    out.code = codeOf(result.error());
    out.message = errorText(result.error());
    return out;
  }
  const engine::VerbResult& from = result.value();
  out.ok = true;
  out.pin = from.pin;
  out.tenant = from.tenant;
  out.key = from.key;
  out.secret = toQt(from.secret);
  out.blocks = from.blocks;
  out.bytes = from.bytes;
  out.tokens = from.tokens;
  out.detail = toQt(from.detail);
  for (const auto& node : from.placement) out.placement.push_back(toQt(node));
  if (from.job) out.job = toQt(*from.job);
  out.restart_needed = from.restart_needed;
  return out;
}

engine::Request fromQt(const Ask& ask) {
  engine::Request request;
  if (ask.messages.isEmpty()) {
    request.prompt = engine::TextPrompt{fromQt(ask.text)};
  } else {
    engine::ChatPrompt chat;
    for (const auto& message : ask.messages) {
      engine::ChatMessage one;
      one.role = fromQt(message.role);
      one.content = fromQt(message.content);
      chat.messages.push_back(std::move(one));
    }
    request.prompt = std::move(chat);
  }
  request.label = fromQt(ask.label);
  request.max_tokens = ask.max_tokens;
  request.sampling.temperature = static_cast<float>(ask.temperature);
  request.sampling.top_p = static_cast<float>(ask.top_p);
  request.sampling.seed = ask.seed;
  request.cache = ask.bypass_cache ? engine::CachePolicy::kBypass : engine::CachePolicy::kDefault;
  return request;
}

SnapshotView toQt(const engine::Snapshot& from) {
  SnapshotView to;
  to.epoch = from.epoch;
  to.at = from.at;
  to.started = from.started;
  to.version = toQt(from.version);
  to.device = toQt(from.device);
  to.pool = poolToQt(from.pool);
  to.store = storeToQt(from.store);
  for (const auto& one : from.models) to.models.push_back(modelToQt(one));
  for (const auto& one : from.tenants) to.tenants.push_back(tenantToQt(one));
  for (const auto& one : from.keys) {
    to.keys.push_back(
        KeyInfo{one.id, one.tenant, toQt(one.prefix), toQt(one.label), one.admin, one.created, one.last_used});
  }
  for (const auto& one : from.pins) {
    to.pins.push_back(
        PinInfo{one.id, one.node, one.tenant, toQt(one.reason), one.blocks, one.bytes, one.created, one.expires});
  }
  for (const auto& one : from.entries) {
    to.entries.push_back(EntryInfo{one.id, one.node, one.tenant, toQt(one.name), one.tokens, one.bytes, one.pinned,
                                   one.hits, one.saved_ms});
  }
  for (const auto& one : from.packs) {
    to.packs.push_back(PackInfo{toQt(one.id), toQt(one.name), toQt(one.language), toQt(one.text), one.version,
                                one.tokens, one.warm, one.pinned, one.node});
  }
  for (const auto& one : from.jobs) {
    to.jobs.push_back(toQt(one));
  }
  for (const auto& one : from.history) to.history.push_back(intervalToQt(one));
  to.running = from.running;
  to.queued = from.queued;
  to.decode_tokens_per_s = from.decode_tokens_per_s;
  to.prefill_tokens_per_s = from.prefill_tokens_per_s;
  to.dropped_events = from.dropped_events;
  to.resident_bytes = from.resident_bytes;
  return to;
}

ViewDelta toDelta(const engine::Snapshot& snapshot) {
  ViewDelta delta;
  delta.view = toQt(snapshot);
  delta.full = snapshot.since == 0;
  if (snapshot.tree != nullptr) {
    QVector<TreeNode> nodes;
    nodes.reserve(static_cast<qsizetype>(snapshot.tree->size()));
    for (const auto& node : *snapshot.tree) nodes.push_back(toQt(node));
    delta.tree = buildTreeRows(std::move(nodes));
  }
  for (const auto& one : snapshot.requests) {
    delta.requests.push_back(std::make_shared<const RequestRecord>(toQt(one)));
  }
  return delta;
}

SnapshotPtr mergeViews(const SnapshotPtr& before, ViewDelta delta) {
  auto merged = std::make_shared<SnapshotView>(std::move(delta.view));
  const bool keep = before != nullptr && !delta.full;
  merged->tree = delta.tree;
  if (merged->tree == nullptr) merged->tree = keep && before->tree ? before->tree : buildTreeRows({});

  QVector<RequestPtr> all = keep ? before->requests : QVector<RequestPtr>{};
  all.append(delta.requests);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
  QVector<RequestPtr> kept;
  kept.reserve(all.size());
  for (auto& one : all) {
    if (!kept.isEmpty() && kept.back()->id == one->id) {
      kept.back() = one;  // the newer record of the same request
    } else {
      kept.push_back(one);
    }
  }
  const auto gone = [&](const RequestPtr& one) { return findTenant(*merged, one->tenant) == nullptr; };
  kept.erase(std::remove_if(kept.begin(), kept.end(), gone), kept.end());
  if (kept.size() > kMaxRequests) kept.remove(0, kept.size() - kMaxRequests);
  merged->requests = std::move(kept);
  if (merged->history.size() > kMaxIntervals) merged->history.remove(0, merged->history.size() - kMaxIntervals);
  return merged;
}

}  // namespace larder::gui
