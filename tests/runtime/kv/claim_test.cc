// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/claim.h"

#include <gtest/gtest.h>

#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using test::CacheWorld;
using test::joined;
using test::tokens_from;

TEST(Claim, ReusesAllButTheLastPromptToken) {
  for (const std::uint32_t length : {1u, 2u, 15u, 16u, 31u, 32u, 33u, 63u, 64u, 65u, 320u}) {
    CacheWorld world;
    const auto prompt = tokens_from(10, length);
    EXPECT_EQ(world.reuse_of(prompt), 0u);
    (void)world.serve(prompt);
    for (int again = 0; again < 2; ++again) {
      Claim claim = world.open(prompt);
      EXPECT_EQ(claim.reused_tokens(), length - 1);
      world.computed = 0;
      ASSERT_TRUE(world.run_prompt(claim).ok());
      EXPECT_EQ(world.computed, 1u);
      (void)claim.close(CloseAs::kDone);
      EXPECT_EQ(world.cache.audit(), "");
    }
    EXPECT_EQ(world.cache.counts().pool.in_use, 0u);
    EXPECT_EQ(world.cache.counts().nodes, (length + 31) / 32);
  }
}

TEST(Claim, SharesWholeBlocksAndCopiesThePartlyMatchingOne) {
  CacheWorld world;
  const auto head = tokens_from(1, 70);
  (void)world.serve(joined(head, tokens_from(1000, 30)));
  Claim claim = world.open(joined(head, tokens_from(2000, 30)));
  EXPECT_EQ(claim.reused_tokens(), 70u);
  EXPECT_EQ(claim.verdict().copied_tokens, 6u);
  EXPECT_EQ(claim.blocks().size(), 2u);
  ASSERT_TRUE(claim.grow(100).ok());
  const auto copies = claim.take_copies();
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].valid_tokens, 6u);
  EXPECT_EQ(copies[0].to, claim.blocks()[2]);
  EXPECT_EQ(copies[1].valid_tokens, 0u);
  EXPECT_TRUE(claim.take_copies().empty());
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Claim, GrowingTailIsMatchedUpToItsCommittedTokens) {
  CacheWorld world;
  Claim writer = world.open(tokens_from(1, 40));
  ASSERT_TRUE(world.run_prompt(writer).ok());
  for (Token token = 41; token <= 50; ++token) ASSERT_TRUE(world.decode(writer, token).ok());
  writer.append(51);
  ASSERT_TRUE(writer.grow(51).ok());  // being run, not committed
  world.do_copies(writer);
  Claim reader = world.open(tokens_from(1, 60));
  EXPECT_EQ(reader.reused_tokens(), 50u);
  ASSERT_TRUE(world.run_prompt(reader).ok());
  writer.commit(51);
  EXPECT_EQ(world.cache.audit(), "");
  (void)reader.close(CloseAs::kDone);
  (void)writer.close(CloseAs::kDone);
  EXPECT_EQ(world.cache.audit(), "");
  EXPECT_EQ(world.cache.counts().pool.in_use, 0u);
}

TEST(Claim, DecodedTokensAreReusedInTheNextTurn) {
  CacheWorld world;
  const auto prompt = tokens_from(1, 45);
  const auto answer = tokens_from(500, 50);
  (void)world.serve(prompt, answer);
  const auto next = joined(joined(prompt, answer), tokens_from(900, 10));
  EXPECT_EQ(world.reuse_of(next), 95u);
}

TEST(Claim, WhatAFailedStepWroteIsNeverFound) {
  CacheWorld world;
  Claim claim = world.open(tokens_from(1, 200));
  ASSERT_TRUE(world.run(claim, 80).ok());
  ASSERT_TRUE(world.run_and_fail(claim, 200).ok());
  (void)claim.close(CloseAs::kFailed);
  EXPECT_EQ(world.cache.audit(), "");
  EXPECT_EQ(world.cache.counts().pool.in_use, 0u);
  EXPECT_EQ(world.reuse_of(tokens_from(1, 200)), 64u);  // 80 committed, the touched tail of 16 dropped
}

TEST(Claim, CancelBetweenStepsKeepsTheTailToo) {
  CacheWorld world;
  Claim claim = world.open(tokens_from(1, 200));
  ASSERT_TRUE(world.run(claim, 80).ok());
  const Closed closed = claim.close(CloseAs::kDone);
  EXPECT_EQ(closed.kept_tokens, 80u);
  EXPECT_EQ(world.reuse_of(tokens_from(1, 200)), 80u);
}

