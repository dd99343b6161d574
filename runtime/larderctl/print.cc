// SPDX-License-Identifier: Apache-2.0
#include "runtime/larderctl/print.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/larderctl/client.h"

namespace larder::larderctl {
namespace {

using Json = nlohmann::json;
using Row = std::vector<std::string>;

const Json& at(const Json& object, const char* name) {
  static const Json kNothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNothing;
}

double number(const Json& value) { return value.is_number() ? value.get<double>() : 0; }

std::string text(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().empty() ? "-" : printable(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return value.dump();
  return "-";
}

std::string text(const Json& object, const char* name) { return text(at(object, name)); }

std::string decimals(double value, const char* unit) {
  std::array<char, 48> out;
  std::snprintf(out.data(), out.size(), "%.1f %s", value, unit);
  return out.data();
}

std::string bytes(const Json& value) {
  double size = number(value);
  for (const char* unit : {"B", "KiB", "MiB", "GiB"}) {
    if (size < 1024) return decimals(size, unit);
    size /= 1024;
  }
  return decimals(size, "TiB");
}

std::string milliseconds(const Json& value) { return value.is_number() ? decimals(number(value), "ms") : "-"; }

std::string moment(const Json& value) {
  const auto ms = static_cast<std::int64_t>(number(value));
  if (ms <= 0) return "-";
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, 32> out;
  std::strftime(out.data(), out.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return out.data();
}

// Characters of UTF-8 text, so that columns line up.
std::size_t width(const std::string& cell) {
  return static_cast<std::size_t>(
      std::count_if(cell.begin(), cell.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - width(row[i]) + 2, ' ');
    }
    out += line + '\n';
  }
  return out;
}

std::string status(const Json& s) {
  const Json& pool = at(s, "pool");
  const double block = number(at(pool, "block_bytes"));
  const auto blocks = [&](const char* name) {
    return text(pool, name) + " (" + bytes(number(at(pool, name)) * block) + ")";
  };
  std::vector<Row> rows{{"version", text(s, "version")},
                        {"device", text(s, "device")},
                        {"since", moment(at(s, "started"))},
                        {"answers", text(s, "running") + " running, " + text(s, "queued") + " waiting"},
                        {"prefill", decimals(number(at(s, "prefill_tokens_per_s")), "tokens/s")},
                        {"decode", decimals(number(at(s, "decode_tokens_per_s")), "tokens/s")},
                        {"blocks", blocks("blocks_total")},
                        {"  free", blocks("blocks_free")},
                        {"  cached", blocks("blocks_cached")},
                        {"  in use", blocks("blocks_in_use")},
                        {"  pinned", blocks("blocks_pinned")},
                        {"evicted", text(pool, "evicted_blocks") + " blocks since the start"},
                        {"memory", bytes(at(s, "resident_bytes"))}};
  for (const Json& model : at(s, "models")) {
    if (text(model, "state") != "file") rows.push_back({"model", text(model, "name") + ", " + text(model, "state")});
  }
  return table(rows);
}

std::string models(const Json& body) {
  std::vector<Row> rows{{"ID", "STATE", "NAME", "TYPE", "FILE", "CONTEXT", "PATH"}};
  for (const Json& m : at(body, "models")) {
    std::string state = text(m, "state");
    if (state == "loading") state += " " + decimals(number(at(m, "progress")) * 100, "%");
    rows.push_back({text(m, "id"), state, text(m, "name"), text(m, "architecture") + " " + text(m, "quantisation"),
                    bytes(at(m, "file_bytes")), text(m, "n_context"), text(m, "path")});
    if (text(m, "error") != "-") rows.push_back({"", "", text(m, "error"), "", "", "", ""});
  }
  return table(rows);
}

std::string tree(const Json& body) {
  std::map<std::string, std::size_t> depth;
  std::vector<Row> rows{{"RUN", "TOKENS", "BYTES", "TIER", "PIN", "HITS", "LAST HIT"}};
  for (const Json& n : at(body, "tree")) {
    const auto parent = depth.find(text(n, "parent"));
    const std::size_t level = parent == depth.end() ? 0 : parent->second + 1;
    depth[text(n, "id")] = level;
    std::string tier;
    for (const char* name : {"device", "host", "disk"}) {
      const std::string blocks = std::string(name) + "_blocks";
      if (number(at(n, blocks.c_str())) > 0) tier += (tier.empty() ? "" : "+") + std::string(name);
    }
    rows.push_back({std::string(2 * std::min<std::size_t>(level, 20), ' ') + text(n, "id") + " " + text(n, "label"),
                    text(n, "tokens"), bytes(at(n, "bytes")), tier.empty() ? "-" : tier,
                    at(n, "pinned") == true ? "pinned" : "", text(n, "hits"), moment(at(n, "last_hit"))});
  }
  return table(rows);
}

std::string requests(const Json& body) {
  std::vector<Row> rows{{"ID", "STATE", "AT", "TENANT", "PROMPT", "REUSED", "ANSWER", "FIRST TOKEN", "VERDICT"}};
  for (const Json& r : at(body, "requests")) {
    const Json& usage = at(r, "usage");
    rows.push_back({text(r, "id"), text(r, "state"), moment(at(r, "submitted")), text(r, "tenant"),
                    text(usage, "prompt_tokens"), text(usage, "cached_tokens"), text(usage, "completion_tokens"),
                    milliseconds(at(at(r, "timings"), "first_token_ms")), text(at(r, "verdict"), "kind")});
  }
  return table(rows);
}

std::string request(const Json& r) {
  const Json& timings = at(r, "timings");
  std::string out = "request " + text(r, "id") + ": " + text(r, "state") + ", " + text(at(r, "verdict"), "kind");
  out += "\n" + text(r, "sentence") + "\n";
  std::vector<Row> rows;
  for (const char* name : {"queue_ms", "prepare_ms", "match_ms", "prefill_ms", "first_token_ms", "total_ms"}) {
    rows.push_back({name, milliseconds(at(timings, name))});
  }
  if (text(r, "error") != "-") rows.push_back({"error", text(r, "error")});
  if (text(r, "diverged_here") != "-") rows.push_back({"here", text(r, "diverged_here")});
  if (text(r, "diverged_cached") != "-") rows.push_back({"cached", text(r, "diverged_cached")});
  out += table(rows);
  std::vector<Row> sections{{"SECTION", "TOKENS"}};
  for (const Json& s : at(r, "sections")) {
    const double tokens = number(at(s, "token_end")) - number(at(s, "token_begin"));
    sections.push_back({text(s, "label"), text(Json(static_cast<std::int64_t>(tokens)))});
  }
  return out + table(sections);
}

std::string tenants(const Json& body) {
  std::vector<Row> rows{{"ID", "NAME", "BYTES", "PINNED", "QUOTA", "FOREIGN", "REQUESTS", "PROMPT", "REUSED"}};
  for (const Json& t : at(body, "tenants")) {
    const bool limited = number(at(t, "quota_bytes")) > 0;
    rows.push_back({text(t, "id"), text(t, "name"), bytes(at(t, "bytes")), bytes(at(t, "pinned_bytes")),
                    limited ? bytes(at(t, "quota_bytes")) : "-", at(t, "foreign") == true ? "reused" : "-",
                    text(t, "requests"), text(t, "prompt_tokens"),
                    text(t, "cached_tokens")});
  }
  return table(rows);
}

std::string keys(const Json& body) {
  std::vector<Row> rows{{"ID", "TENANT", "KEY", "LABEL", "ADMIN", "CREATED", "LAST USED"}};
  for (const Json& k : at(body, "keys")) {
    rows.push_back({text(k, "id"), text(k, "tenant"), text(k, "prefix") + "…", text(k, "label"), text(k, "admin"),
                    moment(at(k, "created")), moment(at(k, "last_used"))});
  }
  return table(rows);
}

std::string jobs(const Json& body) {
  std::vector<Row> rows{{"ID", "VERB", "RUN", "TO", "STATE", "BLOCKS", "BEGUN", "RESULT"}};
  for (const Json& j : at(body, "jobs")) {
    std::string state = text(j, "state");
    if (state == "running") state += " " + decimals(number(at(j, "progress")) * 100, "%");
    const bool counts = number(at(j, "blocks_total")) > 0;
    const std::string what = text(j, "error") != "-" ? text(j, "error") : text(j, "detail");
    rows.push_back({text(j, "id"), text(j, "verb"), number(at(j, "node")) > 0 ? text(j, "node") : "-", text(j, "to"),
                    state, counts ? text(j, "blocks_done") + "/" + text(j, "blocks_total") : "-",
                    moment(at(j, "started")), what});
  }
  return table(rows);
}

std::string job(const Json& j) {
  std::vector<Row> rows{{"job", text(j, "id") + ", " + text(j, "verb") + ", " + text(j, "state")}};
  if (text(j, "to") != "-") rows.push_back({"to", text(j, "to")});
  if (number(at(j, "node")) > 0) rows.push_back({"run", text(j, "node")});
  rows.push_back({"progress", decimals(number(at(j, "progress")) * 100, "%")});
  if (number(at(j, "blocks_total")) > 0) {
    rows.push_back({"blocks", text(j, "blocks_done") + " of " + text(j, "blocks_total")});
    rows.push_back({"moved", bytes(at(j, "bytes_moved"))});
  }
  if (number(at(j, "bytes_before")) > 0) {
    rows.push_back({"bytes", bytes(at(j, "bytes_before")) + " before, " + bytes(at(j, "bytes_after")) + " after"});
  }
  for (const char* name : {"detail", "error", "warning"}) {
    if (text(j, name) != "-") rows.push_back({name, text(j, name)});
  }
  return table(rows);
}

std::string ranges(const Json& body) {
  std::vector<Row> rows{{"BLOCKS", "POSITION", "TOKENS", "TIER", "BYTES", "DURABLE", "PIN", "USE", "LINEAGE"}};
  for (const Json& r : at(body, "ranges")) {
    const double first = number(at(r, "first_block"));
    const double last = first + number(at(r, "blocks")) - 1;
    rows.push_back({text(Json(static_cast<std::int64_t>(first))) + "-" + text(Json(static_cast<std::int64_t>(last))),
                    text(r, "first_position"), text(r, "tokens"), text(r, "tier"), bytes(at(r, "bytes")),
                    text(r, "durable"), at(r, "pinned") == true ? "pinned" : "",
                    at(r, "growing") == true  ? "growing"
                    : at(r, "in_use") == true ? "in use"
                                              : "",
                    text(r, "lineage")});
  }
  return table(rows);
}

std::string result(const Json& r) {
  std::vector<Row> rows;
  for (const char* name : {"pin", "tenant", "key"}) {
    if (number(at(r, name)) > 0) rows.push_back({name, text(r, name)});
  }
  if (text(r, "secret") != "-") rows.push_back({"secret", text(r, "secret") + "  (shown once: keep it now)"});
  if (number(at(r, "blocks")) > 0) rows.push_back({"blocks", text(r, "blocks") + ", " + bytes(at(r, "bytes"))});
  if (number(at(r, "tokens")) > 0) rows.push_back({"tokens", text(r, "tokens")});
  if (text(r, "detail") != "-") rows.push_back({"detail", text(r, "detail")});
  std::string out = rows.empty() ? "done\n" : table(rows);
  if (at(r, "placement").is_array() && !at(r, "placement").empty()) out += tree(Json{{"tree", at(r, "placement")}});
  if (at(r, "ranges").is_array() && !at(r, "ranges").empty()) out += ranges(r);
  if (number(at(at(r, "job"), "id")) > 0) out += job(at(r, "job"));
  return out;
}

}  // namespace

std::string show(std::string_view view, const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return "the server's answer is not the API's\n";
  if (view == "status") return status(json);
  if (view == "models") return models(json);
  if (view == "tree") return tree(json);
  if (view == "requests") return requests(json);
  if (view == "request") return request(json);
  if (view == "tenants") return tenants(json);
  if (view == "keys") return keys(json);
  if (view == "jobs") return jobs(json);
  if (view == "job") return job(json);
  return result(json);
}

}  // namespace larder::larderctl
