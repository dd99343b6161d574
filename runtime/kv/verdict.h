// SPDX-License-Identifier: Apache-2.0
// Verdict: the one reason why a request reused what it did and no more. Numbers and ids; sentences are made at the edge
// (GUI, HTTP codec) from these fields. How each kind is decided stands in explain.h.
// Threads: value.    Units: tokens; ms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/layout/kv_codec.h"
#include "runtime/base/clock.h"
#include "runtime/base/ids.h"

namespace larder::kv {

// In order of precedence: the first that applies is the verdict.
enum class VerdictKind : std::uint8_t {
  kFullPrefix,     // everything before the last message was reused
  kCold,           // this scope has never seen the start of this prompt
  kDiverged,       // equal up to a token and then not: see Divergence
  kEvicted,        // it was here and gave way: see Eviction
  kOtherIdentity,  // the same tokens are cached under another model file, RoPE, KV type, adapter or arithmetic
  kTooShort,       // shorter than can be reused: the last token of a prompt is always computed
  kBypassed,       // the request asked for no reuse
};

// "full_prefix", "cold", "diverged", "evicted", "other_identity", "too_short", "bypassed": stable API words.
const char* verdict_name(VerdictKind kind);

struct Divergence {
  std::uint32_t token = 0;      // index of the first differing token
  std::uint32_t section = 0;    // index into the prompt's sections; 0 when it has none
  Token here = -1;              // this request's token there
  Token cached = -1;            // the nearest cached sibling's token; -1: what was cached ends here, the rest is new
  std::vector<Token> here_run;  // up to 16 tokens around the difference, from 8 before it
  std::vector<Token> cached_run;
  std::uint32_t equal_after = 0;  // tokens that were equal again after the difference, where known
  RequestId cached_by{};          // the request that computed the sibling
  TenantId cached_owner{};        // its tenant; differs from the requester's only inside a share group
};

struct Eviction {
  WallTime at = 0;
  RequestId by_request{};  // 0: no request (an admin's delete, an unloaded model)
  TenantId by_tenant{};
  std::string policy;  // "lru", "quota_lru", "deleted", "unloaded", "resized"
  std::uint32_t lost_tokens = 0;
  WallTime last_hit = 0;
};

// What a lower tier gave, or could have given, for this request.
struct Restored {
  std::uint32_t tokens = 0;    // brought up for it, of those reused
  std::uint32_t promised = 0;  // that were to be read when reading began
  std::string tier;          // from where: "disk", or "ram" where none of it was read from there; "": nothing lay below
  double ms = 0;             // from the decision to the last of their blocks
  double estimate_ms = 0;    // what reading was expected to take
  double compute_ms = 0;     // what computing `tokens` would have taken at the measured rate; 0: not measured yet
  // Why part of what lay below was computed instead: "slower", "no_room", "late", "damaged", "stalled" (reading fell
  // behind), "mixed" (computed while the rest was read: faster than either alone); "": nothing was.
  std::string declined;
  std::uint32_t declined_tokens = 0;
  // What was expected when that was decided. "slower", "stalled": of reading, and of computing, those tokens.
  // "mixed": of reading everything, and of both at once. Else 0.
  double declined_read_ms = 0;
  double declined_compute_ms = 0;
};

struct Verdict {
  VerdictKind kind = VerdictKind::kCold;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t reused_tokens = 0;                        // whole blocks shared plus copied tail
  std::uint32_t copied_tokens = 0;                        // of which copied on write
  std::uint32_t computed_tokens = 0;                      // prompt rows really run
  double saved_ms = 0;                                    // reused tokens at the measured prefill rate
  double prefill_tokens_per_s = 0;                        // that rate; 0: not measured yet
  kernels::KvScheme lineage = kernels::KvScheme::kExact;  // of the reused tokens
  bool foreign = false;  // they, or their start, were computed by another arithmetic
  std::string tier = "none";  // where the reused blocks lay: device, host, disk, remote; "none": nothing reused
  std::optional<Divergence> divergence;
  std::optional<Eviction> eviction;
  Restored restored;
  std::string
      identity_part;  // kOtherIdentity: "weights", "rope", "kv_type", "layout", "adapter", "arithmetic", "lineage"
};

struct Viewer {
  TenantId tenant{};
  bool admin = false;
};

// What `viewer` may see of a verdict of its own tenant's request: an admin all of it; another tenant's divergence reads
// cold, another tenant's eviction reads evicted without request and tenant.
Verdict redact(const Verdict& verdict, const Viewer& viewer);

// "exact", "int8", "int4"; "foreign" whatever the scheme.
inline const char* lineage_name(kernels::KvScheme scheme, bool foreign) {
  return foreign ? "foreign" : kernels::kv_scheme_name(scheme);
}

}  // namespace larder::kv
