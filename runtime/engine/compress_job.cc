// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/compress_job.h"

#include <algorithm>
#include <utility>

#include "kernels/layout/kv_kept.h"

namespace larder::engine {
namespace {

using kv::BlockFacts;

constexpr const char* kCompressed = "compressed";  // Eviction::policy of the exact ones

std::uint64_t copies_of(const BlockFacts& block) { return (block.resident() ? 1u : 0u) + (block.stored ? 1u : 0u); }

std::uint64_t rounded_bytes(const BlockFacts& block, kernels::KvScheme scheme, const kernels::KvLayout& layout) {
  return kernels::kept_bytes(scheme, block.first_position, 1, layout);
}

// Those that leave and all above them: a rounded run needs its start.
std::vector<NodeId> with_all_above(const std::vector<NodeId>& leaving, const kv::PrefixCache& cache) {
  std::vector<NodeId> all;
  std::unordered_set<NodeId> seen;
  for (const NodeId node : leaving) {
    for (NodeId at = node; at.value != 0 && seen.insert(at).second; at = cache.facts(at).parent) all.push_back(at);
  }
  std::stable_sort(all.begin(), all.end(), [&cache](NodeId a, NodeId b) {
    return cache.facts(a).first_position < cache.facts(b).first_position;
  });
  return all;
}

}  // namespace

CompressPlan plan_compress(std::span<const NodeId> nodes, const kv::PrefixCache& cache,
                           const std::shared_ptr<const kv::Identity>& lineage, const kernels::KvLayout& layout,
                           bool storing) {
  CompressPlan plan;
  plan.leaving = leaving_of(nodes, cache, plan.tally);
  for (const NodeId node : nodes) plan.figures.bytes_before += copies_of(cache.facts(node)) * layout.block_bytes();
  const std::vector<NodeId> all = with_all_above(plan.leaving, cache);
  const std::vector<NodeId> there = cache.twins(all, lineage);
  std::uint64_t made_bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint64_t bytes = rounded_bytes(cache.facts(all[i]), lineage->lineage, layout);
    if (there[i].value != 0) {
      plan.figures.bytes_before += bytes;
    } else {
      plan.rounding.push_back(all[i]);
      made_bytes += bytes;
    }
  }
  if (!storing && !plan.rounding.empty()) {
    plan.tally.refused = plan.rounding.size();
    plan.tally.refusal = storage::refusal_name(storage::Refusal::kFrozen);
    plan.leaving.clear();
    made_bytes = 0;
  }
  if (storing) plan.tally.written = plan.rounding.size();
  std::uint64_t gone_bytes = 0;
  for (const NodeId node : plan.leaving) {
    const BlockFacts block = cache.facts(node);
    plan.tally.left_pool += block.resident() ? 1 : 0;
    plan.tally.left_disk += block.stored ? 1 : 0;
    gone_bytes += copies_of(block) * layout.block_bytes();
  }
  plan.figures.bytes_after = plan.figures.bytes_before + made_bytes - gone_bytes;
  return plan;
}

CompressJob::CompressJob(const TierOrder& order, std::vector<NodeId> nodes, const ScopeId& scope,
                         std::shared_ptr<const kv::Identity> lineage, const kernels::KvLayout& layout)
    : TierWork(order, scope, nodes.size()), nodes_(std::move(nodes)), lineage_(std::move(lineage)), layout_(layout) {}

std::uint64_t CompressJob::blocks_done() const {
  if (!planned_) return 0;
  return nodes_.size() - leaving_.size() + (leaves_ ? next_ : 0);
}

double CompressJob::progress() const {
  const std::size_t all = rounding_.size() + leaving_.size();
  if (all == 0) return planned_ ? 1 : 0;
  const std::size_t done = leaves_ ? rounding_.size() + next_ : next_ - std::min(next_, pending_.size());
  return static_cast<double>(done) / static_cast<double>(all);
}

