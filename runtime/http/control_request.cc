// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/control_request.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace larder::http {
namespace {

constexpr std::size_t kMaxTextBytes = 4096;
constexpr std::int64_t kMaxId = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxShortId = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kMaxTtlMs = std::int64_t{1000} * 60 * 60 * 24 * 3660;

// A text that names something: not empty, no control characters, so that it is what a person sees.
std::string name_of(Fields& fields, std::string_view member) {
  const std::optional<std::string> text = fields.text(member, kMaxTextBytes);
  if (!text || text->empty()) {
    fields.missing(member);
    return {};
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  const bool control = std::any_of(text->begin(), text->end(), is_control);
  if (control) fields.fail(member, "holds a control character");
  return *text;
}

std::uint64_t id_of(Fields& fields, std::string_view member, std::int64_t max) {
  const std::optional<std::int64_t> id = fields.integer(member, 1, max);
  if (!id) fields.missing(member);
  return static_cast<std::uint64_t>(id.value_or(0));
}

bool flag_of(Fields& fields, std::string_view member) { return fields.flag(member).value_or(false); }

engine::Verb pin(Fields& fields) {
  engine::PinNode verb;
  verb.node = NodeId{id_of(fields, "node", kMaxId)};
  verb.reason = fields.text("reason", kMaxTextBytes).value_or("");
  verb.ttl_ms = fields.integer("ttl_ms", 0, kMaxTtlMs).value_or(0);
  verb.dry_run = flag_of(fields, "dry_run");
  return verb;
}

engine::Verb unpin(Fields& fields) {
  engine::Unpin verb;
  if (fields.has("pin")) verb.pin = PinId{id_of(fields, "pin", kMaxId)};
  if (fields.has("node")) verb.node = NodeId{id_of(fields, "node", kMaxId)};
  if (verb.pin.value == 0 && verb.node.value == 0) fields.fail("pin", "give a pin or a node");
  return verb;
}

engine::Verb erase(Fields& fields) {
  engine::DeleteNode verb;
  verb.node = NodeId{id_of(fields, "node", kMaxId)};
  verb.when_idle = flag_of(fields, "when_idle");
  verb.dry_run = flag_of(fields, "dry_run");
  return verb;
}

constexpr std::int64_t kMaxBlocks = std::numeric_limits<std::uint32_t>::max();

// Where a range of a path begins and how long it is; only of a path.
void part_of_path(Fields& fields, bool path, std::uint32_t& first_block, std::uint32_t& block_count) {
  for (const char* member : {"first_block", "block_count"}) {
    if (!path && fields.has(member)) fields.fail(member, "counts along the path from the root: it needs path");
  }
  first_block = static_cast<std::uint32_t>(fields.integer("first_block", 0, kMaxBlocks).value_or(0));
  block_count = static_cast<std::uint32_t>(fields.integer("block_count", 1, kMaxBlocks).value_or(0));
}

kv::BlockRange range(Fields& fields) {
  kv::BlockRange range;
  range.node = NodeId{id_of(fields, "node", kMaxId)};
  range.path = flag_of(fields, "path");
  part_of_path(fields, range.path, range.first_block, range.block_count);
  return range;
}

engine::Verb locate(Fields& fields) {
  engine::Locate verb;
  verb.node = NodeId{id_of(fields, "node", kMaxId)};
  verb.below = flag_of(fields, "below");
  part_of_path(fields, !verb.below, verb.first_block, verb.block_count);
  return verb;
}

engine::Verb move(Fields& fields, bool keep) {
  engine::MoveBlocks verb;
  verb.what = range(fields);
  verb.to = name_of(fields, "to");
  verb.keep = keep;
  verb.dry_run = flag_of(fields, "dry_run");
  return verb;
}

engine::Verb compress(Fields& fields) {
  engine::CompressBlocks verb;
  verb.what = range(fields);
  verb.scheme = name_of(fields, "scheme");
  verb.dry_run = flag_of(fields, "dry_run");
  return verb;
}

engine::Verb create_tenant(Fields& fields) {
  engine::CreateTenant verb;
  verb.name = name_of(fields, "name");
  verb.quota_bytes = static_cast<std::uint64_t>(fields.integer("quota_bytes", 0, kMaxId).value_or(0));
  return verb;
}

engine::Verb set_tenant(TenantId tenant, Fields& fields) {
  if (fields.any("foreign") == nullptr) fields.missing("foreign");
  return engine::SetTenant{tenant, flag_of(fields, "foreign")};
}

engine::Verb create_key(Fields& fields) {
  engine::CreateKey verb;
  verb.tenant = TenantId{static_cast<std::uint32_t>(id_of(fields, "tenant", kMaxShortId))};
  verb.label = fields.text("label", 256).value_or("");
  verb.admin = flag_of(fields, "admin");
  verb.this_process_only = flag_of(fields, "this_process_only");
  return verb;
}

engine::Verb set_setting(Fields& fields) {
  engine::SetSetting verb;
  verb.key = name_of(fields, "key");
  const JsonValue* value = fields.any("value");
  if (!value) {
    fields.missing("value");
  } else if (value->type == JsonValue::Type::kText) {
    verb.value = value->text;
  } else if (value->type == JsonValue::Type::kFlag) {
    verb.value = value->flag ? "true" : "false";
  } else if (value->type == JsonValue::Type::kInteger) {
    verb.value = std::to_string(value->integer);
  } else {
    fields.wrong_type("value", "a string, a boolean or an integer", *value);
  }
  return verb;
}

// Verbs without an id in their path.
std::optional<engine::Verb> named_verb(const std::string& name, Fields& fields) {
  if (name == "pin") return pin(fields);
  if (name == "unpin") return unpin(fields);
  if (name == "delete") return erase(fields);
  if (name == "locate") return locate(fields);
  if (name == "move") return move(fields, false);
  if (name == "copy") return move(fields, true);
  if (name == "compress") return compress(fields);
  if (name == "decompress") return engine::DecompressBlocks{range(fields), flag_of(fields, "dry_run")};
  if (name == "verify") return engine::VerifyBlocks{range(fields), flag_of(fields, "dry_run")};
  if (name == "models/load") return engine::LoadModel{name_of(fields, "path")};
  if (name == "models/unload") {
    return engine::UnloadModel{ModelId{static_cast<std::uint32_t>(id_of(fields, "model", kMaxShortId))}};
  }
  if (name == "tenants") return create_tenant(fields);
  if (name == "keys") return create_key(fields);
  if (name == "settings") return set_setting(fields);
  return std::nullopt;
}

bool is_named_verb(std::string_view name) {
  for (const std::string_view known : {"pin", "unpin", "delete", "locate", "move", "copy", "verify", "compress",
                                       "decompress", "models/load", "models/unload", "tenants", "keys", "settings"}) {
    if (name == known) return true;
  }
  return false;
}

std::string joined(const std::vector<std::string>& segments) {
  std::string path;
  for (const std::string& segment : segments) path += (path.empty() ? "" : "/") + segment;
  return path;
}

Fault not_found(const std::string& what) { return {Error{ErrorCode::kNotFound, what, ""}, ""}; }

// Verbs whose path holds an id: DELETE tenants/3, POST packs/casa-it/warm, …
std::variant<engine::Verb, Fault> verb_of_path(const std::vector<std::string>& segments, Fields& fields) {
  if (segments.front() == "packs") return engine::WarmPack{segments[1], flag_of(fields, "pin")};
  const bool request = segments.front() == "requests";
  const bool job = segments.front() == "jobs";
  const auto id = parse_id(segments[1], static_cast<std::uint64_t>(request || job ? kMaxId : kMaxShortId));
  if (!id) return not_found("no such " + segments.front().substr(0, segments.front().size() - 1));
  if (request) return engine::CancelRequest{RequestId{*id}};
  if (job) return engine::CancelJob{JobId{*id}};
  const auto short_id = static_cast<std::uint32_t>(*id);
  if (segments.size() == 3) return set_tenant(TenantId{short_id}, fields);
  if (segments.front() == "tenants") return engine::DeleteTenant{TenantId{short_id}};
  return engine::RevokeKey{KeyId{short_id}};
}

}  // namespace

std::optional<std::uint64_t> parse_id(std::string_view text, std::uint64_t max) {
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || id > max) return std::nullopt;
  return id;
}

