// SPDX-License-Identifier: Apache-2.0
#include "storage/store_state.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <new>
#include <unordered_set>

namespace larder::storage {

void StoreState::reserve_events(std::size_t more) {
  const std::size_t needed = events.size() + expected + more;
  if (events.capacity() < needed) events.reserve(std::max(needed, 2 * events.capacity()));
}

void StoreState::ask(WriteTask task, std::size_t answers) {
  reserve_events(answers);
  writes.push_back(std::move(task));
  expected += answers;
}

void StoreState::tell(StoreEvent event, std::size_t promised) {
  expected -= promised;
  if (event.kind == StoreEvent::Kind::kRefused) ++counters.refused[static_cast<std::size_t>(event.refusal)];
  if (event.kind == StoreEvent::Kind::kMissed) ++counters.missed[static_cast<std::size_t>(event.miss)];
  if (event.kind == StoreEvent::Kind::kDurable) ++counters.stored_blocks;
  if (event.kind == StoreEvent::Kind::kEvicted) ++counters.evicted_blocks;
  if (event.kind == StoreEvent::Kind::kRead) {
    ++counters.read_blocks;
    counters.read_bytes += event.bytes;
    counters.ram_reads += event.from_ram ? 1 : 0;
  }
  events.push_back(std::move(event));
}

void StoreState::failed(const Error& error, std::uint64_t StoreCounters::*counter) {
  ++(counters.*counter);
  try {
    counters.last_failure = to_string(error);
  } catch (const std::bad_alloc&) {
    counters.last_failure = "out of memory";
  }
}

void StoreState::put_pinned_first() {
  const auto end = std::find_if(writes.begin(), writes.end(),
                                [](const WriteTask& task) { return !std::holds_alternative<PutTask>(task.work); });
  std::unordered_set<BlockKey, DigestHash> first;
  for (auto at = end; at != writes.begin();) {
    const StoredBlock& block = std::get<PutTask>((--at)->work).put.block;
    if (!block.pinned && !first.contains(block.key)) continue;
    first.insert(block.key);
    first.insert(block.parent);
  }
  std::stable_partition(writes.begin(), end, [&](const WriteTask& task) {
    return first.contains(std::get<PutTask>(task.work).put.block.key);
  });
}

Ticks thread_cpu_ns() {
  rusage used{};
  if (::getrusage(RUSAGE_THREAD, &used) != 0) return 0;
  const auto ns = [](const timeval& time) { return (Ticks{time.tv_sec} * 1'000'000 + time.tv_usec) * 1000; };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

void Rate::add(std::uint64_t bytes, Ticks worked) {
  constexpr Ticks kWindow = 2'000'000'000;
  bytes_ += bytes;
  worked_ += worked;
  while (worked_ > kWindow) {
    bytes_ /= 2;
    worked_ /= 2;
  }
}

void SharedRate::begin(Ticks now) {
  add(0, now);
  ++at_work_;
}

void SharedRate::add(std::uint64_t bytes, Ticks now) {
  rate_.add(bytes, at_work_ > 0 ? now - counted_until_ : 0);
  counted_until_ = now;
}

void SharedRate::end(Ticks now) {
  add(0, now);
  --at_work_;
}

const char* refusal_name(Refusal refusal) {
  static constexpr std::array<const char*, kRefusalKinds> kNames = {
      "none", "stopping", "frozen", "bypassed", "unknown_scope", "bad_shape", "already_there", "parent_missing",
      "source_corrupt", "no_codec", "not_finite", "not_earned", "write_budget", "over_cap", "keep_free",
      "older_than_all", "disk_full", "write_failed", "sync_failed", "commit_failed", "scope_gone"};
  return kNames[static_cast<std::size_t>(refusal)];
}

const char* miss_name(Miss miss) {
  static constexpr std::array<const char*, kMissKinds> kNames = {
      "none", "not_stored", "stopping", "bypassed", "unknown_scope", "scope_gone", "bad_shape", "no_codec",
      "read_failed", "wrong_identity", "wrong_parent", "wrong_position", "wrong_tokens", "wrong_scheme", "wrong_shape",
      "truncated", "format", "stale_generation", "wrong_extent", "not_authentic", "wrong_key", "slice_checksum"};
  return kNames[static_cast<std::size_t>(miss)];
}

}  // namespace larder::storage
