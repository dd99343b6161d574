// SPDX-License-Identifier: Apache-2.0
// PrefixCache: the front door of this room. A prefix tree over the blocks of one executor's pool, with the claims of
// running sequences, pins, eviction and verdicts. It moves no bytes: it says which copies a step must do first.
// Way of a sequence: open (matches, references) -> grow (blocks for rows to come) -> take_copies into the step ->
// commit (the step succeeded) ... -> close. What was not committed is never found; what was stays cached after close.
// Ensures:  at most P-1 prompt tokens are reused; whole blocks are shared, a partly matching one is copied on write; a
//           node is never evicted while it is used, pinned or has children; nothing is shared between two scopes.
// Errors:   std::bad_alloc; nothing but whole blocks has changed then. Closing, and what is noexcept, needs no memory.
// Owns:     pool states, nodes, pins. Claims must be closed or destroyed before the cache.
// Threads:  the engine thread only; no mutex.    Units: tokens, blocks of kBlockTokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/kv/arrival.h"
#include "runtime/kv/block_pool.h"
#include "runtime/kv/claim.h"
#include "runtime/kv/pin.h"
#include "runtime/kv/reuse_history.h"
#include "runtime/kv/tree_row.h"
#include "runtime/kv/verdict.h"
#include "storage/placement.h"

namespace larder::kv {

class CacheCore;  // cache_core.h, inside this room
struct BlockRange;  // block_range.h, with what a verb over tiers is told of a block
struct BlockFacts;
struct RunPrompt;
enum class Staying : std::uint8_t;

struct CacheOptions {
  std::uint32_t block_count = 0;             // the pool's limit, and what pin bounds reckon with
  std::uint32_t longest_request_blocks = 0;  // must fit beside all pins
  std::uint32_t pin_budget_blocks = 0;       // 0: a quarter of the pool
  const Clock* clock = nullptr;
  ReuseHistory* history = nullptr;  // outlives the cache
  std::string tier = "host";        // where this pool lies, for verdicts: "host" or "device"
  bool lower_tier = false;          // somebody asks for next_unstored
  std::uint32_t max_cold_nodes = 0;  // beyond it those used longest ago are forgotten, their copies stay. 0: no bound
  struct IdSource* ids = nullptr;    // id_source.h; outlives the cache; null: its own
};

struct OpenRequest {
  SeqId seq{};
  RequestId request{};
  TenantId tenant{};
  std::shared_ptr<const PreparedPrompt> prompt;  // at least one token
  std::shared_ptr<const PromptKeys> keys;        // chained over prompt->tokens
  bool read = true;                              // false: reuse nothing. Both false is "bypassed by request"
  bool keep = true;                              // false: nothing of it is ever found
  bool count_hit = true;  // false when a preempted sequence comes back: its own blocks are no hit
  // Reuse at most this many tokens (never more than P-1), where earlier rows must run again, as for prompt log-probs.
  std::uint32_t max_reuse = 0xffffffffu;
};

// What a prompt would find now, and what a sequence that still prefills will own soon.
struct Outlook {
  std::uint32_t cached_tokens = 0;
  std::uint32_t known_tokens = 0;   // with what only a lower tier holds
  std::uint32_t coming_tokens = 0;  // >= cached_tokens when a leader is there; at most P-1
  SeqId leader{};                   // value 0: nobody; wait for it while coming_tokens is worth more than cached_tokens
};

struct Removed {
  std::uint32_t nodes = 0;
  std::uint32_t blocks_freed = 0;      // now
  std::uint32_t blocks_condemned = 0;  // when their sequences end
  std::uint32_t stored = 0;            // of the nodes: copies on a lower tier that go too
  std::uint32_t rounded = 0;           // of the nodes: rounded copies of the run's
  std::uint32_t tokens = 0;
};

struct TenantUse {
  TenantId tenant{};
  std::uint32_t blocks = 0;  // in the pool
  std::uint32_t pinned = 0;
};

struct CacheCounts {
  PoolCounts pool;
  std::uint32_t nodes = 0;
  std::uint32_t evictable = 0;  // nodes that pressure may take
  std::uint32_t pinned = 0;     // blocks
  std::uint32_t pin_budget = 0;
  std::uint32_t open_claims = 0;
  std::uint64_t evicted_blocks = 0;     // since the start
  std::uint64_t adopted_blocks = 0;     // computed twice, kept once
  std::uint64_t superseded_blocks = 0;  // tails that a longer one made useless
  std::uint64_t cooled_blocks = 0;      // gave way, and stay findable on a lower tier
  std::uint64_t forgotten_cold = 0;     // cold nodes beyond the bound
  std::uint64_t warmed_blocks = 0;      // came back from there, or were computed again
};

class PrefixCache {
 public:
  // Requires: clock and history not null; block_count >= 1.
  PrefixCache(CacheOptions options, std::unique_ptr<storage::EvictionPolicy> policy);
  ~PrefixCache();

