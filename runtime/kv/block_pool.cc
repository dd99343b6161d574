// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/block_pool.h"

#include "runtime/base/invariant.h"

namespace larder::kv {

BlockPool::BlockPool(std::uint32_t block_count) : slots_(block_count) {
  free_list_.reserve(block_count);
  for (std::uint32_t i = block_count; i > 0; --i) free_list_.push_back(BlockId{i - 1});
  counts_.total = block_count;
  counts_.free = block_count;
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
  counts.total = static_cast<std::uint32_t>(slots_.size());
  for (const Slot& slot : slots_) count(counts, slot, kAdd);
  return counts;
}

}  // namespace larder::kv