TEST(Claim, RollbackMakesATouchedTailCleanAgain) {
  CacheWorld world;
  Claim claim = world.open(tokens_from(1, 100));
  ASSERT_TRUE(world.run(claim, 40).ok());
  ASSERT_TRUE(world.run_and_fail(claim, 100).ok());
  claim.rollback();
  EXPECT_EQ(claim.committed(), 40u);
  EXPECT_EQ(world.cache.audit(), "");
  ASSERT_TRUE(world.run(claim, 100).ok());
  (void)claim.close(CloseAs::kDone);
  EXPECT_EQ(world.cache.audit(), "");
  Claim again = world.open(tokens_from(1, 100));
  EXPECT_EQ(again.reused_tokens(), 99u);
  ASSERT_TRUE(world.run_prompt(again).ok());
}

TEST(Claim, RollbackBeforeTheCopyWasCommittedCopiesAgain) {
  CacheWorld world;
  (void)world.serve(tokens_from(1, 40));
  Claim claim = world.open(joined(tokens_from(1, 40), tokens_from(700, 20)));
  EXPECT_EQ(claim.reused_tokens(), 40u);
  ASSERT_TRUE(world.run_and_fail(claim, 60).ok());
  claim.rollback();
  ASSERT_TRUE(world.run_prompt(claim).ok());
  (void)claim.close(CloseAs::kDone);
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Claim, ClosedBeforeItsCopyWasDoneKeepsNothingOfIt) {
  CacheWorld world;
  (void)world.serve(tokens_from(1, 40));
  const CacheCounts before = world.cache.counts();
  for (const bool taken : {false, true}) {
    for (const CloseAs as : {CloseAs::kDone, CloseAs::kFailed}) {
      Claim claim = world.open(joined(tokens_from(1, 40), tokens_from(700, 20)));
      if (taken) {
        ASSERT_TRUE(world.run_and_fail(claim, 60).ok());
      }
      (void)claim.close(as);
      EXPECT_EQ(world.cache.counts().nodes, before.nodes);
      EXPECT_EQ(world.cache.counts().pool, before.pool);
      EXPECT_EQ(world.cache.audit(), "");
    }
  }
}

TEST(Claim, ClosedRightAfterOpenGivesEverythingBack) {
  CacheWorld world;
  (void)world.serve(tokens_from(1, 100));
  const PoolCounts before = world.cache.counts().pool;
  for (const CloseAs as : {CloseAs::kDone, CloseAs::kFailed}) {
    Claim claim = world.open(tokens_from(1, 100));
    (void)claim.close(as);
    EXPECT_EQ(world.cache.counts().pool, before);
  }
}

TEST(Claim, PutBackAndOpenedAgainWithWhatItDecoded) {
  CacheWorld world;
  Claim claim = world.open(tokens_from(1, 40));
  ASSERT_TRUE(world.run_prompt(claim).ok());
  for (Token token = 100; token < 120; ++token) ASSERT_TRUE(world.decode(claim, token).ok());
  claim.append(120);
  ASSERT_TRUE(claim.grow(61).ok());
  auto tokens = claim.tokens();
  (void)claim.close(CloseAs::kDone);  // put back: the row for 120 never ran
  OpenRequest again = world.request(tokens);
  again.count_hit = false;
  Claim resumed = world.cache.open(std::move(again));
  EXPECT_EQ(resumed.reused_tokens(), 60u);
  ASSERT_TRUE(world.run_prompt(resumed).ok());
  (void)resumed.close(CloseAs::kDone);
  for (const TreeRow& row : world.cache.describe()) EXPECT_EQ(row.hits, 0u);
}

