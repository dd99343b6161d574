// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/tier_job.h"

#include <algorithm>
#include <utility>

#include "runtime/kv/room_for.h"

namespace larder::engine {
namespace {

using kv::BlockFacts;
using kv::Staying;
using storage::Miss;

// A move down counts a block where it leaves the pool, a copy where it is written.
void foresee_down(TierTally& tally, const TierOrder& order, std::span<const NodeId> nodes, const kv::PrefixCache& cache,
                  bool storing) {
  std::unordered_map<NodeId, std::uint32_t> leaving;  // children that leave, by parent
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    BlockFacts block = cache.facts(*node);
    const bool writes = block.resident() && block.sealed && !block.stored;
    if (writes) ++(storing ? tally.written : tally.refused);
    block.stored = block.stored || (writes && storing);
    if (order.verb == TierVerb::kCopy) {
      if (block.node.value == 0)
        ++tally.gone;
      else if (!block.sealed)
        ++tally.growing;
      else if (!writes)
        ++tally.already;
      continue;
    }
    block.resident_children -= leaving[*node];
    const Staying staying = kv::stays_in_pool(block);
    count_staying(tally, staying);
    if (staying != Staying::kNone) continue;
    ++tally.left_pool;
    ++leaving[block.parent];
  }
}

void foresee_up(TierTally& tally, const TierOrder& order, std::span<const NodeId> nodes, const kv::PrefixCache& cache) {
  std::uint64_t own = 0;  // of these blocks, evictable ones that will not give way to their likes
  for (const NodeId node : nodes) {
    const BlockFacts block = cache.facts(node);
    if (block.resident() && block.sealed && !block.pinned && !block.in_use) ++own;
  }
  const std::uint64_t available = cache.available_blocks();
  std::uint64_t room = available > own ? available - own : 0;
  std::unordered_map<NodeId, std::uint32_t> dropping;
  std::unordered_set<NodeId> comes;
  std::unordered_set<NodeId> roomless;
  for (const NodeId node : nodes) {
    const BlockFacts block = cache.facts(node);
    if (block.node.value == 0) {
      ++tally.gone;
    } else if (block.resident()) {
      ++tally.already;
      comes.insert(node);
    } else if (room == 0 || roomless.count(block.parent) != 0) {
      ++tally.no_room;
      roomless.insert(node);
    } else if (!block.parent_resident && comes.count(block.parent) == 0) {
      ++tally.below;
    } else {
      --room;
      ++tally.read_up;
      comes.insert(node);
    }
  }
  if (order.verb == TierVerb::kCopy) return;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    BlockFacts block = cache.facts(*node);
    if (comes.count(*node) == 0 || !block.stored) continue;
    if (!block.resident()) block.block = BlockId{0};  // it will be
    block.stored_children -= dropping[*node];
    const Staying staying = kv::stays_below(block);
    count_staying(tally, staying);
    if (staying != Staying::kNone) continue;
    ++tally.left_disk;
    ++dropping[block.parent];
  }
}

}  // namespace

TierTally foresee(const TierOrder& order, std::span<const NodeId> nodes, const kv::PrefixCache& cache, bool storing) {
  TierTally tally;
  if (order.verb != TierVerb::kVerify) {
    if (order.down) {
      foresee_down(tally, order, nodes, cache, storing);
    } else {
      foresee_up(tally, order, nodes, cache);
    }
    return tally;
  }
  for (const NodeId node : nodes) {
    const BlockFacts block = cache.facts(node);
    if (block.node.value == 0)
      ++tally.gone;
    else if (!block.sealed)
      ++tally.growing;
    else
      tally.unread += (block.checksum != 0 ? 1u : 0u) + (block.stored ? 1u : 0u);
  }
  return tally;
}

TierJob::TierJob(const TierOrder& order, std::vector<NodeId> nodes, const ScopeId& scope)
    : TierWork(order, scope, nodes.size()), nodes_(std::move(nodes)) {}

std::uint64_t TierJob::blocks_done() const {
  if (order_.verb == TierVerb::kMove) return leaving_ ? next_ : 0;
  return next_ - std::min<std::uint64_t>(next_, writing_.size() + proving_.size());
}

double TierJob::progress() const {
  if (nodes_.empty()) return 1;
  const double halves = order_.verb == TierVerb::kMove ? 2 : 1;
  const double done = static_cast<double>(next_) / static_cast<double>(nodes_.size());
  return ((leaving_ ? 1 : 0) + done) / halves;
}

