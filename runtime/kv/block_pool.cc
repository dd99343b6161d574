// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/block_pool.h"

#include <algorithm>

#include "runtime/base/invariant.h"

namespace larder::kv {

BlockPool::BlockPool(std::uint32_t limit) { set_limit(limit); }

// What needs memory comes first, so that running out of it changes nothing.
void BlockPool::set_limit(std::uint32_t limit) {
  const std::uint32_t before = ids();
  if (limit > before) {
    free_list_.reserve(limit);
    withheld_.reserve(limit);
    slots_.reserve(limit);
  }
  limit_ = limit;
  while (counts_.total < limit_ && !withheld_.empty()) {
    const BlockId block = withheld_.back();
    withheld_.pop_back();
    if (untaken_ > 0) --untaken_;
    at(block).residency = Residency::kFree;
    free_list_.push_back(block);
    ++counts_.total;
    ++counts_.free;
  }
  if (counts_.total < limit_) {  // all that exist are in use, so the rest of the limit is new
    const std::uint32_t fresh = limit_ - counts_.total;
    slots_.resize(before + fresh);
    std::vector<BlockId>::iterator at = free_list_.insert(free_list_.begin(), fresh, BlockId{});
    for (std::uint32_t i = before + fresh; i > before; --i) *at++ = BlockId{i - 1};
    counts_.total += fresh;
    counts_.free += fresh;
  }
  while (counts_.total > limit_ && !free_list_.empty()) {
    const BlockId block = free_list_.back();
    free_list_.pop_back();
    --counts_.free;
    withhold(block);
  }
}

void BlockPool::withhold(BlockId block) {
  at(block).residency = Residency::kWithheld;
  withheld_.push_back(block);
  ++untaken_;
  --counts_.total;
}

std::vector<BlockId> BlockPool::take_withheld(std::uint32_t most) {
  const std::size_t count = std::min<std::size_t>(most, untaken_);
  const auto first = withheld_.end() - static_cast<std::ptrdiff_t>(untaken_);
  std::vector<BlockId> taken(first, first + static_cast<std::ptrdiff_t>(count));
  untaken_ -= count;
  return taken;
}

BlockPool::Slot& BlockPool::at(BlockId block) {
  INVARIANT(block.value < slots_.size());
  return slots_[block.value];
}

const BlockPool::Slot& BlockPool::at(BlockId block) const {
  INVARIANT(block.value < slots_.size());
  return slots_[block.value];
}

// sign is 1 or its two's complement, so that one function adds and takes away.
void BlockPool::count(PoolCounts& counts, const Slot& slot, std::uint32_t sign) {
  switch (slot.residency) {
    case Residency::kWithheld: break;
    case Residency::kFree: counts.free += sign; break;
    case Residency::kArriving: counts.arriving += sign; break;
    case Residency::kLeaving: counts.leaving += sign; break;
    case Residency::kCondemned:
      counts.in_use += sign;
      counts.condemned += sign;
      break;
    case Residency::kResident: (slot.holders > 0 ? counts.in_use : counts.cached) += sign; break;
  }
}

namespace {
constexpr std::uint32_t kAdd = 1;
constexpr std::uint32_t kTake = ~0u;
}  // namespace

void BlockPool::free_if_unkept(BlockId block) {
  Slot& slot = at(block);
  if (slot.holders > 0 || slot.published) return;
  slot = Slot{};
  if (excess() > 0) return withhold(block);
  free_list_.push_back(block);
}

std::optional<BlockId> BlockPool::allocate(SeqId writer) {
  if (free_list_.empty()) return std::nullopt;
  const BlockId block = free_list_.back();
  free_list_.pop_back();
  Slot& slot = at(block);
  INVARIANT(slot.residency == Residency::kFree);
  count(counts_, slot, kTake);
  slot.residency = Residency::kResident;
  slot.has_writer = true;
  slot.writer = writer;
  slot.holders = 1;
  count(counts_, slot, kAdd);
  return block;
}

void BlockPool::hold(BlockId block) {
  Slot& slot = at(block);
  INVARIANT(slot.residency == Residency::kResident && (slot.holders > 0 || slot.published));
  count(counts_, slot, kTake);
  ++slot.holders;
  count(counts_, slot, kAdd);
}

void BlockPool::release(BlockId block) {
  Slot& slot = at(block);
  INVARIANT((slot.residency == Residency::kResident || slot.residency == Residency::kCondemned) && slot.holders > 0);
  count(counts_, slot, kTake);
  --slot.holders;
  free_if_unkept(block);
  count(counts_, slot, kAdd);
}

void BlockPool::publish(BlockId block) {
  Slot& slot = at(block);
  INVARIANT(slot.residency == Residency::kResident && !slot.published && slot.valid > 0);
  slot.published = true;
}

void BlockPool::unpublish(BlockId block) {
  Slot& slot = at(block);
  INVARIANT(slot.residency == Residency::kResident && slot.published);
  count(counts_, slot, kTake);
  slot.published = false;
  if (slot.holders > 0) slot.residency = Residency::kCondemned;
  free_if_unkept(block);
  count(counts_, slot, kAdd);
}

void BlockPool::set_valid_tokens(BlockId block, std::uint32_t valid) {
  Slot& slot = at(block);
  INVARIANT(slot.has_writer && valid >= slot.valid && valid <= kernels::kBlockTokens);
  slot.valid = static_cast<std::uint8_t>(valid);
}

void BlockPool::seal(BlockId block) {
  Slot& slot = at(block);
  INVARIANT(slot.has_writer && slot.valid > 0);
  slot.has_writer = false;
}

void BlockPool::set_checksum(BlockId block, std::uint64_t checksum) {
  Slot& slot = at(block);
  INVARIANT(slot.residency != Residency::kFree && !slot.has_writer);
  slot.checksum = checksum;
}

std::optional<BlockId> BlockPool::begin_arrival() {
  if (free_list_.empty()) return std::nullopt;
  const BlockId block = free_list_.back();
  free_list_.pop_back();
  Slot& slot = at(block);
  INVARIANT(slot.residency == Residency::kFree);
  count(counts_, slot, kTake);
  slot.residency = Residency::kArriving;
  count(counts_, slot, kAdd);
  return block;
}

void BlockPool::finish_arrival(BlockId block, std::uint32_t valid, bool verified) {
  Slot& slot = at(block);
  INVARIANT(slot.residency == Residency::kArriving && valid > 0 && valid <= kernels::kBlockTokens);
  count(counts_, slot, kTake);
  if (verified) {
    slot.residency = Residency::kResident;
    slot.valid = static_cast<std::uint8_t>(valid);
    slot.holders = 1;
  } else {
    free_if_unkept(block);
  }
  count(counts_, slot, kAdd);
}

void BlockPool::begin_leaving(BlockId block) {
  Slot& slot = at(block);
  INVARIANT(slot.residency == Residency::kResident && !slot.has_writer && slot.published && slot.holders == 0);
  count(counts_, slot, kTake);
  slot.residency = Residency::kLeaving;
  count(counts_, slot, kAdd);
}

void BlockPool::finish_leaving(BlockId block, bool drop) {
  Slot& slot = at(block);
  INVARIANT(slot.residency == Residency::kLeaving);
  count(counts_, slot, kTake);
  slot.residency = Residency::kResident;
  if (drop) {
    slot.published = false;
    free_if_unkept(block);
  }
  count(counts_, slot, kAdd);
}

std::optional<SeqId> BlockPool::writer(BlockId block) const {
  const Slot& slot = at(block);
  if (!slot.has_writer) return std::nullopt;
  return slot.writer;
}

PoolCounts BlockPool::recount() const {
  PoolCounts counts;
  for (const Slot& slot : slots_) {
    if (slot.residency != Residency::kWithheld) ++counts.total;
    count(counts, slot, kAdd);
  }
  return counts;
}

}  // namespace larder::kv
