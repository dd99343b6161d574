// SPDX-License-Identifier: Apache-2.0
// StoredIdentities: what an identity's digest stands for, as a record of the store beside the blocks of each scope, so
// that after a restart with another model or setting a miss can name the part that differs.
// Shapes:   weights (32) | adapter (32) | kv type, layout version, lineage (u32 each; bit 16 of the last: by name) |
//           length of the RoPE text (u32) | RoPE text | arithmetic id; little-endian. The record's id is the first 8
//           bytes of the digest.
// Bounds:   one record per scope and identity that has blocks; ListedTree names those that have none any more.
// Threads:  engine thread; the free functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "runtime/engine/store_requests.h"
#include "runtime/kv/block_key.h"

namespace larder::engine {

inline constexpr std::uint32_t kIdentityRecord = 3;  // StoredRecord::kind

std::vector<std::uint8_t> identity_bytes(const kv::Identity& identity);
std::optional<kv::Identity> identity_from(std::span<const std::uint8_t> bytes);  // nothing: not such a record

class StoredIdentities {
 public:
  // A block of this identity is durable in this scope.  Requires: identity.weights_known.
  void note(const ScopeId& scope, const kv::Identity& identity, const Digest256& digest, StoreRequests& store);
  void drop(std::span<const std::pair<ScopeId, std::uint64_t>> stale, StoreRequests& store);
  bool wrote(std::uint64_t record) const;  // of any scope, since the model was attached

 private:
  std::set<std::pair<ScopeId, Digest256>> written_;  // since the model was attached
};

}  // namespace larder::engine