  // Matches the prompt and takes references; takes no block, so it is never refused. The verdict is decided here.
  Claim open(OpenRequest request);
  Outlook outlook(const PreparedPrompt& prompt, const PromptKeys& keys) const;
  // Blocks that grow can get now: free ones and those that may be evicted.
  std::uint32_t available_blocks() const;

  // Pins every block from the root to the node; a node that still grows pins its sealed part.
  // Errors: kNotFound; kConflict (nothing sealed yet); kResourceExhausted with the arithmetic.
  Result<PinAnswer> pin(const PinRequest& request);
  Status unpin(PinId pin);                // kNotFound
  std::uint32_t unpin_node(NodeId node);  // every pin that ends there; how many
  std::uint32_t expire_pins();            // those past their time; how many. grow calls it too
  std::vector<PinRecord> pins() const;

  // The node's run and all below; of an exact run its rounded copies too, and what is named so under the digests of
  // `rounded` wherever it lies.  Errors: kNotFound; kConflict (pinned, or in use without when_idle).
  Result<Removed> remove(NodeId node, bool when_idle, bool dry_run, std::span<const Digest256> rounded = {});
  // Nothing of the scope is findable afterwards: nodes, pins, ghosts, marks. Running claims keep computing, privately.
  Removed erase_scope(const ScopeId& scope);
  // Before a model goes: every node becomes a ghost with this policy word ("unloaded"). Requires: no open claim.
  void retire(const char* policy_word);

  // How many blocks the pool may use from now on; the device must have as many. Free blocks beyond it are withheld at
  // once, cached ones by trim, used ones as their sequences end.    Requires: at least 1.
  void set_block_limit(std::uint32_t blocks);
  // Evicts at most `blocks` leaves for the sake of a limit that was lowered: what is stored cools, the rest is a ghost
  // ("resized").  How many blocks beyond the limit are left.
  std::uint32_t trim(std::uint32_t blocks);
  // At most so many blocks that were withheld and not taken yet: the device may give their memory back.
  std::vector<BlockId> take_withheld(std::uint32_t most = 0xffffffff);
  // Errors: kConflict with the arithmetic when the pins that are there do not fit; nothing has changed then.
  Status set_pin_bounds(const PinBounds& bounds);

  // Most a tenant should hold in the tree; 0: no quota. Only quota_lru acts on it.
  void set_quota(TenantId tenant, std::uint32_t blocks);

  // The rows from the root to the node. Errors: kNotFound.
  Result<std::vector<TreeRow>> locate(NodeId node) const;
  // What the node's block is called outside this process.  Errors: kNotFound; kConflict (it still grows); kUnavailable
  // (the weights' digest is not known: nothing of it may leave memory).
  Result<BlockKey> key_of(NodeId node) const;
  std::vector<TreeRow> describe(const CopiedNodes& copied = {}) const;  // parents before children
  std::uint64_t tree_version() const;                                   // changes whenever describe() would
  CacheCounts counts() const;
  std::vector<TenantUse> use_by_tenant() const;
  const BlockPool& pool() const;
  void set_checksum(BlockId block, std::uint64_t checksum);  // of a sealed block, from StepResult

