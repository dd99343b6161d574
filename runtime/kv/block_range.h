// SPDX-License-Identifier: Apache-2.0
// BlockRange and BlockFacts: which blocks a verb over tiers means, and what the tree knows of one of them. Staying says
// why a block was left where it is.
// Threads:  values.    Units: blocks, tokens, positions.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/layout/kv_codec.h"
#include "runtime/base/ids.h"
#include "runtime/base/section.h"
#include "runtime/kv/block_key.h"

namespace larder::kv {

struct BlockRange {
  NodeId node{};
  bool path = false;              // the blocks from the root to the node; else the node's run and all below it
  std::uint32_t first_block = 0;  // of a path: where it begins, counted from the root
  std::uint32_t block_count = 0;  // of a path: how many; 0: to the node
};

struct BlockFacts {
  NodeId node{};
  NodeId parent{};             // 0: the root
  BlockId block = kNoBlock;    // kNoBlock: cold
  std::uint64_t checksum = 0;  // of a sealed resident block, where it is known; else 0
  ChainKey key{};              // of a sealed one
  TenantId owner{};
  kernels::KvScheme lineage = kernels::KvScheme::kExact;
  bool foreign = false;  // Identity::foreign
  std::uint32_t first_position = 0;
  std::uint32_t valid = 0;
  bool sealed = false;
  bool stored = false;  // with a copy on a lower tier
  bool pinned = false;
  bool in_use = false;
  bool arriving = false;
  bool parent_resident = false;  // a root counts
  std::uint32_t children = 0;
  std::uint32_t resident_children = 0;
  std::uint32_t stored_children = 0;  // with a copy on a lower tier

  bool resident() const { return block != kNoBlock; }
};

// The tokens of a run, to be computed by somebody else.
struct RunPrompt {
  std::shared_ptr<const PreparedPrompt> prompt;
  std::shared_ptr<const PromptKeys> keys;
  TenantId owner{};  // of its last block
};

// kNone: it goes, or went.
enum class Staying : std::uint8_t {
  kNone,
  kGone,     // it is not in the tree any more
  kAlready,  // it is where it should be
  kGrowing,  // it has a writer
  kPinned,
  kInUse,   // a running sequence reads it, or it is on its way up
  kBelow,   // what hangs on it stays, so it has to stay too
  kNoCopy,  // it would be lost: no other tier has it
};

// Why the block cannot leave the pool, or its copy the lower tier.
Staying stays_in_pool(const BlockFacts& block);
Staying stays_below(const BlockFacts& block);
// Why it cannot leave all tiers at once.
Staying stays_anywhere(const BlockFacts& block);

}  // namespace larder::kv
