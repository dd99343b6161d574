// SPDX-License-Identifier: Apache-2.0
// BlockPlacement: where consecutive blocks of the tree lie: one row for each tier that has them.
// Units:    blocks, tokens, positions, bytes.    Threads: values; placements_of on the engine thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"

namespace larder::kv {
class PrefixCache;
}

namespace larder::engine {

struct BlockPlacement {
  NodeId node{};                  // the last of these blocks
  std::uint32_t tenant = 0;       // their owner
  std::uint32_t first_block = 0;  // counted from the root
  std::uint32_t blocks = 0;
  std::uint32_t first_position = 0;
  std::uint32_t tokens = 0;
  std::string tier;  // "device", "host", "disk"; "ram": a copy in memory of what is on disk
  std::uint64_t bytes = 0;
  bool durable = false;  // on disk too, or there only
  bool pinned = false;
  bool in_use = false;
  bool growing = false;
  std::string lineage;  // "exact", or the form to which its tokens were rounded, or "foreign"
};

// Consecutive blocks that lie alike share a row. `nodes`: parents before children. `pool`: the pool's tier. `in_ram`:
// those of them with a copy in memory.
std::vector<BlockPlacement> placements_of(const kv::PrefixCache& cache, std::span<const NodeId> nodes,
                                          const kernels::KvLayout& layout, const std::string& pool,
                                          const std::unordered_set<NodeId>& in_ram);

}  // namespace larder::engine
