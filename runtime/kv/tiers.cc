// SPDX-License-Identifier: Apache-2.0
// The tree and what lies below the pool: which blocks to write down, which are stored, and how they come back.
#include <algorithm>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/kv/cache_core.h"

namespace larder::kv {
namespace {

using kernels::kBlockTokens;

ColdBlock cold_under(const CacheCore& core, const Node& node, const Identity& identity) {
  ColdBlock cold;
  const ScopeSecret& secret = core.tree.facts_of(node.root).scope->secret();
  cold.scope = core.tree.facts_of(node.root).scope->id();
  cold.key = block_key(secret, identity, node.key);
  const Node& parent = core.tree.at(node.parent);
  cold.parent = parent.is_root() ? parent.key : block_key(secret, identity, parent.key);
  cold.first_position = node.first_position;
  cold.valid = node.valid;
  std::copy(node.tokens.begin(), node.tokens.begin() + node.valid, cold.tokens.begin());
  cold.owner = node.owner;
  cold.created = node.created;
  cold.last_hit = node.last_hit;
  cold.pinned = node.pins > 0;
  cold.lineage = identity.lineage;
  cold.by_name = identity.by_name;
  if (parent.is_root() || parent.label != node.label) cold.label = node.label;
  return cold;
}

// The cold nodes of a walk that nobody is bringing up yet, top first; none when the topmost is on its way.
std::vector<NodeIndex> cold_part(const CacheCore& core, const Walk& walk, std::size_t resident) {
  std::vector<NodeIndex> cold;
  for (std::size_t i = resident; i < walk.whole.size() && !core.tree.at(walk.whole[i]).arriving; ++i) {
    cold.push_back(walk.whole[i]);
  }
  const bool tail = resident + cold.size() == walk.whole.size() && walk.nearest != kNoNode && walk.nearest_common > 0;
  if (tail && !core.tree.at(walk.nearest).resident() && !core.tree.at(walk.nearest).arriving) {
    cold.push_back(walk.nearest);
  }
  return cold;
}

NodeIndex add_cold(CacheCore& core, NodeIndex parent, const ChainedBlock& block) {
  const ColdBlock& cold = block.cold;
  const NodeIndex index = core.tree.add(parent, {cold.tokens.data(), cold.valid}, kNoBlock);
  Node& node = core.tree.at(index);
  node.key = block.chain;
  node.owner = cold.owner;
  node.created = cold.created;
  node.last_hit = cold.last_hit;
  node.last_use = core.stamp;
  node.sealed = true;
  node.label = cold.label.empty() && !core.tree.at(parent).is_root() ? core.tree.at(parent).label : cold.label;
  const RootOf& root = core.tree.facts_of(node.root);
  core.options.history->drop_ghost(node.key, *root.identity);
  if (node.valid == kBlockTokens) core.options.history->mark(node.key, root.scope->id(), root.identity);
  return index;
}

// The sealed node below `parent` that holds exactly these tokens.
NodeIndex same_child(const PrefixTree& tree, NodeIndex parent, const ChainKey& chain) {
  for (const NodeIndex child : tree.at(parent).children) {
    if (tree.at(child).key == chain && tree.at(child).sealed) return child;
  }
  return kNoNode;
}

}  // namespace

std::optional<UnstoredBlock> PrefixCache::next_unstored() {
  CacheCore& core = *core_;
  while (has_unstored()) {
    const Node& node = core.tree.at(core.tree.find(core.unstored.front()));
    core.unstored.pop_front();
    return UnstoredBlock{node.id, node.block, core.pool.checksum(node.block), core.cold_of(node)};
  }
  return std::nullopt;
}

bool PrefixCache::has_unstored() const {
  CacheCore& core = *core_;
  for (; !core.unstored.empty(); core.unstored.pop_front()) {
    const NodeIndex index = core.tree.find(core.unstored.front());
    if (index == kNoNode || !core.tree.at(index).resident() || core.tree.at(index).stored) continue;
    return core.tree.facts_of(core.tree.at(index).root).identity->weights_known;
  }
  return false;
}

std::optional<ChainedBlock> PrefixCache::under(NodeId id, const Identity& identity) const {
  const CacheCore& core = *core_;
  const NodeIndex index = core.tree.find(id);
  if (index == kNoNode || !core.tree.at(index).sealed) return std::nullopt;
  const Node& node = core.tree.at(index);
  return ChainedBlock{cold_under(core, node, identity), core.tree.facts_of(node.root).scope, node.key,
                      core.tree.at(node.parent).key};
}

void PrefixCache::store_later(NodeId node) { core_->unstored.push_front(node); }

bool PrefixCache::mark_stored(NodeId id) {
  CacheCore& core = *core_;
  const NodeIndex index = core.tree.find(id);
  if (index == kNoNode || !core.tree.at(index).sealed) return false;
  core.set_stored(index, true);
  return true;
}

void PrefixCache::drop_stored(const BlockKey& key) {
  CacheCore& core = *core_;
  const auto found = core.stored_nodes.find(key);
  if (found == core.stored_nodes.end()) return;
  const NodeIndex index = core.tree.find(found->second);
  core.set_stored(index, false);
  if (!core.tree.at(index).resident()) core.forget_cold(index);
}

std::optional<NodeId> PrefixCache::find_stored(const BlockKey& key) const {
  const auto found = core_->stored_nodes.find(key);
  if (found == core_->stored_nodes.end()) return std::nullopt;
  return found->second;
}

std::vector<BlockKey> PrefixCache::stored_path(NodeId node) const {
  const CacheCore& core = *core_;
  std::vector<BlockKey> path;
  NodeIndex index = core.tree.find(node);
  if (index == kNoNode) return path;
  for (; !core.tree.at(index).is_root(); index = core.tree.at(index).parent) {
    if (!core.tree.at(index).stored) return {};
    path.push_back(core.block_key_of(core.tree.at(index)));
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::optional<ScopeId> PrefixCache::scope_of(NodeId node) const {
  const NodeIndex index = core_->tree.find(node);
  if (index == kNoNode) return std::nullopt;
  return core_->tree.facts_of(core_->tree.at(index).root).scope->id();
}

void PrefixCache::note_others(std::span<const OtherMark> marks) {
  for (const OtherMark& mark : marks) {
    if (core_->erased.contains(mark.scope) || core_->options.history->find_mark(mark.chain) != nullptr) continue;
    core_->options.history->mark(mark.chain, mark.scope, mark.identity);
  }
}

std::vector<StoredName> PrefixCache::take_lost() { return std::exchange(core_->lost, {}); }

std::uint32_t PrefixCache::adopt(std::span<const ChainedBlock> blocks,
                                 const std::shared_ptr<const Identity>& identity) {
  CacheCore& core = *core_;
  ++core.stamp;
  std::uint32_t adopted = 0;
  for (const ChainedBlock& block : blocks) {
    const ColdBlock& cold = block.cold;
    NodeIndex parent = kNoNode;
    NodeIndex root = kNoNode;
    if (cold.first_position == 0) {
      PromptKeys keys;
      keys.scope = block.owner_of_keys;
      keys.identity = identity;
      keys.root = block.parent;
      parent = root = core.tree.use_root(keys);
    } else if (const auto known = core.stored_nodes.find(cold.parent); known != core.stored_nodes.end()) {
      parent = core.tree.find(known->second);
    }
    const bool fits =
        parent != kNoNode && (root != kNoNode || core.tree.at(parent).valid == kBlockTokens) && cold.valid > 0;
    if (fits && !core.erased.contains(cold.scope)) {
      NodeIndex node = same_child(core.tree, parent, block.chain);
      if (node == kNoNode) node = add_cold(core, parent, block);
      core.set_stored(node, true);
      ++adopted;
    } else {
      core.lost.push_back({cold.scope, cold.key});
    }
    if (root != kNoNode) core.tree.leave_root(root);
  }
  ++core.version;
  return adopted;
}

Result<Arrival> PrefixCache::begin_arrival(const PreparedPrompt& prompt, const PromptKeys& keys, RequestId by,
                                           TenantId tenant, ColdPart part) {
  CacheCore& core = *core_;
  const Walk walk = core.tree.walk(core.tree.find_root(keys), prompt.tokens);
  const std::size_t resident = core.resident_part(walk).whole.size();
  std::vector<NodeIndex> cold = cold_part(core, walk, resident);
  cold.erase(cold.begin(), cold.begin() + static_cast<std::ptrdiff_t>(std::min(part.skip, cold.size())));
  cold.resize(std::min(part.most, cold.size()));
  if (cold.empty()) return Arrival();
  std::vector<BlockId> path;
  for (std::size_t i = 0; i < resident; ++i) {
    path.push_back(core.tree.at(walk.whole[i]).block);
    core.hold(path.back());
  }
  const auto need = static_cast<std::uint32_t>(cold.size());
  if (need > core.available()) {
    for (auto block = path.rbegin(); block != path.rend(); ++block) core.release(*block);
    return Error{ErrorCode::kResourceExhausted,
                 "the KV pool has no room to bring " + std::to_string(need) + " stored blocks up: " +
                     std::to_string(core.available()) + " of " + std::to_string(core.pool.limit()) +
                     " are free or evictable; wait for a running request, or enlarge the pool",
                 {}};
  }
  core.make_room(need, by, tenant);
  return core.start_arrival(std::move(path), cold, part.skip > 0);
}

Arrival CacheCore::start_arrival(std::vector<BlockId> path, const std::vector<NodeIndex>& cold, bool waits_above) {
  ArrivalState state;
  state.used = true;
  state.waits_above = waits_above;
  state.path = std::move(path);
  for (const NodeIndex index : cold) {
    tree.at(index).arriving = true;
    state.blocks.push_back({*pool.begin_arrival(), tree.at(index).id, cold_of(tree.at(index))});
  }
  state.fates.assign(cold.size(), BlockFate::kOnItsWay);
  const auto free = std::find_if(arrivals.begin(), arrivals.end(), [](const auto& a) { return !a.used; });
  const auto slot = static_cast<std::uint32_t>(free - arrivals.begin());
  if (free == arrivals.end()) arrivals.emplace_back();
  arrivals[slot] = std::move(state);
  ++version;
  return Arrival(this, slot);
}

ColdBlock CacheCore::cold_of(const Node& node) const {
  return cold_under(*this, node, *tree.facts_of(node.root).identity);
}

BlockKey CacheCore::block_key_of(const Node& node) const {
  const RootOf& root = tree.facts_of(node.root);
  return block_key(root.scope->secret(), *root.identity, node.key);
}

void CacheCore::set_stored(NodeIndex index, bool stored) {
  Node& node = tree.at(index);
  if (node.stored == stored) return;
  node.stored = stored;
  if (stored) {
    stored_nodes[block_key_of(node)] = node.id;
  } else {
    stored_nodes.erase(block_key_of(node));
  }
  ++version;
}

void CacheCore::note_unstored(NodeId node) {
  if (!options.lower_tier) return;
  unstored.push_back(node);
  if (unstored.size() <= 2 * std::size_t{pool.ids()} + 64) return;
  std::erase_if(unstored, [this](NodeId each) { return tree.find(each) == kNoNode; });
}

void CacheCore::want_copies(NodeIndex end) {
  std::vector<NodeId> path;
  for (NodeIndex at = end; !tree.at(at).is_root(); at = tree.at(at).parent) {
    if (!tree.at(at).stored) path.push_back(tree.at(at).id);
  }
  for (auto parent_first = path.rbegin(); parent_first != path.rend(); ++parent_first) note_unstored(*parent_first);
}

bool CacheCore::shed_cold() {
  std::vector<NodeIndex> old;
  for (const NodeIndex root : tree.roots()) {
    for (const NodeIndex index : tree.subtree(root)) {
      const Node& node = tree.at(index);
      if (!node.is_root() && !node.resident() && node.pins == 0 && !node.arriving) old.push_back(index);
    }
  }
  const auto sooner = [this](NodeIndex a, NodeIndex b) {
    const Node& left = tree.at(a);
    const Node& right = tree.at(b);
    return std::pair(left.last_use, right.first_position) < std::pair(right.last_use, left.first_position);
  };
  std::sort(old.begin(), old.end(), sooner);
  Eviction cause;
  cause.at = options.clock->wall();
  cause.policy = kDemoted;
  const std::size_t batch = std::max<std::size_t>(1, options.max_cold_nodes / 16);
  std::size_t gone = 0;
  for (std::size_t i = 0; i < old.size() && gone < batch; ++i) {
    if (!tree.at(old[i]).children.empty()) continue;
    leave_ghost(old[i], cause);
    set_stored(old[i], false);
    remove_node(old[i]);
    ++gone;
  }
  forgotten_cold += gone;
  return gone > 0;
}

void CacheCore::forget_copies(NodeIndex top) {
  for (const NodeIndex index : tree.subtree(top)) set_stored(index, false);
}

// Pins that end at the node or below it end with it.
void CacheCore::drop_pins_below(NodeIndex top) {
  std::erase_if(pins, [&](const PinRecord& pin) {
    NodeIndex at = tree.find(pin.node);
    while (at != top && !tree.at(at).is_root()) at = tree.at(at).parent;
    if (at != top) return false;
    pin_path(tree.find(pin.node), false);
    return true;
  });
}

// A cold node whose copy is gone, and all below it.
void CacheCore::forget_cold(NodeIndex top) {
  drop_pins_below(top);
  Eviction cause;
  cause.at = options.clock->wall();
  cause.policy = kDiskLost;
  remove_all(tree.subtree(top), &cause);
}

}  // namespace larder::kv
