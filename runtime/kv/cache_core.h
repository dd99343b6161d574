// SPDX-License-Identifier: Apache-2.0
// CacheCore: what PrefixCache and its Claims share: pool, tree, claims, pins and the few moves that keep them agreed.
// Inside this room only. The rule everything rests on: a claim holds every block of its path, and a pin every node of
// its path, so a node that nobody holds or pins has no held or pinned node below it.
// Errors:   what needs memory throws std::bad_alloc and has changed nothing then, but for whole blocks that gave way to
//           it. Holding, releasing, pinning, warming, cooling and removing need none: what they use was made room for
//           when the node was added, or marked stored.
// Threads:  the engine thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/kv/arrival.h"
#include "runtime/kv/explain.h"
#include "runtime/kv/id_source.h"
#include "runtime/kv/node_queue.h"
#include "runtime/kv/prefix_cache.h"
#include "runtime/kv/prefix_tree.h"

namespace larder::kv {

// Eviction::policy of what gave way to its stored copy and was not brought back.
inline constexpr const char* kDemoted = "demoted";
// And of what was cold when its stored copy went.
inline constexpr const char* kDiskLost = "disk_lru";
// And of what was found damaged in memory.
inline constexpr const char* kDamaged = "damaged";
// And of what had no copy when the pool was made smaller.
inline constexpr const char* kResized = "resized";

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
  NodeIndex root = kNoNode;
  std::uint32_t reused = 0;
  std::uint32_t committed = 0;
  std::uint32_t planned = 0;  // rows up to here may have been written
  BlockId copy_from = kNoBlock;  // held until the copy is committed
  std::uint32_t copy_tokens = 0;
  std::vector<BlockCopy> copies;
  Verdict verdict;
};

struct ArrivalState {
  bool used = false;
  std::vector<BlockId> path;  // resident blocks above, held
  std::vector<ArrivingBlock> blocks;
  std::vector<BlockFate> fates;  // of the same indices
  std::uint32_t warmed = 0;      // leading blocks that reached the tree
  bool refused = false;          // one of them is missing: those behind it are given back
  bool waits_above = false;      // it begins below blocks that were cold then
};

// Of one tenant in the tree.
struct Owned {
  std::uint32_t blocks = 0;  // resident
  std::uint32_t nodes = 0;
};

inline constexpr std::size_t kMostCooled = 1024;  // blocks that left the pool and were not told of yet

class CacheCore {
 public:
  CacheCore(CacheOptions options, std::unique_ptr<storage::EvictionPolicy> policy);

  // Keep node numbers and the leaf lists in step with the pool.
  void hold(BlockId block) noexcept;
  void release(BlockId block) noexcept;
  void pin_path(NodeIndex node, bool add) noexcept;
  void touch(NodeIndex node, bool hit) noexcept;
  void refresh(NodeIndex node) noexcept;  // lists or unlists the node as a leaf that may go

  NodeIndex add_node(NodeIndex parent, std::span<const Token> tokens, BlockId block, const ClaimState& claim);
  // The block is no longer findable; freed, or condemned while held. A stored copy is to be dropped too (lost).
  // Requires: no children, no pins.
  void remove_node(NodeIndex node) noexcept;
  // The block becomes the cold node's. Requires: resident, valid as the node is; its parent is resident.
  void warm_node(NodeIndex node, BlockId block) noexcept;
  // The stored, idle leaf gives its block back and stays findable.
  void cool_node(NodeIndex node) noexcept;
  // The part of a walk that the pool holds.
  Walk resident_part(Walk walk) const;
  void leave_ghost(NodeIndex node, const Eviction& cause);
  void leave_ghosts(const std::vector<NodeIndex>& nodes, const Eviction& cause);
  // Evicts leaves until `blocks` are free: exactly the shortfall; what is stored stays findable as cold.
  // Requires: blocks <= free + evictable.
  void make_room(std::uint32_t blocks, RequestId by, TenantId tenant);
  // The leaf that the policy gives up next goes: it cools where it is stored, else it becomes a ghost. Its cause gets
  // the time and, where it names none, the policy.    Requires: a leaf is listed.
  void evict_one(Eviction cause);
  std::uint32_t expire_pins();

