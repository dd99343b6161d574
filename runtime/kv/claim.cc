// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/claim.h"

#include <algorithm>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/kv/cache_core.h"

namespace larder::kv {
namespace {

using kernels::kBlockTokens;

// The chain key of full block `index`, from the prompt's keys or made now.
ChainKey key_of(ClaimState& claim, std::size_t index) {
  const PromptKeys& keys = *claim.keys;
  while (index >= keys.blocks.size() + claim.more_keys.size()) {
    const std::size_t next = keys.blocks.size() + claim.more_keys.size();
    const ChainKey& parent = !claim.more_keys.empty() ? claim.more_keys.back()
                             : !keys.blocks.empty()   ? keys.blocks.back()
                                                      : keys.root;
    const auto part = std::span<const Token>(claim.tokens).subspan(next * kBlockTokens, kBlockTokens);
    claim.more_keys.push_back(next_key(keys.scope->secret(), parent, part));
  }
  return index < keys.blocks.size() ? keys.blocks[index] : claim.more_keys[index - keys.blocks.size()];
}

NodeIndex parent_of(const CacheCore& core, const ClaimState& claim, std::size_t index) {
  return index == 0 ? claim.root : core.node_of(claim.table[index - 1]);
}

std::span<const Token> tokens_of(const ClaimState& claim, std::size_t index, std::uint32_t valid) {
  return std::span<const Token>(claim.tokens).subspan(index * kBlockTokens, valid);
}

// Sealed, unused tails that the sealed node continues say nothing that it does not.
void drop_superseded(CacheCore& core, NodeIndex index) {
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

void seal_node(CacheCore& core, const ClaimState& claim, NodeIndex index, const ChainKey& key) {
  Node& node = core.tree.at(index);
  node.key = key;
  node.sealed = true;
  core.pool.seal(node.block);
  core.options.history->drop_ghost(key, *claim.keys->identity);
  core.note_unstored(node.id);
  if (node.valid == kBlockTokens) core.options.history->mark(key, claim.keys->scope->id(), claim.keys->identity);
  drop_superseded(core, index);
}

// Block `index` of the claim holds `valid` tokens now: put it into the tree, or bring its node up to date.
void publish(CacheCore& core, ClaimState& claim, std::size_t index, std::uint32_t valid) {
  const BlockId block = claim.table[index];
  const NodeIndex parent = parent_of(core, claim, index);
  INVARIANT(parent != kNoNode);
  const std::span<const Token> tokens = tokens_of(claim, index, valid);
  NodeIndex node = core.node_of(block);
  if (valid == kBlockTokens) {
    const NodeIndex twin = core.tree.find_full_child(parent, tokens, node);
    if (twin != kNoNode && !core.tree.at(twin).resident()) {  // computed again though it lies below
      if (node != kNoNode) {
        core.take_block(node);
        core.tree.remove(node);
      }
      core.pool.seal(block);
      core.warm_node(twin, block);
      return;
    }
    if (twin != kNoNode) {  // another sequence was first; equal tokens under one root have equal bits
      const BlockId shared = core.tree.at(twin).block;
      core.hold(shared);
      if (node != kNoNode) core.remove_node(node);
      core.release(block);
      claim.table[index] = shared;
      ++core.adopted_blocks;
      return;
    }
  }
  if (node == kNoNode) {
    node = core.add_node(parent, tokens, block, claim);
  } else {
    core.tree.extend(node, tokens);
    ++core.version;
  }
  core.tree.at(node).last_use = core.stamp;
  if (valid == kBlockTokens) seal_node(core, claim, node, key_of(claim, index));
}

void drop_copy_source(CacheCore& core, ClaimState& claim) {
  if (claim.copy_from == kNoBlock) return;
  core.release(claim.copy_from);
  claim.copy_from = kNoBlock;
  claim.copy_tokens = 0;
}

bool tail_is_dirty(const ClaimState& claim) {
  return claim.planned > claim.committed && claim.committed % kBlockTokens != 0;
}

// Seals the growing tail, unless a sibling holds all of it already; answers the node that stands for it.
NodeIndex seal_tail(CacheCore& core, ClaimState& claim) {
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
  const ChainKey parent = index == 0 ? claim.keys->root : key_of(claim, index - 1);
  seal_node(core, claim, node, next_key(claim.keys->scope->secret(), parent, tokens));
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

std::vector<BlockCopy> Claim::take_copies() { return std::exchange(core_->claims[slot_].copies, {}); }

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
  ++core_->stamp;
  drop_copy_source(*core_, claim);  // the step did the copy
  for (std::size_t i = claim.committed / kBlockTokens; i < end; ++i) {
    const std::uint32_t valid = std::min(kBlockTokens, until - static_cast<std::uint32_t>(i) * kBlockTokens);
    core_->pool.set_valid_tokens(claim.table[i], valid);
    if (claim.publish) {
      publish(*core_, claim, i, valid);
    } else if (valid == kBlockTokens) {
      core_->pool.seal(claim.table[i]);
    }
  }
  claim.committed = until;
}

void Claim::rollback() {
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

Closed Claim::close(CloseAs as) {
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