  // The lower tier (tiers.cc). Copies are named by scope and key; only sealed nodes have one.
  // The next sealed block without a copy, parents first, each once. Nothing while the weights' digest is unknown.
  std::optional<UnstoredBlock> next_unstored();
  bool has_unstored() const;
  // The sealed node as a copy of it is called under another identity of the same load: rounded, it is no copy of the
  // node; once durable it is adopted under that identity.  Requires: identity.weights_known.
  std::optional<ChainedBlock> under(NodeId node, const Identity& identity) const;
  void store_later(NodeId node) noexcept;  // it found no room below: next_unstored answers it again
  bool mark_stored(NodeId node);          // its copy is durable; false: the node is gone, so drop the copy
  void drop_stored(const BlockKey& key);  // the copy is gone; a cold node goes with it, and all below
  std::optional<NodeId> find_stored(const BlockKey& key) const;
  CopiedNodes cold_among(std::span<const BlockKey> copies) const;  // the cold nodes of these, as far as they are here
  // The copies from the root to the node; empty when one has none.
  std::vector<BlockKey> stored_path(NodeId node) const;
  std::optional<ScopeId> scope_of(NodeId node) const;
  std::vector<StoredName> take_lost();  // copies whose nodes are gone: drop them
  // Blocks found on the lower tier, parents first: cold nodes from now on. How many; the rest is lost.
  std::uint32_t adopt(std::span<const ChainedBlock> blocks, const std::shared_ptr<const Identity>& identity);
  // Where blocks of other identities lie below, so that a miss can name what differs; what is known better stays.
  void note_others(std::span<const OtherMark> marks);
  // Copies of blocks that left the pool, at most so many; each once, the last first, and not all of a great many.
  std::vector<StoredName> take_cooled(std::size_t most);
  // The copies of the cold blocks that the prompt goes through and nobody is bringing up yet, from the root.
  ColdNames cold_names(const PreparedPrompt& prompt, const PromptKeys& keys) const;
  // Room for the cold blocks that the prompt goes through, or for a part of them; closed when there are none, or they
  // are on their way.  Errors: kResourceExhausted with the arithmetic; nothing has changed then.
  Result<Arrival> begin_arrival(const PreparedPrompt& prompt, const PromptKeys& keys, RequestId by, TenantId tenant,
                                ColdPart part = {});

  // Verbs over tiers (tier_moves.cc), a block at a time. Each moves whole or not at all.
  // The blocks of the range, parents before children.  Errors: kNotFound; kInvalidArgument (it begins past the path).
  Result<std::vector<NodeId>> select(const BlockRange& range) const;
  BlockFacts facts(NodeId node) const;  // node 0: it is not there
  // The block as next_unstored would answer it; nothing when it has a copy, grows, is cold, or the weights are unknown.
  std::optional<UnstoredBlock> unstored(NodeId node) const;
  std::optional<ColdBlock> stored_block(NodeId node) const;  // its copy's name; nothing when it has none
  void store_again(NodeId node) noexcept;                    // next_unstored answers it once more
  Staying cool(NodeId node);                                 // it leaves the pool and stays findable
  Staying drop_copy(NodeId node);                            // its copy below is lost on purpose
  std::uint64_t use_stamp() const;  // of the newest use
  void use(std::span<const NodeId> nodes);  // the resident ones, without a hit
  // Room for cold blocks, each the child of the one before: as many of the first ones as can be had without taking
  // what was used after stamp `since`. Counts as a use of them. Closed when the first is not cold, is on its way, or
  // hangs on a cold one.  Errors: kResourceExhausted.
  Result<Arrival> begin_arrival(std::span<const NodeId> chain, std::uint64_t since, TenantId tenant);
  // The node and all below it go, whoever uses or pins them; running claims go on privately. How many nodes.
  std::uint32_t drop_damaged(NodeId node);

  // Lineages (twins.cc). Whether anything lies, or is computed, below this root under the identity.
  bool has_root(const ChainKey& root, const std::shared_ptr<const Identity>& identity) const;
  // The nodes that stand for these under another identity of the same load, in the same order; for
  // an end that is no whole block one that holds its tokens will do. 0: there is none.
  std::vector<NodeId> twins(std::span<const NodeId> nodes, const std::shared_ptr<const Identity>& identity) const;
  // The tokens from the root to the sealed node as a prompt under another identity; nothing when it is not there.
  std::optional<RunPrompt> prompt_of(NodeId node, const std::shared_ptr<const Identity>& identity) const;
  // The leaf leaves all tiers, for something else has taken its place; its ghost says `policy_word`.
  Staying drop_leaf(NodeId node, const char* policy_word);

  // Recounts every sum from its parts and checks every edge; the first fault in words, "" when all is well. Slow.
  std::string audit() const;

 private:
  std::unique_ptr<CacheCore> core_;
};

}  // namespace larder::kv
