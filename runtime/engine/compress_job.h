// SPDX-License-Identifier: Apache-2.0
// CompressJob: a compress at work. Each exact block that may leave, and all above it, gets a rounded copy on disk under
// the lineage that the admin named, parents first; then the exact ones leave disk and pool, children first.
// Ensures:  an exact block leaves only when its rounded copy is durable; what is pinned, in use or growing, and what
//           such a block hangs on, stays exact. Ended early, each block is still exact, or rounded and durable.
// Errors:   failure(): the codec lost more than it may.
// Threads:  engine thread.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "runtime/engine/tier_work.h"

namespace larder::engine {

struct CompressPlan {
  std::vector<NodeId> rounding;  // those that get a rounded copy, parents before children
  std::vector<NodeId> leaving;   // those of the range that can leave then, parents before children
  TierTally tally;               // as the job's would be
  CodecFigures figures;
};

// lineage: where the copies will lie. storing: whether the disk takes any now.
CompressPlan plan_compress(std::span<const NodeId> nodes, const kv::PrefixCache& cache,
                           const std::shared_ptr<const kv::Identity>& lineage, const kernels::KvLayout& layout,
                           bool storing);

class CompressJob final : public TierWork {
 public:
  CompressJob(const TierOrder& order, std::vector<NodeId> nodes, const ScopeId& scope,
              std::shared_ptr<const kv::Identity> lineage, const kernels::KvLayout& layout);

  Step step(kv::PrefixCache& cache, ColdTier& cold) override;
  void written(NodeId /*node*/, storage::Refusal /*refusal*/) override {}
  void rounded(kv::PrefixCache& cache, const Rounded& what) override;
  void stop(kv::PrefixCache& cache) override;
  void store_closed(kv::PrefixCache& cache) override;
  bool idle() const override { return true; }  // what is on its way needs nobody
  std::uint64_t blocks_done() const override;
  std::uint64_t blocks_moved() const override { return tally_.written; }
  double progress() const override;
  NodeId anchor() const override { return nodes_.front(); }

 private:
  Step round_next(kv::PrefixCache& cache, ColdTier& cold);
  Step leave_next(kv::PrefixCache& cache);
  bool still_to_come(NodeId node) const;

  const std::vector<NodeId> nodes_;
  const std::shared_ptr<const kv::Identity> lineage_;
  const kernels::KvLayout layout_;
  std::vector<NodeId> rounding_;
  std::vector<NodeId> leaving_;
  std::unordered_set<NodeId> pending_;
  std::deque<NodeId> again_;  // of rounding_, to be asked once more
  std::size_t next_ = 0;
  bool planned_ = false;
  bool leaves_ = false;  // the second half
  bool stopped_ = false;
};

}  // namespace larder::engine
