// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/prefix_cache.h"

#include <algorithm>

#include "runtime/base/invariant.h"
#include "runtime/kv/cache_core.h"

namespace larder::kv {
namespace {

using kernels::kBlockTokens;

// Where two prompts of one root part. Equal chained keys prove equal beginnings, so only one block is compared.
std::uint32_t common_tokens(const PreparedPrompt& a, const PromptKeys& a_keys, const PreparedPrompt& b,
                            const PromptKeys& b_keys) {
  std::size_t low = 0;
  std::size_t high = std::min(a_keys.blocks.size(), b_keys.blocks.size());
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (a_keys.blocks[middle - 1] == b_keys.blocks[middle - 1]) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  std::size_t at = low * kBlockTokens;
  while (at < a.tokens.size() && at < b.tokens.size() && a.tokens[at] == b.tokens[at]) ++at;
  return static_cast<std::uint32_t>(at);
}

std::uint32_t most_reusable(const PreparedPrompt& prompt) {
  return prompt.tokens.empty() ? 0 : static_cast<std::uint32_t>(prompt.tokens.size() - 1);
}

std::uint32_t free_claim(CacheCore& core) {
  const auto found =
      std::find_if(core.claims.begin(), core.claims.end(), [](const auto& claim) { return !claim.used; });
  const auto slot = static_cast<std::uint32_t>(found - core.claims.begin());
  if (found == core.claims.end()) core.claims.emplace_back();
  return slot;
}

// Takes the references of a match: whole blocks shared, the partly matching one as the source of a copy.
// Requires: room in the claim's table.
void take(CacheCore& core, ClaimState& claim, const Walk& walk, std::uint32_t reuse, bool count_hit) noexcept {
  const std::uint32_t shared = reuse / kBlockTokens;
  const std::uint32_t partial = reuse % kBlockTokens;
  claim.reused = reuse;
  claim.committed = reuse;
  claim.planned = reuse;
  ++core.stamp;
  for (std::uint32_t i = 0; i < shared; ++i) {
    const NodeIndex node = walk.whole[i];
    core.hold(core.tree.at(node).block);
    claim.table.push_back(core.tree.at(node).block);
    core.touch(node, count_hit);
  }
  if (partial > 0) {
    const NodeIndex source = shared < walk.whole.size() ? walk.whole[shared] : walk.nearest;
    claim.copy_from = core.tree.at(source).block;
    claim.copy_tokens = partial;
    core.hold(claim.copy_from);
    core.touch(source, count_hit);
  }
}

Status may_be_removed(const CacheCore& core, NodeId id, const Node& top, bool when_idle) {
  if (top.pins > 0) {
    return Error{ErrorCode::kConflict, "run " + std::to_string(id.value) + " is pinned; unpin it first", {}};
  }
  if (top.resident() && core.pool.holders(top.block) > 0 && !when_idle) {
    return Error{ErrorCode::kConflict,
                 "run " + std::to_string(id.value) + " is in use by a running request; delete it when idle, or wait",
                 {}};
  }
  return {};
}

// They go on, and publish nothing more.
void end_claims_through(CacheCore& core, const Node& top) {
  const std::size_t depth = top.first_position / kBlockTokens;
  const BlockId block = top.block;
  if (block == kNoBlock) return;
  for (ClaimState& claim : core.claims) {
    const bool through = claim.used && claim.publish && depth < claim.table.size() && claim.table[depth] == block;
    if (through) core.make_private(claim);
  }
}

}  // namespace

PrefixCache::PrefixCache(CacheOptions options, std::unique_ptr<storage::EvictionPolicy> policy)
    : core_(std::make_unique<CacheCore>(std::move(options), std::move(policy))) {}

PrefixCache::~PrefixCache() { INVARIANT(core_->open_claims == 0); }

Claim PrefixCache::open(OpenRequest request) {
  CacheCore& core = *core_;
  INVARIANT(request.prompt != nullptr && request.keys != nullptr && !request.prompt->tokens.empty());
  const std::uint32_t slot = free_claim(core);
  ClaimState claim;
  claim.used = true;
  claim.seq = request.seq;
  claim.request = request.request;
  claim.tenant = request.tenant;
  claim.prompt = std::move(request.prompt);
  claim.keys = std::move(request.keys);
  claim.tokens = claim.prompt->tokens;
  const bool erased = core.erased.contains(claim.keys->scope->id());
  const bool read = request.read && !erased;
  claim.publish = request.keep && !erased;
  const NodeIndex known = core.tree.find_root(*claim.keys);
  Walk known_walk;
  if (read) known_walk = core.tree.walk(known, claim.prompt->tokens);
  const Walk walk = core.resident_part(known_walk);
  const std::uint32_t reuse = std::min({walk.seen, most_reusable(*claim.prompt), request.max_reuse});
  claim.table.reserve(claim.keys->blocks.size() + 1);
  MatchFacts facts = core.facts_for(claim, known_walk, walk.seen);
  facts.read = read;
  facts.max_reuse = request.max_reuse;
  facts.reused = reuse;
  facts.copied = reuse % kBlockTokens;
  claim.verdict = explain(facts);
  if (claim.publish) claim.root = core.tree.use_root(*claim.keys);
  take(core, claim, walk, reuse, request.count_hit);
  core.claims[slot] = std::move(claim);
  ++core.open_claims;
  ++core.version;
  return Claim(&core, slot);
}

Outlook PrefixCache::outlook(const PreparedPrompt& prompt, const PromptKeys& keys) const {
  const CacheCore& core = *core_;
  Outlook outlook;
  const std::uint32_t most = most_reusable(prompt);
  const Walk walk = core.tree.walk(core.tree.find_root(keys), prompt.tokens);
  outlook.known_tokens = std::min(walk.seen, most);
  outlook.cached_tokens = std::min(core.resident_part(walk).seen, most);
  outlook.coming_tokens = outlook.cached_tokens;
  std::uint32_t leader_done = 0;
  for (const ClaimState& claim : core.claims) {
    const bool prefills = claim.used && claim.publish && claim.committed < claim.prompt->tokens.size();
    if (!prefills || claim.keys->root != keys.root || claim.keys->identity != keys.identity) continue;
    const std::uint32_t coming = std::min(common_tokens(prompt, keys, *claim.prompt, *claim.keys), most);
    if (coming <= outlook.cached_tokens || coming < outlook.coming_tokens) continue;
    if (coming == outlook.coming_tokens && outlook.leader.value != 0 && claim.committed <= leader_done) continue;
    outlook.coming_tokens = coming;
    outlook.leader = claim.seq;
    leader_done = claim.committed;
  }
  return outlook;
}

std::uint32_t PrefixCache::available_blocks() const { return core_->available(); }

Result<Removed> PrefixCache::remove(NodeId id, bool when_idle, bool dry_run, std::span<const Digest256> rounded) {
  CacheCore& core = *core_;
  const NodeIndex named = core.tree.find(id);
  if (named == kNoNode) {
    return Error{ErrorCode::kNotFound, "no cached run " + std::to_string(id.value) + "; it may have been evicted", {}};
  }
  std::vector<NodeIndex> tops{core.run_start(named)};
  const std::vector<NodeIndex> copies = core.rounded_twins(tops.front());
  tops.insert(tops.end(), copies.begin(), copies.end());
  for (const NodeIndex top : tops) {
    if (Status stays = may_be_removed(core, id, core.tree.at(top), when_idle); !stays.ok()) return stays.error();
  }
  const NodeIndex root = core.tree.at(tops.front()).root;
  const bool exact = core.tree.facts_of(root).identity->lineage == kernels::KvScheme::kExact;
  Removed removed;
  std::vector<NodeIndex> nodes;
  for (const NodeIndex top : tops) {
    const std::vector<NodeIndex> below = core.tree.subtree(top);
    for (const NodeIndex index : below) core.tally(index, removed);
    if (top != tops.front()) removed.rounded += static_cast<std::uint32_t>(below.size());
    nodes.insert(nodes.end(), below.begin(), below.end());
  }
  if (dry_run) return removed;
  Eviction cause;
  cause.at = core.options.clock->wall();
  cause.policy = "deleted";
  core.leave_ghosts(nodes, cause);
  if (exact) core.lose_rounded(nodes, rounded);
  for (const NodeIndex top : tops) end_claims_through(core, core.tree.at(top));
  core.remove_all(nodes);
  return removed;
}

Removed PrefixCache::erase_scope(const ScopeId& scope) {
  CacheCore& core = *core_;
  Removed removed;
  std::vector<NodeIndex> nodes;
  for (const NodeIndex root : core.tree.roots_of(scope)) {
    const std::vector<NodeIndex> all = core.tree.subtree(root);
    nodes.insert(nodes.end(), all.begin() + 1, all.end());
  }
  core.erased.insert(scope);
  for (std::size_t i = core.pins.size(); i > 0; --i) {
    const NodeIndex root = core.tree.at(core.tree.find(core.pins[i - 1].node)).root;
    if (core.tree.facts_of(root).scope->id() == scope) (void)unpin(core.pins[i - 1].id);
  }
  // A root goes with its last claim and node; a claim that still runs would bring it back. What is stored goes with the
  // scope's keys.
  for (const NodeIndex index : nodes) core.tally(index, removed);
  core.remove_all(nodes);
  for (ClaimState& claim : core.claims) {
    if (claim.used && claim.keys->scope->id() == scope) core.make_private(claim);
  }
  std::erase_if(core.lost, [&](const StoredName& name) { return name.scope == scope; });
  core.options.history->forget_scope(scope);
  return removed;
}

void PrefixCache::retire(const char* policy_word) {
  CacheCore& core = *core_;
  INVARIANT(core.open_claims == 0);
  Eviction cause;
  cause.at = core.options.clock->wall();
  cause.policy = policy_word;
  std::vector<NodeIndex> nodes;
  for (const NodeIndex root : core.tree.roots()) {
    const std::vector<NodeIndex> all = core.tree.subtree(root);
    nodes.insert(nodes.end(), all.begin() + 1, all.end());
  }
  core.leave_ghosts(nodes, cause);
  while (!core.pins.empty()) (void)unpin(core.pins.back().id);
  for (const NodeIndex node : nodes) core.forget_copy(node);  // what is stored outlives this tree
  core.remove_all(nodes);
}

void PrefixCache::set_block_limit(std::uint32_t blocks) {
  CacheCore& core = *core_;
  INVARIANT(blocks > 0);
  if (blocks > core.node_of_block.size()) core.node_of_block.resize(blocks, kNoNode);
  core.leaves.reserve(std::max(blocks, core.pool.ids()), core.owned.size());
  core.pool.set_limit(blocks);
  ++core.version;
}

std::uint32_t PrefixCache::trim(std::uint32_t blocks) {
  CacheCore& core = *core_;
  Eviction cause;
  cause.policy = kResized;
  for (; blocks > 0 && core.pool.excess() > 0 && !core.leaves.empty(); --blocks) core.evict_one(cause);
  return core.pool.excess();
}

std::vector<BlockId> PrefixCache::take_withheld(std::uint32_t most) { return core_->pool.take_withheld(most); }

void PrefixCache::set_quota(TenantId tenant, std::uint32_t blocks) {
  if (blocks == 0) {
    core_->quotas.erase(tenant);
  } else {
    core_->quotas[tenant] = blocks;
  }
}

Result<BlockKey> PrefixCache::key_of(NodeId id) const {
  const PrefixTree& tree = core_->tree;
  const NodeIndex index = tree.find(id);
  if (index == kNoNode) {
    return Error{ErrorCode::kNotFound, "no cached run " + std::to_string(id.value) + "; it may have been evicted", {}};
  }
  const Node& node = tree.at(index);
  if (!node.sealed) {
    return Error{ErrorCode::kConflict, "run " + std::to_string(id.value) + " still grows; wait for its writer", {}};
  }
  if (!tree.facts_of(node.root).identity->weights_known) {
    return Error{ErrorCode::kUnavailable,
                 "the digest of the model's weights is not known, so its blocks stay in memory; wait until it is", {}};
  }
  return core_->block_key_of(node);
}

const BlockPool& PrefixCache::pool() const { return core_->pool; }
std::uint64_t PrefixCache::tree_version() const { return core_->version; }
void PrefixCache::set_checksum(BlockId block, std::uint64_t checksum) { core_->pool.set_checksum(block, checksum); }
std::string PrefixCache::audit() const { return core_->audit(); }

}  // namespace larder::kv
