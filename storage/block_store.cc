// SPDX-License-Identifier: Apache-2.0
#include "storage/block_store.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "runtime/base/out_of_memory.h"
#include "storage/seal.h"
#include "storage/store_loader.h"
#include "storage/store_reader.h"
#include "storage/store_state.h"
#include "storage/store_writer.h"

namespace larder::storage {
namespace {

// What was queued since goes again unless it was kept: a call takes all of it or nothing.
template <typename Task>
class Queued {
 public:
  explicit Queued(std::deque<Task>& queue) : queue_(queue), size_(queue.size()) {}
  ~Queued() {
    while (queue_.size() > size_) queue_.pop_back();
  }
  Queued(const Queued&) = delete;
  Queued& operator=(const Queued&) = delete;
  void keep() { size_ = queue_.size(); }

 private:
  std::deque<Task>& queue_;
  std::size_t size_;
};

}  // namespace

class BlockStore::Core {
 public:
  Core(StoreConfig& config, Disk& disk, const Clock& clock, std::function<void()> wake)
      : state(config, disk, clock, std::move(wake)) {}
  ~Core() {
    {
      MutexLock lock(state.mutex);
      state.stopping = true;
    }
    for (CondVar& wanted : state.read_wanted) wanted.notify_all();
    state.write_wanted.notify_all();
    for (std::thread& thread : read_threads) {
      if (thread.joinable()) thread.join();
    }
    if (write_thread.joinable()) write_thread.join();
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void start(std::unique_ptr<StoreWriter> its_writer) {
    writer = std::move(its_writer);
    for (std::size_t i = 0; i < kReaders; ++i) readers[i] = std::make_unique<StoreReader>(state, i);
    for (std::size_t i = 0; i < kReaders; ++i) read_threads[i] = std::thread([this, i] { readers[i]->run(); });
    write_thread = std::thread([this] { writer->run(); });
  }

  template <typename Work>
  bool ask(std::uint64_t ticket, Work work) {
    {
      MutexLock lock(state.mutex);
      if (state.stopping || state.writes.size() >= 2 * state.queue_blocks) return false;
      state.ask({ticket, std::move(work)}, 1);
    }
    state.write_wanted.notify_one();
    return true;
  }

  StoreState state;
  std::unique_ptr<StoreWriter> writer;
  std::array<std::unique_ptr<StoreReader>, kReaders> readers;
  std::array<std::thread, kReaders> read_threads;
  std::thread write_thread;
};

BlockStore::BlockStore(std::unique_ptr<Core> core) : core_(std::move(core)) {}
BlockStore::~BlockStore() = default;

Result<std::unique_ptr<BlockStore>> BlockStore::open(StoreConfig config, std::vector<StoreScope> scopes, Disk& disk,
                                                     const Clock& clock, std::function<void()> wake) {
  Result<std::unique_ptr<BlockStore>> store = no_memory();
  static_cast<void>(had_memory([&] { store = open_with(config, scopes, disk, clock, std::move(wake)); }));
  for (StoreScope& scope : scopes) wipe(scope.secret);
  return store;
}

Result<std::unique_ptr<BlockStore>> BlockStore::open_with(StoreConfig& config, const std::vector<StoreScope>& scopes,
                                                          Disk& disk, const Clock& clock,
                                                          std::function<void()> wake) {
  auto core = std::make_unique<Core>(config, disk, clock, std::move(wake));
  StoreLoader loader(core->state, config, scopes);
  ASSIGN_OR_RETURN(std::unique_ptr<StoreWriter> writer, loader.load());
  core->start(std::move(writer));
  return std::unique_ptr<BlockStore>(new BlockStore(std::move(core)));
}

void BlockStore::add_scope(const StoreScope& scope) {
  Bytes<32> salt;
  random_bytes(salt);
  auto keys = std::make_shared<const ScopeKeys>(scope.id, scope.secret, salt);
  StoreState& state = core_->state;
  MutexLock lock(state.mutex);
  state.scopes.emplace(scope.id, std::move(keys));
  state.shredded.erase(scope.id);
}

std::size_t BlockStore::put(std::span<const PutBlock> blocks) {
  StoreState& state = core_->state;
  std::size_t taken = 0;
  {
    MutexLock lock(state.mutex);
    if (state.stopping) return 0;
    const Ticks now = state.clock.now();
    taken = std::min(blocks.size(), state.queue_blocks - std::min(state.queue_blocks, state.queued_puts));
    state.reserve_events(2 * taken);
    Queued queued(state.writes);
    for (const PutBlock& put : blocks.first(taken)) state.writes.push_back({put.ticket, PutTask{put, now}});
    queued.keep();
    state.expected += 2 * taken;
    state.queued_puts += taken;
    for (const PutBlock& put : blocks.first(taken)) state.queued_put_bytes += put.bytes.size();
  }
  if (taken > 0) state.write_wanted.notify_one();
  return taken;
}

std::size_t BlockStore::get(std::span<const GetBlock> blocks) {
  StoreState& state = core_->state;
  std::size_t taken = 0;
  bool help_wanted = false;
  {
    MutexLock lock(state.mutex);
    if (state.stopping) return 0;
    const Ticks now = state.clock.now();
    taken = std::min(blocks.size(), state.queue_blocks - std::min(state.queue_blocks, state.reads.size()));
    state.reserve_events(taken);
    Queued queued(state.reads);
    for (const GetBlock& get : blocks.first(taken)) state.reads.push_back({get, now});
    queued.keep();
    state.expected += taken;
    help_wanted = state.help_wanted;
  }
  if (taken > 0) state.read_wanted[0].notify_one();
  if (taken > 0 && help_wanted) state.read_wanted[1].notify_one();
  return taken;
}

bool BlockStore::remove(const ScopeId& scope, std::vector<BlockKey> keys, std::uint64_t ticket) {
  return core_->ask(ticket, RemoveTask{scope, std::move(keys)});
}

bool BlockStore::set_pinned(const ScopeId& scope, std::vector<BlockKey> keys, bool pinned, std::uint64_t ticket) {
  return core_->ask(ticket, PinTask{scope, std::move(keys), pinned});
}

bool BlockStore::put_record(StoredRecord record, std::uint64_t ticket) {
  if (record.bytes.size() > kMaxRecordBytes) return false;
  return core_->ask(ticket, RecordTask{std::move(record)});
}

bool BlockStore::remove_record(const ScopeId& scope, std::uint32_t kind, std::uint64_t id, std::uint64_t ticket) {
  return core_->ask(ticket, RemoveRecordTask{scope, kind, id});
}

bool BlockStore::list(std::optional<ScopeId> scope, std::optional<Digest256> identity, std::uint64_t ticket) {
  return core_->ask(ticket, ListTask{scope, identity});
}

bool BlockStore::flush(std::uint64_t ticket) {
  {
    MutexLock lock(core_->state.mutex);
    core_->state.put_pinned_first();
  }
  return core_->ask(ticket, FlushTask{});
}

void BlockStore::keep_in_ram(const ScopeId& scope, std::vector<BlockKey> keys) {
  StoreState& state = core_->state;
  {
    MutexLock lock(state.mutex);
    if (state.stopping || state.limits.ram_bytes == 0 || state.writes.size() >= 2 * state.queue_blocks) return;
    state.writes.push_back({0, KeepTask{scope, std::move(keys)}});
  }
  state.write_wanted.notify_one();
}

std::vector<bool> BlockStore::in_ram(const ScopeId& scope, std::span<const BlockKey> keys) const {
  std::vector<bool> there(keys.size());
  StoreState& state = core_->state;
  MutexLock lock(state.mutex);
  if (!state.scopes.contains(scope)) return there;
  for (std::size_t i = 0; i < keys.size(); ++i) there[i] = state.index.ram().find(keys[i]) != nullptr;
  return there;
}

std::vector<BlockKey> BlockStore::ram_keys() const {
  MutexLock lock(core_->state.mutex);
  return core_->state.index.ram().keys();
}

std::uint64_t BlockStore::ram_version() const {
  MutexLock lock(core_->state.mutex);
  return core_->state.index.ram().version();
}

void BlockStore::shred(const ScopeId& scope, std::uint64_t ticket) {
  StoreState& state = core_->state;
  {
    MutexLock lock(state.mutex);
    const auto found = state.scopes.find(scope);
    std::set<ScopeId> named{scope};
    state.reserve_events(1);
    if (found == state.scopes.end()) {
      StoreEvent nothing;
      nothing.kind = StoreEvent::Kind::kShredded;
      nothing.ticket = ticket;
      nothing.scope = scope;
      state.expected += 1;
      state.tell(std::move(nothing), 1);
    } else {
      state.writes.push_front({ticket, ShredTask{found->second}});
      state.expected += 1;
      state.scopes.erase(found);
      state.shredded.merge(named);
    }
  }
  state.write_wanted.notify_one();
  state.wake();
}

void BlockStore::set_limits(const StoreLimits& limits) {
  StoreState& state = core_->state;
  {
    MutexLock lock(state.mutex);
    state.writes.push_back({0, LimitsTask{}});
    state.limits = limits;
  }
  state.write_wanted.notify_one();
}

void BlockStore::set_mode(StoreMode mode) {
  MutexLock lock(core_->state.mutex);
  core_->state.mode = mode;
}

void BlockStore::drain(std::vector<StoreEvent>& out) {
  MutexLock lock(core_->state.mutex);
  std::vector<StoreEvent>& events = core_->state.events;
  if (out.empty()) {
    out.reserve(core_->state.expected);  // the next answers' room
    return out.swap(events);
  }
  out.reserve(out.size() + events.size());
  std::move(events.begin(), events.end(), std::back_inserter(out));
  events.clear();
}

StoreCounters BlockStore::counters() const {
  StoreState& state = core_->state;
  MutexLock lock(state.mutex);
  StoreCounters counters = state.counters;
  counters.read_bytes_per_s = state.disk_rate.per_s();
  counters.ram_bytes_per_s = state.ram_rate.per_s();
  counters.blocks = state.index.durable_blocks();
  counters.block_bytes = state.index.durable_bytes();
  counters.by_scheme = state.index.durable_by_scheme();
  counters.pinned_blocks = state.index.pinned_blocks();
  counters.ram_blocks = state.index.ram().blocks();
  counters.ram_bytes = state.index.ram().bytes();
  counters.ram_cap_bytes = state.limits.ram_bytes;
  counters.cpu_ns = state.reader_cpu_ns + state.writer_cpu_ns;
  counters.cap_bytes = state.limits.cap_bytes;
  counters.keep_free_bytes = state.limits.keep_free_bytes;
  counters.budget_bytes = state.limits.write_budget_bytes;
  counters.queued_puts = state.queued_puts;
  counters.queued_put_bytes = state.queued_put_bytes;
  counters.queued_gets = state.reads.size() + state.reads_in_work;
  std::optional<Ticks> oldest = state.oldest_in_work;
  for (auto at = state.writes.begin(); !oldest && at != state.writes.end(); ++at) {
    if (const auto* put = std::get_if<PutTask>(&at->work)) oldest = put->asked;
  }
  counters.lag_ms = oldest ? ms_between(*oldest, state.clock.now()) : 0;
  return counters;
}

}  // namespace larder::storage
