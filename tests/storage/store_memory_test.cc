// SPDX-License-Identifier: Apache-2.0
// Memory runs out once in the life of a store: every allocation of the writing and the reading thread, of the calls
// into the store and of its opening and closing fails, ours and those of SQLite and of the cipher library. After each
// the store is whole, goes on, survives a power cut and opens again; nothing wrong is served, nothing durable is lost,
// and every question has its one answer.
// LARDER_STORE_LIVES: about how many failures each campaign tries; 0: all.
#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>

#include "tests/storage/memory_disk.h"
#include "tests/storage/paused_disk.h"
#include "tests/storage/store_life.h"
#include "tests/storage/temp_folder.h"

namespace larder::storage {
namespace {

using larder::test::library_memory_runs_out;
using larder::test::MemoryKind;
using larder::test::MemoryPause;
using larder::test::MemorySeen;
using test::coded_block;
using test::exact_block;
using test::Fault;
using test::LifeBlock;
using test::MemoryDisk;
using test::PausedDisk;
using test::StoreLife;

constexpr const char* kWriter = "larder-writer";  // as store_writer.cc and store_reader.cc name their threads
constexpr const char* kReader = "larder-reader";
constexpr std::uint32_t kOddSlices = 5120;         // so that a block lies in a file of its own
constexpr std::uint32_t kLargeSlices = 96u << 10;  // more than a piece
constexpr std::uint64_t kTightCap = 400u << 10;    // less than the blocks of a life take
constexpr std::uint64_t kTightestCap = 200u << 10;
// The log's share alone is 2 MiB: no file may grow, and a put takes another block's room.
constexpr std::uint64_t kNoGrowth = (2u << 20) + (64u << 10);

sqlite3_mem_methods sqlite_memory;

void* sqlite_take(int bytes) { return library_memory_runs_out() ? nullptr : sqlite_memory.xMalloc(bytes); }
void* sqlite_change(void* old, int bytes) {
  return library_memory_runs_out() ? nullptr : sqlite_memory.xRealloc(old, bytes);
}
void* cipher_take(std::size_t bytes, const char*, int) {
  return library_memory_runs_out() ? nullptr : std::malloc(bytes);
}
void* cipher_change(void* old, std::size_t bytes, const char*, int) {
  return library_memory_runs_out() ? nullptr : std::realloc(old, bytes);
}
void cipher_give(void* old, const char*, int) { std::free(old); }

// Before either library is used first.
void hook_libraries() {
  static const bool hooked = [] {
    EXPECT_EQ(CRYPTO_set_mem_functions(cipher_take, cipher_change, cipher_give), 1);
    EXPECT_EQ(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory), SQLITE_OK);
    sqlite3_mem_methods failing = sqlite_memory;
    failing.xMalloc = sqlite_take;
    failing.xRealloc = sqlite_change;
    EXPECT_EQ(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
    return true;
  }();
  ASSERT_TRUE(hooked);
}

std::vector<LifeBlock> chain(std::uint64_t number, std::uint64_t from, std::uint64_t until, std::uint64_t scope = 1,
                             std::uint32_t slice_bytes = 1024) {
  std::vector<LifeBlock> blocks;
  for (std::uint64_t n = from; n < until; ++n) blocks.push_back(exact_block(number, n, scope, slice_bytes));
  return blocks;
}

LifeBlock damaged_block() { return exact_block(6, 0, 2, kOddSlices); }

// What lies there before anything fails; both threads have been at work.
void begin(StoreLife& life) {
  life.put(chain(1, 0, 4));
  life.put(chain(2, 0, 3, 2));
  life.put(chain(5, 0, 2, 3));
  life.put({coded_block(7, 0)});
  life.put(chain(8, 0, 1, 2, kLargeSlices));
  const std::set<std::string> before = life.segments();
  life.put({damaged_block()});
  for (const std::string& name : life.segments()) {
    if (!before.contains(name)) life.damage(damaged_block(), name);
  }
  life.put_record(1, {1});
  life.get(chain(1, 0, 1));
  life.flush();
}

// Everything that is asked of a store.
void live(StoreLife& life) {
  life.put(chain(1, 4, 13));
  life.put(chain(3, 0, 2, 1, 3072));
  life.put({coded_block(7, 1)});
  life.get({exact_block(1, 0), exact_block(1, 5), exact_block(3, 1, 1, 3072), coded_block(7, 0), coded_block(7, 1),
            exact_block(8, 0, 2, kLargeSlices), exact_block(50, 0)});
  life.get({damaged_block()});
  life.put({damaged_block()});
  life.get({damaged_block()});
  life.pin(exact_block(1, 2), true);
  life.put_record(2, std::vector<std::uint8_t>(300, 9));
  life.put_record(1, {4, 5});
  life.remove_record(1);
  life.list();
  life.remove({exact_block(2, 2, 2)});
  life.remove({exact_block(3, 1, 1, 3072), exact_block(3, 0, 1, 3072)});
  life.shred(3);
  life.add_scope(4);
  life.put(chain(9, 0, 2, 4));
  life.get(chain(9, 0, 2, 4));
  life.flush();
  life.limit(kTightCap);
  life.flush();
  life.limit(StoreLife::kWide);
  std::vector<LifeBlock> leaves;
  for (std::uint64_t number = 30; number < 45; ++number) leaves.push_back(exact_block(number, 0));
  life.put(leaves);
  life.limit(kNoGrowth);
  life.put(chain(10, 0, 12));
  life.limit(StoreLife::kWide);
  life.pin(exact_block(1, 2), false);
  life.pin(exact_block(1, 3), true);
  life.list();
  life.flush();
}

void print_faults(const std::vector<std::string>& faults, const char* when) {
  for (const std::string& fault : faults) ADD_FAILURE() << when << ": " << fault;
}

// After the failure, with memory again.
void finish(StoreLife& life, MemoryDisk& disk, std::uint64_t seed) {
  life.strict = true;
  life.check();
  life.go_on(20);
  life.check();
  print_faults(life.faults(), "in the same life");
  if (::testing::Test::HasFailure()) return;
  EXPECT_EQ(life.bytes_on_disk(), disk.used());
  const auto after = disk.after_power_cut(seed);
  StoreLife crashed(*after, life.ledger());
  crashed.strict = true;
  ASSERT_TRUE(crashed.open()) << crashed.error();
  crashed.check(true);
  print_faults(crashed.faults(), "after a power cut");
  life.empty();
  life.check();
  life.close();
  ASSERT_TRUE(life.open()) << life.error();
  life.check();
  life.go_on(21);
  print_faults(life.faults(), "after a restart");
  EXPECT_EQ(life.bytes_on_disk(), disk.used());
}

struct Failure {
  const char* thread = nullptr;  // null: the calling one
  MemoryKind kind = MemoryKind::kOurs;
  bool waits = false;  // nothing is refused: what memory ran out for is done when there is some
  std::uint64_t nth = 0;
  std::uint64_t burst = 1;

