// SPDX-License-Identifier: Apache-2.0
// How fast sealed blocks come back from disk, against a plain O_DIRECT reader of the same file in the same run.
//   store_bench FOLDER [MiB] [rounds] [threads] [xchacha] [ram] [shred]
// Prints how fast one core opens and proves a block that lies in memory, the rate of both readers, their ratio, and the
// processor time that opening and proving took. FOLDER is made, filled and left to the caller to remove. Writing is
// timed too: to durable, syncs and commits included. With `ram` all blocks have a copy in memory besides, and how fast
// they come from there is timed at last. With `shred` the scope of all those blocks is destroyed at the end: how long
// until nothing of it is answered, until its keys are overwritten on disk, and until its room is free.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "storage/block_store.h"
#include "storage/seal.h"
#include "storage/sealed_block.h"
#include "storage/segment_file.h"
#include "tests/storage/block_maker.h"

namespace {

using namespace larder;
using namespace larder::storage;

constexpr std::uint32_t kSlices = 90;         // SmolLM2-135M: 30 layers, 3 KV heads
constexpr std::uint32_t kSliceBytes = 8192;   // K and V of 32 tokens, 64 wide, f16
constexpr std::size_t kAtOnce = 24;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

class Waiter {
 public:
  void wake() {
    MutexLock lock(mutex_);
    woken_ = true;
    arrived_.notify_all();
  }
  void wait() {
    MutexLock lock(mutex_);
    while (!woken_) arrived_.wait(mutex_);
    woken_ = false;
  }

 private:
  Mutex mutex_;
  CondVar arrived_;
  bool woken_ GUARDED_BY(mutex_) = false;
};

StoredBlock block(std::uint64_t n) { return test::block_of(1 + n / 64, n % 64, kSlices, kSliceBytes); }

void write_all(BlockStore& store, Waiter& waiter, std::uint64_t count) {
  const auto payload = test::payload_of(block(0));
  std::vector<StoreEvent> events;
  std::uint64_t asked = 0;
  for (std::uint64_t durable = 0; durable < count;) {
    while (asked < count && asked < durable + 256) {
      const PutBlock put{block(asked), payload, 0, true, asked};
      if (store.put({&put, 1}) == 0) break;
      ++asked;
    }
    events.clear();
    store.drain(events);
    for (const StoreEvent& event : events) {
      if (event.kind == StoreEvent::Kind::kRefused) std::printf("refused: %s\n", refusal_name(event.refusal));
      durable += event.kind == StoreEvent::Kind::kDurable || event.kind == StoreEvent::Kind::kRefused ? 1 : 0;
    }
    if (durable < count && events.empty()) waiter.wait();
  }
}

std::uint64_t read_store(BlockStore& store, Waiter& waiter, std::uint64_t count,
                         std::vector<std::vector<std::byte>>& buffers, bool from_disk) {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < kAtOnce; ++i) free.push_back(i);
  std::vector<StoreEvent> events;
  std::uint64_t asked = 0;
  std::uint64_t bytes = 0;
  for (std::uint64_t done = 0; done < count;) {
    while (asked < count && !free.empty()) {
      const GetBlock get{block(asked), buffers[free.back()], free.back(), {}, from_disk};
      if (store.get({&get, 1}) == 0) break;
      free.pop_back();
      ++asked;
    }
    events.clear();
    store.drain(events);
    for (const StoreEvent& event : events) {
      if (event.kind != StoreEvent::Kind::kRead && event.kind != StoreEvent::Kind::kMissed) continue;
      if (event.kind == StoreEvent::Kind::kMissed) std::printf("missed: %s\n", miss_name(event.miss));
      free.push_back(static_cast<std::size_t>(event.ticket));
      bytes += event.bytes;
      ++done;
    }
    if (done < count && events.empty()) waiter.wait();
  }
  return bytes;
}

std::uint64_t read_plain(Disk& disk, const std::string& folder) {
  const auto queue = disk.make_queue(14);
  std::uint64_t bytes = 0;
  const auto names = disk.list(folder);
  for (const std::string& name : *names) {
    const auto file = disk.open(folder + "/" + name, OpenAs::kExisting, true).value();
    const std::uint64_t length = file->sizes()->length;
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < queue->pieces(); ++i) free.push_back(i);
    std::size_t in_flight = 0;
    for (std::uint64_t at = kSegmentHeader; at < length || in_flight > 0;) {
      while (at < length && !free.empty()) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kStagingPiece, length - at));
        queue->submit({DiskOp::Kind::kRead, file.get(), at, free.back(), size, free.back()});
        free.pop_back();
        at += size;
        ++in_flight;
      }
      const DiskDone done = queue->wait();
      free.push_back(static_cast<std::size_t>(done.tag));
      bytes += done.bytes;
      --in_flight;
    }
  }
  return bytes;
}

