// SPDX-License-Identifier: Apache-2.0
// Copies in memory of what lies on disk: when they are made, when they answer, and that nothing wrong comes from them.
#include <gtest/gtest.h>

#include "storage/sealed_block.h"
#include "tests/storage/memory_disk.h"
#include "tests/storage/store_rig.h"

namespace larder::storage {
namespace {

using test::block_of;
using test::config_in;
using test::key_of;
using test::MemoryDisk;
using test::scope_of;
using test::StoreRig;

const std::uint64_t kExtent = extent_bytes(4, 1024);  // of block_of's usual shape

StoreConfig config(std::uint64_t ram_bytes) {
  StoreConfig made = config_in("/store");
  made.limits.ram_bytes = ram_bytes;
  made.segment_bytes = 1u << 20;
  return made;
}

void set_ram(StoreRig& rig, std::uint64_t bytes) {
  StoreLimits limits = config(bytes).limits;
  rig.store().set_limits(limits);
  rig.flush();
}

// What left the pool, and what the store makes of it.
void leave_pool(StoreRig& rig, std::vector<BlockKey> keys, std::uint64_t scope = 1) {
  rig.store().keep_in_ram(scope_of(scope).id, std::move(keys));
  for (int looks = 0; looks < 8; ++looks) rig.flush();  // a long list is worked off in slices
}

bool in_ram(StoreRig& rig, std::uint64_t chain, std::uint64_t n, std::uint64_t scope = 1) {
  const BlockKey key = key_of(chain, n);
  return rig.store().in_ram(scope_of(scope).id, {&key, 1}).front();
}

void flip_a_byte_of_each_extent(MemoryDisk& disk) {
  const auto file = disk.open("/store/segments/00000001.seg", OpenAs::kExisting, true).value();
  std::vector<std::byte> page(kDiskAlign);
  for (std::uint64_t at = 4096; at < file->sizes()->length; at += kExtent) {
    ASSERT_TRUE(file->read(at, page).ok());
    page[2000] ^= std::byte{1};
    ASSERT_TRUE(file->write(at, page).ok());
  }
}

TEST(StoreRam, WhatIsWrittenIsKeptWhereThereIsRoomAndAnswersWithoutTheDisk) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(10 * kExtent)));
  for (std::uint64_t n = 0; n < 15; ++n) ASSERT_EQ(rig.put(block_of(n, 0)), Refusal::kNone);
  EXPECT_EQ(rig.store().counters().ram_blocks, 10u);
  EXPECT_EQ(rig.store().counters().ram_bytes, 10 * kExtent);
  for (std::uint64_t n = 0; n < 15; ++n) {
    const StoreRig::Read read = rig.get(block_of(n, 0));
    EXPECT_TRUE(read.right);
    EXPECT_EQ(read.from_ram, n < 10) << n;
  }
  const StoreCounters counters = rig.store().counters();
  EXPECT_EQ(counters.read_blocks, 15u);
  EXPECT_EQ(counters.ram_reads, 10u);
  EXPECT_EQ(counters.read_bytes, 5 * kExtent);
}

TEST(StoreRam, NothingIsKeptWithoutACap) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(0)));
  ASSERT_EQ(rig.put(block_of(1, 0)), Refusal::kNone);
  leave_pool(rig, {key_of(1, 0)});
  EXPECT_EQ(rig.store().counters().ram_blocks, 0u);
  EXPECT_FALSE(rig.get(block_of(1, 0)).from_ram);
}

TEST(StoreRam, WhatLeavesThePoolIsReadOnceAndTakesThePlaceOfWhatLeftItBefore) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(4 * kExtent)));
  for (std::uint64_t n = 0; n < 12; ++n) ASSERT_EQ(rig.put(block_of(n, 0)), Refusal::kNone);
  std::vector<BlockKey> keys;
  for (std::uint64_t n = 4; n < 12; ++n) keys.push_back(key_of(n, 0));
  leave_pool(rig, {keys.begin(), keys.begin() + 4});
  for (std::uint64_t n = 0; n < 12; ++n) EXPECT_EQ(in_ram(rig, n, 0), n >= 4 && n < 8) << n;
  leave_pool(rig, {keys.begin() + 4, keys.end()});
  for (std::uint64_t n = 0; n < 12; ++n) EXPECT_EQ(in_ram(rig, n, 0), n >= 8) << n;
  EXPECT_EQ(rig.store().counters().ram_bytes, 4 * kExtent);
  for (std::uint64_t n = 0; n < 12; ++n) {
    const StoreRig::Read read = rig.get(block_of(n, 0));
    EXPECT_TRUE(read.right);
    EXPECT_EQ(read.from_ram, n >= 8);
  }
  EXPECT_FALSE(in_ram(rig, 11, 0, 2)) << "a scope that the store does not know";
}