CompressJob::Step CompressJob::step(kv::PrefixCache& cache, ColdTier& cold) {
  if (stopped_ || failure_) return Step::kDone;
  if (!planned_) {
    CompressPlan plan = plan_compress(nodes_, cache, lineage_, layout_, true);
    rounding_ = std::move(plan.rounding);
    leaving_ = std::move(plan.leaving);
    figures_ = plan.figures;
    figures_.bytes_after = figures_.bytes_before;
    plan.tally.written = plan.tally.left_pool = plan.tally.left_disk = 0;
    tally_ = plan.tally;
    planned_ = true;
    return Step::kMore;
  }
  return leaves_ ? leave_next(cache) : round_next(cache, cold);
}

CompressJob::Step CompressJob::round_next(kv::PrefixCache& cache, ColdTier& cold) {
  figures_.error = cold.lineages().sampled_error(order_.scheme);
  const bool once_more = !again_.empty();
  if (!once_more && next_ == rounding_.size()) {
    if (!pending_.empty()) return Step::kWaits;
    leaves_ = true;
    next_ = 0;
    return Step::kMore;
  }
  if (const auto lineage = cold.lineages().named(order_.scheme); !lineage.ok()) {
    failure_ = lineage.error();
    return Step::kDone;
  }
  const NodeId node = once_more ? again_.front() : rounding_[next_];
  const ColdTier::Taken taken =
      cache.facts(node).node.value == 0 ? ColdTier::Taken::kNo : cold.round_block(node, lineage_);
  if (taken == ColdTier::Taken::kLater) return Step::kWaits;
  if (once_more) {
    again_.pop_front();
  } else {
    ++next_;
  }
  if (taken == ColdTier::Taken::kYes) {
    pending_.insert(node);
  } else if (cache.facts(node).node.value == 0) {
    ++tally_.gone;
  } else {
    count_refused(storage::Refusal::kFrozen);
  }
  return Step::kMore;
}

bool CompressJob::still_to_come(NodeId node) const {
  return node.value != 0 && (pending_.contains(node) || std::find(again_.begin(), again_.end(), node) != again_.end());
}

void CompressJob::rounded(kv::PrefixCache& cache, const Rounded& what) {
  if (pending_.erase(what.node) == 0) return;
  const bool too_early =
      what.refusal == storage::Refusal::kParentMissing && still_to_come(cache.facts(what.node).parent);
  if (what.again || too_early) {
    if (!stopped_) again_.push_back(what.node);
  } else if (what.miss != storage::Miss::kNone) {
    count_miss(what.miss);
    const std::optional<kv::ColdBlock> copy = cache.stored_block(what.node);
    if (copy && copy_is_gone(what.miss)) cache.drop_stored(copy->key);
  } else if (what.refusal != storage::Refusal::kNone) {
    count_refused(what.refusal);
  } else {
    ++tally_.written;
    figures_.bytes_after += rounded_bytes(cache.facts(what.node), order_.scheme, layout_);
  }
}

CompressJob::Step CompressJob::leave_next(kv::PrefixCache& cache) {
  if (next_ == leaving_.size()) return Step::kDone;
  const NodeId node = leaving_[leaving_.size() - 1 - next_];
  ++next_;
  const NodeId twin = cache.twins({&node, 1}, lineage_).front();
  if (twin.value == 0 && cache.facts(node).node.value != 0) return Step::kMore;  // counted where its copy was refused
  const std::optional<BlockFacts> left = replace_leaf(cache, node, twin, kCompressed);
  if (left) figures_.bytes_after -= copies_of(*left) * layout_.block_bytes();
  return Step::kMore;
}

void CompressJob::stop(kv::PrefixCache& /*cache*/) { stopped_ = true; }

void CompressJob::store_closed(kv::PrefixCache& /*cache*/) {
  stopped_ = true;
  pending_.clear();
}

}  // namespace larder::engine