// Blocks of a destroyed scope that are still answered: none may be.
std::uint64_t answered(BlockStore& store, Waiter& waiter, std::uint64_t count, std::vector<std::byte>& buffer) {
  std::uint64_t read = 0;
  std::vector<StoreEvent> events;
  for (std::uint64_t n = 0; n < count; n += count / 64 + 1) {
    const GetBlock get{block(n), buffer, n};
    if (store.get({&get, 1}) == 0) continue;
    for (bool done = false; !done;) {
      events.clear();
      store.drain(events);
      for (const StoreEvent& event : events) {
        read += event.kind == StoreEvent::Kind::kRead ? 1 : 0;
        done = done || event.kind == StoreEvent::Kind::kRead || event.kind == StoreEvent::Kind::kMissed;
      }
      if (!done && events.empty()) waiter.wait();
    }
  }
  return read;
}

void wait_for(BlockStore& store, Waiter& waiter, StoreEvent::Kind kind, std::uint64_t ticket) {
  std::vector<StoreEvent> events;
  for (bool came = false; !came;) {
    events.clear();
    store.drain(events);
    for (const StoreEvent& event : events) {
      if (event.ticket != ticket || event.kind != kind) continue;
      came = true;
      if (!event.error.empty()) std::printf("the store says: %s\n", event.error.c_str());
    }
    if (!came && events.empty()) waiter.wait();
  }
}