std::string_view verb_method(const std::vector<std::string>& segments) {
  if (is_named_verb(joined(segments))) return "POST";
  if (segments.size() == 2 && (segments[0] == "tenants" || segments[0] == "keys")) return "DELETE";
  if (segments.size() == 3 && segments[0] == "packs" && segments[2] == "warm") return "POST";
  if (segments.size() == 3 && segments[0] == "tenants" && segments[2] == "set") return "POST";
  const bool ends = segments.size() == 3 && segments[2] == "cancel";
  if (ends && (segments[0] == "requests" || segments[0] == "jobs")) return "POST";
  return "";
}

std::variant<engine::Verb, Fault> parse_verb(std::string_view method, const std::vector<std::string>& segments,
                                             std::string_view body, const JsonLimits& limits) {
  if (method.empty() || verb_method(segments) != method) return not_found("no such path: see API.md");
  Result<JsonValue> json = parse_object(body.empty() ? "{}" : body, limits);
  if (!json.ok()) return Fault{json.error(), ""};
  std::optional<Fault> fault;
  Fields fields(*json, "", fault);
  std::optional<engine::Verb> verb = named_verb(joined(segments), fields);
  if (!verb) {
    auto found = verb_of_path(segments, fields);
    if (auto* missing = std::get_if<Fault>(&found)) return std::move(*missing);
    verb = std::get<engine::Verb>(std::move(found));
  }
  if (fault) return std::move(*fault);
  return std::move(*verb);
}

}  // namespace larder::http
