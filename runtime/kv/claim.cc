// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/claim.h"

#include <algorithm>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/kv/cache_core.h"
#include "runtime/kv/room_for.h"

namespace larder::kv {
namespace {

using kernels::kBlockTokens;

NodeIndex parent_of(const CacheCore& core, const ClaimState& claim, std::size_t index) {
  return index == 0 ? claim.root : core.node_of(claim.table[index - 1]);
}

std::span<const Token> tokens_of(const ClaimState& claim, std::size_t index, std::uint32_t valid) {
  return std::span<const Token>(claim.tokens).subspan(index * kBlockTokens, valid);
}

// Sealed, unused tails that the sealed node continues say nothing that it does not.
void drop_superseded(CacheCore& core, NodeIndex index) noexcept {
  while (true) {
    const NodeIndex before = core.tree.neighbour(index, -1);
    if (before == kNoNode) return;
    const Node& old = core.tree.at(before);
    const Node& node = core.tree.at(index);
    const bool contained = old.valid < node.valid && std::equal(old.tokens.begin(), old.tokens.begin() + old.valid,
                                                                node.tokens.begin());
    const bool idle = old.resident() ? old.listed.has_value() : old.pins == 0 && !old.arriving;
    if (!contained || !idle) return;
    core.remove_node(before);
    ++core.superseded_blocks;
  }
}

// The chain key of the claim's block below `parent`.
ChainKey key_of(const CacheCore& core, const ClaimState& claim, NodeIndex parent, std::size_t index,
                std::uint32_t valid) {
  const bool of_prompt = valid == kBlockTokens && index < claim.keys->blocks.size();
  if (of_prompt) return claim.keys->blocks[index];
  return next_key(claim.keys->scope->secret(), core.tree.at(parent).key, tokens_of(claim, index, valid));
}

void seal_node(CacheCore& core, const ClaimState& claim, NodeIndex index, const ChainKey& key) noexcept {
  Node& node = core.tree.at(index);
  node.key = key;
  node.sealed = true;
  core.pool.seal(node.block);
  core.options.history->drop_ghost(key, *claim.keys->identity);
  core.note_unstored(index);
  drop_superseded(core, index);
}

// Full block `index` of the claim is `twin`'s too: one of them stays.
void join_twin(CacheCore& core, ClaimState& claim, std::size_t index, NodeIndex twin) noexcept {
  const BlockId block = claim.table[index];
  const NodeIndex node = core.node_of(block);
  if (!core.tree.at(twin).resident()) {  // computed again though it lies below
    if (node != kNoNode) {
      core.take_block(node);
      core.drop_node(node);
    }
    core.pool.seal(block);
    core.warm_node(twin, block);
    return;
  }
  // Another sequence was first; equal tokens under one root have equal bits.
  const BlockId shared = core.tree.at(twin).block;
  core.hold(shared);
  if (node != kNoNode) core.remove_node(node);
  core.release(block);
  claim.table[index] = shared;
  ++core.adopted_blocks;
}

// Block `index` of the claim holds `valid` tokens now: put it into the tree, or bring its node up to date.
void publish(CacheCore& core, ClaimState& claim, std::size_t index, std::uint32_t valid) {
  const BlockId block = claim.table[index];
  const NodeIndex parent = parent_of(core, claim, index);
  INVARIANT(parent != kNoNode);
  const bool full = valid == kBlockTokens;
  const std::span<const Token> tokens = tokens_of(claim, index, valid);
  NodeIndex node = core.node_of(block);
  const NodeIndex twin = full ? core.tree.find_full_child(parent, tokens, node) : kNoNode;
  if (twin != kNoNode) {
    core.pool.set_valid_tokens(block, valid);
    return join_twin(core, claim, index, twin);
  }
  const ChainKey key = full ? key_of(core, claim, parent, index, valid) : ChainKey();
  if (full) core.options.history->mark(key, claim.keys->scope->id(), claim.keys->identity);
  core.pool.set_valid_tokens(block, valid);
  if (node == kNoNode) {
    node = core.add_node(parent, tokens, block, claim);
  } else {
    core.tree.extend(node, tokens);
    ++core.version;
  }
  core.tree.at(node).last_use = core.stamp + 1;  // see commit
  if (full) seal_node(core, claim, node, key);
}

void drop_copy_source(CacheCore& core, ClaimState& claim) noexcept {
  if (claim.copy_from == kNoBlock) return;
  core.release(claim.copy_from);
  claim.copy_from = kNoBlock;
  claim.copy_tokens = 0;
}

bool tail_is_dirty(const ClaimState& claim) {
  return claim.planned > claim.committed && claim.committed % kBlockTokens != 0;
}

// Seals the growing tail, unless a sibling holds all of it already; answers the node that stands for it.
NodeIndex seal_tail(CacheCore& core, const ClaimState& claim) noexcept {
  const std::size_t index = claim.committed / kBlockTokens;
  const std::uint32_t valid = claim.committed % kBlockTokens;
  if (valid == 0 || index >= claim.table.size()) return kNoNode;
  const NodeIndex node = core.node_of(claim.table[index]);
  if (node == kNoNode || core.tree.at(node).sealed) return kNoNode;
  const std::span<const Token> tokens = tokens_of(claim, index, valid);
  for (const int step : {1, -1}) {
    const NodeIndex beside = core.tree.neighbour(node, step);
    if (beside == kNoNode) continue;
    const Node& other = core.tree.at(beside);
    const bool contains = other.valid >= valid && std::equal(tokens.begin(), tokens.end(), other.tokens.begin());
    // A growing one may still be dropped by a failed step, and a cold one would have to be read.
    if (!contains || !other.sealed || !other.resident()) continue;
    core.remove_node(node);
    ++core.superseded_blocks;
    return beside;
  }
  seal_node(core, claim, node, key_of(core, claim, core.tree.at(node).parent, index, valid));
  return node;
}

}  // namespace

Claim::Claim(Claim&& other) noexcept : core_(std::exchange(other.core_, nullptr)), slot_(other.slot_) {}

Claim& Claim::operator=(Claim&& other) noexcept {
  if (this != &other) {
    if (core_ != nullptr) close(CloseAs::kFailed);
    core_ = std::exchange(other.core_, nullptr);
    slot_ = other.slot_;
  }
  return *this;
}

Claim::~Claim() {
  if (core_ != nullptr) close(CloseAs::kFailed);
}

SeqId Claim::seq() const { return core_->claims[slot_].seq; }
std::uint32_t Claim::reused_tokens() const { return core_->claims[slot_].reused; }
const Verdict& Claim::verdict() const { return core_->claims[slot_].verdict; }
const std::vector<Token>& Claim::tokens() const { return core_->claims[slot_].tokens; }
const std::vector<BlockId>& Claim::blocks() const { return core_->claims[slot_].table; }
std::uint32_t Claim::committed() const { return core_->claims[slot_].committed; }
void Claim::append(Token token) { core_->claims[slot_].tokens.push_back(token); }

Status Claim::grow(std::uint32_t until) {
  ClaimState& claim = core_->claims[slot_];
  INVARIANT(until <= claim.tokens.size());
  const std::uint32_t wanted = blocks_for(until);
  const auto have = static_cast<std::uint32_t>(claim.table.size());
  const std::uint32_t need = wanted > have ? wanted - have : 0;
  if (need > core_->pool.counts().free) core_->expire_pins();
  const PoolCounts& counts = core_->pool.counts();
  if (need > core_->available()) {
    return Error{ErrorCode::kResourceExhausted,
                 "the KV pool has no room: " + std::to_string(need) + " blocks needed, " + std::to_string(counts.free) +
                     " free and " + std::to_string(core_->evictable) + " evictable of " +
                     std::to_string(counts.total) + " (" + std::to_string(counts.in_use) + " in use, " +
                     std::to_string(core_->pinned) +
                     " pinned); wait for a running request, unpin something or enlarge the pool", {}};
  }
  room_for(claim.table, need);
  room_for(claim.copies, need);
  core_->make_room(need, claim.request, claim.tenant);
  for (std::uint32_t i = 0; i < need; ++i) {
    const std::optional<BlockId> block = core_->pool.allocate(claim.seq);
    INVARIANT(block.has_value());
    const bool copies = i == 0 && claim.copy_tokens > 0 && have == claim.committed / kBlockTokens;
    claim.copies.push_back(copies ? BlockCopy{claim.copy_from, *block, claim.copy_tokens}
                                  : BlockCopy{kNoBlock, *block, 0});
    claim.table.push_back(*block);
  }
  claim.planned = std::max(claim.planned, until);
  return {};
}

std::vector<BlockCopy> Claim::take_copies() noexcept { return std::exchange(core_->claims[slot_].copies, {}); }
std::size_t Claim::copy_count() const { return core_->claims[slot_].copies.size(); }

std::vector<BlockId> Claim::filled_by(std::uint32_t until) const {
  const ClaimState& claim = core_->claims[slot_];
  const std::size_t end = std::min<std::size_t>(until / kBlockTokens, claim.table.size());
  std::vector<BlockId> filled;
  for (std::size_t i = claim.committed / kBlockTokens; i < end; ++i) filled.push_back(claim.table[i]);
  return filled;
}

void Claim::commit(std::uint32_t until) {
  ClaimState& claim = core_->claims[slot_];
  INVARIANT(until >= claim.committed && until <= claim.planned && claim.copies.empty());
  if (until == claim.committed) return;
  const std::size_t end = blocks_for(until);
  drop_copy_source(*core_, claim);  // the step did the copy
  for (std::size_t i = claim.committed / kBlockTokens; i < end; ++i) {
    const std::uint32_t valid = std::min(kBlockTokens, until - static_cast<std::uint32_t>(i) * kBlockTokens);
    if (claim.publish) {
      publish(*core_, claim, i, valid);
    } else {
      core_->pool.set_valid_tokens(claim.table[i], valid);
      if (valid == kBlockTokens) core_->pool.seal(claim.table[i]);
    }
    claim.committed = static_cast<std::uint32_t>(i) * kBlockTokens + valid;
  }
  ++core_->stamp;  // last, so that all of them count as one use also when it was broken off in between
}

void Claim::rollback() noexcept {
  ClaimState& claim = core_->claims[slot_];
  claim.copies.clear();
  const std::size_t keep = blocks_for(claim.committed);
  while (claim.table.size() > keep) {
    core_->release(claim.table.back());
    claim.table.pop_back();
  }
  const bool uncommitted_copy = claim.copy_from != kNoBlock;
  if (claim.table.size() == keep && claim.committed % kBlockTokens != 0 && (uncommitted_copy || tail_is_dirty(claim))) {
    const BlockId tail = claim.table.back();
    claim.table.pop_back();
    if (uncommitted_copy) {
      core_->release(tail);
    } else {
      const NodeIndex node = core_->node_of(tail);
      if (node != kNoNode) core_->remove_node(node);
      claim.copy_from = tail;  // the claim's own hold goes over to the copy
      claim.copy_tokens = claim.committed % kBlockTokens;
    }
  }
  claim.planned = claim.committed;
}

Closed Claim::close(CloseAs as) noexcept {
  INVARIANT(core_ != nullptr);
  CacheCore& core = *std::exchange(core_, nullptr);
  ClaimState& claim = core.claims[slot_];
  Closed closed;
  ++core.stamp;
  if (claim.publish) {
    NodeIndex end = kNoNode;
    const std::size_t tail = claim.committed / kBlockTokens;
    const NodeIndex growing = tail < claim.table.size() ? core.node_of(claim.table[tail]) : kNoNode;
    if (as == CloseAs::kFailed && tail_is_dirty(claim) && growing != kNoNode) {
      core.remove_node(growing);
    } else {
      end = seal_tail(core, claim);
    }
    const std::size_t whole = std::min<std::size_t>(tail, claim.table.size());
    if (end == kNoNode && whole > 0) end = core.node_of(claim.table[whole - 1]);
    for (std::size_t i = 0; i < whole; ++i) core.touch(core.node_of(claim.table[i]), false);
    if (end != kNoNode) {
      core.touch(end, false);
      closed.end = core.tree.at(end).id;
      closed.kept_tokens = std::min(claim.committed, core.tree.at(end).first_position + core.tree.at(end).valid);
    }
  }
  drop_copy_source(core, claim);
  for (auto block = claim.table.rbegin(); block != claim.table.rend(); ++block) core.release(*block);
  claim.table.clear();
  core.make_private(claim);
  claim = ClaimState{};
  --core.open_claims;
  ++core.version;
  return closed;
}

}  // namespace larder::kv