TEST(Claim, BypassedRequestNeitherReadsNorKeeps) {
  CacheWorld world;
  (void)world.serve(tokens_from(1, 64));
  const CacheCounts before = world.cache.counts();
  OpenRequest request = world.request(tokens_from(1, 64));
  request.read = false;
  request.keep = false;
  Claim claim = world.cache.open(std::move(request));
  EXPECT_EQ(claim.reused_tokens(), 0u);
  EXPECT_EQ(claim.verdict().kind, VerdictKind::kBypassed);
  ASSERT_TRUE(world.run_prompt(claim).ok());
  ASSERT_TRUE(world.decode(claim, 7).ok());
  (void)claim.close(CloseAs::kDone);
  EXPECT_EQ(world.cache.counts().nodes, before.nodes);
  EXPECT_EQ(world.cache.counts().pool, before.pool);
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Claim, EqualBlocksOfTwoRunningSequencesAreKeptOnce) {
  CacheWorld world;
  Claim first = world.open(tokens_from(1, 100));
  Claim second = world.open(tokens_from(1, 100));
  EXPECT_EQ(second.reused_tokens(), 0u);
  ASSERT_TRUE(world.run(first, 50).ok());
  ASSERT_TRUE(world.run(second, 60).ok());
  EXPECT_EQ(first.blocks()[0], second.blocks()[0]);
  EXPECT_NE(first.blocks()[1], second.blocks()[1]);
  ASSERT_TRUE(world.run(first, 100).ok());
  ASSERT_TRUE(world.run(second, 100).ok());
  for (const std::size_t block : {0u, 1u, 2u}) EXPECT_EQ(first.blocks()[block], second.blocks()[block]);
  EXPECT_EQ(world.cache.counts().adopted_blocks, 3u);
  EXPECT_EQ(world.cache.audit(), "");
  (void)first.close(CloseAs::kDone);
  (void)second.close(CloseAs::kDone);
  EXPECT_EQ(world.cache.counts().nodes, 4u);  // the equal tails of 4 tokens are one, too
  EXPECT_EQ(world.cache.counts().pool.in_use, 0u);
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Claim, ATailThatALongerOneContinuesIsNotKeptBesideIt) {
  CacheWorld world;
  (void)world.serve(tokens_from(1, 40));
  (void)world.serve(tokens_from(1, 50));
  (void)world.serve(tokens_from(1, 45));  // the other way round
  (void)world.serve(tokens_from(1, 90));
  EXPECT_EQ(world.cache.counts().nodes, 3u);
  EXPECT_EQ(world.cache.counts().pool.cached, 3u);
  EXPECT_GE(world.cache.counts().superseded_blocks, 2u);
}

TEST(Claim, MaxReuseHoldsBackWithoutLosingTheCache) {
  CacheWorld world;
  (void)world.serve(tokens_from(1, 100));
  OpenRequest request = world.request(tokens_from(1, 100));
  request.max_reuse = 0;
  Claim claim = world.cache.open(std::move(request));
  EXPECT_EQ(claim.reused_tokens(), 0u);
  EXPECT_EQ(claim.verdict().kind, VerdictKind::kBypassed);
  ASSERT_TRUE(world.run_prompt(claim).ok());
  (void)claim.close(CloseAs::kDone);
  EXPECT_EQ(world.cache.counts().nodes, 4u);
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Claim, FilledByNamesTheBlocksThatAStepSeals) {
  CacheWorld world;
  Claim claim = world.open(tokens_from(1, 100));
  ASSERT_TRUE(claim.grow(70).ok());
  EXPECT_EQ(claim.filled_by(31).size(), 0u);
  EXPECT_EQ(claim.filled_by(70), (std::vector<BlockId>{claim.blocks()[0], claim.blocks()[1]}));
  (void)claim.take_copies();
  claim.commit(40);
  EXPECT_EQ(claim.filled_by(70), (std::vector<BlockId>{claim.blocks()[1]}));
  world.cache.set_checksum(claim.blocks()[0], 99);
  EXPECT_EQ(world.cache.pool().checksum(claim.blocks()[0]), 99u);
}

TEST(Claim, ForgottenCopiesStopTheProgram) {
  CacheWorld world;
  Claim claim = world.open(tokens_from(1, 10));
  ASSERT_TRUE(claim.grow(10).ok());
  EXPECT_DEATH(claim.commit(10), "copies");
  (void)claim.take_copies();
  EXPECT_DEATH(claim.commit(11), "planned");
}

TEST(Claim, DestroyedClaimClosesItself) {
  CacheWorld world;
  {
    Claim claim = world.open(tokens_from(1, 100));
    ASSERT_TRUE(world.run(claim, 40).ok());
    Claim moved = std::move(claim);
    EXPECT_FALSE(claim.open());  // NOLINT(bugprone-use-after-move): that is what is tested
  }
  EXPECT_EQ(world.cache.counts().open_claims, 0u);
  EXPECT_EQ(world.cache.counts().pool.in_use, 0u);
}

}  // namespace
}  // namespace larder::kv