void shred(BlockStore& store, Waiter& waiter, const Clock& clock, std::uint64_t count) {
  const std::uint64_t before = store.counters().bytes_on_disk;
  std::uint64_t ticket = count + 1;
  const Ticks began = clock.now();
  store.shred(test::scope_of(1).id, ticket);
  const double returned_ms = ms_between(began, clock.now());
  wait_for(store, waiter, StoreEvent::Kind::kShredded, ticket);
  const double keys_ms = ms_between(began, clock.now());
  std::vector<std::byte> buffer(kSlices * kSliceBytes);
  const std::uint64_t left = answered(store, waiter, count, buffer);
  while (store.counters().segment_files > 0) {  // each flush comes behind what the writer had to do
    if (store.flush(++ticket)) wait_for(store, waiter, StoreEvent::Kind::kFlushed, ticket);
  }
  std::printf("shred of %.2f GB: nothing is answered after %.1f ms, keys overwritten and synced after %.0f ms, room "
              "free after %.1f s; blocks still answered: %llu\n",
              static_cast<double>(before) * 1e-9, returned_ms, keys_ms, ms_between(began, clock.now()) * 1e-3,
              static_cast<unsigned long long>(left));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Of one core, from memory to memory.
double opening_mb_per_s(const Clock& clock, Cipher cipher) {
  constexpr int kBlocks = 200;
  const StoredBlock wanted = block(0);
  const auto payload = test::payload_of(wanted);
  SealKey secret;
  random_bytes(secret);
  const auto key = std::make_shared<const CipherKey>(cipher, secret);
  const ExtentPlace place{wanted.scope, format_word(cipher), 0, 1};
  BlockSealer sealer(key, place, wanted, payload);
  std::vector<std::byte> stored;
  std::vector<std::byte> piece(kStagingPiece);
  while (const std::size_t bytes = sealer.fill(piece)) {
    stored.insert(stored.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  std::vector<std::vector<std::byte>> buffers(kAtOnce, std::vector<std::byte>(payload.size()));
  std::vector<double> rates;
  for (int round = 0; round < 9; ++round) {
    const Ticks from = clock.now();
    for (int i = 0; i < kBlocks; ++i) {
      BlockOpener opener(key, place, wanted, buffers[static_cast<std::size_t>(i) % kAtOnce]);
      Miss miss = Miss::kNone;
      for (std::size_t at = 0; at < stored.size() && miss == Miss::kNone; at += kStagingPiece) {
        miss = opener.take(std::span(stored).subspan(at, std::min(kStagingPiece, stored.size() - at)));
      }
      if (miss == Miss::kNone) miss = opener.finish();
      if (miss != Miss::kNone) std::printf("missed: %s\n", miss_name(miss));
    }
    rates.push_back(static_cast<double>(kBlocks * stored.size()) * 1e-6 / (ms_between(from, clock.now()) * 1e-3));
  }
  return median(rates);
}

int run(const std::string& folder, std::uint64_t mebibytes, int rounds, IoPath path, CipherChoice cipher,
        bool in_ram, bool shreds) {
  const SystemClock clock;
  auto disk = open_disk(path);
  if (!disk.ok()) return std::printf("%s\n", to_string(disk.error()).c_str()), 1;
  StoreConfig config;
  config.folder = folder;
  config.limits.keep_free_bytes = 1;
  config.limits.write_budget_bytes = std::uint64_t{1} << 50;
  config.cipher = cipher;
  if (in_ram) config.limits.ram_bytes = 2 * (mebibytes << 20);
  Waiter waiter;
  auto store = BlockStore::open(std::move(config), {test::scope_of(1)}, **disk, clock, [&] { waiter.wake(); });
  if (!store.ok()) return std::printf("%s\n", to_string(store.error()).c_str()), 1;
  const std::uint64_t size = extent_bytes(kSlices, kSliceBytes);
  const std::uint64_t count = (mebibytes << 20) / size;
  const Ticks began = clock.now();
  write_all(**store, waiter, count);
  const double wrote_s = ms_between(began, clock.now()) * 1e-3;
  const StoreCounters counters = (*store)->counters();
  std::printf("%s, %s, %llu blocks of %llu bytes\n", counters.io_path.c_str(), counters.cipher.c_str(),
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(size));
  std::printf("one core opens and proves: %.0f MB/s\n",
              opening_mb_per_s(clock, cipher == CipherChoice::kXChaCha20 ? Cipher::kXChaCha20Poly1305
                                                                         : fastest_cipher()));
  std::printf("write to durable: %.0f MB/s\n", static_cast<double>(count * size) * 1e-6 / wrote_s);
  std::vector<std::vector<std::byte>> buffers(kAtOnce, std::vector<std::byte>(kSlices * kSliceBytes));
  std::vector<double> plain;
  std::vector<double> sealed;
  std::vector<double> ratio;
  std::vector<double> cpu;
  const auto time_plain = [&] {
    const Ticks from = clock.now();
    const std::uint64_t bytes = read_plain(**disk, folder + "/segments");
    plain.push_back(static_cast<double>(bytes) * 1e-6 / (ms_between(from, clock.now()) * 1e-3));
  };
  const auto time_sealed = [&] {
    const double cpu_before = cpu_seconds();
    const Ticks from = clock.now();
    const std::uint64_t bytes = read_store(**store, waiter, count, buffers, true);
    const double seconds = ms_between(from, clock.now()) * 1e-3;
    cpu.push_back((cpu_seconds() - cpu_before) / seconds);
    sealed.push_back(static_cast<double>(bytes) * 1e-6 / seconds);
  };
  for (int round = 0; round < rounds; ++round) {  // in turns first and second: disks have a memory
    if (round % 2 == 0) time_plain();
    time_sealed();
    if (round % 2 == 1) time_plain();
    ratio.push_back(sealed.back() / plain.back());
  }
  std::printf("plain O_DIRECT reader: %.0f MB/s; sealed restore: %.0f MB/s; ratio %.2f (medians of %d); "
              "%.2f cores while restoring\n",
              median(plain), median(sealed), median(ratio), rounds, median(cpu));
  if (in_ram) {
    const Ticks from = clock.now();
    read_store(**store, waiter, count, buffers, false);
    const double seconds = ms_between(from, clock.now()) * 1e-3;
    std::printf("copies in memory: %.0f MB/s, %llu of %llu blocks from there\n",
                static_cast<double>(count * size) * 1e-6 / seconds,
                static_cast<unsigned long long>((*store)->counters().ram_reads),
                static_cast<unsigned long long>(count));
  }
  if (shreds) shred(**store, waiter, clock, count);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::printf("store_bench FOLDER [MiB] [rounds] [threads] [xchacha] [ram] [shred]\n"), 2;
  const std::uint64_t mebibytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1024;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  IoPath path = IoPath::kProbe;
  CipherChoice cipher = CipherChoice::kFastest;
  bool shreds = false;
  bool in_ram = false;
  for (int i = 4; i < argc; ++i) {
    in_ram = in_ram || std::string(argv[i]) == "ram";
    shreds = shreds || std::string(argv[i]) == "shred";
    if (std::string(argv[i]) == "threads") path = IoPath::kThreads;
    if (std::string(argv[i]) == "xchacha") cipher = CipherChoice::kXChaCha20;
  }
  return run(argv[1], mebibytes, rounds, path, cipher, in_ram, shreds);
}