  void arm() const {
    if (thread == nullptr) larder::test::arm_memory(nth, burst, kind);
    if (thread != nullptr) larder::test::arm_memory_of(thread, nth, burst, kind);
  }
};

struct Outcome {
  MemorySeen seen;
  std::uint64_t refused = 0;
};

// A life in which memory runs out in the middle.
Outcome live_with(const Failure& failure) {
  const MemoryPause pause;
  MemoryDisk disk;
  PausedDisk paused(disk);
  StoreLife life(paused);
  EXPECT_TRUE(life.open()) << life.error();
  begin(life);
  life.strict = failure.nth == 0;
  failure.arm();
  live(life);
  Outcome outcome;
  outcome.seen = larder::test::disarm_memory();
  outcome.refused = life.refused();
  finish(life, disk, failure.nth);
  return outcome;
}

// One in which a scope's first file is made and grows.
Outcome grow_with(const Failure& failure) {
  const MemoryPause pause;
  MemoryDisk disk;
  PausedDisk paused(disk);
  StoreLife life(paused);
  EXPECT_TRUE(life.open()) << life.error();
  life.put(chain(2, 0, 1, 2));
  failure.arm();
  life.put(chain(1, 0, 1));
  Outcome outcome;
  outcome.seen = larder::test::disarm_memory();
  outcome.refused = life.refused();
  finish(life, disk, failure.nth);
  return outcome;
}

// One in which it runs out while the store is opened or closed.
Outcome open_with(const Failure& failure, MemoryDisk& filled, const StoreLife::Ledger& ledger) {
  const MemoryPause pause;
  const auto disk = filled.after_power_cut(failure.nth);
  PausedDisk paused(*disk);
  StoreLife life(paused, ledger);
  if (failure.kind == MemoryKind::kLibrary) {
    EXPECT_EQ(sqlite3_shutdown(), SQLITE_OK);  // it begins anew
  }
  failure.arm();
  const bool opened = life.open();
  if (opened) life.close();
  Outcome outcome;
  outcome.seen = larder::test::disarm_memory();
  if (!opened) {
    ++outcome.refused;
    EXPECT_NE(life.error().find("unavailable: out of memory"), std::string::npos) << life.error();
    EXPECT_GT(outcome.seen.failed, 0u);
  }
  EXPECT_TRUE(life.open()) << life.error();
  if (!::testing::Test::HasFailure()) finish(life, *disk, failure.nth);
  return outcome;
}

// The same in a folder in which nothing lies yet.
Outcome begin_with(const Failure& failure) {
  const MemoryPause pause;
  MemoryDisk disk;
  PausedDisk paused(disk);
  StoreLife life(paused);
  failure.arm();
  const bool opened = life.open();
  if (opened) life.close();
  Outcome outcome;
  outcome.seen = larder::test::disarm_memory();
  outcome.refused = opened ? 0 : 1;
  EXPECT_TRUE(life.open()) << life.error();
  life.strict = true;
  life.go_on(1);
  life.check();
  print_faults(life.faults(), "after a beginning");
  return outcome;
}

// One in which the writer finds a smaller cap when it begins.
Outcome shrink_with(const Failure& failure, MemoryDisk& filled, const StoreLife::Ledger& ledger) {
  const MemoryPause pause;
  const auto disk = filled.after_power_cut(failure.nth);
  PausedDisk paused(*disk);
  StoreLife life(paused, ledger);
  failure.arm();
  EXPECT_TRUE(life.open(kTightestCap)) << life.error();
  life.flush();
  Outcome outcome;
  outcome.seen = larder::test::disarm_memory();
  outcome.refused = life.refused();
  life.flush();
  EXPECT_LE(life.bytes_on_disk(), kTightestCap);
  life.limit(StoreLife::kWide);
  if (!::testing::Test::HasFailure()) finish(life, *disk, failure.nth);
  return outcome;
}

std::uint64_t lives() {
  const char* set = std::getenv("LARDER_STORE_LIVES");
  return set == nullptr ? 50 : std::strtoull(set, nullptr, 10);
}

template <typename Live>
void every_allocation(const char* what, Failure failure, Live live_one, std::uint64_t wanted = lives()) {
  hook_libraries();
  std::uint64_t all = 0;
  for (int warm = 0; warm < 2; ++warm) {  // the libraries' first use makes what stays
    failure.nth = 0;
    const Outcome control = live_one(failure);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "where nothing failed";
    all = control.seen.allocations;
  }
  ASSERT_GT(all, 0u);
  const std::uint64_t step = wanted == 0 ? 1 : std::max<std::uint64_t>(1, all / wanted);
  std::uint64_t runs = 0;
  std::uint64_t failed = 0;
  std::uint64_t refused = 0;
  for (failure.nth = 1; failure.nth <= all; failure.nth += failure.nth < 12 ? 1 : step, ++runs) {
    SCOPED_TRACE(std::string(what) + ", allocation " + std::to_string(failure.nth));
    failure.burst = runs % 4 == 3 ? 6 : 1;
    const Outcome outcome = live_one(failure);
    failed += outcome.seen.failed;
    refused += outcome.refused;
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  std::printf("%s: %llu lives, %llu failures at %llu allocations, %llu refusals, 0 wrong or lost\n", what,
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(failed),
              static_cast<unsigned long long>(all), static_cast<unsigned long long>(refused));
  EXPECT_GT(failed, runs / 2);
  EXPECT_TRUE(refused > 0 || failure.waits);
}

// A store that was used and closed.
struct Filled {
  MemoryDisk disk;
  StoreLife::Ledger ledger;

  Filled() {
    hook_libraries();
    const MemoryPause pause;
    StoreLife life(disk);
    EXPECT_TRUE(life.open()) << life.error();
    begin(life);
    live(life);
    life.put(chain(11, 0, 12));
    life.close();
    print_faults(life.faults(), "before");
    ledger = life.ledger();
    ledger.scopes.erase(4);  // nobody knows it any more: what is left of it is destroyed at open
    const ScopeId gone = test::scope_of(4).id;
    std::erase_if(ledger.blocks, [&](const auto& each) { return each.second.made.block.scope == gone; });
  }
};

TEST(StoreMemory, WriterRunsOutOnce) { every_allocation("writer", {kWriter}, live_with); }

TEST(StoreMemory, RoomThatGrowsIsGivenOutOnce) { every_allocation("growing", {kWriter}, grow_with, 0); }

TEST(StoreMemory, ReaderRunsOutOnce) { every_allocation("reader", {kReader}, live_with); }

TEST(StoreMemory, ACallRunsOutOnce) { every_allocation("calls", {}, live_with); }

TEST(StoreMemory, SqliteAndTheCipherRunOutOnceUnderTheWriter) {
  every_allocation("writer's libraries", {kWriter, MemoryKind::kLibrary}, live_with);
}

TEST(StoreMemory, TheCipherRunsOutOnceUnderTheReader) {
  every_allocation("reader's library", {kReader, MemoryKind::kLibrary}, live_with);
}

TEST(StoreMemory, OpeningRunsOutOnce) {
  Filled filled;
  every_allocation("opening", {},
                   [&](const Failure& failure) { return open_with(failure, filled.disk, filled.ledger); });
}

TEST(StoreMemory, OpeningAnEmptyFolderRunsOutOnce) { every_allocation("beginning", {}, begin_with, 0); }

TEST(StoreMemory, SqliteRunsOutOnceWhileItIsOpened) {
  Filled filled;
  every_allocation("SQLite opening", {nullptr, MemoryKind::kLibrary},
                   [&](const Failure& failure) { return open_with(failure, filled.disk, filled.ledger); });
}

TEST(StoreMemory, ASmallerCapIsKeptThoughMemoryRunsOutOnce) {
  Filled filled;
  for (const MemoryKind kind : {MemoryKind::kOurs, MemoryKind::kLibrary}) {
    every_allocation("a smaller cap", {kWriter, kind, true},
                     [&](const Failure& failure) { return shrink_with(failure, filled.disk, filled.ledger); });
  }
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

class StoreMemoryOnDisk : public ::testing::TestWithParam<IoPath> {};
INSTANTIATE_TEST_SUITE_P(Paths, StoreMemoryOnDisk, ::testing::Values(IoPath::kUring, IoPath::kThreads),
                         [](const auto& path) { return path.param == IoPath::kUring ? "Uring" : "Threads"; });

// The system's files and threads too: none is left open, and none is left running.
TEST_P(StoreMemoryOnDisk, OpeningRunsOutOnce) {
  hook_libraries();
  const auto disk = open_disk(GetParam());
  if (!disk.ok()) GTEST_SKIP() << to_string(disk.error());
  const test::TempFolder folder;
  StoreLife life(**disk, {}, folder.path());
  const MemoryPause pause;
  ASSERT_TRUE(life.open()) << life.error();
  begin(life);
  life.close();
  const std::size_t descriptors = open_descriptors();
  every_allocation("opening on a disk", {}, [&](const Failure& failure) {
    failure.arm();
    const bool opened = life.open();
    if (opened) life.close();
    Outcome outcome;
    outcome.seen = larder::test::disarm_memory();
    outcome.refused = opened ? 0 : 1;
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_TRUE(life.open()) << life.error();
    life.check();
    life.close();
    print_faults(life.faults(), "after an opening");
    return outcome;
  });
}

// A row that could not be deleted with its damaged block may not stand for the block that was put again.
TEST(StoreMemory, OfTwoRowsOfABlockTheNewerOneCounts) {
  hook_libraries();
  MemoryDisk disk;
  StoreLife life(disk);
  ASSERT_TRUE(life.open()) << life.error();
  begin(life);
  disk.fail(disk.calls() + 2, Fault::kError, true);  // the read is done, the commit is not
  life.get({damaged_block()});
  life.flush();
  disk.fail(0, Fault::kNone, false);
  life.strict = true;
  life.put({damaged_block()});
  life.check();
  life.close();
  ASSERT_TRUE(life.open()) << life.error();
  life.check();
  print_faults(life.faults(), "after a restart");
}

// The check of the catalog at open may not take a page that cannot be read for damage, and begin afresh.
TEST(StoreMemory, ADiskThatFailsWhileTheStoreIsOpenedLosesNothing) {
  Filled filled;
  const auto control = filled.disk.after_power_cut(1);
  const std::uint64_t before = control->calls();
  {
    StoreLife life(*control, filled.ledger);
    ASSERT_TRUE(life.open()) << life.error();
  }
  const std::uint64_t calls = control->calls() - before;
  ASSERT_GT(calls, 20u);
  for (std::uint64_t call = 2; call <= 2 * calls + 1; ++call) {
    SCOPED_TRACE(call);
    const auto disk = filled.disk.after_power_cut(1);
    StoreLife life(*disk, filled.ledger);
    disk->fail(disk->calls() + call / 2, Fault::kError, call % 2 == 1);  // once, or from there on
    if (life.open()) life.close();
    disk->fail(0, Fault::kNone, false);
    ASSERT_TRUE(life.open()) << life.error();
    life.strict = true;
    life.check();
    print_faults(life.faults(), "after the disk failed");
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace larder::storage