// The cap reaches the writer before what left the pool after it does.
TEST(StoreRam, WhatLeavesThePoolRightAfterACapWasSetIsKept) {
  for (int round = 0; round < 20; ++round) {
    MemoryDisk disk;
    StoreRig rig(disk);
    ASSERT_TRUE(rig.open(config(0)));
    ASSERT_EQ(rig.put(block_of(1, 0)), Refusal::kNone);
    rig.store().set_limits(config(4 * kExtent).limits);
    leave_pool(rig, {key_of(1, 0)});
    ASSERT_TRUE(in_ram(rig, 1, 0)) << round;
  }
}

TEST(StoreRam, TheCapChangesLive) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(0)));
  std::vector<BlockKey> keys;
  for (std::uint64_t n = 0; n < 20; ++n) {
    ASSERT_EQ(rig.put(block_of(n, 0)), Refusal::kNone);
    keys.push_back(key_of(n, 0));
  }
  set_ram(rig, 64 * kExtent);
  leave_pool(rig, keys);
  EXPECT_EQ(rig.store().counters().ram_blocks, 20u);
  set_ram(rig, 3 * kExtent);
  EXPECT_EQ(rig.store().counters().ram_blocks, 3u);
  set_ram(rig, 0);
  EXPECT_EQ(rig.store().counters().ram_bytes, 0u);
  for (std::uint64_t n = 0; n < 20; ++n) EXPECT_TRUE(rig.get(block_of(n, 0)).right);
}

TEST(StoreRam, ACopyThatDoesNotHoldIsDroppedAndTheDiskAnswers) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(0)));
  for (std::uint64_t n = 0; n < 3; ++n) ASSERT_EQ(rig.put(block_of(n, 0)), Refusal::kNone);
  set_ram(rig, 64 * kExtent);
  flip_a_byte_of_each_extent(disk);
  leave_pool(rig, {key_of(0, 0), key_of(1, 0), key_of(2, 0)});
  ASSERT_EQ(rig.store().counters().ram_blocks, 3u);
  flip_a_byte_of_each_extent(disk);  // back to what was written
  for (std::uint64_t n = 0; n < 3; ++n) {
    const StoreRig::Read read = rig.get(block_of(n, 0));
    EXPECT_TRUE(read.right);
    EXPECT_FALSE(read.from_ram);
  }
  const StoreCounters counters = rig.store().counters();
  EXPECT_EQ(counters.ram_damaged, 3u);
  EXPECT_EQ(counters.damaged_blocks, 0u);
  EXPECT_EQ(counters.ram_blocks, 0u);
  EXPECT_EQ(counters.blocks, 3u);
}

TEST(StoreRam, WhereTheDiskIsDamagedTooTheBlockIsMissed) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(0)));
  ASSERT_EQ(rig.put(block_of(0, 0)), Refusal::kNone);
  set_ram(rig, 64 * kExtent);
  flip_a_byte_of_each_extent(disk);
  leave_pool(rig, {key_of(0, 0)});
  const StoreRig::Read read = rig.get(block_of(0, 0));
  EXPECT_TRUE(is_damage(read.miss));
  EXPECT_TRUE(read.zero);
  EXPECT_EQ(rig.get(block_of(0, 0)).miss, Miss::kNotStored);
}

TEST(StoreRam, AnotherBlockThanWasAskedForIsAMissFromMemoryAsFromDisk) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(64 * kExtent)));
  ASSERT_EQ(rig.put(block_of(0, 0)), Refusal::kNone);
  ASSERT_TRUE(in_ram(rig, 0, 0));
  StoredBlock wrong = block_of(0, 0);
  wrong.tokens[3] += 1;
  const StoreRig::Read read = rig.get(wrong);
  EXPECT_EQ(read.miss, Miss::kWrongTokens);
  EXPECT_TRUE(read.zero);
  EXPECT_TRUE(rig.get(block_of(0, 0)).from_ram);
}

