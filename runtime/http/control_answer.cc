// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/control_answer.h"

#include "runtime/http/json_writer.h"
#include "runtime/http/verdict_text.h"

namespace larder::http {
namespace {

using engine::ModelInfo;
using engine::RequestRecord;
using engine::Snapshot;

std::string_view word(RequestRecord::State state) {
  switch (state) {
    case RequestRecord::State::kPreparing: return "preparing";
    case RequestRecord::State::kQueued: return "queued";
    case RequestRecord::State::kPrefill: return "prefill";
    case RequestRecord::State::kDecode: return "decode";
    case RequestRecord::State::kDone: return "done";
    case RequestRecord::State::kFailed: return "failed";
    case RequestRecord::State::kCancelled: return "cancelled";
  }
  return "failed";
}

std::string_view word(ModelInfo::State state) {
  switch (state) {
    case ModelInfo::State::kFile: return "file";
    case ModelInfo::State::kLoading: return "loading";
    case ModelInfo::State::kReady: return "ready";
    case ModelInfo::State::kUnloading: return "unloading";
    case ModelInfo::State::kFailed: return "failed";
  }
  return "failed";
}

std::string_view word(SectionKind kind) {
  switch (kind) {
    case SectionKind::kTemplate: return "template";
    case SectionKind::kSystem: return "system";
    case SectionKind::kTool: return "tool";
    case SectionKind::kDocument: return "document";
    case SectionKind::kMessage: return "message";
  }
  return "template";
}

template <typename Items>
void write_list(JsonWriter& out, std::string_view name, const Items& items);

void write(JsonWriter& out, const std::string& text) { out.text(text); }

void write(JsonWriter& out, const Section& s) {
  out.begin_object()
      .member("kind", word(s.kind))
      .member("label", s.label)
      .member("byte_begin", s.byte_begin)
      .member("byte_end", s.byte_end)
      .member("token_begin", s.token_begin)
      .member("token_end", s.token_end)
      .end_object();
}

void write(JsonWriter& out, const engine::TreeNode& n) {
  out.begin_object()
      .member("id", n.id.value)
      .member("parent", n.parent.value)
      .member("tenant", n.tenant)
      .member("model", n.model)
      .member("first_position", n.first_position)
      .member("tokens", n.tokens)
      .member("blocks", n.blocks)
      .member("bytes", n.bytes)
      .member("device_blocks", n.device_blocks)
      .member("host_blocks", n.host_blocks)
      .member("disk_blocks", n.disk_blocks)
      .member("pinned", n.pinned)
      .member("in_use", n.in_use)
      .member("growing", n.growing)
      .member("hits", n.hits)
      .member("created", n.created)
      .member("last_hit", n.last_hit)
      .member("compute_ms", n.compute_ms)
      .member("made_by", n.made_by.value)
      .member("label", n.label)
      .end_object();
}

void write(JsonWriter& out, const RequestRecord& r) {
  out.begin_object()
      .member("id", r.id.value)
      .member("state", word(r.state))
      .member("epoch", r.epoch)
      .member("tenant", r.tenant)
      .member("model", r.model)
      .member("submitted", r.submitted)
      .key("usage")
      .begin_object()
      .member("prompt_tokens", r.usage.prompt_tokens)
      .member("cached_tokens", r.usage.cached_tokens)
      .member("completion_tokens", r.usage.completion_tokens)
      .end_object()
      .key("timings");
  write_timings(out, r.timings);
  out.key("verdict");
  write_verdict(out, r.verdict);
  out.member("sentence", verdict_sentence(r.verdict, r.sections));
  write_list(out, "sections", r.sections);
  out.member("error", r.error).member("diverged_here", r.diverged_here).member("diverged_cached", r.diverged_cached);
  write_list(out, "here_tokens", r.here_tokens);
  write_list(out, "cached_tokens", r.cached_tokens);
  out.end_object();
}

void write(JsonWriter& out, const engine::TenantInfo& t) {
  out.begin_object()
      .member("id", t.id.value)
      .member("name", t.name)
      .member("blocks", t.blocks)
      .member("bytes", t.bytes)
      .member("pinned_bytes", t.pinned_bytes)
      .member("quota_bytes", t.quota_bytes)
      .member("requests", t.requests)
      .member("prompt_tokens", t.prompt_tokens)
      .member("cached_tokens", t.cached_tokens)
      .member("running", t.running)
      .member("queued", t.queued)
      .end_object();
}

void write(JsonWriter& out, const engine::KeyInfo& k) {
  out.begin_object()
      .member("id", k.id.value)
      .member("tenant", k.tenant.value)
      .member("prefix", k.prefix)
      .member("label", k.label)
      .member("admin", k.admin)
      .member("created", k.created)
      .member("last_used", k.last_used)
      .end_object();
}

void write(JsonWriter& out, const engine::PinInfo& p) {
  out.begin_object()
      .member("id", p.id.value)
      .member("node", p.node.value)
      .member("tenant", p.tenant.value)
      .member("reason", p.reason)
      .member("blocks", p.blocks)
      .member("bytes", p.bytes)
      .member("created", p.created)
      .member("expires", p.expires)
      .end_object();
}

void write(JsonWriter& out, const ModelInfo& m) {
  out.begin_object()
      .member("id", m.id.value)
      .member("state", word(m.state))
      .member("name", m.name)
      .member("path", m.path)
      .member("architecture", m.architecture)
      .member("quantisation", m.quantisation)
      .member("file_bytes", m.file_bytes)
      .member("weight_bytes", m.weight_bytes)
      .member("kv_bytes_per_token", m.kv_bytes_per_token)
      .member("n_context", m.n_context)
      .member("max_request_tokens", m.max_request_tokens)
      .member("progress", m.progress)
      .member("arithmetic_id", m.arithmetic_id)
      .member("device", m.device)
      .member("digest", m.digest)
      .member("error", m.error)
      .member("has_chat_template", m.has_chat_template)
      .end_object();
}

void write(JsonWriter& out, const engine::PoolInfo& p) {
  out.begin_object()
      .member("blocks_total", p.blocks_total)
      .member("blocks_free", p.blocks_free)
      .member("blocks_cached", p.blocks_cached)
      .member("blocks_in_use", p.blocks_in_use)
      .member("blocks_pinned", p.blocks_pinned)
      .member("block_bytes", p.block_bytes)
      .member("pin_budget_bytes", p.pin_budget_bytes)
      .member("evicted_blocks", p.evicted_blocks)
      .member("tree_nodes", p.tree_nodes)
      .end_object();
}

void write(JsonWriter& out, const engine::Interval& i) {
  out.begin_object()
      .member("begin", i.begin)
      .member("requests", i.requests)
      .member("full_prefix", i.full_prefix)
      .member("prompt_tokens", i.prompt_tokens)
      .member("cached_tokens", i.cached_tokens)
      .member("completion_tokens", i.completion_tokens)
      .member("evicted_blocks", i.evicted_blocks)
      .member("blocks_used", i.blocks_used)
      .member("blocks_pinned", i.blocks_pinned)
      .member("saved_ms", i.saved_ms)
      .member("warm_p50_ms", i.warm_p50_ms)
      .member("warm_p99_ms", i.warm_p99_ms)
      .member("cold_p50_ms", i.cold_p50_ms)
      .member("cold_p99_ms", i.cold_p99_ms)
      .end_object();
}

void write(JsonWriter& out, const engine::JobInfo& j) {
  out.begin_object()
      .member("id", j.id.value)
      .member("verb", j.verb)
      .member("progress", j.progress)
      .member("done", j.done)
      .member("error", j.error)
      .end_object();
}

void write(JsonWriter& out, const engine::EntryInfo& e) {
  out.begin_object()
      .member("id", e.id.value)
      .member("node", e.node.value)
      .member("tenant", e.tenant.value)
      .member("name", e.name)
      .member("tokens", e.tokens)
      .member("bytes", e.bytes)
      .member("pinned", e.pinned)
      .member("hits", e.hits)
      .member("saved_ms", e.saved_ms)
      .end_object();
}

void write(JsonWriter& out, const engine::PackInfo& p) {
  out.begin_object()
      .member("id", p.id)
      .member("name", p.name)
      .member("language", p.language)
      .member("text", p.text)
      .member("version", p.version)
      .member("tokens", p.tokens)
      .member("warm", p.warm)
      .member("pinned", p.pinned)
      .member("node", p.node.value)
      .end_object();
}

template <typename Items>
void write_list(JsonWriter& out, std::string_view name, const Items& items) {
  out.key(name).begin_array();
  for (const auto& item : items) write(out, item);
  out.end_array();
}

void write_tree(JsonWriter& out, const Snapshot& s) {
  if (s.tree) {
    write_list(out, "tree", *s.tree);
  } else {
    out.key("tree").null();
  }
}

void write_model_card(JsonWriter& out, const ModelInfo& m, WallTime started) {
  out.begin_object()
      .member("id", m.name)
      .member("object", "model")
      .member("created", started / 1000)
      .member("owned_by", "larder")
      .member("max_model_len", m.max_request_tokens)
      .end_object();
}

}  // namespace

std::string snapshot_json(const Snapshot& s) {
  JsonWriter out;
  out.begin_object()
      .member("epoch", s.epoch)
      .member("since", s.since)
      .member("at", s.at)
      .member("started", s.started)
      .member("version", s.version)
      .member("device", s.device)
      .key("pool");
  write(out, s.pool);
  write_list(out, "models", s.models);
  write_list(out, "tenants", s.tenants);
  write_list(out, "keys", s.keys);
  write_list(out, "pins", s.pins);
  write_list(out, "entries", s.entries);
  write_list(out, "packs", s.packs);
  write_list(out, "jobs", s.jobs);
  write_tree(out, s);
  write_list(out, "requests", s.requests);
  write_list(out, "history", s.history);
  out.member("running", s.running)
      .member("queued", s.queued)
      .member("decode_tokens_per_s", s.decode_tokens_per_s)
      .member("prefill_tokens_per_s", s.prefill_tokens_per_s)
      .member("dropped_events", s.dropped_events)
      .member("resident_bytes", s.resident_bytes)
      .end_object();
  return out.take();
}

std::string part_json(const Snapshot& s, std::string_view name) {
  JsonWriter out;
  out.begin_object().member("epoch", s.epoch);
  if (name == "tree") {
    write_tree(out, s);
  } else if (name == "requests") {
    write_list(out, name, s.requests);
  } else if (name == "tenants") {
    write_list(out, name, s.tenants);
  } else if (name == "keys") {
    write_list(out, name, s.keys);
  } else if (name == "pins") {
    write_list(out, name, s.pins);
  } else if (name == "entries") {
    write_list(out, name, s.entries);
  } else if (name == "packs") {
    write_list(out, name, s.packs);
  } else if (name == "models") {
    write_list(out, name, s.models);
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

std::string result_json(const engine::VerbResult& r) {
  JsonWriter out;
  out.begin_object()
      .member("pin", r.pin.value)
      .member("tenant", r.tenant.value)
      .member("key", r.key.value)
      .member("secret", r.secret)
      .member("blocks", r.blocks)
      .member("bytes", r.bytes)
      .member("tokens", r.tokens)
      .member("detail", r.detail);
  write_list(out, "placement", r.placement);
  out.member("restart_needed", r.restart_needed).end_object();
  return out.take();
}

std::string settings_json(const settings::Settings& settings) {
  JsonWriter out;
  out.begin_object().key("settings").begin_array();
  for (const settings::Settings::Shown& shown : settings.all()) {
    const settings::SettingRow& row = *shown.row;
    out.begin_object()
        .member("key", row.name)
        .member("value", shown.value)
        .member("default", row.default_value)
        .member("min", row.min)
        .member("max", row.max)
        .member("unit", row.unit)
        .member("choices", row.choices)
        .member("needs_restart", row.needs_restart)
        .member("is_default", shown.is_default)
        .member("overridden", shown.overridden)
        .member("restart_pending", shown.restart_pending)
        .member("help", row.help)
        .end_object();
  }
  out.end_array().end_object();
  return out.take();
}

std::string model_list_json(const Snapshot& s) {
  JsonWriter out;
  out.begin_object().member("object", "list").key("data").begin_array();
  for (const ModelInfo& m : s.models) {
    if (m.state == ModelInfo::State::kReady) write_model_card(out, m, s.started);
  }
  out.end_array().end_object();
  return out.take();
}

std::string model_json(const Snapshot& s, std::string_view name) {
  for (const ModelInfo& m : s.models) {
    if (m.state != ModelInfo::State::kReady || m.name != name) continue;
    JsonWriter out;
    write_model_card(out, m, s.started);
    return out.take();
  }
  return {};
}

}  // namespace larder::http
