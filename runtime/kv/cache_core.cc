// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/cache_core.h"

#include <algorithm>

#include "runtime/base/invariant.h"
#include "runtime/kv/room_for.h"

namespace larder::kv {

CacheCore::CacheCore(CacheOptions given, std::unique_ptr<storage::EvictionPolicy> policy)
    : options(std::move(given)),
      ids(options.ids != nullptr ? *options.ids : own_ids),
      pool(options.block_count),
      tree(ids.nodes),
      leaves(std::move(policy)),
      node_of_block(options.block_count, kNoNode) {
  INVARIANT(options.clock != nullptr && options.history != nullptr && options.block_count > 0);
  if (options.pin_budget_blocks == 0) options.pin_budget_blocks = options.block_count / 4;
  leaves.reserve(pool.ids());
  cooled.reserve(kMostCooled);
}

storage::LeafFacts CacheCore::facts_of(NodeIndex index) const {
  const Node& node = tree.at(index);
  const auto quota = quotas.find(node.owner);
  const auto use = owned.find(node.owner);
  const bool over = quota != quotas.end() && use != owned.end() && use->second.blocks > quota->second;
  return {node.last_use, node.last_hit, node.created, node.owner, node.first_position, node.hits, over};
}

void CacheCore::refresh(NodeIndex index) noexcept {
  Node& node = tree.at(index);
  if (node.is_root()) return;
  const bool may_go =
      node.resident() && node.sealed && node.resident_children == 0 && node.pins == 0 && pool.holders(node.block) == 0;
  if (node.listed && (!may_go || node.listed->last_use != node.last_use)) {
    leaves.erase(index, *node.listed);
    node.listed.reset();
  }
  if (may_go && !node.listed) node.listed = leaves.insert(index, facts_of(index));
}

void CacheCore::hold(BlockId block) noexcept {
  const NodeIndex node = node_of(block);
  if (node != kNoNode && pool.holders(block) == 0 && tree.at(node).pins == 0) --evictable;
  pool.hold(block);
  if (node != kNoNode) refresh(node);
}

void CacheCore::release(BlockId block) noexcept {
  const NodeIndex node = node_of(block);
  pool.release(block);
  if (node == kNoNode) return;
  if (pool.holders(block) == 0 && tree.at(node).pins == 0) ++evictable;
  refresh(node);
}

void CacheCore::pin_path(NodeIndex index, bool add) noexcept {
  for (NodeIndex at = index; !tree.at(at).is_root(); at = tree.at(at).parent) {
    Node& node = tree.at(at);
    const bool was = node.pins > 0;
    node.pins += add ? 1u : ~0u;
    const bool is = node.pins > 0;
    if (was == is) continue;
    pinned += is ? 1u : ~0u;
    if (node.resident() && pool.holders(node.block) == 0) evictable += is ? ~0u : 1u;
    refresh(at);
  }
  ++version;
}

void CacheCore::touch(NodeIndex index, bool hit) noexcept {
  Node& node = tree.at(index);
  node.last_use = stamp;
  if (hit) {
    ++node.hits;
    node.last_hit = options.clock->wall();
  }
  refresh(index);
}

namespace {

std::string label_at(const PreparedPrompt& prompt, std::uint32_t token) {
  constexpr std::size_t kMaxLabel = 64;
  if (token >= prompt.tokens.size()) return "answer";
  for (const Section& section : prompt.sections) {
    if (token < section.token_end) return section.label.substr(0, kMaxLabel);
  }
  return {};
}

}  // namespace

NodeIndex CacheCore::add_node(NodeIndex parent, std::span<const Token> tokens, BlockId block, const ClaimState& claim) {
  const Node& above = tree.at(parent);
  std::string label = label_at(*claim.prompt, above.is_root() ? 0 : above.first_position + kernels::kBlockTokens);
  expect_owner(claim.tenant);
  const NodeIndex index = tree.add(parent, tokens, block);
  Node& node = tree.at(index);
  node.owner = claim.tenant;
  node.made_by = claim.request;
  node.label = std::move(label);
  node.created = options.clock->wall();
  node.last_use = stamp;
  node_of_block[block.value] = index;
  ++resident_nodes;
  pool.publish(block);
  Owned& use = owned.at(node.owner);
  ++use.blocks;
  ++use.nodes;
  refresh(parent);
  ++version;
  return index;
}

void CacheCore::expect_owner(TenantId owner) {
  if (owned.contains(owner)) return;
  // A list of leaves at most for each of those that are here; who leaves gives his back.
  leaves.reserve(pool.ids(), owned.size() + 1);
  owned.try_emplace(owner);
}

// The node's block is no longer the tree's; it stays published.
BlockId CacheCore::take_block(NodeIndex index) noexcept {
  Node& node = tree.at(index);
  if (node.listed) {
    leaves.erase(index, *node.listed);
    node.listed.reset();
  }
  const BlockId block = node.block;
  Owned& use = owned.at(node.owner);
  INVARIANT(use.blocks > 0);
  --use.blocks;
  if (pool.holders(block) == 0 && node.pins == 0) --evictable;
  node_of_block[block.value] = kNoNode;
  --resident_nodes;
  tree.set_block(index, kNoBlock);
  return block;
}

void CacheCore::warm_node(NodeIndex index, BlockId block) noexcept {
  Node& node = tree.at(index);
  INVARIANT(!node.resident() && (tree.at(node.parent).is_root() || tree.at(node.parent).resident()));
  INVARIANT(pool.valid_tokens(block) == node.valid && node_of(block) == kNoNode);
  tree.set_block(index, block);
  node_of_block[block.value] = index;
  ++resident_nodes;
  if (!pool.published(block)) pool.publish(block);
  ++owned.at(node.owner).blocks;
  if (pool.holders(block) == 0 && node.pins == 0) ++evictable;
  refresh(index);
  refresh(node.parent);
  ++warmed_blocks;
  ++version;
}

void CacheCore::cool_node(NodeIndex index) noexcept {
  INVARIANT(tree.at(index).stored && tree.at(index).listed);
  pool.unpublish(take_block(index));
  tree.at(index).demoted = options.clock->wall();
  if (cooled.size() < kMostCooled) cooled.push_back(tree.at(index).id);
  refresh(tree.at(index).parent);
  ++cooled_blocks;
  ++version;
}

void CacheCore::drop_node(NodeIndex index) noexcept {
  const auto use = owned.find(tree.at(index).owner);
  if (--use->second.nodes == 0) owned.erase(use);
  unstored.erase(index);
  tree.remove(index);
}

void CacheCore::remove_node(NodeIndex index) noexcept {
  const Node& node = tree.at(index);
  INVARIANT(node.children.empty() && node.pins == 0);
  if (node.stored) {
    lost.push_back({tree.facts_of(node.root).scope->id(), block_key_of(node)});
    forget_copy(index);
  }
  const NodeIndex parent = node.parent;
  const BlockId block = node.resident() ? take_block(index) : kNoBlock;
  drop_node(index);
  if (block != kNoBlock) pool.unpublish(block);
  if (tree.at(parent).is_root()) {
    tree.drop_root_if_unused(parent);
  } else {
    refresh(parent);
  }
  ++version;
}

void CacheCore::leave_ghost(NodeIndex index, const Eviction& cause) {
  const Node& node = tree.at(index);
  if (!node.sealed) return;
  Ghost ghost;
  ghost.scope = tree.facts_of(node.root).scope->id();
  ghost.identity = tree.facts_of(node.root).identity;
  ghost.parent = tree.at(node.parent).key;
  ghost.first_position = node.first_position;
  ghost.tokens = node.valid;
  if (node.valid < kernels::kBlockTokens) ghost.tail.assign(node.tokens.begin(), node.tokens.begin() + node.valid);
  ghost.eviction = cause;
  ghost.eviction.last_hit = node.last_hit;
  options.history->add_ghost(node.key, std::move(ghost));
}

void CacheCore::make_room(std::uint32_t blocks, RequestId by, TenantId tenant) {
  Eviction cause;
  cause.by_request = by;
  cause.by_tenant = tenant;
  while (pool.counts().free < blocks) evict_one(cause);
}

void CacheCore::evict_one(Eviction cause) {
  INVARIANT(!leaves.empty());
  cause.at = options.clock->wall();
  if (cause.policy.empty()) cause.policy = leaves.policy_name();
  const NodeIndex victim = leaves.choose(cause.at, [this](NodeIndex leaf) { return facts_of(leaf); });
  const bool one_more = tree.at(victim).stored && options.max_cold_nodes > 0;
  const bool full = one_more && cold_nodes() >= options.max_cold_nodes && !shed_cold();
  if (tree.at(victim).stored && !full) {
    cool_node(victim);
    return;
  }
  const std::vector<NodeIndex> going = tree.subtree(victim);
  leave_ghosts(going, cause);
  // Copies that nobody knows any more stay where they are.
  for (const NodeIndex index : going) {
    if (full) forget_copy(index);
  }
  remove_all(going);
  ++evicted_blocks;
}

void CacheCore::leave_ghosts(const std::vector<NodeIndex>& nodes, const Eviction& cause) {
  for (auto index = nodes.rbegin(); index != nodes.rend(); ++index) leave_ghost(*index, cause);
}

void CacheCore::remove_all(const std::vector<NodeIndex>& top_first) noexcept {
  for (auto index = top_first.rbegin(); index != top_first.rend(); ++index) remove_node(*index);
}

Walk CacheCore::resident_part(Walk walk) const {
  const auto cold =
      std::find_if(walk.whole.begin(), walk.whole.end(), [this](NodeIndex node) { return !tree.at(node).resident(); });
  if (cold != walk.whole.end()) {
    walk.whole.erase(cold, walk.whole.end());
    walk.seen = static_cast<std::uint32_t>(walk.whole.size()) * kernels::kBlockTokens;
    walk.nearest = kNoNode;
  } else if (walk.nearest != kNoNode && !tree.at(walk.nearest).resident()) {
    walk.seen -= walk.nearest_common;
    walk.nearest = kNoNode;
  }
  if (walk.nearest == kNoNode) walk.nearest_common = 0;
  return walk;
}

void CacheCore::make_private(ClaimState& claim) noexcept {
  claim.publish = false;
  if (claim.root == kNoNode) return;
  tree.leave_root(claim.root);
  claim.root = kNoNode;
}

void CacheCore::tally(NodeIndex index, Removed& removed) const {
  const Node& node = tree.at(index);
  ++removed.nodes;
  removed.tokens += node.valid;
  if (node.stored) ++removed.stored;
  if (node.resident()) ++(pool.holders(node.block) > 0 ? removed.blocks_condemned : removed.blocks_freed);
}

// What the verdict rests on, beside the reuse itself.
MatchFacts CacheCore::facts_for(const ClaimState& claim, const Walk& walk, std::uint32_t seen) const {
  MatchFacts facts;
  facts.prompt = claim.prompt.get();
  facts.seen = seen;
  facts.tier = options.tier;
  facts.lineage = claim.keys->identity->lineage;
  facts.foreign = claim.keys->identity->foreign != 0;
  constexpr std::size_t kContinuation = 64;
  if (walk.nearest != kNoNode && tree.at(walk.nearest).valid > walk.nearest_common) {
    const Node& near = tree.at(walk.nearest);
    Sibling sibling{
        {near.tokens.begin() + walk.nearest_common, near.tokens.begin() + near.valid}, near.made_by, near.owner};
    NodeIndex below = walk.nearest;
    while (sibling.tokens.size() < kContinuation && !tree.at(below).children.empty()) {
      below = tree.at(below).children.front();
      const std::span<const Token> more = tree.at(below).span();
      sibling.tokens.insert(sibling.tokens.end(), more.begin(), more.end());
    }
    sibling.tokens.resize(std::min(sibling.tokens.size(), kContinuation));
    facts.sibling = std::move(sibling);
  }
  const PromptKeys& keys = *claim.keys;
  const ReuseHistory& history = *options.history;
  const std::size_t first = walk.seen / kernels::kBlockTokens;
  std::size_t block = first;
  const Ghost* gone = nullptr;
  for (; block < keys.blocks.size(); ++block) {
    const Ghost* ghost = history.find_ghost(keys.blocks[block], *keys.identity);
    if (ghost == nullptr) break;
    if (gone == nullptr) gone = ghost;
  }
  const auto end = static_cast<std::uint32_t>(block * kernels::kBlockTokens);
  const std::span<const Token> rest = std::span<const Token>(claim.prompt->tokens).subspan(end);
  const ChainKey& above = block == 0 ? keys.root : keys.blocks[block - 1];
  const auto [tail, tail_tokens] = history.find_tail_ghost(above, *keys.identity, rest);
  if (gone == nullptr) gone = tail;
  if (gone != nullptr) {
    facts.ghost_end = end + tail_tokens;
    facts.eviction = gone->eviction;
  } else if (walk.seen > seen) {  // it lies below, and was not brought up
    const Node& cold = tree.at(
        seen / kernels::kBlockTokens < walk.whole.size() ? walk.whole[seen / kernels::kBlockTokens] : walk.nearest);
    facts.ghost_end = walk.seen;
    facts.eviction.at = cold.demoted;
    facts.eviction.policy = kDemoted;
    facts.eviction.last_hit = cold.last_hit;
  }
  for (std::size_t at = first; at < keys.blocks.size(); ++at) {
    const Identity* identity = history.find_mark(keys.blocks[at]);
    const std::string part = identity == nullptr ? "" : differing_part(*identity, *keys.identity);
    if (part.empty()) break;
    facts.other_end = static_cast<std::uint32_t>((at + 1) * kernels::kBlockTokens);
    if (facts.other_part.empty()) facts.other_part = part;
  }
  return facts;
}

std::string CacheCore::audit() const {
  if (pool.counts() != pool.recount()) return "pool counts differ from a recount";
  if (std::string fault = tree.audit(); !fault.empty()) return fault;
  std::uint32_t free_to_go = 0;
  std::uint32_t listed = 0;
  std::uint32_t with_pins = 0;
  std::unordered_map<TenantId, Owned> owners;
  for (const NodeIndex root : tree.roots()) {
    for (const NodeIndex index : tree.subtree(root)) {
      const Node& node = tree.at(index);
      if (node.is_root()) continue;
      ++owners[node.owner].nodes;
      if (node.pins > 0) ++with_pins;
      if (!node.resident()) {
        if (!node.stored || !node.sealed || node.listed) return "a cold node is not stored, not sealed, or listed";
        continue;
      }
      const bool idle = pool.holders(node.block) == 0 && node.pins == 0;
      const bool may_go = idle && node.sealed && node.resident_children == 0;
      if (idle) ++free_to_go;
      if (node.listed) ++listed;
      ++owners[node.owner].blocks;
      if (node_of(node.block) != index || !pool.published(node.block)) return "a node's block is not published";
      if (pool.valid_tokens(node.block) != node.valid) return "a node's tokens are not its block's valid tokens";
      if (node.sealed == pool.writer(node.block).has_value()) return "sealed and writer disagree";
      if (may_go != node.listed.has_value()) return "a leaf that may go is not listed, or another is";
      if (idle && !node.sealed) return "a growing node has no holder";
      const Node& parent = tree.at(node.parent);
      const ScopeSecret& secret = tree.facts_of(root).scope->secret();
      if (node.sealed && node.key != next_key(secret, parent.key, node.span())) return "a key is not its parent's next";
      if (!idle && !parent.is_root() && pool.holders(parent.block) == 0 && parent.pins == 0) {
        return "a node is kept and its parent is not";
      }
    }
  }
  if (free_to_go != evictable || listed != leaves.size() || with_pins != pinned)
    return "evictable, listed or pinned is wrong";
  std::uint32_t resident = 0;
  std::uint32_t nodes = 0;
  for (const auto& [owner, use] : owned) {
    const Owned counted = owners[owner];
    if (counted.blocks != use.blocks || counted.nodes != use.nodes) return "blocks by owner are wrong";
    resident += use.blocks;
    nodes += use.nodes;
  }
  if (nodes != tree.size()) return "nodes by owner are wrong";
  if (resident != resident_nodes) return "resident nodes are counted wrong";
  std::vector<std::uint32_t> holds(pool.ids(), 0);
  for (const ClaimState& claim : claims) {
    for (const BlockId block : claim.table) ++holds[block.value];
    if (claim.copy_from != kNoBlock) ++holds[claim.copy_from.value];
  }
  for (const ArrivalState& arrival : arrivals) {
    for (const BlockId block : arrival.path) ++holds[block.value];
    for (std::size_t i = 0; i < arrival.blocks.size(); ++i) {
      const BlockId block = arrival.blocks[i].to;
      if (block != kNoBlock && pool.residency(block) != Residency::kArriving) ++holds[block.value];
    }
  }
  for (std::uint32_t i = 0; i < pool.ids(); ++i) {
    if (pool.holders(BlockId{i}) != holds[i]) return "holders of a block are not the claims that name it";
    if (pool.published(BlockId{i}) != (node_of_block[i] != kNoNode)) return "a published block has no node";
  }
  return {};
}

}  // namespace larder::kv