TierJob::Step TierJob::step(kv::PrefixCache& cache, ColdTier& cold) {
  if (stopped_) return idle() ? Step::kDone : Step::kWaits;
  if (!begun_) {
    begun_ = true;
    since_ = cache.use_stamp();
    if (order_.verb != TierVerb::kVerify && !order_.down) cache.use(nodes_);  // none gives way to another one of them
  }
  if (leaving_) return leave_next(cache);
  return first_half(cache, cold);
}

TierJob::Step TierJob::first_half(kv::PrefixCache& cache, ColdTier& cold) {
  if (arrival_.open()) return issue_reads(cache, cold);
  if (next_ == nodes_.size()) return end_of_half(cache);
  if (order_.verb == TierVerb::kVerify) return verify_next(cache, cold);
  return order_.down ? write_next(cache, cold) : bring_up_next(cache, cold);
}

TierJob::Step TierJob::end_of_half(kv::PrefixCache& cache) {
  if (!writing_.empty() || !proving_.empty()) return Step::kWaits;
  write_again(cache);
  if (order_.verb != TierVerb::kMove) return Step::kDone;
  leaving_ = true;
  next_ = 0;
  return Step::kMore;
}

TierJob::Step TierJob::write_next(kv::PrefixCache& cache, ColdTier& cold) {
  const BlockFacts block = cache.facts(nodes_[next_]);
  const bool writes = block.resident() && block.sealed && !block.stored;
  if (!writes) {
    if (order_.verb == TierVerb::kCopy) {
      if (block.node.value == 0)
        ++tally_.gone;
      else if (!block.sealed)
        ++tally_.growing;
      else
        ++tally_.already;
    }
    ++next_;
    return Step::kMore;
  }
  switch (cold.write_block(block.node)) {
    case ColdTier::Taken::kLater:
      return Step::kWaits;
    case ColdTier::Taken::kYes:
      writing_.insert(block.node);
      break;
    case ColdTier::Taken::kNo:
      count_refused(storage::Refusal::kFrozen);
      break;
  }
  ++next_;
  return Step::kMore;
}

void TierJob::written(NodeId node, storage::Refusal refusal) {
  if (writing_.erase(node) == 0) return;
  if (refusal == storage::Refusal::kNone) {
    ++tally_.written;
    return;
  }
  count_refused(refusal);
}

TierJob::Step TierJob::leave_next(kv::PrefixCache& cache) {
  if (next_ == nodes_.size()) return Step::kDone;
  const NodeId node = nodes_[nodes_.size() - 1 - next_];
  ++next_;
  if (order_.down) {
    const Staying staying = cache.cool(node);
    count_staying(tally_, staying);
    if (staying == Staying::kNone) ++tally_.left_pool;
    return Step::kMore;
  }
  const BlockFacts block = cache.facts(node);
  if (!block.resident() || !block.stored) return Step::kMore;  // counted where it was to be brought up
  const Staying staying = cache.drop_copy(node);
  count_staying(tally_, staying);
  if (staying == Staying::kNone) ++tally_.left_disk;
  return Step::kMore;
}

TierJob::Step TierJob::bring_up_next(kv::PrefixCache& cache, ColdTier& cold) {
  const BlockFacts block = cache.facts(nodes_[next_]);
  if (block.arriving) return Step::kWaits;  // for a request
  if (block.node.value == 0 || block.resident() || !block.parent_resident) {
    if (block.node.value == 0)
      ++tally_.gone;
    else if (block.resident())
      ++tally_.already;
    else if (roomless_.count(block.parent) != 0)
      no_room_for(block.node);
    else
      ++tally_.below;
    ++next_;
    return Step::kMore;
  }
  const auto chain = std::span(nodes_).subspan(next_, std::min(kChain, nodes_.size() - next_));
  kv::room_for(brought_up_, chain.size());  // see close_if_answered
  Result<kv::Arrival> arrival = cache.begin_arrival(chain, since_, order_.by);
  if (arrival.ok() && arrival->open()) {
    arrival_ = std::move(arrival).value();
    issued_ = 0;
    answered_.clear();
    return issue_reads(cache, cold);
  }
  no_room_for(block.node);
  ++next_;
  return Step::kMore;
}

// Nor for what hangs on it.
void TierJob::no_room_for(NodeId node) {
  ++tally_.no_room;
  roomless_.insert(node);
}

TierJob::Step TierJob::issue_reads(kv::PrefixCache& cache, ColdTier& cold) {
  while (issued_ < arrival_.blocks().size()) {
    const kv::ArrivingBlock& block = arrival_.blocks()[issued_];
    const ColdTier::Taken taken = cold.read_block(block.cold, block.to, issued_);
    if (taken == ColdTier::Taken::kLater) return Step::kWaits;
    if (taken == ColdTier::Taken::kNo) {
      stop(cache);
      return Step::kWaits;
    }
    ++issued_;
  }
  return Step::kWaits;
}

