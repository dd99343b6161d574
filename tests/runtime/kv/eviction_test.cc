// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/placement.h"
#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using test::CacheWorld;
using test::joined;
using test::tokens_from;
using test::WorldOptions;

TEST(Eviction, TakesExactlyTheShortfallOldestFirst) {
  CacheWorld world({.blocks = 100});
  for (Token i = 0; i < 49; ++i) (void)world.serve(tokens_from(1000 * (i + 1), 64));
  EXPECT_EQ(world.cache.counts().pool.free, 2u);
  Claim claim = world.open(tokens_from(900'000, 320));
  ASSERT_TRUE(world.run_prompt(claim).ok());
  EXPECT_EQ(world.cache.counts().evicted_blocks, 8u);
  (void)claim.close(CloseAs::kDone);
  for (Token i = 0; i < 49; ++i) EXPECT_EQ(world.reuse_of(tokens_from(1000 * (i + 1), 64)), i < 4 ? 0u : 63u);
  EXPECT_EQ(world.cache.audit(), "");
}

// The whole path of a prompt is used at once; its leaf goes first and its head stays useful.
TEST(Eviction, GoesLeafFirstNeverHeadFirst) {
  CacheWorld world({.blocks = 8});
  const auto head = tokens_from(1, 64);
  (void)world.serve(joined(head, tokens_from(5000, 128)));
  (void)world.serve(tokens_from(9000, 96));  // needs 3, 2 are free
  EXPECT_EQ(world.cache.counts().evicted_blocks, 1u);
  EXPECT_EQ(world.reuse_of(joined(head, tokens_from(5000, 128))), 160u);
}

TEST(Eviction, RefusesWithTheArithmeticAndTouchesNothingWhenItCannotBeEnough) {
  CacheWorld world({.blocks = 10});
  (void)world.serve(tokens_from(1, 64));
  Claim running = world.open(tokens_from(5000, 224));
  ASSERT_TRUE(world.run_prompt(running).ok());
  Claim claim = world.open(tokens_from(9000, 128));
  const CacheCounts before = world.cache.counts();
  const Status grown = claim.grow(128);
  ASSERT_FALSE(grown.ok());
  EXPECT_EQ(grown.error().code, ErrorCode::kResourceExhausted);
  EXPECT_NE(grown.error().message.find("4 blocks needed, 1 free and 2 evictable of 10 (7 in use, 0 pinned)"),
            std::string::npos)
      << grown.error().message;
  EXPECT_EQ(world.cache.counts().pool, before.pool);
  EXPECT_EQ(world.cache.counts().evicted_blocks, 0u);
  (void)running.close(CloseAs::kDone);
  EXPECT_TRUE(world.run_prompt(claim).ok());
}

TEST(Eviction, NeverTakesWhatARunningSequenceOrItsCopyReads) {
  CacheWorld world({.blocks = 8});
  (void)world.serve(tokens_from(1, 40));
  Claim reader = world.open(joined(tokens_from(1, 40), {77, 78}));  // shares block 0, will copy from the tail
  (void)world.serve(tokens_from(5000, 64));                         // younger, but nobody uses it
  Claim writer = world.open(tokens_from(9000, 256));
  EXPECT_EQ(world.cache.available_blocks(), 6u);
  EXPECT_FALSE(writer.grow(256).ok());
  ASSERT_TRUE(world.run(writer, 160).ok());
  EXPECT_EQ(world.cache.counts().evicted_blocks, 1u);
  EXPECT_EQ(world.reuse_of(joined(tokens_from(1, 40), {79})), 40u);
  ASSERT_TRUE(world.run_prompt(reader).ok());
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Eviction, PromptThatIsUsedAgainOutlivesOlderOnes) {
  CacheWorld world({.blocks = 6});
  (void)world.serve(tokens_from(1000, 64));
  (void)world.serve(tokens_from(2000, 64));
  (void)world.serve(tokens_from(1000, 64));
  (void)world.serve(tokens_from(3000, 128));
  EXPECT_EQ(world.reuse_of(tokens_from(1000, 64)), 63u);
  EXPECT_EQ(world.reuse_of(tokens_from(2000, 64)), 0u);
}

// Side prompts that reuse nothing must not push out a chat that fits beside them.
TEST(Eviction, NothingIsEvictedWhileAllFits) {
  CacheWorld world({.blocks = 120});
  const auto chat = tokens_from(1, 600);
  (void)world.serve(chat);
  for (Token i = 0; i < 3; ++i) (void)world.serve(joined(tokens_from(9000 + 100 * i, 20), chat));
  EXPECT_EQ(world.cache.counts().evicted_blocks, 0u);
  world.computed = 0;
  (void)world.serve(joined(chat, tokens_from(8000, 20)));
  EXPECT_EQ(world.computed, 20u);
}

// Round robin over three chats under one header: the header lies there once.
TEST(Eviction, ChatsUnderOneHeaderShareItAndDoNotReplaceEachOther) {
  CacheWorld world({.blocks = 240});
  const auto header = tokens_from(1, 1024);
  for (int round = 0; round < 3; ++round) {
    for (Token chat = 0; chat < 3; ++chat) {
      world.computed = 0;
      (void)world.serve(joined(header, tokens_from(10'000 * (chat + 1), 2000)));
      if (round > 0) {
        EXPECT_EQ(world.computed, 1u);
      }
    }
  }
  EXPECT_EQ(world.cache.counts().pool.cached, 32u + 3 * 63u);
}

TEST(Eviction, ASmallerPoolKeepsWhatIsUsedMostAndWhatFreeBlocksHeldIsGone) {
  CacheWorld world({.blocks = 16});
  for (Token i = 0; i < 5; ++i) (void)world.serve(tokens_from(1000 * (i + 1), 96));  // 15 of 16
  world.cache.set_block_limit(7);
  EXPECT_EQ(world.cache.take_withheld().size(), 1u);
  EXPECT_EQ(world.cache.counts().pool.total, 15u);
  EXPECT_EQ(world.cache.trim(3), 5u);
  EXPECT_EQ(world.cache.trim(100), 0u);
  EXPECT_EQ(world.cache.trim(100), 0u);
  EXPECT_EQ(world.cache.take_withheld().size(), 8u);
  EXPECT_EQ(world.cache.counts().pool.total, 7u);
  EXPECT_EQ(world.cache.audit(), "");
  EXPECT_EQ(world.reuse_of(tokens_from(5000, 96)), 95u);
  EXPECT_EQ(world.reuse_of(tokens_from(4000, 96)), 95u);
  Claim gone = world.open(tokens_from(1000, 96));
  EXPECT_EQ(gone.reused_tokens(), 0u);
  EXPECT_EQ(gone.verdict().eviction->policy, "resized");
}

TEST(Eviction, ASmallerPoolTakesNothingFromRunningSequencesAndGivesThemNoMore) {
  CacheWorld world({.blocks = 12});
  Claim running = world.open(tokens_from(1, 160));
  ASSERT_TRUE(world.run(running, 128).ok());
  (void)world.serve(tokens_from(5000, 96));
  world.cache.set_block_limit(3);
  EXPECT_EQ(world.cache.trim(100), 1u);
  EXPECT_EQ(world.cache.available_blocks(), 0u);
  EXPECT_FALSE(running.grow(160).ok());
  EXPECT_EQ(world.cache.audit(), "");
  (void)running.close(CloseAs::kDone);
  EXPECT_EQ(world.cache.trim(100), 0u);
  EXPECT_EQ(world.cache.counts().pool.total, 3u);
  world.cache.set_block_limit(12);
  Claim again = world.open(tokens_from(1, 160));
  EXPECT_EQ(again.reused_tokens(), 96u);
  EXPECT_TRUE(world.run_prompt(again).ok());
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Eviction, ALargerPoolHasNewBlocksWithoutEvicting) {
  CacheWorld world({.blocks = 4});
  world.arena.resize(10);
  world.cache.set_block_limit(10);
  for (Token i = 0; i < 3; ++i) (void)world.serve(tokens_from(1000 * (i + 1), 96));
  EXPECT_EQ(world.cache.counts().evicted_blocks, 0u);
  EXPECT_EQ(world.reuse_of(tokens_from(1000, 96)), 95u);
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Eviction, QuotaLruTakesFromTheTenantOverItsQuota) {
  WorldOptions options;
  options.blocks = 20;
  options.policy = std::make_unique<storage::QuotaLru>();
  CacheWorld world(std::move(options));
  const tenant::Scope quiet = world.scope;
  (void)world.serve(tokens_from(1, 128));  // the oldest of all
  world.cache.set_quota(TenantId{2}, 8);
  world.tenant = TenantId{2};
  world.scope = test::make_scope(2);
  for (Token flood = 0; flood < 50; ++flood) (void)world.serve(tokens_from(100 * flood, 64));
  world.tenant = TenantId{1};
  world.scope = quiet;
  EXPECT_EQ(world.reuse_of(tokens_from(1, 128)), 127u);
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Eviction, UnderPlainLruTheFloodWins) {
  CacheWorld world({.blocks = 20});
  const tenant::Scope quiet = world.scope;
  (void)world.serve(tokens_from(1, 128));
  world.tenant = TenantId{2};
  world.scope = test::make_scope(2);
  for (Token flood = 0; flood < 50; ++flood) (void)world.serve(tokens_from(100 * flood, 64));
  world.scope = quiet;
  EXPECT_EQ(world.reuse_of(tokens_from(1, 128)), 0u);
}

}  // namespace
}  // namespace larder::kv
