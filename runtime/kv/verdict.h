// SPDX-License-Identifier: Apache-2.0
// Verdict: the one reason why a request reused what it did and no more. Numbers and ids; sentences are made at the edge
// (GUI, HTTP codec) from these fields.
// Threads: value.    Units: tokens; ms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"

namespace larder::kv {

// In order of precedence: the first that applies is the verdict.
enum class VerdictKind : std::uint8_t {
  kFullPrefix,     // everything before the last message was reused
  kCold,           // this scope has never seen the start of this prompt
  kDiverged,       // equal up to `reused_tokens`-ish, then another token: see Divergence
  kEvicted,        // it was here and gave way: see Eviction
  kOtherIdentity,  // the same tokens are cached under another model file, RoPE, KV type or arithmetic
  kTooShort,       // shorter than can be reused
  kBypassed,       // the request asked for no reuse
};

// "full prefix", "cold", "diverged", "evicted", "other identity", "too short", "bypassed": stable API words (snake_case).
const char* verdict_name(VerdictKind kind);

struct Divergence {
  std::uint32_t token = 0;      // index of the first differing token
  std::uint32_t section = 0;    // index into the prompt's sections
  Token here = -1;              // this request's token there
  Token cached = -1;            // the nearest cached sibling's token
  std::vector<Token> here_run;    // up to 16 tokens around the difference, from 8 before it
  std::vector<Token> cached_run;
  std::uint32_t equal_after = 0;  // tokens that were equal again after the difference, where known
  RequestId cached_by{};          // the request that computed the sibling
};

struct Eviction {
  WallTime at = 0;
  RequestId by_request{};
  TenantId by_tenant{};
  std::string policy;           // "lru"
  std::uint32_t lost_tokens = 0;
  WallTime last_hit = 0;
};

struct Verdict {
  VerdictKind kind = VerdictKind::kCold;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t reused_tokens = 0;    // whole blocks shared plus copied tail
  std::uint32_t copied_tokens = 0;    // of which copied on write
  std::uint32_t computed_tokens = 0;  // prompt rows really run
  double saved_ms = 0;                // reused tokens at the measured prefill rate
  double prefill_tokens_per_s = 0;    // that rate; 0: not measured yet
  std::string tier = "host";          // where the reused blocks lay: device, host, disk, remote; "none" when nothing
  std::optional<Divergence> divergence;
  std::optional<Eviction> eviction;
  std::string identity_part;  // kOtherIdentity: "weights", "rope", "kv_type", "arithmetic"
};

}  // namespace larder::kv
