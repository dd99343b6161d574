// SPDX-License-Identifier: Apache-2.0
// Blocks below the pool: what the tree and a lower tier tell each other. Bytes are moved by the engine.
// Threads:  values; functions pure.    Units: tokens, positions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/layout/kv_codec.h"
#include "kernels/layout/kv_layout.h"
#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/kv/block_key.h"
#include "runtime/tenant/scope.h"

namespace larder::kv {

// What names a stored copy.
struct StoredName {
  ScopeId scope{};
  BlockKey key{};
};

// The cold blocks of one prompt, the topmost first, with the keys of their copies: made once and handed on, because
// each takes a few hashes.
struct ColdNames {
  std::uint32_t first_position = 0;
  std::vector<NodeId> nodes;
  std::vector<BlockKey> keys;

  // Null where the node is not among them, or stands elsewhere now.
  const BlockKey* key_of(NodeId node, std::uint32_t position) const;
};

// A sealed node, as it is written down, named for a read, or brought back after a restart.
struct ColdBlock {
  ScopeId scope{};
  BlockKey key{};
  BlockKey parent{};  // where first_position is 0 the root's chain key, from which all others are made again
  std::uint32_t first_position = 0;
  std::uint32_t valid = 0;
  std::array<Token, kernels::kBlockTokens> tokens{};  // zero past valid
  TenantId owner{};
  WallTime created = 0;
  WallTime last_hit = 0;
  bool pinned = false;
  kernels::KvScheme lineage = kernels::KvScheme::kExact;
  bool by_name = false;      // Identity::by_name
  std::uint8_t foreign = 0;  // Identity::foreign
  std::string label;  // where it differs from the parent's
};

// A listed block that has its place in a tree.
struct ChainedBlock {
  ColdBlock cold;
  tenant::Scope owner_of_keys;
  ChainKey chain{};
  ChainKey parent{};
};

// A start of tokens that is cached under another identity.
struct OtherMark {
  ChainKey chain{};
  ScopeId scope{};
  std::shared_ptr<const Identity> identity;
};

// The listed blocks whose keys are right under this identity and whose parents are there too, parents first; what is
// left of them goes to `lost`. Hashes twice per block: run it off the engine thread.
// Requires: parents before children; identity.weights_known.    Threads: pure.
std::vector<ChainedBlock> chain_listing(std::vector<ColdBlock> listed, std::span<const tenant::Scope> scopes,
                                        const Identity& identity, std::vector<StoredName>& lost);

// A resident block that has no stored copy yet.
struct UnstoredBlock {
  NodeId node{};
  BlockId block = kNoBlock;
  std::uint64_t checksum = 0;  // 0: not known
  ColdBlock cold;
};

}  // namespace larder::kv
