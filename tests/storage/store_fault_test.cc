// SPDX-License-Identifier: Apache-2.0
// The n-th call on files fails, for every n of a life, once or from then on: nothing crashes, nothing wrong is served,
// what was reported durable is there when the disk is well again, and writing goes on at once.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/storage/memory_disk.h"
#include "tests/storage/store_story.h"

namespace larder::storage {
namespace {

using test::config_in;
using test::Fault;
using test::MemoryDisk;
using test::StoreRig;
using test::StoreStory;

StoreConfig config() {
  StoreConfig made = config_in("/store");
  made.segment_bytes = 128u << 10;
  return made;
}

struct Outcome {
  int wrong = 0;
  std::uint64_t calls = 0;
};

// A life on a disk with the fault, then health, then the same store once more, then a restart.
Outcome live(std::uint64_t seed, std::uint64_t call, Fault fault, bool and_after) {
  MemoryDisk disk;
  StoreStory story(seed);
  Outcome outcome;
  disk.fail(call, fault, and_after);
  {
    StoreRig rig(disk);
    if (rig.open(config(), StoreStory::kScopes)) {
      outcome.wrong += story.live(rig, 12);
      disk.fail(0, Fault::kNone, false);
      // Well again: the next block is stored, without a restart.
      if (rig.put(test::block_of(50, 0)) != Refusal::kNone) ++outcome.wrong;
      if (!rig.get(test::block_of(50, 0)).right) ++outcome.wrong;
      outcome.wrong += story.live(rig, 4);
      story.take_evictions(rig);
      rig.close();
    }
  }
  outcome.calls = disk.calls();
  disk.fail(0, Fault::kNone, false);
  StoreRig rig(disk);
  if (!rig.open(config(), StoreStory::kScopes)) {
    std::printf("does not open: %s\n", rig.error().c_str());
    ++outcome.wrong;
    return outcome;
  }
  outcome.wrong += story.check(rig);
  if (rig.store().counters().bytes_on_disk != disk.used()) ++outcome.wrong;
  return outcome;
}

void every_call(const char* name, Fault fault, bool and_after, std::uint64_t step) {
  const Outcome control = live(3, 0, Fault::kNone, false);
  ASSERT_EQ(control.wrong, 0);
  ASSERT_GT(control.calls, 100u);
  int passed = 0;
  int failed = 0;
  for (std::uint64_t call = 1; call <= control.calls; call += step) {
    const Outcome outcome = live(3, call, fault, and_after);
    if (outcome.wrong != 0) std::printf("%s at call %d: %d wrong\n", name, static_cast<int>(call), outcome.wrong);
    outcome.wrong == 0 ? ++passed : ++failed;
  }
  std::printf("%s: %d passed, %d failed\n", name, passed, failed);
  EXPECT_EQ(failed, 0);
}

TEST(StoreFaults, ErrorAtEveryCall) { every_call("error at call n", Fault::kError, false, 1); }

TEST(StoreFaults, HalfDoneOrFailedSyncAtEveryCall) { every_call("half done at call n", Fault::kShort, false, 1); }

TEST(StoreFaults, DiskFullFromEveryCallOn) { every_call("disk full from call n on", Fault::kNoSpace, true, 2); }

TEST(StoreFaults, FailedSyncDropsTheBlocksAndClosesTheFile) {
  MemoryDisk disk;
  StoreRig rig(disk);
  ASSERT_TRUE(rig.open(config()));
  ASSERT_EQ(rig.put(test::block_of(1, 0)), Refusal::kNone);
  // A put makes these calls: the write, the sync, then the catalog's.
  disk.fail(disk.calls() + 2, Fault::kError, false);
  EXPECT_EQ(rig.put(test::block_of(1, 1)), Refusal::kSyncFailed);
  EXPECT_EQ(rig.get(test::block_of(1, 1)).miss, Miss::kNotStored);
  EXPECT_EQ(rig.put(test::block_of(1, 1)), Refusal::kNone);
  const StoreCounters counters = rig.store().counters();
  EXPECT_EQ(counters.segment_files, 2u);  // the first one takes no more
  EXPECT_EQ(counters.failed_writes, 1u);
  EXPECT_NE(counters.last_failure.find("input/output error"), std::string::npos);
  EXPECT_TRUE(rig.get(test::block_of(1, 0)).right);
  EXPECT_TRUE(rig.get(test::block_of(1, 1)).right);
}

TEST(StoreFaults, TierThatCannotWriteSaysWhyAtOpen) {
  MemoryDisk disk;
  {
    StoreRig rig(disk);
    ASSERT_TRUE(rig.open(config()));
  }
  disk.set_capacity(disk.used());
  StoreRig rig(disk);
  EXPECT_FALSE(rig.open(config()));
  EXPECT_NE(rig.error().find("no space left"), std::string::npos) << rig.error();
}

TEST(StoreFaults, FullDiskLeavesWhatIsThereAndGoesOnWhenThereIsRoom) {
  MemoryDisk disk(4u << 20);
  StoreRig rig(disk);
  StoreConfig small = config();
  ASSERT_TRUE(rig.open(std::move(small)));
  std::uint64_t stored = 0;
  Refusal refusal = Refusal::kNone;
  for (std::uint64_t n = 0; n < 300 && refusal == Refusal::kNone; ++n) {
    StoredBlock block = test::block_of(1, n);
    block.pinned = true;  // nothing may be evicted for it
    refusal = rig.put(block);
    if (refusal == Refusal::kNone) ++stored;
  }
  EXPECT_TRUE(refusal == Refusal::kDiskFull || refusal == Refusal::kKeepFree) << refusal_name(refusal);
  EXPECT_GT(stored, 50u);
  EXPECT_TRUE(rig.get(test::block_of(1, stored - 1)).right);
  disk.set_capacity(MemoryDisk::kEndless);
  EXPECT_EQ(rig.put(test::block_of(1, stored)), Refusal::kNone);
}

}  // namespace
}  // namespace larder::storage
