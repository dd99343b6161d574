// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/decompress_job.h"

#include <algorithm>

#include "kernels/layout/kv_kept.h"

namespace larder::engine {
namespace {

using kv::BlockFacts;

constexpr const char* kDecompressed = "decompressed";  // Eviction::policy of the rounded ones

std::uint64_t bytes_of(const BlockFacts& block, const kernels::KvLayout& layout) {
  const std::uint64_t below = kernels::kept_bytes(block.lineage, block.first_position, block.stored ? 1 : 0, layout);
  return below + (block.resident() ? layout.block_bytes() : 0);
}

std::vector<NodeId> path_to(NodeId node, const kv::PrefixCache& cache) {
  const Result<std::vector<NodeId>> path = cache.select({node, true, 0, 0});
  return path.ok() ? *path : std::vector<NodeId>{};
}

// The runs that end where nothing of `going` hangs, as far as their exact blocks are missing.
void add_runs(DecompressPlan& plan, const kv::PrefixCache& cache, const std::shared_ptr<const kv::Identity>& exact) {
  std::unordered_set<NodeId> inner;
  for (const NodeId node : plan.going) inner.insert(cache.facts(node).parent);
  std::unordered_set<NodeId> seen;
  for (const NodeId end : plan.going) {
    if (inner.contains(end)) continue;
    const std::vector<NodeId> path = path_to(end, cache);
    const std::vector<NodeId> twins = cache.twins(path, exact);
    std::optional<std::uint32_t> begin;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (twins[i].value != 0 || !seen.insert(path[i]).second) continue;
      const BlockFacts block = cache.facts(path[i]);
      if (!begin) begin = block.first_position;
      ++plan.tally.computed;
      plan.figures.compute_tokens += block.valid;
    }
    if (twins.empty() || twins.back().value != 0) continue;
    const BlockFacts last = cache.facts(end);
    plan.ends.push_back(end);
    if (begin) plan.missing.emplace_back(*begin, last.first_position + last.valid);
  }
}

}  // namespace

DecompressPlan plan_decompress(std::span<const NodeId> nodes, const kv::PrefixCache& cache,
                               const std::shared_ptr<const kv::Identity>& exact, const kernels::KvLayout& layout,
                               bool storing) {
  DecompressPlan plan;
  plan.going = leaving_of(nodes, cache, plan.tally);
  for (const NodeId node : nodes) plan.figures.bytes_before += bytes_of(cache.facts(node), layout);
  add_runs(plan, cache, exact);
  const std::vector<NodeId> twins = cache.twins(plan.going, exact);
  std::uint64_t made_bytes = plan.tally.computed * layout.block_bytes();
  std::uint64_t gone_bytes = 0;
  for (std::size_t i = 0; i < twins.size(); ++i) {
    const BlockFacts twin = cache.facts(twins[i]);
    plan.figures.bytes_before += bytes_of(twin, layout);
    if (!twin.stored) ++(storing ? plan.tally.written : plan.tally.refused);
    if (!twin.stored && !storing) continue;
    if (!twin.stored) made_bytes += layout.block_bytes();
    const BlockFacts block = cache.facts(plan.going[i]);
    plan.tally.left_pool += block.resident() ? 1 : 0;
    plan.tally.left_disk += block.stored ? 1 : 0;
    gone_bytes += bytes_of(block, layout);
  }
  if (plan.tally.refused > 0) plan.tally.refusal = storage::refusal_name(storage::Refusal::kFrozen);
  plan.figures.bytes_after = plan.figures.bytes_before + made_bytes - gone_bytes;
  return plan;
}

DecompressJob::DecompressJob(const TierOrder& order, std::vector<NodeId> nodes, const ScopeId& scope,
                             std::shared_ptr<const kv::Identity> exact, const kernels::KvLayout& layout)
    : TierWork(order, scope, nodes.size()), nodes_(std::move(nodes)), exact_(std::move(exact)), layout_(layout) {}

std::uint64_t DecompressJob::blocks_done() const {
  if (part_ == Part::kPlan) return 0;
  return nodes_.size() - going_.size() + (part_ == Part::kLeave ? next_ : 0);
}

double DecompressJob::progress() const {
  const std::size_t all = ends_.size() + 2 * going_.size();
  if (all == 0) return part_ == Part::kPlan ? 0 : 1;
  std::size_t done = next_;
  if (part_ == Part::kWrite) done = ends_.size() + next_ - std::min(next_, pending_.size());
  if (part_ == Part::kLeave) done = ends_.size() + going_.size() + next_;
  return static_cast<double>(done) / static_cast<double>(all);
}

DecompressJob::Step DecompressJob::step(kv::PrefixCache& cache, ColdTier& cold) {
  if (stopped_ || failure_) return Step::kDone;
  switch (part_) {
    case Part::kPlan:
      plan(cache);
      return go_on(Part::kCompute);
    case Part::kCompute:
      return compute_next(cache);
    case Part::kWrite:
      return write_next(cache, cold);
    case Part::kLeave:
      return leave_next(cache);
  }
  return Step::kDone;
}