  // What goes beyond the pool's limit is nobody's.
  std::uint32_t available() const {
    return pool.counts().free + (evictable > pool.excess() ? evictable - pool.excess() : 0);
  }
  storage::LeafFacts facts_of(NodeIndex node) const;
  NodeIndex node_of(BlockId block) const { return node_of_block[block.value]; }
  // The claim goes on, but keeps to itself from here.
  void make_private(ClaimState& claim) noexcept;
  BlockId take_block(NodeIndex node) noexcept;
  // Its block was taken, its copy is nobody's business any more.
  void drop_node(NodeIndex node) noexcept;
  void remove_all(const std::vector<NodeIndex>& top_first) noexcept;
  void tally(NodeIndex node, Removed& removed) const;
  BlockKey block_key_of(const Node& node) const;  // Requires: sealed, weights known
  void mark_stored(NodeIndex node);
  void forget_copy(NodeIndex node) noexcept;  // it stays where it is
  // Room for the owner's numbers; so long as a node of it is there, they need no memory.
  void expect_owner(TenantId owner);
  void drop_pins_below(NodeIndex top) noexcept;
  void forget_cold(NodeIndex top);
  ColdBlock cold_of(const Node& node) const;  // Requires: sealed, weights known
  std::uint32_t cold_nodes() const { return tree.size() - resident_nodes; }
  // Forgets those used longest ago, a sixteenth of the bound at once; their copies stay. False: none may go.
  bool shed_cold();
  void note_unstored(NodeIndex node) noexcept;
  // Below a root of another arithmetic: what is computed there is not written down.
  bool is_foreign(NodeIndex node) const { return tree.facts_of(tree.at(node).root).identity->foreign != 0; }
  // The path to the node, as far as it has no copies, parents first.
  std::vector<NodeIndex> unstored_path(NodeIndex end) const;
  // What stands for the exact node under the rounded lineages of the same load; nothing for a rounded one.
  std::vector<NodeIndex> rounded_twins(NodeIndex node) const;
  // The names that copies of these nodes have under these identities are lost, whether there are any or not.
  void lose_rounded(const std::vector<NodeIndex>& nodes, std::span<const Digest256> identities);
  NodeIndex run_start(NodeIndex node) const;  // first node of the row that describe() shows it in
  // `walk`: all that is known; `seen`: how far the pool holds it.
  MatchFacts facts_for(const ClaimState& claim, const Walk& walk, std::uint32_t seen) const;
  std::string audit() const;

  CacheOptions options;
  IdSource own_ids;
  IdSource& ids;
  BlockPool pool;
  PrefixTree tree;
  storage::LeafOrder leaves;
  std::vector<NodeIndex> node_of_block;
  std::vector<ClaimState> claims;
  std::vector<ArrivalState> arrivals;
  std::vector<PinRecord> pins;
  std::unordered_map<TenantId, std::uint32_t> quotas;
  std::unordered_map<TenantId, Owned> owned;  // who has nodes in the tree
  NodeQueue unstored{tree};         // sealed, not yet asked for by next_unstored
  std::vector<NodeId> cooled;       // left the pool and were not told of yet; with room for kMostCooled
  std::vector<StoredName> lost;     // stored copies whose node is gone; with room for all that are stored
  std::unordered_map<BlockKey, NodeId, DigestHash> stored_nodes;
  std::unordered_set<ScopeId, DigestHash> erased;
  std::uint32_t evictable = 0;
  std::uint32_t pinned = 0;
  std::uint32_t open_claims = 0;
  std::uint64_t stamp = 0;
  std::uint64_t version = 0;
  std::uint64_t evicted_blocks = 0;
  std::uint64_t cooled_blocks = 0;
  std::uint64_t warmed_blocks = 0;
  std::uint64_t forgotten_cold = 0;
  std::uint32_t resident_nodes = 0;
  std::uint64_t adopted_blocks = 0;
  std::uint64_t superseded_blocks = 0;
};

// An Arrival to be: the cold nodes, each the child of the one before, are on their way, and what is held is held, until
// it starts or is given up.
class ArrivalPlan {
 public:
  ArrivalPlan(CacheCore& core, const std::vector<NodeIndex>& cold, bool waits_above, const ColdNames* names = nullptr);
  ~ArrivalPlan();
  ArrivalPlan(const ArrivalPlan&) = delete;
  ArrivalPlan& operator=(const ArrivalPlan&) = delete;

  // The next resident block of the path above them, from the root.
  void hold(BlockId block) noexcept;
  void cut(std::size_t blocks) noexcept;  // only the first ones come
  // They get blocks to arrive in.  Requires: as many free ones.
  Arrival start() && noexcept;

 private:
  void set_arriving(std::size_t from, bool arriving) noexcept;

  CacheCore& core_;
  ArrivalState state_;
};

}  // namespace larder::kv
