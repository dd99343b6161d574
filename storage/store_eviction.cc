// SPDX-License-Identifier: Apache-2.0
// The half of StoreWriter that keeps the disk within its limits.
#include <algorithm>
#include <new>

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
  const Result<bool> evicted =
      evict(std::max(extent_bytes, std::min(cap / 32, kMostEvictedAtOnce)), newer_than, refusal);
  if (!evicted.ok()) refusal = Refusal::kCommitFailed;
  return evicted.ok() && *evicted;
}

// Leaves by the policy's order, until they free `bytes`. They cannot be read from here on, so that no new read begins,
// and each has room for its event. Where memory runs out after the first ones, those are all.
Result<std::vector<StoreIndex::Entry>> StoreWriter::choose_victims(std::uint64_t bytes, WallTime newer_than,
                                                                   Refusal& refusal) {
  std::vector<StoreIndex::Entry> victims;
  MutexLock lock(state_.mutex);
  for (std::uint64_t found = 0; found < bytes;) {
    StoreIndex::Entry* victim = state_.index.victim(state_.clock.wall());
    if (victim == nullptr) break;
    if (victim->last_hit > newer_than) {
      if (victims.empty()) refusal = Refusal::kOlderThanAll;
      break;
    }
    try {
      state_.reserve_events(1);
      victims.push_back(*victim);
    } catch (const std::bad_alloc&) {
      if (victims.empty()) return no_memory();
      break;
    }
    ++state_.expected;
    found += victim->bytes;
    state_.index.set_leaving(*victim, true);
  }
  return victims;
}

// Their rows could not be deleted.
void StoreWriter::let_stay(const std::vector<StoreIndex::Entry>& victims) {
  MutexLock lock(state_.mutex);
  state_.expected -= victims.size();
  for (const StoreIndex::Entry& victim : victims) {
    state_.index.set_leaving(*state_.index.find(victim.scope, victim.key), false);
  }
}

// Takes leaves until `bytes` are free, in one commit. False: nothing may go, and nothing went.
Result<bool> StoreWriter::evict(std::uint64_t bytes, WallTime newer_than, Refusal& refusal) {
  ASSIGN_OR_RETURN(const std::vector<StoreIndex::Entry> victims, choose_victims(bytes, newer_than, refusal));
  if (victims.empty()) return false;
  const Status committed = in_transaction([&]() -> Status {
    for (const StoreIndex::Entry& victim : victims) RETURN_IF_ERROR(catalog_->remove_block(victim.at));
    return {};
  });
  if (!committed.ok()) {
    let_stay(victims);
    return committed.error();
  }
  {
    MutexLock lock(state_.mutex);
    for (const StoreIndex::Entry& victim : victims) {
      room_->give_back(victim.at);
      state_.index.erase(victim.key);
      StoreEvent event;
      event.kind = StoreEvent::Kind::kEvicted;
      event.scope = victim.scope;
      event.key = victim.key;
      event.bytes = victim.bytes;
      state_.tell(std::move(event), 1);
    }
  }
  state_.wake();
  return true;
}

// After the limits changed: gives room back until they hold or nothing may go any more.
Status StoreWriter::keep_limits() {
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
    if (taken <= cap) return {};
    Status cut = catalog_->checkpoint();  // the log counts too, and no eviction would shorten it
    if (lacks_memory(cut)) return cut;
    taken = room_->real_bytes() + catalog_->allocated_bytes();
    if (taken <= cap) return {};
    std::vector<std::uint32_t> removed;
    const std::uint64_t freed = room_->squeeze(nobody, 0, taken - cap, removed);
    forget_files(removed);
    if (freed > 0) continue;
    Refusal refusal = Refusal::kNone;
    const WallTime now = state_.clock.wall();
    ASSIGN_OR_RETURN(const bool evicted, evict(std::min(taken - cap, kMostEvictedAtOnce), now, refusal));
    if (!evicted) return {};
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
