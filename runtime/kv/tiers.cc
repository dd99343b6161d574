// SPDX-License-Identifier: Apache-2.0
// The tree and what lies below the pool: which blocks to write down, which are stored, and how they come back.
#include <algorithm>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/kv/cache_core.h"
#include "runtime/kv/room_for.h"

namespace larder::kv {
namespace {

using kernels::kBlockTokens;

// Keys under that identity that were made already; null: not yet.
struct KnownKeys {
  const BlockKey* own = nullptr;
  const BlockKey* parent = nullptr;
};

ColdBlock cold_under(const CacheCore& core, const Node& node, const Identity& identity, const KnownKeys& known = {}) {
  ColdBlock cold;
  const ScopeSecret& secret = core.tree.facts_of(node.root).scope->secret();
  cold.scope = core.tree.facts_of(node.root).scope->id();
  cold.key = known.own != nullptr ? *known.own : block_key(secret, identity, node.key);
  const Node& parent = core.tree.at(node.parent);
  if (parent.is_root()) {
    cold.parent = parent.key;
  } else {
    cold.parent = known.parent != nullptr ? *known.parent : block_key(secret, identity, parent.key);
  }
  cold.first_position = node.first_position;
  cold.valid = node.valid;
  std::copy(node.tokens.begin(), node.tokens.begin() + node.valid, cold.tokens.begin());
  cold.owner = node.owner;
  cold.created = node.created;
  cold.last_hit = node.last_hit;
  cold.pinned = node.pins > 0;
  cold.lineage = identity.lineage;
  cold.by_name = identity.by_name;
  cold.foreign = identity.foreign;
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
  const Node& above = core.tree.at(parent);
  std::string label = cold.label.empty() && !above.is_root() ? above.label : cold.label;
  const RootOf& root = core.tree.facts_of(above.root);
  if (cold.valid == kBlockTokens) core.options.history->mark(block.chain, root.scope->id(), root.identity);
  core.expect_owner(cold.owner);
  const NodeIndex index = core.tree.add(parent, {cold.tokens.data(), cold.valid}, kNoBlock);
  ++core.owned.at(cold.owner).nodes;
  Node& node = core.tree.at(index);
  node.key = block.chain;
  node.owner = cold.owner;
  node.created = cold.created;
  node.last_hit = cold.last_hit;
  node.last_use = core.stamp + 1;  // see adopt
  node.sealed = true;
  node.label = std::move(label);
  core.options.history->drop_ghost(node.key, *root.identity);
  return index;
}

// A root that is used while something is put below it.
class UsedRoot {
 public:
  UsedRoot(PrefixTree& tree, const PromptKeys& keys) : tree_(tree), root_(tree.use_root(keys)) {}
  ~UsedRoot() { tree_.leave_root(root_); }
  UsedRoot(const UsedRoot&) = delete;
  UsedRoot& operator=(const UsedRoot&) = delete;
  NodeIndex index() const { return root_; }

 private:
  PrefixTree& tree_;
  const NodeIndex root_;
};

// A node that goes again unless it came to be what it should be.
class NewNode {
 public:
  NewNode(CacheCore& core, NodeIndex node) : core_(core), node_(node) {}
  ~NewNode() {
    if (!core_.tree.at(node_).stored) core_.remove_node(node_);
  }
  NewNode(const NewNode&) = delete;
  NewNode& operator=(const NewNode&) = delete;
  NodeIndex index() const { return node_; }

