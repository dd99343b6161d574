// SPDX-License-Identifier: Apache-2.0
// DecompressJob: a decompress at work. A codec's loss cannot be undone, so the runs are computed again, as exact
// requests of their owners, one after the other; the exact blocks are written down, parents first, and then the rounded
// ones leave pool and disk, children first.
// Ensures:  a rounded block leaves only when the exact one is durable; what is pinned, in use or growing, and what such
//           a block hangs on, stays. Ended early, each block is still rounded, or exact and durable.
// Errors:   failure(): why a run could not be computed.
// Threads:  engine thread.
#pragma once

#include <memory>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/engine/tier_work.h"

namespace larder::engine {

struct DecompressPlan {
  std::vector<NodeId> going;                                     // rounded ones that can leave then, parents first
  std::vector<NodeId> ends;                                      // of the runs that are to be computed
  std::vector<std::pair<std::uint32_t, std::uint32_t>> missing;  // positions to compute, from and to, of each run
  TierTally tally;                                               // as the job's would be
  CodecFigures figures;
};

DecompressPlan plan_decompress(std::span<const NodeId> nodes, const kv::PrefixCache& cache,
                               const std::shared_ptr<const kv::Identity>& exact, const kernels::KvLayout& layout,
                               bool storing);

class DecompressJob final : public TierWork {
 public:
  DecompressJob(const TierOrder& order, std::vector<NodeId> nodes, const ScopeId& scope,
                std::shared_ptr<const kv::Identity> exact, const kernels::KvLayout& layout);

  Step step(kv::PrefixCache& cache, ColdTier& cold) override;
  void written(NodeId node, storage::Refusal refusal) override;
  std::optional<kv::RunPrompt> take_prompt() override { return std::exchange(prompt_, std::nullopt); }
  void computed(kv::PrefixCache& cache, const Status& how) override;
  void stop(kv::PrefixCache& cache) override;
  void store_closed(kv::PrefixCache& cache) override;
  bool idle() const override { return true; }  // what is on its way needs nobody
  std::uint64_t blocks_done() const override;
  std::uint64_t blocks_moved() const override { return tally_.written; }
  double progress() const override;
  NodeId anchor() const override { return nodes_.front(); }

 private:
  enum class Part : std::uint8_t { kPlan, kCompute, kWrite, kLeave };

  void plan(kv::PrefixCache& cache);
  Step compute_next(kv::PrefixCache& cache);
  Step write_next(kv::PrefixCache& cache, ColdTier& cold);
  Step leave_next(kv::PrefixCache& cache);
  Step go_on(Part part);
  void count_written();

  const std::vector<NodeId> nodes_;
  const std::shared_ptr<const kv::Identity> exact_;
  const kernels::KvLayout layout_;
  std::vector<NodeId> going_;
  std::vector<NodeId> ends_;
  std::optional<kv::RunPrompt> prompt_;
  std::unordered_set<NodeId> known_;    // exact ones that were there, or were counted as computed
  std::unordered_set<NodeId> stored_;   // exact ones that had a copy on disk before
  std::unordered_set<NodeId> pending_;  // exact ones being written
  std::size_t next_ = 0;
  Part part_ = Part::kPlan;
  bool computing_ = false;
  bool stopped_ = false;
};

}  // namespace larder::engine