void TierJob::read(kv::PrefixCache& cache, std::uint64_t tag, Miss miss, std::uint64_t checksum) {
  if (arrival_.open()) {
    arrived(cache, tag, miss, checksum);
  } else {
    proved(cache, tag, miss, checksum);
  }
}

void TierJob::arrived(kv::PrefixCache& cache, std::uint64_t index, Miss miss, std::uint64_t checksum) {
  answered_.insert(index);
  if (miss == Miss::kNone) {
    arrival_.arrived(index, checksum);
  } else {
    count_miss(miss);
    arrival_.missed(index, copy_is_gone(miss));
    give_up_rest();  // it hangs on this one
  }
  close_if_answered(cache);
}

// What was not asked for yet will not be.
void TierJob::give_up_rest() {
  if (!arrival_.open()) return;
  for (; issued_ < arrival_.blocks().size(); ++issued_) {
    answered_.insert(issued_);
    arrival_.missed(issued_, false);
  }
}

void TierJob::close_if_answered(kv::PrefixCache& cache) {
  if (!arrival_.open() || answered_.size() < arrival_.blocks().size()) return;
  for (const kv::ArrivingBlock& each : arrival_.blocks()) {
    ++next_;
    const BlockFacts block = cache.facts(each.node);
    if (!block.resident()) break;  // the first that was missed; what hangs on it is looked at again
    ++tally_.read_up;
    if (block.valid == kernels::kBlockTokens) brought_up_.push_back(block.key);
  }
  arrival_ = kv::Arrival();
}

TierJob::Step TierJob::verify_next(kv::PrefixCache& cache, ColdTier& cold) {
  const BlockFacts block = cache.facts(nodes_[next_]);
  if (block.node.value == 0 || !block.sealed) {
    ++(block.node.value == 0 ? tally_.gone : tally_.growing);
    ++next_;
    return Step::kMore;
  }
  if (const std::optional<kv::ColdBlock> copy = cache.stored_block(block.node)) {
    const ColdTier::Taken taken = cold.read_block(*copy, kNoBlock, next_tag_);
    if (taken == ColdTier::Taken::kLater) return Step::kWaits;
    if (taken == ColdTier::Taken::kYes) proving_[next_tag_++] = {next_, block.node, copy->key, block.checksum};
    if (taken == ColdTier::Taken::kNo) ++tally_.unread;
  }
  if (block.checksum != 0 && !verify_memory(cache, cold, block)) ++tally_.unread;
  ++next_;
  return Step::kMore;
}

// False: it could not be told now.
bool TierJob::verify_memory(kv::PrefixCache& cache, ColdTier& cold, const BlockFacts& block) {
  const std::optional<std::uint64_t> sum = cold.checksum_of(block.block);
  if (!sum) return false;
  ++read_;
  if (*sum == block.checksum) {
    ++tally_.good;
  } else {
    ++tally_.damaged;
    cache.drop_damaged(block.node);
  }
  return true;
}

void TierJob::proved(kv::PrefixCache& cache, std::uint64_t tag, Miss miss, std::uint64_t checksum) {
  const auto found = proving_.find(tag);
  if (found == proving_.end()) return;
  const Proving proving = found->second;
  proving_.erase(found);
  if (miss == Miss::kNone && (proving.checksum == 0 || proving.checksum == checksum)) {
    ++read_;
    ++tally_.good;
    return;
  }
  if (miss == Miss::kNone) {  // whole, and yet not what the pool has under this name: neither is believed
    ++tally_.damaged;
    cache.drop_damaged(proving.node);
    return;
  }
  count_miss(miss);
  if (!copy_is_gone(miss)) return;
  cache.drop_stored(proving.key);
  damaged_.push_back(proving.index);
  if (stopped_) write_again(cache);
}

// Parents first: the store takes no block whose parent it lacks.
void TierJob::write_again(kv::PrefixCache& cache) {
  std::sort(damaged_.begin(), damaged_.end());
  for (const std::size_t index : damaged_) cache.store_again(nodes_[index]);
  damaged_.clear();
}

void TierJob::stop(kv::PrefixCache& cache) {
  stopped_ = true;
  write_again(cache);
  give_up_rest();
  close_if_answered(cache);
}

void TierJob::store_closed(kv::PrefixCache& cache) {
  stopped_ = true;
  proving_.clear();
  writing_.clear();
  if (!arrival_.open()) return;
  for (std::uint64_t i = 0; i < arrival_.blocks().size(); ++i) {
    if (answered_.insert(i).second) arrival_.missed(i, false);
  }
  close_if_answered(cache);
}

}  // namespace larder::engine
