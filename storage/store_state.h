// SPDX-License-Identifier: Apache-2.0
// StoreState: what the callers, the reading threads and the writing one of a BlockStore share, under one mutex that is
// held for look-ups only, never over I/O, hashing or ciphers.
// Owns:     the queues, the index, the scopes' keys, the open segment files and the events that wait for their owner.
// Bounds:   reads and writes: queue_blocks each (tasks of the store itself come on top, one per damaged block).
// Threads:  any, under `mutex`.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "storage/block_store.h"
#include "storage/catalog_rows.h"
#include "storage/segment_file.h"
#include "storage/store_index.h"

namespace larder::storage {

// Two cores open what one disk reads. The first reader takes what waits, in order, until it has its hands full; then it
// wants help, and the second one takes tasks too until none waits.
inline constexpr std::size_t kReaders = 2;

struct ReadTask {
  GetBlock get;
  Ticks asked = 0;
};

struct PutTask {
  PutBlock put;
  Ticks asked = 0;
};
struct RemoveTask {
  ScopeId scope{};
  std::vector<BlockKey> keys;
};
struct PinTask {
  ScopeId scope{};
  std::vector<BlockKey> keys;
  bool pinned = false;
};
struct RecordTask {
  StoredRecord record;
};
struct RemoveRecordTask {
  ScopeId scope{};
  std::uint32_t kind = 0;
  std::uint64_t id = 0;
};
struct ListTask {
  std::optional<ScopeId> scope;
  std::optional<Digest256> identity;
};
struct FlushTask {};
struct KeepTask {  // what left the pool, a slice at a time
  ScopeId scope{};
  std::vector<BlockKey> keys;
};
struct ShredTask {
  std::shared_ptr<const ScopeKeys> keys;
};
struct PurgeTask {  // rows and entries of a scope whose keys are gone, a slice at a time
  ScopeId scope{};
  std::vector<std::uint32_t> segments;
};
struct LimitsTask {};
struct DropTask {  // a damaged block that is out of the index already
  ScopeId scope{};
  BlockKey key{};
  ExtentId at;
};

struct WriteTask {
  std::uint64_t ticket = 0;
  std::variant<PutTask, RemoveTask, PinTask, RecordTask, RemoveRecordTask, ListTask, FlushTask, KeepTask, ShredTask,
               PurgeTask, LimitsTask, DropTask>
      work;
};

// Bytes per second over about the last two seconds of work.
class Rate {
 public:
  void add(std::uint64_t bytes, Ticks worked);
  double per_s() const { return worked_ > 0 ? static_cast<double>(bytes_) * 1e9 / static_cast<double>(worked_) : 0; }

 private:
  std::uint64_t bytes_ = 0;
  Ticks worked_ = 0;
};

// The same of what several do at once: the time in which at least one of them works counts once.
class SharedRate {
 public:
  void begin(Ticks now);
  void add(std::uint64_t bytes, Ticks now);
  void end(Ticks now);
  double per_s() const { return rate_.per_s(); }

 private:
  Rate rate_;
  int at_work_ = 0;
  Ticks counted_until_ = 0;
};

struct StoreState {
  StoreState(StoreConfig& config, Disk& its_disk, const Clock& its_clock, std::function<void()> its_wake)
      : disk(its_disk), clock(its_clock), wake(std::move(its_wake)), queue_blocks(config.queue_blocks),
        codec(config.codec), mode(config.mode), limits(config.limits), index(std::move(config.policy)) {}

  Disk& disk;
  const Clock& clock;
  const std::function<void()> wake;
  const std::size_t queue_blocks;
  const kernels::KvCodecKernels codec;

  mutable Mutex mutex;
  CondVar read_wanted[kReaders];  // by reader
  CondVar write_wanted;
  bool stopping GUARDED_BY(mutex) = false;
  StoreMode mode GUARDED_BY(mutex);
  StoreLimits limits GUARDED_BY(mutex);
  StoreIndex index GUARDED_BY(mutex);
  std::map<ScopeId, std::shared_ptr<const ScopeKeys>> scopes GUARDED_BY(mutex);
  std::set<ScopeId> shredded GUARDED_BY(mutex);  // scopes that were, so that their answers say so
  std::unordered_map<std::uint32_t, std::shared_ptr<SegmentFile>> files GUARDED_BY(mutex);
  std::deque<ReadTask> reads GUARDED_BY(mutex);
  std::deque<WriteTask> writes GUARDED_BY(mutex);
  std::size_t queued_puts GUARDED_BY(mutex) = 0;
  std::uint64_t queued_put_bytes GUARDED_BY(mutex) = 0;
  std::size_t reads_in_work GUARDED_BY(mutex) = 0;
  bool help_wanted GUARDED_BY(mutex) = false;  // by the first reader
  SharedRate disk_rate GUARDED_BY(mutex);
  SharedRate ram_rate GUARDED_BY(mutex);
  std::optional<Ticks> oldest_in_work GUARDED_BY(mutex);  // of the puts at hand
  std::vector<StoreEvent> events GUARDED_BY(mutex);
  StoreCounters counters GUARDED_BY(mutex);  // what is not counted elsewhere
  Ticks reader_cpu_ns GUARDED_BY(mutex) = 0;  // of all of them
  Ticks writer_cpu_ns GUARDED_BY(mutex) = 0;
  // What a listing that failed answers: nobody has to look whether there is one.
  const std::shared_ptr<const StoreListing> no_listing = std::make_shared<const StoreListing>();
  std::size_t expected GUARDED_BY(mutex) = 0;  // events that there is room for beyond those

  // Queues an event and counts it; it is worth `promised` of those expected, so that it needs no memory. Call wake()
  // after the mutex is given back.
  void tell(StoreEvent event, std::size_t promised) REQUIRES(mutex);
  // Room for so many events beyond those that are expected: first this, then what is taken, then `expected` grows.
  void reserve_events(std::size_t more) REQUIRES(mutex);
  // A task for the writer and room for its answers, or neither.
  void ask(WriteTask task, std::size_t answers) REQUIRES(mutex);
  // Before a clean stop: pinned blocks and what they hang on come first; the rest keeps its order.
  void put_pinned_first() REQUIRES(mutex);
  void failed(const Error& error, std::uint64_t StoreCounters::*counter) REQUIRES(mutex);
};

// Processor time of the calling thread.
Ticks thread_cpu_ns();

}  // namespace larder::storage