 private:
  CacheCore& core_;
  const NodeIndex node_;
};

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
  if (!has_unstored()) return std::nullopt;
  const NodeIndex index = core.unstored.front();
  const Node& node = core.tree.at(index);
  UnstoredBlock next{node.id, node.block, core.pool.checksum(node.block), core.cold_of(node)};
  core.unstored.erase(index);
  return next;
}

bool PrefixCache::has_unstored() const {
  CacheCore& core = *core_;
  for (; !core.unstored.empty(); core.unstored.erase(core.unstored.front())) {
    const Node& node = core.tree.at(core.unstored.front());
    if (node.resident() && !node.stored) return core.tree.facts_of(node.root).identity->weights_known;
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

void PrefixCache::store_later(NodeId node) noexcept {
  const NodeIndex index = core_->tree.find(node);
  if (index != kNoNode) core_->unstored.push_front(index);
}

bool PrefixCache::mark_stored(NodeId id) {
  CacheCore& core = *core_;
  const NodeIndex index = core.tree.find(id);
  if (index == kNoNode || !core.tree.at(index).sealed) return false;
  core.mark_stored(index);
  return true;
}

void PrefixCache::drop_stored(const BlockKey& key) {
  CacheCore& core = *core_;
  const auto found = core.stored_nodes.find(key);
  if (found == core.stored_nodes.end()) return;
  const NodeIndex index = core.tree.find(found->second);
  if (!core.tree.at(index).resident()) return core.forget_cold(index);
  core.forget_copy(index);
}

std::optional<NodeId> PrefixCache::find_stored(const BlockKey& key) const {
  const auto found = core_->stored_nodes.find(key);
  if (found == core_->stored_nodes.end()) return std::nullopt;
  return found->second;
}

CopiedNodes PrefixCache::cold_among(std::span<const BlockKey> copies) const {
  const CacheCore& core = *core_;
  CopiedNodes cold;
  for (const BlockKey& copy : copies) {
    const auto found = core.stored_nodes.find(copy);
    if (found == core.stored_nodes.end()) continue;
    if (!core.tree.at(core.tree.find(found->second)).resident()) cold.insert(found->second);
  }
  return cold;
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

std::vector<StoredName> PrefixCache::take_lost() {
  std::vector<StoredName> names = core_->lost;
  core_->lost.clear();  // its room stays
  return names;
}

std::vector<StoredName> PrefixCache::take_cooled(std::size_t most) {
  CacheCore& core = *core_;
  std::vector<StoredName> names;
  names.reserve(std::min(most, core.cooled.size()));
  for (; names.size() < most && !core.cooled.empty(); core.cooled.pop_back()) {
    const NodeIndex index = core.tree.find(core.cooled.back());
    if (index == kNoNode) continue;
    const Node& node = core.tree.at(index);
    if (node.resident() || !node.stored) continue;
    names.push_back({core.tree.facts_of(node.root).scope->id(), core.block_key_of(node)});
  }
  return names;
}

const BlockKey* ColdNames::key_of(NodeId node, std::uint32_t position) const {
  if (position < first_position) return nullptr;
  const std::size_t index = (position - first_position) / kBlockTokens;
  return index < nodes.size() && nodes[index] == node ? &keys[index] : nullptr;
}

ColdNames PrefixCache::cold_names(const PreparedPrompt& prompt, const PromptKeys& keys) const {
  const CacheCore& core = *core_;
  const Walk walk = core.tree.walk(core.tree.find_root(keys), prompt.tokens);
  const std::vector<NodeIndex> cold = cold_part(core, walk, core.resident_part(walk).whole.size());
  ColdNames names;
  if (cold.empty()) return names;
  const RootOf& root = core.tree.facts_of(core.tree.at(cold.front()).root);
  const Digest256 identity = identity_digest(*root.identity);
  names.first_position = core.tree.at(cold.front()).first_position;
  names.nodes.reserve(cold.size());
  names.keys.reserve(cold.size());
  for (const NodeIndex index : cold) {
    const Node& node = core.tree.at(index);
    names.nodes.push_back(node.id);
    names.keys.push_back(block_key(root.scope->secret(), identity, node.key));
  }
  return names;
}

std::uint32_t PrefixCache::adopt(std::span<const ChainedBlock> blocks,
                                 const std::shared_ptr<const Identity>& identity) {
  CacheCore& core = *core_;
  room_for(core.lost, core.stored_nodes.size() + blocks.size());
  std::vector<StoredName> unfit;
  unfit.reserve(blocks.size());
  std::uint32_t adopted = 0;
  for (const ChainedBlock& block : blocks) {
    const ColdBlock& cold = block.cold;
    NodeIndex parent = kNoNode;
    std::optional<UsedRoot> root;
    if (cold.first_position == 0) {
      PromptKeys keys;
      keys.scope = block.owner_of_keys;
      keys.identity = identity;
      keys.root = block.parent;
      parent = root.emplace(core.tree, keys).index();
    } else if (const auto known = core.stored_nodes.find(cold.parent); known != core.stored_nodes.end()) {
      parent = core.tree.find(known->second);
    }
    const bool fits =
        parent != kNoNode && (root || core.tree.at(parent).valid == kBlockTokens) && cold.valid > 0;
    if (fits && !core.erased.contains(cold.scope)) {
      if (const NodeIndex known = same_child(core.tree, parent, block.chain); known != kNoNode) {
        core.mark_stored(known);
      } else {
        const NewNode added(core, add_cold(core, parent, block));
        core.mark_stored(added.index());
      }
      ++adopted;
    } else {
      unfit.push_back({cold.scope, cold.key});
    }
  }
  // Last, so that all of them count as one use, and none is lost twice.
  core.lost.insert(core.lost.end(), unfit.begin(), unfit.end());
  ++core.stamp;
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
  ArrivalPlan plan(core, cold, part.skip > 0, part.names);
  for (std::size_t i = 0; i < resident; ++i) plan.hold(core.tree.at(walk.whole[i]).block);
  const auto need = static_cast<std::uint32_t>(cold.size());
  if (need > core.available()) {
    return Error{ErrorCode::kResourceExhausted,
                 "the KV pool has no room to bring " + std::to_string(need) + " stored blocks up: " +
                     std::to_string(core.available()) + " of " + std::to_string(core.pool.limit()) +
                     " are free or evictable; wait for a running request, or enlarge the pool",
                 {}};
  }
  core.make_room(need, by, tenant);
  return std::move(plan).start();
}

ArrivalPlan::ArrivalPlan(CacheCore& core, const std::vector<NodeIndex>& cold, bool waits_above, const ColdNames* names)
    : core_(core) {
  state_.used = true;
  state_.waits_above = waits_above;
  state_.blocks.reserve(cold.size());  // a block's key is its child's parent
  for (const NodeIndex index : cold) {
    const Node& node = core.tree.at(index);
    KnownKeys known;
    if (names != nullptr) known.own = names->key_of(node.id, node.first_position);
    if (!state_.blocks.empty()) known.parent = &state_.blocks.back().cold.key;
    const Identity& identity = *core.tree.facts_of(node.root).identity;
    state_.blocks.push_back({kNoBlock, node.id, cold_under(core, node, identity, known)});
  }
  state_.fates.assign(cold.size(), BlockFate::kOnItsWay);
  state_.path.reserve(core.tree.at(cold.front()).first_position / kBlockTokens);  // see hold_above
  const bool full = std::all_of(core.arrivals.begin(), core.arrivals.end(), [](const auto& each) { return each.used; });
  if (full) core.arrivals.emplace_back();
  set_arriving(0, true);
}

ArrivalPlan::~ArrivalPlan() {
  cut(0);
  for (auto block = state_.path.rbegin(); block != state_.path.rend(); ++block) core_.release(*block);
}

void ArrivalPlan::set_arriving(std::size_t from, bool arriving) noexcept {
  for (std::size_t i = from; i < state_.blocks.size(); ++i) {
    core_.tree.at(core_.tree.find(state_.blocks[i].node)).arriving = arriving;
  }
}

void ArrivalPlan::hold(BlockId block) noexcept {
  core_.hold(block);
  state_.path.push_back(block);
}

void ArrivalPlan::cut(std::size_t blocks) noexcept {
  set_arriving(blocks, false);
  state_.blocks.resize(blocks);
  state_.fates.resize(blocks);
}

Arrival ArrivalPlan::start() && noexcept {
  for (ArrivingBlock& block : state_.blocks) block.to = *core_.pool.begin_arrival();
  const auto slot = std::find_if(core_.arrivals.begin(), core_.arrivals.end(), [](const auto& a) { return !a.used; });
  *slot = std::exchange(state_, {});
  ++core_.version;
  return Arrival(&core_, static_cast<std::uint32_t>(slot - core_.arrivals.begin()));
}

ColdBlock CacheCore::cold_of(const Node& node) const {
  return cold_under(*this, node, *tree.facts_of(node.root).identity);
}

BlockKey CacheCore::block_key_of(const Node& node) const {
  const RootOf& root = tree.facts_of(node.root);
  return block_key(root.scope->secret(), *root.identity, node.key);
}

void CacheCore::mark_stored(NodeIndex index) {
  Node& node = tree.at(index);
  if (node.stored) return;
  room_for(lost, stored_nodes.size() + 1);
  stored_nodes[block_key_of(node)] = node.id;
  node.stored = true;
  ++version;
}

void CacheCore::forget_copy(NodeIndex index) noexcept {
  Node& node = tree.at(index);
  if (!node.stored) return;
  node.stored = false;
  stored_nodes.erase(block_key_of(node));
  ++version;
}

void CacheCore::note_unstored(NodeIndex node) noexcept {
  if (options.lower_tier && !is_foreign(node)) unstored.push_back(node);
}

std::vector<NodeIndex> CacheCore::unstored_path(NodeIndex end) const {
  std::vector<NodeIndex> path;
  if (is_foreign(end)) return path;
  for (NodeIndex at = end; !tree.at(at).is_root(); at = tree.at(at).parent) {
    if (!tree.at(at).stored) path.push_back(at);
  }
  std::reverse(path.begin(), path.end());
  return path;
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
    forget_copy(old[i]);
    remove_node(old[i]);
    ++gone;
  }
  forgotten_cold += gone;
  return gone > 0;
}

// Pins that end at the node or below it end with it.
void CacheCore::drop_pins_below(NodeIndex top) noexcept {
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
  Eviction cause;
  cause.at = options.clock->wall();
  cause.policy = kDiskLost;
  const std::vector<NodeIndex> nodes = tree.subtree(top);
  leave_ghosts(nodes, cause);
  forget_copy(top);
  drop_pins_below(top);
  remove_all(nodes);
}

}  // namespace larder::kv
