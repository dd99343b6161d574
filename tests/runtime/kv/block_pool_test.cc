// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/block_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/base/rng.h"

namespace larder::kv {
namespace {

constexpr SeqId kSeq{1};

TEST(BlockPool, ReleasedBlockIsReusedBeforeGrowth) {
  BlockPool pool(4);
  const BlockId first = *pool.allocate(kSeq);
  (void)*pool.allocate(kSeq);
  pool.release(first);
  EXPECT_EQ(*pool.allocate(kSeq), first);
}

TEST(BlockPool, AnswersNothingWhenAllAreTaken) {
  BlockPool pool(2);
  EXPECT_TRUE(pool.allocate(kSeq));
  EXPECT_TRUE(pool.allocate(kSeq));
  EXPECT_FALSE(pool.allocate(kSeq));
  EXPECT_FALSE(pool.begin_arrival());
}

TEST(BlockPool, PublishedBlockStaysWithoutHolderAndLeavesWithTheTree) {
  BlockPool pool(2);
  const BlockId block = *pool.allocate(kSeq);
  pool.set_valid_tokens(block, 5);
  pool.publish(block);
  pool.seal(block);
  pool.release(block);
  EXPECT_EQ(pool.counts().cached, 1u);
  pool.unpublish(block);
  EXPECT_EQ(pool.counts().free, 2u);
}

TEST(BlockPool, UnpublishedWhileHeldIsCondemnedUntilTheLastRelease) {
  BlockPool pool(2);
  const BlockId block = *pool.allocate(kSeq);
  pool.set_valid_tokens(block, 32);
  pool.publish(block);
  pool.seal(block);
  pool.hold(block);
  pool.unpublish(block);
  EXPECT_EQ(pool.residency(block), Residency::kCondemned);
  EXPECT_EQ(pool.counts().condemned, 1u);
  pool.release(block);
  EXPECT_EQ(pool.counts().free, 1u);
  pool.release(block);
  EXPECT_EQ(pool.counts().free, 2u);
}

TEST(BlockPool, ArrivingBlockIsUsableOnlyWhenVerified) {
  BlockPool pool(2);
  const BlockId good = *pool.begin_arrival();
  const BlockId bad = *pool.begin_arrival();
  EXPECT_EQ(pool.counts().arriving, 2u);
  EXPECT_DEATH(pool.hold(good), "kResident");
  pool.finish_arrival(good, 32, true);
  pool.finish_arrival(bad, 32, false);
  EXPECT_EQ(pool.counts().in_use, 1u);
  EXPECT_EQ(pool.counts().free, 1u);
  EXPECT_EQ(pool.counts(), pool.recount());
}

TEST(BlockPool, LeavingBlockComesBackOrGoes) {
  BlockPool pool(1);
  const BlockId block = *pool.allocate(kSeq);
  pool.set_valid_tokens(block, 32);
  pool.publish(block);
  pool.seal(block);
  pool.release(block);
  pool.begin_leaving(block);
  EXPECT_EQ(pool.counts().leaving, 1u);
  EXPECT_DEATH(pool.hold(block), "kResident");
  pool.finish_leaving(block, false);
  EXPECT_EQ(pool.counts().cached, 1u);
  pool.begin_leaving(block);
  pool.finish_leaving(block, true);
  EXPECT_EQ(pool.counts().free, 1u);
}

TEST(BlockPool, IllegalEdgesStopTheProgram) {
  BlockPool pool(2);
  const BlockId block = *pool.allocate(kSeq);
  EXPECT_DEATH(pool.seal(block), "valid");
  EXPECT_DEATH(pool.publish(block), "valid");
  EXPECT_DEATH(pool.unpublish(block), "published");
  EXPECT_DEATH(pool.set_valid_tokens(block, 33), "kBlockTokens");
  pool.set_valid_tokens(block, 8);
  EXPECT_DEATH(pool.set_valid_tokens(block, 7), "valid");
  pool.seal(block);
  EXPECT_DEATH(pool.set_valid_tokens(block, 9), "has_writer");
  EXPECT_DEATH(pool.release(BlockId{1}), "holders");
  EXPECT_DEATH(pool.hold(BlockId{1}), "kResident");
  EXPECT_DEATH(pool.begin_leaving(block), "holders");
  EXPECT_DEATH(pool.hold(BlockId{2}), "slots_.size");
}

TEST(BlockPool, ALowerLimitWithholdsFreeBlocksNowAndUsedOnesWhenTheyAreFreed) {
  BlockPool pool(4);
  const BlockId first = *pool.allocate(kSeq);
  const BlockId second = *pool.allocate(kSeq);
  const BlockId third = *pool.allocate(kSeq);
  pool.set_limit(2);
  EXPECT_EQ(pool.excess(), 1u);
  EXPECT_EQ(pool.counts().total, 3u);
  EXPECT_EQ(pool.counts().free, 0u);
  EXPECT_FALSE(pool.allocate(kSeq));
  EXPECT_FALSE(pool.begin_arrival());
  EXPECT_EQ(pool.take_withheld().size(), 1u);
  EXPECT_FALSE(pool.has_withheld());
  EXPECT_TRUE(pool.take_withheld().empty());
  pool.release(second);
  EXPECT_EQ(pool.take_withheld(), std::vector<BlockId>{second});
  EXPECT_EQ(pool.excess(), 0u);
  EXPECT_FALSE(pool.allocate(kSeq));
  pool.release(third);
  EXPECT_EQ(*pool.allocate(kSeq), third);
  EXPECT_EQ(pool.counts(), pool.recount());
  pool.release(first);
}

TEST(BlockPool, AHigherLimitBringsWithheldBlocksBackBeforeItMakesNewOnes) {
  BlockPool pool(3);
  pool.set_limit(1);
  pool.set_limit(2);
  EXPECT_EQ(pool.take_withheld().size(), 1u);
  EXPECT_EQ(pool.ids(), 3u);
  pool.set_limit(6);
  EXPECT_EQ(pool.ids(), 6u);
  EXPECT_EQ(pool.counts().free, 6u);
  EXPECT_EQ(pool.counts(), pool.recount());
  std::vector<std::uint32_t> given;
  while (const auto block = pool.allocate(kSeq)) given.push_back(block->value);
  std::sort(given.begin(), given.end());
  EXPECT_EQ(given, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(BlockPool, WithheldBlocksAreTakenOnceEachInSlices) {
  BlockPool pool(8);
  pool.set_limit(2);
  std::vector<BlockId> taken = pool.take_withheld(4);
  ASSERT_EQ(taken.size(), 4u);
  pool.set_limit(3);  // what was not taken comes back first
  for (const BlockId block : pool.take_withheld(4)) taken.push_back(block);
  EXPECT_FALSE(pool.has_withheld());
  std::sort(taken.begin(), taken.end(), [](BlockId a, BlockId b) { return a.value < b.value; });
  EXPECT_EQ(std::unique(taken.begin(), taken.end()), taken.end());
  EXPECT_EQ(taken.size(), 5u);
  for (const BlockId block : taken) EXPECT_EQ(pool.residency(block), Residency::kWithheld);
}

TEST(BlockPool, CountsEqualARecountAfterEveryRandomStep) {
  BlockPool pool(16);
  Rng rng(11);
  std::vector<BlockId> held;
  std::vector<BlockId> cached;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t what = rng.below(6);
    if (what == 5) {
      pool.set_limit(static_cast<std::uint32_t>(1 + rng.below(24)));
      const auto most = static_cast<std::uint32_t>(rng.below(9));
      const std::vector<BlockId> taken = pool.take_withheld(most);
      ASSERT_LE(taken.size(), most);
      for (const BlockId block : taken) ASSERT_EQ(pool.residency(block), Residency::kWithheld);
    } else if (what == 0) {
      if (const auto block = pool.allocate(kSeq)) {
        pool.set_valid_tokens(*block, 1);
        held.push_back(*block);
      }
    } else if (what == 1 && !held.empty()) {
      std::swap(held[rng.below(held.size())], held.back());
      const BlockId block = held.back();
      held.pop_back();
      if (pool.published(block) && pool.holders(block) == 1) cached.push_back(block);
      pool.release(block);
    } else if (what == 2 && !held.empty()) {
      const BlockId block = held[rng.below(held.size())];
      if (!pool.published(block) && pool.residency(block) == Residency::kResident) pool.publish(block);
    } else if (what == 3 && !cached.empty()) {
      pool.unpublish(cached.back());
      cached.pop_back();
    } else if (what == 4 && !cached.empty()) {
      pool.hold(cached.back());
      held.push_back(cached.back());
      cached.pop_back();
    }
    ASSERT_EQ(pool.counts(), pool.recount());
    const PoolCounts& counts = pool.counts();
    ASSERT_EQ(counts.total, counts.free + counts.cached + counts.in_use + counts.arriving + counts.leaving);
  }
}

}  // namespace
}  // namespace larder::kv
