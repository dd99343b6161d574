// SPDX-License-Identifier: Apache-2.0
// explain: from what a match found to the verdict. Pure; the tree and the history are asked before.
// Words:    P prompt tokens; L token where the last message begins; T tokens of the leading template sections, at
//           least 1 (one common token is no common start); seen: prompt tokens found equal in the tree; reused <=
//           min(seen, P-1).
// The first that applies:
//   full prefix    reused reaches min(L, P-1) and something other than the template stands before L; or reused = P-1 >
//                  0; or the cached run was used to its very end and only kClosingTokens or fewer tokens of that same
//                  section (an answer's last token and the template's closing) lie between it and L.
//   cold           seen <= T and seen < P, and neither a ghost nor another identity explains more.
//   diverged       seen > T, reused not held back by the request, the prompt goes on otherwise than everything cached
//                  (or beyond all of it: cached = -1), and neither a ghost nor another identity explains more.
//   evicted        ghosts carry on where the tree ends, beyond T, by half a block or by all that full prefix asks for.
//   other identity marks of another identity (whole blocks only) do so.
//   too short      the whole prompt is known and P-1 leaves nothing to reuse (P = 1).
//   bypassed       the request allowed less reuse than was found.
// Threads:  pure.    Units: tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/section.h"
#include "runtime/kv/verdict.h"

namespace larder::kv {

inline constexpr std::uint32_t kClosingTokens = 8;
inline constexpr std::uint32_t kRunBefore = 8;
inline constexpr std::uint32_t kRunTokens = 16;

// The nearest cached run from the first differing token on.
struct Sibling {
  std::vector<Token> tokens;  // at most 64, not empty
  RequestId made_by{};
  TenantId owner{};
};

struct MatchFacts {
  const PreparedPrompt* prompt = nullptr;
  bool read = true;                       // the request allowed reuse at all
  std::uint32_t max_reuse = 0xffffffffu;  // and this much of it
  std::uint32_t seen = 0;
  std::uint32_t reused = 0;
  std::uint32_t copied = 0;
  std::string tier;
  kernels::KvScheme lineage = kernels::KvScheme::kExact;
  bool foreign = false;
  std::optional<Sibling> sibling;  // none: the cached run ends at `seen`, or nothing is cached
  // Where the ghosts, or the marks of another identity, end; 0: there are none.
  std::uint32_t ghost_end = 0;
  Eviction eviction;
  std::uint32_t other_end = 0;
  std::string other_part;
};

Verdict explain(const MatchFacts& facts);

}  // namespace larder::kv
