// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/placements.h"

#include "kernels/layout/kv_kept.h"
#include "runtime/kv/block_range.h"
#include "runtime/kv/prefix_cache.h"
#include "runtime/kv/verdict.h"

namespace larder::engine {
namespace {

bool lie_alike(const kv::BlockFacts& a, const kv::BlockFacts& b) {
  return b.parent == a.node && a.resident() == b.resident() && a.stored == b.stored && a.pinned == b.pinned &&
         a.in_use == b.in_use && a.sealed == b.sealed && a.owner == b.owner;
}

}  // namespace

std::vector<BlockPlacement> placements_of(const kv::PrefixCache& cache, std::span<const NodeId> nodes,
                                          const kernels::KvLayout& layout, const std::string& pool,
                                          const std::unordered_set<NodeId>& in_ram) {
  std::vector<BlockPlacement> rows;
  kv::BlockFacts before;
  std::size_t of_run = 0;  // rows of the newest run: one for each tier
  for (const NodeId node : nodes) {
    const kv::BlockFacts block = cache.facts(node);
    if (block.node.value == 0) continue;
    const bool copied = block.stored && in_ram.contains(node);
    if (before.node.value == 0 || !lie_alike(before, block) || copied != in_ram.contains(before.node)) {
      of_run = 0;
      for (const std::string& tier : {pool, std::string("ram"), std::string("disk")}) {
        if (tier == pool ? !block.resident() : tier == "ram" ? !copied : !block.stored) continue;
        BlockPlacement row;
        row.tenant = block.owner.value;
        row.first_block = block.first_position / kernels::kBlockTokens;
        row.first_position = block.first_position;
        row.tier = tier;
        row.durable = block.stored;
        row.pinned = block.pinned;
        row.in_use = block.in_use;
        row.growing = !block.sealed;
        row.lineage = kv::lineage_name(block.lineage, block.foreign);
        rows.push_back(std::move(row));
        ++of_run;
      }
    }
    for (std::size_t i = rows.size() - of_run; i < rows.size(); ++i) {
      rows[i].node = node;
      rows[i].blocks += 1;
      rows[i].tokens += block.valid;
      rows[i].bytes += rows[i].tier == pool ? layout.block_bytes()
                                            : kernels::kept_bytes(block.lineage, block.first_position, 1, layout);
    }
    before = block;
  }
  return rows;
}

}  // namespace larder::engine
