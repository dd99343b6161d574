// SPDX-License-Identifier: Apache-2.0
// The half of StoreWriter that keeps the disk within its limits.
#include <algorithm>

#include "storage/store_writer.h"

namespace larder::storage {
namespace {

constexpr std::uint64_t kLogRoom = 2u << 20;  // the catalog's log may grow by this between two looks
constexpr std::uint64_t kLeastFree = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostEvictedAtOnce = 16u << 20;
constexpr std::uint64_t kDayMs = 86'400'000;

}  // namespace

void StoreWriter::spend(std::uint64_t bytes) {
  const std::uint64_t day = static_cast<std::uint64_t>(state_.clock.wall()) / kDayMs;
  if (day != progress_.budget_day) {
    progress_.budget_day = day;
    progress_.budget_spent = 0;
  }
  progress_.budget_spent += bytes;
}

StoreWriter::Limits StoreWriter::room_left() {
  StoreLimits limits;
  {
    MutexLock lock(state_.mutex);
    limits = state_.limits;
  }
  const std::uint64_t taken = room_->real_bytes() + catalog_->allocated_bytes() + kLogRoom;
  const std::uint64_t under_cap = limits.cap_bytes > taken ? limits.cap_bytes - taken : 0;
  const Result<Disk::Space> space = state_.disk.space(folder_);
  if (!space.ok()) return {0, true};
  const std::uint64_t floor =
      limits.keep_free_bytes != 0 ? limits.keep_free_bytes : std::max(space->total / 20, kLeastFree);
  const std::uint64_t above_floor = space->free > floor + kLogRoom ? space->free - floor - kLogRoom : 0;
  return {std::min(under_cap, above_floor), above_floor < under_cap};
}

bool StoreWriter::make_room(const ScopeTag& scope, std::uint64_t extent_bytes, WallTime newer_than, Refusal& refusal) {
  std::vector<std::uint32_t> removed;
  const std::uint64_t freed = room_->squeeze(scope, extent_bytes, extent_bytes + kSegmentHeader, removed);
  forget_files(removed);
  if (freed > 0) return true;
  std::uint64_t cap = 0;
  {
    MutexLock lock(state_.mutex);
    cap = state_.limits.cap_bytes;
  }
  return evict(std::max(extent_bytes, std::min(cap / 32, kMostEvictedAtOnce)), newer_than, refusal);
}

// Takes leaves by the policy's order until `bytes` are free, in one commit. False: nothing may go.
bool StoreWriter::evict(std::uint64_t bytes, WallTime newer_than, Refusal& refusal) {
  std::vector<StoreIndex::Entry> victims;
  {
    MutexLock lock(state_.mutex);
    for (std::uint64_t found = 0; found < bytes;) {
      const StoreIndex::Entry* victim = state_.index.victim(state_.clock.wall());
      if (victim == nullptr) break;
      if (victim->last_hit > newer_than) {
        if (victims.empty()) refusal = Refusal::kOlderThanAll;
        break;
      }
      found += victim->bytes;
      victims.push_back(*victim);
      state_.index.erase(victims.back().key);  // not found from here on, so no new read begins
    }
  }
  if (victims.empty()) return false;
  const Status committed = in_transaction([&]() -> Status {
    for (const StoreIndex::Entry& victim : victims) RETURN_IF_ERROR(catalog_->remove_block(victim.at));
    return {};
  });
  if (committed.ok()) {
    for (const StoreIndex::Entry& victim : victims) room_->give_back(victim.at);
  } else {
    refusal = Refusal::kCommitFailed;  // the extents stay taken until the next open reclaims or lists them
  }
  {
    MutexLock lock(state_.mutex);
    for (const StoreIndex::Entry& victim : victims) {
      StoreEvent event;
      event.kind = StoreEvent::Kind::kEvicted;
      event.scope = victim.scope;
      event.key = victim.key;
      event.bytes = victim.bytes;
      state_.tell(std::move(event), 0);
    }
  }
  state_.wake();
  return committed.ok();
}

// After the limits changed: gives room back until they hold or nothing may go any more.
void StoreWriter::keep_limits() {
  {
    MutexLock lock(state_.mutex);
    state_.index.ram().set_cap(state_.limits.ram_bytes);
  }
  drop_ram();
  const ScopeTag nobody{};
  for (;;) {
    std::uint64_t cap = 0;
    {
      MutexLock lock(state_.mutex);
      cap = state_.limits.cap_bytes;
    }
    std::uint64_t taken = room_->real_bytes() + catalog_->allocated_bytes();
    if (taken <= cap) return;
    static_cast<void>(catalog_->checkpoint());  // the log counts too, and no eviction would shorten it
    taken = room_->real_bytes() + catalog_->allocated_bytes();
    if (taken <= cap) return;
    std::vector<std::uint32_t> removed;
    const std::uint64_t freed = room_->squeeze(nobody, 0, taken - cap, removed);
    forget_files(removed);
    if (freed > 0) continue;
    Refusal refusal = Refusal::kNone;
    if (!evict(std::min(taken - cap, kMostEvictedAtOnce), state_.clock.wall(), refusal)) return;
  }
}

void StoreWriter::forget_files(const std::vector<std::uint32_t>& segments) {
  if (segments.empty()) return;
  {
    MutexLock lock(state_.mutex);
    for (const std::uint32_t id : segments) state_.files.erase(id);
  }
  // A row that stays behind names a file that is not there: the next open drops it.
  static_cast<void>(in_transaction([&]() -> Status {
    for (const std::uint32_t id : segments) RETURN_IF_ERROR(catalog_->remove_segment(id));
    return {};
  }));
}

}  // namespace larder::storage
