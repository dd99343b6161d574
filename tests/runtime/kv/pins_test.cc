// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using test::CacheWorld;
using test::joined;
using test::tokens_from;

PinRequest pin_at(NodeId node) {
  PinRequest request;
  request.node = node;
  request.owner = TenantId{1};
  request.reason = "pack";
  return request;
}

TEST(Pins, PinnedRunSurvivesAnyPressure) {
  CacheWorld world({.blocks = 16, .longest = 8});
  const Closed pack = world.serve(tokens_from(1, 100));
  ASSERT_TRUE(world.cache.pin(pin_at(pack.end)).ok());
  for (Token i = 0; i < 100; ++i) (void)world.serve(tokens_from(10'000 + 500 * i, 256));
  EXPECT_EQ(world.reuse_of(tokens_from(1, 100)), 99u);
  Claim claim = world.open(tokens_from(1, 600));
  EXPECT_FALSE(claim.grow(600).ok());
  EXPECT_EQ(world.cache.counts().pinned, 4u);
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Pins, OverBudgetIsRefusedWithTheArithmetic) {
  CacheWorld world({.blocks = 32, .longest = 8});  // budget 8
  const Closed small = world.serve(tokens_from(1, 96));
  const Closed big = world.serve(tokens_from(5000, 192));
  ASSERT_TRUE(world.cache.pin(pin_at(small.end)).ok());
  const auto refused = world.cache.pin(pin_at(big.end));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(
      refused.error().message,
      "the pin is over budget: the path has 6 blocks, of which other pins hold 0; pinned 3 + 6 = 9 of a budget of "
      "8, and one longest request of 8 blocks must fit beside them in 32");
  EXPECT_EQ(world.cache.counts().pinned, 3u);
}

TEST(Pins, OneLongestRequestStillFits) {
  CacheWorld world({.blocks = 32, .longest = 28, .pin_budget = 8});
  const Closed run = world.serve(tokens_from(1, 160));
  const auto refused = world.cache.pin(pin_at(run.end));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("no room for one longest request"), std::string::npos);
  const auto rows = world.cache.locate(run.end);
  ASSERT_TRUE(rows.ok());
  const Closed shorter = world.serve(tokens_from(7000, 128));
  ASSERT_TRUE(world.cache.pin(pin_at(shorter.end)).ok());
  Claim longest = world.open(tokens_from(20'000, 28 * 32));
  EXPECT_TRUE(world.run_prompt(longest).ok());
}

TEST(Pins, APoolThatCannotHoldThemIsRefusedWithTheArithmetic) {
  CacheWorld world({.blocks = 32, .longest = 8});
  const Closed run = world.serve(tokens_from(1, 192));
  ASSERT_TRUE(world.cache.pin(pin_at(run.end)).ok());
  const Status small = world.cache.set_pin_bounds({20, 5, 8});
  ASSERT_FALSE(small.ok());
  EXPECT_EQ(small.error().code, ErrorCode::kConflict);
  EXPECT_EQ(small.error().message,
            "pins hold 6 blocks; a pool of 20 lets them have 5, and one longest request of 8 must fit beside them: "
            "unpin some first");
  EXPECT_FALSE(world.cache.set_pin_bounds({20, 10, 15}).ok());
  EXPECT_EQ(world.cache.counts().pin_budget, 8u);
  EXPECT_TRUE(world.cache.set_pin_bounds({20, 6, 14}).ok());
  EXPECT_EQ(world.cache.counts().pin_budget, 6u);
}

TEST(Pins, OverlapIsCountedOnce) {
  CacheWorld world({.blocks = 64, .longest = 8});  // budget 16
  const auto head = tokens_from(1, 128);
  const Closed first = world.serve(joined(head, tokens_from(1000, 64)));
  const Closed second = world.serve(joined(head, tokens_from(2000, 64)));
  const auto one = world.cache.pin(pin_at(first.end));
  const auto two = world.cache.pin(pin_at(second.end));
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->added, 6u);
  EXPECT_EQ(two->added, 2u);
  EXPECT_EQ(two->pinned, 8u);
  ASSERT_TRUE(world.cache.unpin(one->pin.id).ok());
  EXPECT_EQ(world.cache.counts().pinned, 6u);
  ASSERT_TRUE(world.cache.unpin(two->pin.id).ok());
  EXPECT_EQ(world.cache.counts().pinned, 0u);
  EXPECT_FALSE(world.cache.unpin(two->pin.id).ok());
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Pins, DryRunTellsTheSumAndPinsNothing) {
  CacheWorld world;
  const Closed run = world.serve(tokens_from(1, 96));
  PinRequest request = pin_at(run.end);
  request.dry_run = true;
  const auto answer = world.cache.pin(request);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->pin.id, PinId{});
  EXPECT_EQ(answer->added, 3u);
  EXPECT_EQ(answer->budget, 16u);
  EXPECT_EQ(world.cache.counts().pinned, 0u);
  EXPECT_TRUE(world.cache.pins().empty());
}

TEST(Pins, ExpiredPinGivesWay) {
  CacheWorld world({.blocks = 16, .longest = 8});
  const Closed run = world.serve(tokens_from(1, 100));
  PinRequest request = pin_at(run.end);
  request.expires = world.clock.wall() + 1000;
  ASSERT_TRUE(world.cache.pin(request).ok());
  world.clock.advance_ns(999'000'000);
  EXPECT_EQ(world.cache.expire_pins(), 0u);
  world.clock.advance_ns(1'000'000);
  (void)world.serve(tokens_from(9000, 512));  // all 16 blocks: growing looks at the time itself
  EXPECT_TRUE(world.cache.pins().empty());
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(Pins, UnpinNodeTakesEveryPinThatEndsThere) {
  CacheWorld world;
  const Closed run = world.serve(tokens_from(1, 96));
  ASSERT_TRUE(world.cache.pin(pin_at(run.end)).ok());
  ASSERT_TRUE(world.cache.pin(pin_at(run.end)).ok());
  EXPECT_EQ(world.cache.unpin_node(run.end), 2u);
  EXPECT_EQ(world.cache.unpin_node(run.end), 0u);
}

TEST(Pins, GrowingRunPinsItsSealedPart) {
  CacheWorld world;
  Claim claim = world.open(tokens_from(1, 40));
  ASSERT_TRUE(world.run(claim, 10).ok());
  EXPECT_EQ(world.cache.pin(pin_at(world.cache.describe().front().id)).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(world.run(claim, 40).ok());
  const auto rows = world.cache.describe();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[1].growing);
  const auto pinned = world.cache.pin(pin_at(rows[1].id));
  ASSERT_TRUE(pinned.ok());
  EXPECT_EQ(pinned->pin.tokens, 32u);
  EXPECT_EQ(world.cache.pin(pin_at(NodeId{999})).error().code, ErrorCode::kNotFound);
}

TEST(Pins, PinnedTailIsNotSupersededAndPinnedRunIsNotDeleted) {
  CacheWorld world;
  const Closed run = world.serve(tokens_from(1, 40));
  ASSERT_TRUE(world.cache.pin(pin_at(run.end)).ok());
  (void)world.serve(tokens_from(1, 60));
  EXPECT_TRUE(world.cache.locate(run.end).ok());
  EXPECT_EQ(world.cache.remove(run.end, true, false).error().code, ErrorCode::kConflict);
  EXPECT_EQ(world.cache.audit(), "");
}

}  // namespace
}  // namespace larder::kv
