// SPDX-License-Identifier: Apache-2.0
// What the disk tier may take: the cap in real bytes, the free floor, the write budget, and who leaves first. And how
// fast a large store is back.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

#include "tests/storage/memory_disk.h"
#include "tests/storage/store_rig.h"
#include "tests/storage/temp_folder.h"

namespace larder::storage {
namespace {

using test::block_of;
using test::config_in;
using test::MemoryDisk;
using test::scope_of;
using test::StoreRig;

constexpr std::uint64_t kDayMs = 86'400'000;

StoreConfig config(std::uint64_t cap) {
  StoreConfig made = config_in("/store");
  made.limits.cap_bytes = cap;
  made.segment_bytes = 1u << 20;
  return made;
}

TEST(StoreLimits, CapIsKeptInRealBytesWhateverIsWritten) {
  MemoryDisk disk;
  StoreRig rig(disk);
  constexpr std::uint64_t kCap = 5u << 20;
  ASSERT_TRUE(rig.open(config(kCap), 3));
  int passed = 0;
  int failed = 0;
  std::uint64_t most = 0;
  // Scopes and sizes take turns, so that room has to move between files.
  for (std::uint64_t round = 0; round < 9; ++round) {
    for (std::uint64_t n = 0; n < 150; ++n) {
      const std::uint32_t slice_bytes = round % 2 == 0 ? 1024 : 5120;
      const Refusal refusal = rig.put(block_of(100 * round + n / 10, n % 10, 4, slice_bytes, 1 + round % 3));
      most = std::max(most, disk.used());
      refusal == Refusal::kNone && disk.used() <= kCap + 24'576 ? ++passed : ++failed;
    }
  }
  std::printf("cap: %d passed, %d failed (at most %llu of %llu bytes)\n", passed, failed,
              static_cast<unsigned long long>(most), static_cast<unsigned long long>(kCap));
  EXPECT_EQ(failed, 0);
  EXPECT_GT(most, kCap / 2);  // control: the cap was near
  EXPECT_GT(rig.store().counters().evicted_blocks, 300u);
  EXPECT_EQ(rig.store().counters().bytes_on_disk, disk.used());
}

TEST(StoreLimits, SmallerCapEvictsAtOnceAndAlsoAfterARestart) {
  MemoryDisk disk;
  {
    StoreRig rig(disk);
    ASSERT_TRUE(rig.open(config(100u << 20)));
    for (std::uint64_t n = 0; n < 500; ++n) ASSERT_EQ(rig.put(block_of(n, 0)), Refusal::kNone);
    EXPECT_GT(disk.used(), 4u << 20);
    StoreLimits limits;
    limits.keep_free_bytes = 1;
    limits.cap_bytes = 4u << 20;
    rig.store().set_limits(limits);
    rig.flush();
    EXPECT_LE(disk.used(), 4u << 20);
    EXPECT_TRUE(rig.get(block_of(499, 0)).right);
    EXPECT_EQ(rig.get(block_of(0, 0)).miss, Miss::kNotStored);
    rig.close();
  }
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(2u << 20)));
  rig.flush();
  EXPECT_LE(disk.used(), 2u << 20);
  EXPECT_TRUE(rig.get(block_of(499, 0)).right);
}

TEST(StoreLimits, LeavesGoFirstOldestUseFirstAndPinsNever) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(3u << 20)));
  for (std::uint64_t n = 0; n < 4; ++n) ASSERT_EQ(rig.put(block_of(1, n)), Refusal::kNone);
  for (std::uint64_t n = 0; n < 4; ++n) ASSERT_EQ(rig.put(block_of(2, n)), Refusal::kNone);
  StoredBlock pinned = block_of(3, 0);
  pinned.pinned = true;
  ASSERT_EQ(rig.put(pinned), Refusal::kNone);
  ASSERT_TRUE(rig.get(block_of(1, 3)).right);  // chain 1 is younger now than chain 2
  std::vector<BlockKey> order;
  for (std::uint64_t n = 0; order.size() < 8 && n < 400; ++n) {
    ASSERT_EQ(rig.put(block_of(1000 + n, 0)), Refusal::kNone);
    for (const StoreEvent& event : rig.others()) {
      if (event.kind == StoreEvent::Kind::kEvicted) order.push_back(event.key);
    }
  }
  ASSERT_GE(order.size(), 4u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(order[i], block_of(2, 3 - i).key) << i;  // from the end of the chain
  EXPECT_TRUE(rig.get(pinned).right);
}

