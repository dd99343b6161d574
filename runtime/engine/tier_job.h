// SPDX-License-Identifier: Apache-2.0
// TierJob: one verb over tiers at work: the blocks it was given, block by block, until each is where it should be or
// has a reason to stay. What it does between two calls of step is waiting for the store.
// Way:      to disk: what has no copy is written, parents first; a move then lets the blocks leave the pool, children
//           first. To the pool: cold blocks are read in chains, parents first; a move then drops their copies, children
//           first. Verify: each copy is read and proved; what is damaged leaves the tree, as a restore would see to.
//           Codecs (compress, decompress) will be further verbs of the same kind: their place is TierVerb and step().
// Ensures:  each block crosses whole or not at all; a block leaves one tier only when its copy on the other was proved
//           or is durable; nothing that is pinned, in use or growing is taken out of the pool.
// Owns:     an Arrival of at most kChain blocks.    Threads: engine thread.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/engine/cold_tier.h"
#include "runtime/engine/job_info.h"
#include "runtime/kv/block_range.h"
#include "runtime/kv/prefix_cache.h"

namespace larder::engine {

enum class TierVerb : std::uint8_t { kCopy, kMove, kVerify };
const char* tier_verb_name(TierVerb verb);

struct TierOrder {
  TierVerb verb = TierVerb::kCopy;
  bool down = true;  // copy and move: to disk; else to the pool
  kv::BlockRange range;
  TenantId by{};  // who asked, for what gives way to it
};

// What the order would do now, without doing it.
TierTally foresee(const TierOrder& order, std::span<const NodeId> nodes, const kv::PrefixCache& cache, bool storing);

class TierJob {
 public:
  static constexpr std::size_t kChain = 16;

  TierJob(const TierOrder& order, std::vector<NodeId> nodes, const ScopeId& scope);

  enum class Step : std::uint8_t { kMore, kWaits, kDone };
  // A little of it: a block, or a chain begun. kWaits: the store has to answer, or has no room.
  Step step(kv::PrefixCache& cache, ColdTier& cold);
  void written(NodeId node, storage::Refusal refusal);
  void read(kv::PrefixCache& cache, std::uint64_t tag, storage::Miss miss, std::uint64_t checksum);
  // Begins nothing more; over when nothing is being read. store_closed: what is being read will not be answered.
  void stop(kv::PrefixCache& cache);
  void store_closed(kv::PrefixCache& cache);
  bool idle() const { return !arrival_.open() && proving_.empty(); }

  const TierOrder& order() const { return order_; }
  const ScopeId& scope() const { return scope_; }
  const TierTally& tally() const { return tally_; }
  std::uint64_t blocks() const { return nodes_.size(); }
  std::uint64_t blocks_done() const;
  std::uint64_t blocks_moved() const { return tally_.written + tally_.read_up + read_; }
  double progress() const;
  const std::vector<kv::ChainKey>& brought_up() const { return brought_up_; }  // whole blocks

 private:
  struct Proving {
    std::size_t index = 0;  // in nodes_
    NodeId node{};
    BlockKey key{};
    std::uint64_t checksum = 0;  // of the same block in the pool; 0: not known
  };

  Step write_next(kv::PrefixCache& cache, ColdTier& cold);
  Step leave_next(kv::PrefixCache& cache);
  Step bring_up_next(kv::PrefixCache& cache, ColdTier& cold);
  Step issue_reads(kv::PrefixCache& cache, ColdTier& cold);
  Step verify_next(kv::PrefixCache& cache, ColdTier& cold);
  bool verify_memory(kv::PrefixCache& cache, ColdTier& cold, const kv::BlockFacts& block);
  void arrived(kv::PrefixCache& cache, std::uint64_t index, storage::Miss miss, std::uint64_t checksum);
  void proved(kv::PrefixCache& cache, std::uint64_t tag, storage::Miss miss, std::uint64_t checksum);
  void give_up_rest();
  void no_room_for(NodeId node);
  void close_if_answered(kv::PrefixCache& cache);
  Step first_half(kv::PrefixCache& cache, ColdTier& cold);
  Step end_of_half(kv::PrefixCache& cache);
  void write_again(kv::PrefixCache& cache);
  void count_miss(storage::Miss miss);

  const TierOrder order_;
  const std::vector<NodeId> nodes_;  // parents before children
  const ScopeId scope_;
  TierTally tally_;
  std::size_t next_ = 0;
  bool leaving_ = false;  // the second half of a move
  bool begun_ = false;
  bool stopped_ = false;
  std::uint64_t since_ = 0;  // use stamp of its begin
  std::uint64_t read_ = 0;   // copies read by a verify
  std::unordered_set<NodeId> writing_;
  kv::Arrival arrival_;
  std::size_t issued_ = 0;
  std::unordered_set<std::uint64_t> answered_;  // indices of the arrival's blocks
  std::unordered_map<std::uint64_t, Proving> proving_;
  std::uint64_t next_tag_ = 1;
  std::unordered_set<NodeId> roomless_;
  std::vector<std::size_t> damaged_;  // in nodes_: their copies were dropped, and the pool has them
  std::vector<kv::ChainKey> brought_up_;
};

}  // namespace larder::engine
