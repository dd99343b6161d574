// SPDX-License-Identifier: Apache-2.0
// TierJob: a copy, move or verify at work: the blocks it was given, block by block, until each is where it should be or
// has a reason to stay. What it does between two calls of step is waiting for the store.
// Way:      to disk: what has no copy is written, parents first; a move then lets the blocks leave the pool, children
//           first. To the pool: cold blocks are read in chains, parents first; a move then drops their copies, children
//           first. Verify: each copy is read and proved; what is damaged leaves the tree, as a restore would see to.
// Ensures:  each block crosses whole or not at all; a block leaves one tier only when its copy on the other was proved
//           or is durable; nothing that is pinned, in use or growing is taken out of the pool.
// Owns:     an Arrival of at most kChain blocks.    Threads: engine thread.
#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/engine/tier_work.h"

namespace larder::engine {

// What the order would do now, without doing it.
TierTally foresee(const TierOrder& order, std::span<const NodeId> nodes, const kv::PrefixCache& cache, bool storing);

class TierJob final : public TierWork {
 public:
  static constexpr std::size_t kChain = 16;

  TierJob(const TierOrder& order, std::vector<NodeId> nodes, const ScopeId& scope);

  Step step(kv::PrefixCache& cache, ColdTier& cold) override;
  void written(NodeId node, storage::Refusal refusal) override;
  void read(kv::PrefixCache& cache, std::uint64_t tag, storage::Miss miss, std::uint64_t checksum) override;
  void stop(kv::PrefixCache& cache) override;
  void store_closed(kv::PrefixCache& cache) override;
  bool idle() const override { return !arrival_.open() && proving_.empty(); }
  std::uint64_t blocks_done() const override;
  std::uint64_t blocks_moved() const override { return tally_.written + tally_.read_up + read_; }
  double progress() const override;

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

  const std::vector<NodeId> nodes_;  // parents before children
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
};

}  // namespace larder::engine