TEST(StoreLimits, UseIsRememberedOverARestart) {
  MemoryDisk disk;
  {
    StoreRig rig(disk);
    ASSERT_TRUE(rig.open(config(3u << 20)));
    ASSERT_EQ(rig.put(block_of(1, 0)), Refusal::kNone);
    rig.clock().advance_ns(1'000'000'000);
    ASSERT_EQ(rig.put(block_of(2, 0)), Refusal::kNone);
    rig.clock().advance_ns(1'000'000'000);
    ASSERT_TRUE(rig.get(block_of(1, 0)).right);
    rig.flush();
    rig.close();
  }
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(3u << 20)));
  rig.clock().advance_ns(10'000'000'000);
  std::vector<BlockKey> order;
  for (std::uint64_t n = 0; order.empty() && n < 400; ++n) {
    ASSERT_EQ(rig.put(block_of(1000 + n, 0)), Refusal::kNone);
    for (const StoreEvent& event : rig.others()) {
      if (event.kind == StoreEvent::Kind::kEvicted) order.push_back(event.key);
    }
  }
  ASSERT_FALSE(order.empty());
  EXPECT_EQ(order[0], block_of(2, 0).key);
}

TEST(StoreLimits, BlockOlderThanEverythingStoredIsNotWorthAnEviction) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(3u << 20)));
  rig.clock().advance_ns(5'000'000'000);
  Refusal refusal = Refusal::kNone;
  for (std::uint64_t n = 0; n < 400 && refusal == Refusal::kNone; ++n) {
    StoredBlock old = block_of(1000 + n, 0);
    old.last_use = rig.clock().wall() - static_cast<WallTime>(n);  // each older than all before
    refusal = rig.put(old);
  }
  EXPECT_EQ(refusal, Refusal::kOlderThanAll);
  EXPECT_EQ(rig.put(block_of(1, 0)), Refusal::kNone);
}

TEST(StoreLimits, FreeFloorIsNeverCrossed) {
  constexpr std::uint64_t kDisk = 12u << 20;
  constexpr std::uint64_t kFloor = 6u << 20;
  MemoryDisk disk(kDisk);
  StoreRig rig(disk);
  StoreConfig made = config(std::uint64_t{1} << 40);
  made.limits.keep_free_bytes = kFloor;
  ASSERT_TRUE(rig.open(std::move(made)));
  for (std::uint64_t n = 0; n < 800; ++n) {
    ASSERT_EQ(rig.put(block_of(n, 0)), Refusal::kNone);
    ASSERT_LE(disk.used(), kDisk - kFloor);
  }
  EXPECT_GT(rig.store().counters().evicted_blocks, 100u);
  // Nothing that may go: the floor is named.
  StoreRig other(disk);
  rig.close();
  StoreConfig tight = config(std::uint64_t{1} << 40);
  tight.limits.keep_free_bytes = kDisk;
  ASSERT_TRUE(other.open(std::move(tight), 2));
  Refusal refusal = Refusal::kNone;
  for (std::uint64_t n = 0; n < 2000 && refusal == Refusal::kNone; ++n) {
    StoredBlock block = block_of(5000 + n, 0);
    block.pinned = true;
    refusal = other.put(block);
  }
  EXPECT_EQ(refusal, Refusal::kKeepFree);
}

