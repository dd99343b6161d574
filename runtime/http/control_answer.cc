// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/control_answer.h"

#include <concepts>
#include <type_traits>

#include "runtime/http/json_writer.h"
#include "runtime/http/verdict_text.h"

namespace larder::http {
namespace {

using engine::ModelInfo;
using engine::RequestRecord;
using engine::Snapshot;

std::string_view word(RequestRecord::State state) {
  switch (state) {
    case RequestRecord::State::kPreparing:
      return "preparing";
    case RequestRecord::State::kQueued:
      return "queued";
    case RequestRecord::State::kPrefill:
      return "prefill";
    case RequestRecord::State::kDecode:
      return "decode";
    case RequestRecord::State::kDone:
      return "done";
    case RequestRecord::State::kFailed:
      return "failed";
    case RequestRecord::State::kCancelled:
      return "cancelled";
  }
  return "failed";
}

std::string_view word(ModelInfo::State state) {
  switch (state) {
    case ModelInfo::State::kFile:
      return "file";
    case ModelInfo::State::kLoading:
      return "loading";
    case ModelInfo::State::kReady:
      return "ready";
    case ModelInfo::State::kUnloading:
      return "unloading";
    case ModelInfo::State::kFailed:
      return "failed";
  }
  return "failed";
}

std::string_view word(ModelInfo::Identity identity) {
  switch (identity) {
    case ModelInfo::Identity::kPending:
      return "pending";
    case ModelInfo::Identity::kKnown:
      return "known";
    case ModelInfo::Identity::kFailed:
      return "failed";
  }
  return "";
}

std::string_view word(engine::JobInfo::State state) {
  switch (state) {
    case engine::JobInfo::State::kQueued:
      return "queued";
    case engine::JobInfo::State::kRunning:
      return "running";
    case engine::JobInfo::State::kDone:
      return "done";
    case engine::JobInfo::State::kFailed:
      return "failed";
    case engine::JobInfo::State::kCancelled:
      return "cancelled";
  }
  return "failed";
}

std::string_view word(SectionKind kind) {
  switch (kind) {
    case SectionKind::kTemplate:
      return "template";
    case SectionKind::kSystem:
      return "system";
    case SectionKind::kTool:
      return "tool";
    case SectionKind::kDocument:
      return "document";
    case SectionKind::kMessage:
      return "message";
  }
  return "template";
}

// One value: an id as its number, an enum as its word.
template <std::integral T>
void write(JsonWriter& out, T value) {
  if constexpr (std::same_as<T, bool>) {
    out.flag(value);
  } else {
    out.integer(value);
  }
}

template <typename Enum>
requires std::is_enum_v<Enum>
void write(JsonWriter& out, Enum value) { out.text(word(value)); }

template <typename Tag, typename Number>
void write(JsonWriter& out, StrongId<Tag, Number> id) {
  out.integer(id.value);
}

void write(JsonWriter& out, double value) { out.number(value); }
void write(JsonWriter& out, std::string_view text) { out.text(text); }

void write(JsonWriter& out, const engine::PoolInfo& p);  // a member of models

// Names and values in turns.
void members(JsonWriter& /*out*/) {}

template <typename Value, typename... Rest>
void members(JsonWriter& out, std::string_view name, const Value& value, const Rest&... rest) {
  write(out.key(name), value);
  members(out, rest...);
}

template <typename... Members>
void object(JsonWriter& out, const Members&... all) {
  out.begin_object();
  members(out, all...);
  out.end_object();
}

void write(JsonWriter& out, const Section& s) {
  object(out, "kind", s.kind, "label", s.label, "byte_begin", s.byte_begin, "byte_end", s.byte_end, "token_begin",
         s.token_begin, "token_end", s.token_end);
}

void write(JsonWriter& out, const engine::TreeNode& n) {
  object(out, "id", n.id, "parent", n.parent, "tenant", n.tenant, "model", n.model, "first_position", n.first_position,
         "tokens", n.tokens, "blocks", n.blocks, "bytes", n.bytes, "device_blocks", n.device_blocks, "host_blocks",
         n.host_blocks, "disk_blocks", n.disk_blocks, "stored_blocks", n.stored_blocks, "ram_blocks", n.ram_blocks,
         "ram_bytes", n.ram_bytes, "pinned", n.pinned, "in_use", n.in_use, "growing", n.growing, "hits", n.hits,
         "created", n.created, "last_hit", n.last_hit, "compute_ms", n.compute_ms, "made_by", n.made_by, "label",
         n.label, "lineage", n.lineage);
}

void write(JsonWriter& out, const engine::Usage& u) {
  object(out, "prompt_tokens", u.prompt_tokens, "cached_tokens", u.cached_tokens, "completion_tokens",
         u.completion_tokens);
}

void write(JsonWriter& out, const engine::TenantInfo& t) {
  object(out, "id", t.id, "name", t.name, "blocks", t.blocks, "bytes", t.bytes, "pinned_bytes", t.pinned_bytes,
         "quota_bytes", t.quota_bytes, "foreign", t.foreign, "requests", t.requests, "prompt_tokens", t.prompt_tokens,
         "cached_tokens", t.cached_tokens, "running", t.running, "queued", t.queued);
}

void write(JsonWriter& out, const engine::KeyInfo& k) {
  object(out, "id", k.id, "tenant", k.tenant, "prefix", k.prefix, "label", k.label, "admin", k.admin, "created",
         k.created, "last_used", k.last_used);
}

void write(JsonWriter& out, const engine::PinInfo& p) {
  object(out, "id", p.id, "node", p.node, "tenant", p.tenant, "reason", p.reason, "blocks", p.blocks, "bytes", p.bytes,
         "created", p.created, "expires", p.expires);
}

void write(JsonWriter& out, const engine::PoolInfo& p) {
  object(out, "blocks_total", p.blocks_total, "blocks_free", p.blocks_free, "blocks_cached", p.blocks_cached,
         "blocks_in_use", p.blocks_in_use, "blocks_pinned", p.blocks_pinned, "block_bytes", p.block_bytes,
         "pin_budget_bytes", p.pin_budget_bytes, "evicted_blocks", p.evicted_blocks, "tree_nodes", p.tree_nodes,
         "bytes_total", p.bytes_total, "bytes_taken", p.bytes_taken, "bytes_pinned", p.bytes_pinned, "budget_bytes",
         p.budget_bytes);
}

void write(JsonWriter& out, const ModelInfo& m) {
  object(out, "id", m.id, "state", m.state, "name", m.name, "path", m.path, "architecture", m.architecture,
         "quantisation", m.quantisation, "file_bytes", m.file_bytes, "weight_bytes", m.weight_bytes,
         "kv_bytes_per_token", m.kv_bytes_per_token, "n_context", m.n_context, "max_request_tokens",
         m.max_request_tokens, "progress", m.progress, "arithmetic_id", m.arithmetic_id, "device", m.device, "identity",
         m.identity, "digest_progress", m.digest_progress, "digest", m.digest, "digest_error", m.digest_error, "error",
         m.error, "has_chat_template", m.has_chat_template, "pool", m.pool);
}

void write(JsonWriter& out, const engine::StoreInfo& s) {
  object(out, "used", s.used, "reason", s.reason, "mode", s.mode, "blocks", s.blocks, "bytes_on_disk", s.bytes_on_disk,
         "cap_bytes", s.cap_bytes, "keep_free_bytes", s.keep_free_bytes, "pinned_blocks", s.pinned_blocks,
         "queued_blocks", s.queued_blocks, "queued_bytes", s.queued_bytes, "lag_ms", s.lag_ms, "stored_blocks",
         s.stored_blocks, "written_bytes", s.written_bytes, "read_blocks", s.read_blocks, "read_bytes", s.read_bytes,
         "evicted_blocks", s.evicted_blocks, "refused_blocks", s.refused_blocks, "missed_reads", s.missed_reads,
         "read_bytes_per_s", s.read_bytes_per_s, "write_bytes_per_s", s.write_bytes_per_s, "budget_bytes",
         s.budget_bytes, "budget_spent", s.budget_spent, "damaged_blocks", s.damaged_blocks, "failed_io", s.failed_io,
         "last_failure", s.last_failure, "io_path", s.io_path, "cipher", s.cipher, "codec",
         s.codec, "codec_note", s.codec_note, "codec_error", s.codec_error, "rounded_blocks", s.rounded_blocks,
         "rounded_bytes", s.rounded_bytes, "restored_blocks", s.restored_blocks,
         "restored_tokens", s.restored_tokens, "restore_ms", s.restore_ms, "declined_slower", s.declined_slower,
         "declined_room", s.declined_room, "declined_late", s.declined_late, "declined_damaged", s.declined_damaged,
         "declined_stalled", s.declined_stalled, "mixed_restores", s.mixed_restores, "unlisted_blocks",
         s.unlisted_blocks, "ram_blocks", s.ram_blocks, "ram_bytes", s.ram_bytes, "ram_cap_bytes", s.ram_cap_bytes,
         "ram_reads", s.ram_reads, "ram_damaged", s.ram_damaged, "ram_bytes_per_s", s.ram_bytes_per_s);
}

void write(JsonWriter& out, const engine::Interval& i) {
  object(out, "begin", i.begin, "requests", i.requests, "full_prefix", i.full_prefix, "prompt_tokens", i.prompt_tokens,
         "cached_tokens", i.cached_tokens, "completion_tokens", i.completion_tokens, "evicted_blocks", i.evicted_blocks,
         "blocks_used", i.blocks_used, "blocks_pinned", i.blocks_pinned, "saved_ms", i.saved_ms, "warm_p50_ms",
         i.warm_p50_ms, "warm_p99_ms", i.warm_p99_ms, "cold_p50_ms", i.cold_p50_ms, "cold_p99_ms", i.cold_p99_ms);
}

void write(JsonWriter& out, const engine::TierTally& t) {
  object(out, "written", t.written, "read_up", t.read_up, "left_pool", t.left_pool, "left_disk", t.left_disk,
         "computed", t.computed, "already", t.already, "pinned", t.pinned, "in_use", t.in_use, "growing", t.growing,
         "below", t.below, "refused", t.refused, "refusal", t.refusal, "no_room", t.no_room, "gone", t.gone, "good",
         t.good, "damaged", t.damaged, "missing", t.missing, "unread", t.unread);
}

void write(JsonWriter& out, const engine::JobInfo& j) {
  out.begin_object();
  members(out, "id", j.id, "verb", j.verb, "state", j.state, "progress", j.progress, "done", j.done, "error", j.error,
          "node", j.node, "to", j.to, "dry_run", j.dry_run, "blocks_done", j.blocks_done, "blocks_total",
          j.blocks_total, "bytes_moved", j.bytes_moved);
  write(out.key("result"), j.tally);
  members(out, "bytes_before", j.codec.bytes_before, "bytes_after", j.codec.bytes_after, "codec_error", j.codec.error,
          "compute_tokens", j.codec.compute_tokens, "compute_ms", j.codec.compute_ms);
  members(out, "detail", j.detail, "warning", j.warning, "started", j.started, "ended", j.ended);
  out.end_object();
}

void write(JsonWriter& out, const engine::BlockPlacement& p) {
  object(out, "node", p.node, "tenant", p.tenant, "first_block", p.first_block, "blocks", p.blocks, "first_position",
         p.first_position, "tokens", p.tokens, "tier", p.tier, "bytes", p.bytes, "durable", p.durable, "pinned",
         p.pinned, "in_use", p.in_use, "growing", p.growing, "lineage", p.lineage);
}

void write(JsonWriter& out, const engine::EntryInfo& e) {
  object(out, "id", e.id, "node", e.node, "tenant", e.tenant, "name", e.name, "tokens", e.tokens, "bytes", e.bytes,
         "pinned", e.pinned, "hits", e.hits, "saved_ms", e.saved_ms);
}

void write(JsonWriter& out, const engine::PackInfo& p) {
  object(out, "id", p.id, "name", p.name, "language", p.language, "text", p.text, "version", p.version, "tokens",
         p.tokens, "warm", p.warm, "pinned", p.pinned, "node", p.node);
}

void write(JsonWriter& out, const settings::Settings::Shown& shown) {
  const settings::SettingRow& row = *shown.row;
  object(out, "key", row.name, "value", shown.value, "default", row.default_value, "min", row.min, "max", row.max,
         "unit", row.unit, "choices", row.choices, "needs_restart", row.needs_restart, "is_default", shown.is_default,
         "overridden", shown.overridden, "restart_pending", shown.restart_pending, "help", row.help);
}

void write(JsonWriter& out, const RequestRecord& r);

template <typename Items>
void list(JsonWriter& out, std::string_view name, const Items& items) {
  out.key(name).begin_array();
  for (const auto& item : items) write(out, item);
  out.end_array();
}

void write(JsonWriter& out, const RequestRecord& r) {
  out.begin_object();
  members(out, "id", r.id, "state", r.state, "epoch", r.epoch, "tenant", r.tenant, "model", r.model, "submitted",
          r.submitted);
  write(out.key("usage"), r.usage);
  write_timings(out.key("timings"), r.timings);
  write_verdict(out.key("verdict"), r.verdict);
  out.member("sentence", verdict_sentence(r.verdict, r.sections));
  list(out, "sections", r.sections);
  members(out, "error", r.error, "diverged_here", r.diverged_here, "diverged_cached", r.diverged_cached);
  list(out, "here_tokens", r.here_tokens);
  list(out, "cached_tokens", r.cached_tokens);
  out.end_object();
}

void tree(JsonWriter& out, const Snapshot& s) {
  if (s.tree) {
    list(out, "tree", *s.tree);
  } else {
    out.key("tree").null();
  }
}

void model_card(JsonWriter& out, const ModelInfo& m, WallTime started) {
  object(out, "id", m.name, "object", "model", "created", started / 1000, "owned_by", "larder", "max_model_len",
         m.max_request_tokens);
}

}  // namespace

std::string snapshot_json(const Snapshot& s) {
  JsonWriter out;
  out.begin_object();
  members(out, "epoch", s.epoch, "since", s.since, "at", s.at, "started", s.started, "version", s.version, "device",
          s.device);
  write(out.key("pool"), s.pool);
  write(out.key("store"), s.store);
  list(out, "models", s.models);
  list(out, "tenants", s.tenants);
  list(out, "keys", s.keys);
  list(out, "pins", s.pins);
  list(out, "entries", s.entries);
  list(out, "packs", s.packs);
  list(out, "jobs", s.jobs);
  tree(out, s);
  list(out, "requests", s.requests);
  list(out, "history", s.history);
  members(out, "running", s.running, "queued", s.queued, "decode_tokens_per_s", s.decode_tokens_per_s,
          "prefill_tokens_per_s", s.prefill_tokens_per_s, "dropped_events", s.dropped_events, "broken_promises",
          s.broken_promises, "last_broken_promise", s.last_broken_promise, "resident_bytes", s.resident_bytes);
  out.end_object();
  return out.take();
}

std::string part_json(const Snapshot& s, std::string_view name) {
  JsonWriter out;
  out.begin_object().member("epoch", s.epoch);
  if (name == "tree") {
    tree(out, s);
  } else if (name == "requests") {
    list(out, name, s.requests);
  } else if (name == "tenants") {
    list(out, name, s.tenants);
  } else if (name == "keys") {
    list(out, name, s.keys);
  } else if (name == "pins") {
    list(out, name, s.pins);
  } else if (name == "entries") {
    list(out, name, s.entries);
  } else if (name == "packs") {
    list(out, name, s.packs);
  } else if (name == "models") {
    list(out, name, s.models);
  } else if (name == "jobs") {
    list(out, name, s.jobs);
  } else {
    return {};
  }
  out.end_object();
  return out.take();
}

std::string request_json(const Snapshot& s, RequestId id) {
  for (const RequestRecord& record : s.requests) {
    if (record.id != id) continue;
    JsonWriter out;
    write(out, record);
    return out.take();
  }
  return {};
}

std::string job_json(const Snapshot& s, JobId id) {
  for (const engine::JobInfo& job : s.jobs) {
    if (job.id != id) continue;
    JsonWriter out;
    write(out, job);
    return out.take();
  }
  return {};
}

std::string result_json(const engine::VerbResult& r) {
  JsonWriter out;
  out.begin_object();
  members(out, "pin", r.pin, "tenant", r.tenant, "key", r.key, "secret", r.secret, "blocks", r.blocks, "bytes", r.bytes,
          "tokens", r.tokens, "detail", r.detail);
  list(out, "placement", r.placement);
  list(out, "ranges", r.ranges);
  out.member("identity", r.identity);
  if (r.job) {
    write(out.key("job"), *r.job);
  } else {
    out.key("job").null();
  }
  out.member("restart_needed", r.restart_needed).end_object();
  return out.take();
}

std::string settings_json(const settings::Settings& settings) {
  JsonWriter out;
  out.begin_object();
  list(out, "settings", settings.all());
  out.end_object();
  return out.take();
}

std::string model_list_json(const Snapshot& s) {
  JsonWriter out;
  out.begin_object().member("object", "list").key("data").begin_array();
  for (const ModelInfo& m : s.models) {
    if (m.state == ModelInfo::State::kReady) model_card(out, m, s.started);
  }
  out.end_array().end_object();
  return out.take();
}

std::string model_json(const Snapshot& s, std::string_view name) {
  for (const ModelInfo& m : s.models) {
    if (m.state != ModelInfo::State::kReady || m.name != name) continue;
    JsonWriter out;
    model_card(out, m, s.started);
    return out.take();
  }
  return {};
}

}  // namespace larder::http
