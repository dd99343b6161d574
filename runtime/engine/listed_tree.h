// SPDX-License-Identifier: Apache-2.0
// ListedTree: what a listing of the store says to one model: the blocks that are its own, ready for the tree, and where
// blocks of other identities lie, so that a miss can name what differs.
// Bounds:   at most `most` blocks, pinned ones and those used last first, each with all above it; the rest stays on
//           disk unknown to the tree, and is known again as soon as it is computed and stored once more. kMaxOthers
//           marks, starts of prompts first.
// Cost:     two hashes a block: off the engine thread.    Threads: pure.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/kv/cold_block.h"
#include "storage/stored_block.h"

namespace larder::engine {

inline constexpr std::uint32_t kLabelRecord = 1;  // StoredRecord::kind: a key, then the label of the run it begins
inline constexpr std::size_t kMaxOthers = 32'768;

struct ListedTree {
  std::vector<kv::ChainedBlock> blocks;  // parents first
  std::vector<kv::StoredName> lost;      // to be dropped
  std::vector<kv::OtherMark> others;
  std::vector<std::pair<ScopeId, std::uint64_t>> stale_identities;  // records of identities without blocks
  std::vector<kernels::KvScheme> by_name;  // schemes to which an admin has rounded blocks of this load
  std::vector<kv::Identity> foreign;       // with blocks, and different in their arithmetic alone
  std::uint64_t left_out = 0;              // blocks beyond `most`
};

ListedTree listed_tree(const storage::StoreListing& listing, std::span<const tenant::Scope> scopes,
                       const kv::Identity& identity, std::size_t most);

}  // namespace larder::engine