TEST(StoreLimits, WriteBudgetHoldsForADayAndItsUpperHalfHasToBeEarned) {
  MemoryDisk disk;
  StoreConfig made = config(std::uint64_t{1} << 40);
  made.limits.write_budget_bytes = 10 * 8192;
  {
    StoreRig rig(disk);
    ASSERT_TRUE(rig.open(std::move(made)));
    for (std::uint64_t n = 0; n < 5; ++n) EXPECT_EQ(rig.put(block_of(1, n), false), Refusal::kNone);
    EXPECT_EQ(rig.put(block_of(1, 5), false), Refusal::kNotEarned);
    for (std::uint64_t n = 5; n < 8; ++n) EXPECT_EQ(rig.put(block_of(1, n), true), Refusal::kNone);
    rig.close();
  }
  StoreRig rig(disk);
  StoreConfig again = config(std::uint64_t{1} << 40);
  again.limits.write_budget_bytes = 10 * 8192;
  ASSERT_TRUE(rig.open(std::move(again)));
  EXPECT_EQ(rig.store().counters().budget_spent, 8u * 8192);  // a restart is no new day
  EXPECT_EQ(rig.put(block_of(1, 8)), Refusal::kNone);
  EXPECT_EQ(rig.put(block_of(1, 9)), Refusal::kNone);
  EXPECT_EQ(rig.put(block_of(1, 10)), Refusal::kWriteBudget);
  rig.clock().advance_ns(static_cast<Ticks>(kDayMs) * 1'000'000);
  EXPECT_EQ(rig.put(block_of(1, 10), false), Refusal::kNone);
}

TEST(StoreLimits, PinnedBlocksAndWhatTheyHangOnAreFlushedFirst) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(std::uint64_t{1} << 40)));
  // The first block keeps the writer at work while the others queue up.
  std::vector<std::byte> big(2048u * 65'536u);
  StoredBlock first = block_of(9, 0, 2048, 65'536);
  std::vector<PutBlock> puts{{first, big, 0, true, 900}};
  std::vector<std::vector<std::byte>> memory;
  for (std::uint64_t n = 0; n < 40; ++n) {
    StoredBlock block = block_of(1 + n % 2, n / 2);
    block.pinned = block.key == block_of(2, 10).key;
    memory.push_back(test::payload_of(block));
    puts.push_back({block, memory.back(), 0, true, 1000 + n});
  }
  ASSERT_EQ(rig.store().put(puts), puts.size());
  rig.flush();
  std::vector<std::uint64_t> durable;
  for (const StoreEvent& event : rig.others()) {
    if (event.kind == StoreEvent::Kind::kDurable && event.ticket >= 1000) durable.push_back(event.ticket);
  }
  ASSERT_EQ(durable.size(), 40u);
  // Either the writer had taken all of them already, in order, or the pinned chain came before the rest.
  const bool as_asked = std::is_sorted(durable.begin(), durable.end());
  for (std::uint64_t i = 0; i < 11 && !as_asked; ++i) EXPECT_EQ(durable[i], 1000 + 2 * i + 1);
}

// LARDER_STORED_BLOCKS: how many; the night's run asks for 100,000.
TEST(StoreLimits, ManyBlocksAreBackInTime) {
  const test::TempFolder folder;
  const auto disk = open_disk(IoPath::kProbe).value();
  const char* text = std::getenv("LARDER_STORED_BLOCKS");
  const std::uint64_t count = text == nullptr ? 10'000 : std::strtoull(text, nullptr, 10);
  {
    StoreRig rig(*disk);
    ASSERT_TRUE(rig.open(config_in(folder.path())));
    for (std::uint64_t from = 0; from < count; from += 2'000) {
      std::vector<StoredBlock> some;
      for (std::uint64_t n = from; n < from + 2'000; ++n) some.push_back(block_of(n / 100, n % 100, 1, 64));
      ASSERT_EQ(rig.put_all(some), some.size());
    }
    rig.flush();
    rig.close();
  }
  StoreRig rig(*disk);
  const SystemClock clock;
  const Ticks began = clock.now();
  ASSERT_TRUE(rig.open(config_in(folder.path())));
  const Ticks opened = clock.now();
  const auto listing = rig.list();
  const Ticks listed = clock.now();
  EXPECT_EQ(listing->blocks.size(), count);
  std::printf("%d blocks: open %.0f ms, list %.0f ms\n", static_cast<int>(count), ms_between(began, opened),
              ms_between(opened, listed));
  // The goal is 2 s for 100,000 on an idle machine; here only that it is no multiple of it: tests share the machine.
  EXPECT_LT(ms_between(began, listed), 8'000);
}

}  // namespace
}  // namespace larder::storage
