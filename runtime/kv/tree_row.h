// SPDX-License-Identifier: Apache-2.0
// TreeRow: one drawn box of the prefix tree: a run of blocks with one owner, label and state. Made for the snapshot,
// which knows models and milliseconds besides.
// Threads: value.    Units: tokens, blocks.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "kernels/layout/kv_codec.h"
#include "runtime/base/clock.h"
#include "runtime/base/ids.h"

namespace larder::kv {

// Nodes whose copy on a lower tier has a copy in memory.
using CopiedNodes = std::unordered_set<NodeId>;

struct TreeRow {
  NodeId id{};      // of the run's last block
  NodeId parent{};  // the id of the row above; 0: the root of its scope
  TenantId owner{};
  std::uint32_t first_position = 0;
  std::uint32_t tokens = 0;
  std::uint32_t blocks = 0;
  std::uint32_t resident_blocks = 0;  // in the pool
  std::uint32_t stored_blocks = 0;    // with a copy on a lower tier
  std::uint32_t ram_blocks = 0;       // of those not in the pool, in the nodes that were named as copied in memory
  std::uint32_t ram_position = 0;     // of the first of them
  bool pinned = false;
  bool in_use = false;     // a running sequence reads or writes it
  bool growing = false;    // its tail has a writer
  std::uint64_t hits = 0;  // of the run's last block
  WallTime created = 0;
  WallTime last_hit = 0;
  RequestId made_by{};
  std::string label;  // of the section where the run starts
  kernels::KvScheme lineage = kernels::KvScheme::kExact;
  bool foreign = false;  // Identity::foreign
};

}  // namespace larder::kv