DecompressJob::Step DecompressJob::go_on(Part part) {
  part_ = part;
  next_ = 0;
  return Step::kMore;
}

void DecompressJob::plan(kv::PrefixCache& cache) {
  DecompressPlan plan = plan_decompress(nodes_, cache, exact_, layout_, true);
  going_ = std::move(plan.going);
  ends_ = std::move(plan.ends);
  figures_ = plan.figures;
  figures_.bytes_after = figures_.bytes_before;
  figures_.compute_tokens = 0;
  plan.tally.written = plan.tally.left_pool = plan.tally.left_disk = plan.tally.computed = 0;
  tally_ = plan.tally;
  for (const NodeId end : ends_) {
    for (const NodeId twin : cache.twins(path_to(end, cache), exact_)) known_.insert(twin);
  }
  for (const NodeId twin : cache.twins(going_, exact_)) {
    if (cache.facts(twin).stored) stored_.insert(twin);
  }
}

void DecompressJob::count_written() {
  ++tally_.written;
  figures_.bytes_after += layout_.block_bytes();
}

DecompressJob::Step DecompressJob::compute_next(kv::PrefixCache& cache) {
  if (computing_) return Step::kWaits;
  if (next_ == ends_.size()) return go_on(Part::kWrite);
  const NodeId end = ends_[next_];
  prompt_ = cache.prompt_of(end, exact_);
  const bool there = cache.twins({&end, 1}, exact_).front().value != 0;
  if (!prompt_ || there) {
    prompt_.reset();
    ++next_;
    return Step::kMore;
  }
  computing_ = true;
  return Step::kWaits;
}

void DecompressJob::computed(kv::PrefixCache& cache, const Status& how) {
  if (!computing_) return;
  computing_ = false;
  if (!how.ok()) {
    failure_ = how.error();
    return;
  }
  const std::vector<NodeId> path = path_to(ends_[next_], cache);
  for (const NodeId twin : cache.twins(path, exact_)) {
    const BlockFacts block = cache.facts(twin);
    if (block.node.value == 0 || !known_.insert(twin).second) continue;
    ++tally_.computed;
    figures_.compute_tokens += block.valid;
    figures_.bytes_after += layout_.block_bytes();
    if (block.valid == kernels::kBlockTokens) brought_up_.push_back(block.key);
  }
  if (cache.twins({&ends_[next_], 1}, exact_).front().value == 0) {
    failure_ = Error{ErrorCode::kResourceExhausted,
                     "run " + std::to_string(ends_[next_].value) +
                         " was computed and did not stay: free room in the pool, or raise pool.bytes",
                     ""};
  }
  ++next_;
}

DecompressJob::Step DecompressJob::write_next(kv::PrefixCache& cache, ColdTier& cold) {
  if (next_ == going_.size()) return pending_.empty() ? go_on(Part::kLeave) : Step::kWaits;
  const NodeId twin = cache.twins({&going_[next_], 1}, exact_).front();
  const BlockFacts block = cache.facts(twin);
  if (block.stored && stored_.insert(twin).second) count_written();  // behind the request that computed it
  if (block.node.value != 0 && !block.stored) {
    const ColdTier::Taken taken = cold.write_block(twin);
    if (taken == ColdTier::Taken::kLater) return Step::kWaits;
    if (taken == ColdTier::Taken::kYes) pending_.insert(twin);
    if (taken == ColdTier::Taken::kNo) count_refused(storage::Refusal::kFrozen);
  }
  ++next_;
  return Step::kMore;
}

void DecompressJob::written(NodeId node, storage::Refusal refusal) {
  if (pending_.erase(node) == 0) return;
  if (refusal == storage::Refusal::kNone) return count_written();
  count_refused(refusal);
}

DecompressJob::Step DecompressJob::leave_next(kv::PrefixCache& cache) {
  if (next_ == going_.size()) return Step::kDone;
  const NodeId node = going_[going_.size() - 1 - next_];
  ++next_;
  const NodeId twin = cache.twins({&node, 1}, exact_).front();
  const bool there = cache.facts(node).node.value != 0;
  if (there && !cache.facts(twin).stored) return Step::kMore;  // counted where it was refused
  const std::optional<BlockFacts> left = replace_leaf(cache, node, twin, kDecompressed);
  if (left) figures_.bytes_after -= bytes_of(*left, layout_);
  return Step::kMore;
}

// The request that computes is ended by who began it.
void DecompressJob::stop(kv::PrefixCache& /*cache*/) {
  stopped_ = true;
  computing_ = false;
  prompt_.reset();
}

void DecompressJob::store_closed(kv::PrefixCache& cache) {
  stop(cache);
  pending_.clear();
}

}  // namespace larder::engine
