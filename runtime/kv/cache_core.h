// SPDX-License-Identifier: Apache-2.0
// CacheCore: what PrefixCache and its Claims share: pool, tree, claims, pins and the few moves that keep them agreed.
// Inside this room only. The rule everything rests on: a claim holds every block of its path, and a pin every node of
// its path, so a node that nobody holds or pins has no held or pinned node below it.
// Threads:  the engine thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/kv/explain.h"
#include "runtime/kv/prefix_cache.h"
#include "runtime/kv/prefix_tree.h"

namespace larder::kv {

constexpr std::uint32_t blocks_for(std::uint32_t tokens) {
  return (tokens + kernels::kBlockTokens - 1) / kernels::kBlockTokens;
}

struct ClaimState {
  bool used = false;
  bool publish = false;  // what it commits is put into the tree
  SeqId seq{};
  RequestId request{};
  TenantId tenant{};
  std::shared_ptr<const PreparedPrompt> prompt;
  std::shared_ptr<const PromptKeys> keys;
  std::vector<Token> tokens;
  std::vector<BlockId> table;
  std::vector<ChainKey> more_keys;  // of full blocks beyond the prompt's, as far as they were sealed
  NodeIndex root = kNoNode;
  std::uint32_t reused = 0;
  std::uint32_t committed = 0;
  std::uint32_t planned = 0;  // rows up to here may have been written
  BlockId copy_from = kNoBlock;  // held until the copy is committed
  std::uint32_t copy_tokens = 0;
  std::vector<BlockCopy> copies;
  Verdict verdict;
};

class CacheCore {
 public:
  CacheCore(CacheOptions options, std::unique_ptr<storage::EvictionPolicy> policy);

  // Keep node numbers and the leaf lists in step with the pool.
  void hold(BlockId block);
  void release(BlockId block);
  void pin_path(NodeIndex node, bool add);
  void touch(NodeIndex node, bool hit);
  void refresh(NodeIndex node);  // lists or unlists the node as a leaf that may go

  NodeIndex add_node(NodeIndex parent, std::span<const Token> tokens, BlockId block, const ClaimState& claim);
  // The block is no longer findable; freed, or condemned while held. Requires: no children, no pins.
  void remove_node(NodeIndex node);
  void leave_ghost(NodeIndex node, const Eviction& cause);
  // Evicts leaves until `blocks` are free: exactly the shortfall. Requires: blocks <= free + evictable.
  void make_room(std::uint32_t blocks, const ClaimState& claim);
  std::uint32_t expire_pins();

  std::uint32_t available() const { return pool.counts().free + evictable; }
  storage::LeafFacts facts_of(NodeIndex node) const;
  NodeIndex node_of(BlockId block) const { return node_of_block[block.value]; }
  // The claim goes on, but keeps to itself from here.
  void make_private(ClaimState& claim);
  void detach(const std::vector<NodeIndex>& top_first, bool ghosts, Removed& removed);
  NodeIndex run_start(NodeIndex node) const;  // first node of the row that describe() shows it in
  MatchFacts facts_for(const ClaimState& claim, const Walk& walk) const;
  std::string audit() const;

  CacheOptions options;
  BlockPool pool;
  PrefixTree tree;
  storage::LeafOrder leaves;
  std::vector<NodeIndex> node_of_block;
  std::vector<ClaimState> claims;
  std::vector<PinRecord> pins;
  std::unordered_map<TenantId, std::uint32_t> quotas;
  std::unordered_map<TenantId, std::uint32_t> owned;  // blocks in the tree by owner
  std::unordered_set<ScopeId, DigestHash> erased;
  std::uint32_t evictable = 0;
  std::uint32_t pinned = 0;
  std::uint32_t open_claims = 0;
  std::uint64_t next_pin = 0;
  std::uint64_t stamp = 0;
  std::uint64_t version = 0;
  std::uint64_t evicted_blocks = 0;
  std::uint64_t adopted_blocks = 0;
  std::uint64_t superseded_blocks = 0;
};

}  // namespace larder::kv
