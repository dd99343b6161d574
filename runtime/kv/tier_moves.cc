// SPDX-License-Identifier: Apache-2.0
// One block at a time between the pool and the tier below, because somebody asked for it.
#include <algorithm>
#include <utility>

#include "runtime/kv/block_range.h"
#include "runtime/kv/cache_core.h"

namespace larder::kv {
namespace {

Error no_run(NodeId id) {
  return {ErrorCode::kNotFound, "no cached run " + std::to_string(id.value) + "; it may have been evicted", {}};
}

Error no_room_up(const CacheCore& core) {
  return {ErrorCode::kResourceExhausted,
          "the KV pool of " + std::to_string(core.pool.limit()) +
              " blocks has no room: what is left in it is pinned, in use, or was used since the move began",
          {}};
}

std::vector<NodeIndex> path_to(const PrefixTree& tree, NodeIndex index) {
  std::vector<NodeIndex> path;
  for (; !tree.at(index).is_root(); index = tree.at(index).parent) path.push_back(index);
  std::reverse(path.begin(), path.end());
  return path;
}

// How many blocks can be had by eviction of leaves that were not used since `stamp`, up to `wanted`; frees them.
std::uint32_t make_room_of_old(CacheCore& core, std::uint32_t wanted, std::uint64_t stamp, RequestId by,
                               TenantId tenant) {
  while (core.pool.excess() == 0 && core.pool.counts().free < wanted && !core.leaves.empty()) {
    const WallTime now = core.options.clock->wall();
    const NodeIndex next = core.leaves.choose(now, [&](NodeIndex leaf) { return core.facts_of(leaf); });
    if (core.tree.at(next).last_use > stamp) break;
    core.make_room(core.pool.counts().free + 1, by, tenant);
  }
  return std::min(wanted, core.pool.counts().free);
}

}  // namespace

Staying stays_in_pool(const BlockFacts& block) {
  if (block.node.value == 0) return Staying::kGone;
  if (!block.resident()) return Staying::kAlready;
  if (!block.sealed) return Staying::kGrowing;
  if (block.pinned) return Staying::kPinned;
  if (block.in_use) return Staying::kInUse;
  if (block.resident_children > 0) return Staying::kBelow;
  return block.stored ? Staying::kNone : Staying::kNoCopy;
}

Staying stays_below(const BlockFacts& block) {
  if (block.node.value == 0) return Staying::kGone;
  if (!block.stored) return Staying::kAlready;
  if (block.pinned) return Staying::kPinned;
  if (block.arriving) return Staying::kInUse;
  if (block.stored_children > 0) return Staying::kBelow;
  return block.resident() ? Staying::kNone : Staying::kNoCopy;
}

Staying stays_anywhere(const BlockFacts& block) {
  if (block.node.value == 0) return Staying::kGone;
  if (!block.sealed) return Staying::kGrowing;
  if (block.pinned) return Staying::kPinned;
  if (block.in_use || block.arriving) return Staying::kInUse;
  return block.children > 0 ? Staying::kBelow : Staying::kNone;
}

Result<std::vector<NodeId>> PrefixCache::select(const BlockRange& range) const {
  const CacheCore& core = *core_;
  const NodeIndex named = core.tree.find(range.node);
  if (named == kNoNode) return no_run(range.node);
  std::vector<NodeIndex> chosen;
  if (range.path) {
    chosen = path_to(core.tree, named);
    if (range.first_block >= chosen.size()) {
      return Error{ErrorCode::kInvalidArgument,
                   "the path to run " + std::to_string(range.node.value) + " has " + std::to_string(chosen.size()) +
                       " blocks, so none begins at " + std::to_string(range.first_block) + "; count from 0",
                   {}};
    }
    chosen.erase(chosen.begin(), chosen.begin() + range.first_block);
    if (range.block_count > 0 && range.block_count < chosen.size()) chosen.resize(range.block_count);
  } else {
    chosen = core.tree.subtree(core.run_start(named));
  }
  std::vector<NodeId> ids;
  ids.reserve(chosen.size());
  for (const NodeIndex index : chosen) ids.push_back(core.tree.at(index).id);
  return ids;
}

BlockFacts PrefixCache::facts(NodeId id) const {
  const CacheCore& core = *core_;
  const NodeIndex index = core.tree.find(id);
  if (index == kNoNode) return {};
  const Node& node = core.tree.at(index);
  const Node& parent = core.tree.at(node.parent);
  BlockFacts facts;
  facts.node = id;
  facts.parent = parent.is_root() ? NodeId{} : parent.id;
  facts.block = node.block;
  facts.key = node.key;
  facts.owner = node.owner;
  facts.lineage = core.tree.facts_of(node.root).identity->lineage;
  facts.foreign = core.tree.facts_of(node.root).identity->foreign != 0;
  facts.first_position = node.first_position;
  facts.valid = node.valid;
  facts.sealed = node.sealed;
  facts.stored = node.stored;
  facts.pinned = node.pins > 0;
  facts.arriving = node.arriving;
  facts.parent_resident = parent.is_root() || parent.resident();
  facts.children = static_cast<std::uint32_t>(node.children.size());
  facts.resident_children = node.resident_children;
  for (const NodeIndex child : node.children) facts.stored_children += core.tree.at(child).stored ? 1 : 0;
  facts.in_use = node.arriving;
  if (node.resident()) {
    facts.in_use = core.pool.holders(node.block) > 0;
    if (node.sealed) facts.checksum = core.pool.checksum(node.block);
  }
  return facts;
}

Staying PrefixCache::cool(NodeId id) {
  const Staying stays = stays_in_pool(facts(id));
  if (stays == Staying::kNone) core_->cool_node(core_->tree.find(id));
  return stays;
}

Staying PrefixCache::drop_copy(NodeId id) {
  CacheCore& core = *core_;
  const Staying stays = stays_below(facts(id));
  if (stays != Staying::kNone) return stays;
  const NodeIndex index = core.tree.find(id);
  const Node& node = core.tree.at(index);
  core.lost.push_back({core.tree.facts_of(node.root).scope->id(), core.block_key_of(node)});
  core.forget_copy(index);
  return stays;
}

std::uint64_t PrefixCache::use_stamp() const { return core_->stamp; }

void PrefixCache::use(std::span<const NodeId> nodes) {
  CacheCore& core = *core_;
  ++core.stamp;
  for (const NodeId id : nodes) {
    const NodeIndex index = core.tree.find(id);
    if (index != kNoNode && core.tree.at(index).resident()) core.touch(index, false);
  }
}

Result<Arrival> PrefixCache::begin_arrival(std::span<const NodeId> chain, std::uint64_t since, TenantId tenant) {
  CacheCore& core = *core_;
  std::vector<NodeIndex> cold;
  for (const NodeId id : chain) {
    const NodeIndex index = core.tree.find(id);
    if (index == kNoNode || core.tree.at(index).resident() || core.tree.at(index).arriving) break;
    if (!cold.empty() && core.tree.at(index).parent != cold.back()) break;
    cold.push_back(index);
  }
  if (cold.empty()) return Arrival();
  std::vector<NodeIndex> above;
  for (NodeIndex at = core.tree.at(cold.front()).parent; !core.tree.at(at).is_root(); at = core.tree.at(at).parent) {
    if (!core.tree.at(at).resident()) return Arrival();
    above.push_back(at);
  }
  ArrivalPlan plan(core, cold, false);
  for (auto node = above.rbegin(); node != above.rend(); ++node) plan.hold(core.tree.at(*node).block);
  const std::uint32_t room =
      make_room_of_old(core, static_cast<std::uint32_t>(cold.size()), since, RequestId{}, tenant);
  if (room == 0) return no_room_up(core);
  plan.cut(room);
  cold.resize(room);
  ++core.stamp;
  for (const NodeIndex index : cold) core.touch(index, false);
  return std::move(plan).start();
}

std::optional<ColdBlock> PrefixCache::stored_block(NodeId id) const {
  const CacheCore& core = *core_;
  const NodeIndex index = core.tree.find(id);
  if (index == kNoNode || !core.tree.at(index).stored) return std::nullopt;
  return core.cold_of(core.tree.at(index));
}

std::optional<UnstoredBlock> PrefixCache::unstored(NodeId id) const {
  const CacheCore& core = *core_;
  const NodeIndex index = core.tree.find(id);
  if (index == kNoNode) return std::nullopt;
  const Node& node = core.tree.at(index);
  const bool wanted = node.sealed && node.resident() && !node.stored && !core.is_foreign(index);
  if (!wanted || !core.tree.facts_of(node.root).identity->weights_known) return std::nullopt;
  return UnstoredBlock{node.id, node.block, core.pool.checksum(node.block), core.cold_of(node)};
}

void PrefixCache::store_again(NodeId id) noexcept {
  const BlockFacts block = facts(id);
  if (block.resident() && block.sealed && !block.stored) core_->note_unstored(core_->tree.find(id));
}

std::uint32_t PrefixCache::drop_damaged(NodeId id) {
  CacheCore& core = *core_;
  const NodeIndex top = core.tree.find(id);
  if (top == kNoNode) return 0;
  Eviction cause;
  cause.at = core.options.clock->wall();
  cause.policy = kDamaged;
  const std::vector<NodeIndex> nodes = core.tree.subtree(top);
  core.leave_ghosts(nodes, cause);
  core.drop_pins_below(top);
  const Node& node = core.tree.at(top);
  const std::size_t depth = node.first_position / kernels::kBlockTokens;
  const BlockId block = node.block;
  for (ClaimState& claim : core.claims) {
    const bool through = claim.used && claim.publish && depth < claim.table.size() && claim.table[depth] == block;
    if (block != kNoBlock && through) core.make_private(claim);
  }
  core.remove_all(nodes);
  return static_cast<std::uint32_t>(nodes.size());
}

}  // namespace larder::kv
