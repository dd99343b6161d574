// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/verdict_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace larder::http {
namespace {

using kv::VerdictKind;

std::string counted(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string tokens(std::uint64_t value) { return counted(value) + (value == 1 ? " token" : " tokens"); }

std::string duration(double ms) {
  std::array<char, 32> text;
  if (ms < 1000) {
    std::snprintf(text.data(), text.size(), "%.0f ms", ms);
  } else {
    std::snprintf(text.data(), text.size(), "%.1f s", ms / 1000);
  }
  return text.data();
}

std::string moment(WallTime at) {
  const auto seconds = static_cast<std::time_t>(at / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 48> text;
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

// " Restored 1,984 tokens from disk in 31 ms; computing them would take 1.9 s."
std::string restored(const kv::Restored& r) {
  std::string text;
  if (r.tokens > 0) {
    text = " Restored " + tokens(r.tokens) + " from " + r.tier + " in " + duration(r.ms);
    if (r.compute_ms > 0) text += "; computing them would take " + duration(r.compute_ms);
    text += ".";
  }
  if (r.declined.empty() || r.declined_tokens == 0) return text;
  text += " " + tokens(r.declined_tokens) + " on " + r.tier;
  const std::string read = duration(r.declined_read_ms);
  const std::string computed = duration(r.declined_compute_ms);
  if (r.declined == "mixed") {
    return text + " were computed while the rest was read: about " + computed + " in all, reading everything " + read +
           ".";
  }
  text += " were computed instead: ";
  if (r.declined == "slower") return text + "restoring would take " + read + ", computing " + computed + ".";
  if (r.declined == "stalled") {
    return text + "reading fell behind and would have taken about " + read + " more, computing " + computed + ".";
  }
  if (r.declined == "no_room") return text + "memory had no room for them in time.";
  if (r.declined == "late") return text + "another request was still reading them.";
  return text + "what was read did not pass its checks and was dropped.";
}

// "312 of 2,018 tokens were reused, 1,706 computed; that saved about 0.8 s."
std::string reuse(const kv::Verdict& v) {
  if (v.prompt_tokens == 1) return "Its one token was computed.";
  if (v.reused_tokens == 0) return "All " + tokens(v.prompt_tokens) + " were computed.";
  std::string text = counted(v.reused_tokens) + " of " + tokens(v.prompt_tokens) + " were reused, " +
                     counted(v.computed_tokens) + " computed";
  if (v.saved_ms >= 1) text += "; that saved about " + duration(v.saved_ms);
  text += "." + restored(v.restored);
  if (v.foreign) {
    return text + " The reused tokens, or their start, were computed on another device or instruction set.";
  }
  if (v.lineage == kernels::KvScheme::kExact) return text;
  return text + " The reused tokens were kept rounded to " + kernels::kv_scheme_name(v.lineage) + ".";
}

std::string diverged(const kv::Verdict& v, const std::vector<Section>& sections) {
  if (!v.divergence) return "A cached prompt starts the same and then differs.";
  const kv::Divergence& d = *v.divergence;
  std::string where = " token " + counted(d.token);
  if (d.section < sections.size()) where += ", in section '" + sections[d.section].label + "'";
  if (d.cached < 0) return "What is cached ends at" + where + "; the rest is new.";
  std::string text = "The prompt equals a cached one up to" + where + "; another one follows there";
  if (d.cached_by.value != 0) text += " (cached by request #" + std::to_string(d.cached_by.value) + ")";
  text += ".";
  if (d.equal_after > 0) {
    text += " After the difference " + tokens(d.equal_after) +
            " are equal again: moving the changing part to the end would let them be reused.";
  }
  return text;
}

std::string evicted(const kv::Verdict& v) {
  if (!v.eviction) return "The start of this prompt was cached but gave way.";
  const kv::Eviction& e = *v.eviction;
  if (e.policy == "demoted") return tokens(e.lost_tokens) + " of this prompt lay below memory only.";
  std::string text = e.lost_tokens > 0 ? tokens(e.lost_tokens) + " of this prompt were cached but gave way"
                                       : std::string("The start of this prompt was cached but gave way");
  if (e.at != 0) text += " at " + moment(e.at);
  if (e.by_request.value != 0) text += " to request #" + std::to_string(e.by_request.value);
  if (e.by_tenant.value != 0) text += " of tenant " + std::to_string(e.by_tenant.value);
  if (!e.policy.empty()) text += " (" + e.policy + ")";
  text += ".";
  if (e.last_hit != 0) text += " They were last used at " + moment(e.last_hit) + ".";
  return text;
}

std::string other_identity(const std::string& part) {
  std::string_view what = "another identity";
  if (part == "weights") what = "another model file";
  if (part == "rope") what = "other RoPE settings";
  if (part == "kv_type") what = "another number format";
  if (part == "layout") what = "another block layout";
  if (part == "adapter") what = "another adapter";
  if (part == "arithmetic") what = "another device or instruction set";
  if (part == "lineage") what = "another lineage (exact, or rounded to a smaller form)";
  return "The same tokens are cached under " + std::string(what) + ", so they cannot be used here.";
}

void write_tokens(JsonWriter& out, std::string_view name, const std::vector<Token>& run) {
  out.key(name).begin_array();
  for (const Token token : run) out.integer(token);
  out.end_array();
}

void write_divergence(JsonWriter& out, const kv::Divergence& d) {
  out.begin_object()
      .member("token", d.token)
      .member("section", d.section)
      .member("here", d.here)
      .member("cached", d.cached);
  write_tokens(out, "here_run", d.here_run);
  write_tokens(out, "cached_run", d.cached_run);
  out.member("equal_after", d.equal_after)
      .member("cached_by", d.cached_by.value)
      .member("cached_owner", d.cached_owner.value)
      .end_object();
}

void write_eviction(JsonWriter& out, const kv::Eviction& e) {
  out.begin_object()
      .member("at", e.at)
      .member("by_request", e.by_request.value)
      .member("by_tenant", e.by_tenant.value)
      .member("policy", e.policy)
      .member("lost_tokens", e.lost_tokens)
      .member("last_hit", e.last_hit)
      .end_object();
}

void write_causes(JsonWriter& out, const kv::Verdict& v) {
  out.key("divergence");
  v.divergence ? write_divergence(out, *v.divergence) : static_cast<void>(out.null());
  out.key("eviction");
  v.eviction ? write_eviction(out, *v.eviction) : static_cast<void>(out.null());
  out.member("identity_part", v.identity_part);
}

void write_counts(JsonWriter& out, const kv::Verdict& v) {
  out.member("prompt_tokens", v.prompt_tokens)
      .member("reused_tokens", v.reused_tokens)
      .member("copied_tokens", v.copied_tokens)
      .member("computed_tokens", v.computed_tokens)
      .member("saved_ms", v.saved_ms)
      .member("prefill_tokens_per_s", v.prefill_tokens_per_s)
      .member("tier", v.tier)
      .member("lineage", kv::lineage_name(v.lineage, v.foreign));
  if (v.restored.tier.empty()) return;
  out.key("restored")
      .begin_object()
      .member("tokens", v.restored.tokens)
      .member("tier", v.restored.tier)
      .member("ms", v.restored.ms)
      .member("estimate_ms", v.restored.estimate_ms)
      .member("compute_ms", v.restored.compute_ms)
      .member("declined", v.restored.declined)
      .member("declined_tokens", v.restored.declined_tokens)
      .member("declined_read_ms", v.restored.declined_read_ms)
      .member("declined_compute_ms", v.restored.declined_compute_ms)
      .end_object();
}

}  // namespace

std::string verdict_sentence(const kv::Verdict& v, const std::vector<Section>& sections) {
  switch (v.kind) {
    case VerdictKind::kFullPrefix:
      return "Everything before the last message was already here. " + reuse(v);
    case VerdictKind::kCold:
      return "Nothing cached starts like this prompt. " + reuse(v);
    case VerdictKind::kDiverged:
      return diverged(v, sections) + " " + reuse(v);
    case VerdictKind::kEvicted:
      return evicted(v) + " " + reuse(v);
    case VerdictKind::kOtherIdentity:
      return other_identity(v.identity_part) + " " + reuse(v);
    case VerdictKind::kTooShort:
      return "The prompt is shorter than can be reused. " + reuse(v);
    case VerdictKind::kBypassed:
      return "The request asked for no reuse. " + reuse(v);
  }
  return reuse(v);
}

void write_verdict(JsonWriter& out, const kv::Verdict& verdict) {
  out.begin_object().member("kind", kv::verdict_name(verdict.kind));
  write_counts(out, verdict);
  write_causes(out, verdict);
  out.end_object();
}

void write_timings(JsonWriter& out, const engine::Timings& t) {
  out.begin_object()
      .member("queue_ms", t.queue_ms)
      .member("prepare_ms", t.prepare_ms)
      .member("match_ms", t.match_ms)
      .member("prefill_ms", t.prefill_ms)
      .member("first_token_ms", t.first_token_ms)
      .member("total_ms", t.total_ms)
      .member("decode_tokens_per_s", t.decode_tokens_per_s)
      .end_object();
}

void write_larder(JsonWriter& out, RequestId request, const kv::Verdict& verdict, const std::vector<Section>& sections,
                  const engine::Timings& timings) {
  out.begin_object()
      .member("request", request.value)
      .member("verdict", kv::verdict_name(verdict.kind))
      .member("sentence", verdict_sentence(verdict, sections));
  write_counts(out, verdict);
  write_causes(out, verdict);
  if (verdict.divergence && verdict.divergence->section < sections.size()) {
    out.member("section", sections[verdict.divergence->section].label);
  }
  out.key("timings");
  write_timings(out, timings);
  out.end_object();
}

}  // namespace larder::http