TEST(StoreRam, CopiesGoWithTheirBlocks) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(64 * kExtent), 2));
  for (std::uint64_t n = 0; n < 6; ++n) ASSERT_EQ(rig.put(block_of(1, n)), Refusal::kNone);
  for (std::uint64_t n = 0; n < 6; ++n) ASSERT_EQ(rig.put(block_of(2, n, 4, 1024, 2)), Refusal::kNone);
  ASSERT_EQ(rig.store().counters().ram_blocks, 12u);
  const std::uint64_t removing = rig.ticket();
  ASSERT_TRUE(rig.store().remove(scope_of(1).id, {key_of(1, 5), key_of(1, 4)}, removing));
  rig.wait({removing});
  EXPECT_EQ(rig.store().counters().ram_blocks, 10u);
  EXPECT_EQ(rig.get(block_of(1, 5)).miss, Miss::kNotStored);
  const std::uint64_t shredding = rig.ticket();
  rig.store().shred(scope_of(2).id, shredding);
  EXPECT_EQ(rig.get(block_of(2, 0, 4, 1024, 2)).miss, Miss::kScopeGone);
  EXPECT_FALSE(in_ram(rig, 2, 0, 2));
  rig.wait({shredding});
  for (int looks = 0; looks < 4; ++looks) rig.flush();
  EXPECT_EQ(rig.store().counters().ram_blocks, 4u);
}

TEST(StoreRam, ADiskThatFailsWhileCopyingLeavesTheBlockOnDisk) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(0)));
  ASSERT_EQ(rig.put(block_of(0, 0)), Refusal::kNone);
  set_ram(rig, 64 * kExtent);
  disk.fail(disk.calls() + 1, test::Fault::kError, false);
  rig.store().keep_in_ram(scope_of(1).id, {key_of(0, 0)});
  rig.flush();
  EXPECT_EQ(rig.store().counters().ram_blocks, 0u);
  EXPECT_EQ(rig.store().counters().failed_reads, 1u);
  EXPECT_TRUE(rig.get(block_of(0, 0)).right);
}

TEST(StoreRam, RandomUseIsAlwaysRightAndWithinTheCap) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config(8 * kExtent)));
  Rng rng(3);
  std::set<std::uint64_t> stored;
  std::uint64_t cap = 8;
  std::uint64_t from_ram = 0;
  std::uint64_t from_disk = 0;
  for (int step = 0; step < 3'000; ++step) {
    const std::uint64_t n = rng.below(40);
    switch (rng.below(8)) {
      case 0: {
        const Refusal refusal = rig.put(block_of(n, 0));
        ASSERT_EQ(refusal, stored.contains(n) ? Refusal::kAlreadyThere : Refusal::kNone);
        stored.insert(n);
        break;
      }
      case 1: {
        const std::uint64_t ticket = rig.ticket();
        ASSERT_TRUE(rig.store().remove(scope_of(1).id, {key_of(n, 0)}, ticket));
        rig.wait({ticket});
        stored.erase(n);
        break;
      }
      case 2:
        if (rng.below(4) == 0) set_ram(rig, (cap = rng.below(20)) * kExtent);
        break;
      case 3:
      case 4:
        rig.store().keep_in_ram(scope_of(1).id, {key_of(n, 0), key_of(rng.below(40), 0)});
        break;
      default: {
        const StoreRig::Read read = rig.get(block_of(n, 0));
        ASSERT_TRUE(StoreRig::honest(read));
        ASSERT_EQ(read.miss == Miss::kNone, stored.contains(n));
        if (read.miss == Miss::kNone) ++(read.from_ram ? from_ram : from_disk);
      }
    }
    const StoreCounters counters = rig.store().counters();
    ASSERT_LE(counters.ram_bytes, cap * kExtent);
    ASSERT_LE(counters.ram_blocks, counters.blocks);
  }
  EXPECT_GT(from_ram, 100u);
  EXPECT_GT(from_disk, 100u);
  EXPECT_EQ(rig.store().counters().ram_reads, from_ram);
}

}  // namespace
}  // namespace larder::storage
