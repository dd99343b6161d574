// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "runtime/kv/block_range.h"
#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using test::CacheWorld;
using test::joined;
using test::round_all;
using test::rounded_identity;
using test::tokens_from;

TEST(Twins, TwinsStandForTheSameTokensAndALeafLeavesAllTiersAtOnce) {
  CacheWorld world({.lower_tier = true});
  const std::vector<Token> prompt = tokens_from(1, 100);
  const auto exact = world.identity;
  const auto rounded = rounded_identity();
  const Closed end = world.serve(prompt);
  const std::vector<NodeId> path = *world.cache.select({.node = end.end, .path = true});
  EXPECT_EQ(world.cache.twins(path, rounded), std::vector<NodeId>(4));
  EXPECT_FALSE(world.cache.has_root(world.request(prompt).keys->root, rounded));
  round_all(world, rounded);
  EXPECT_TRUE(world.cache.has_root(world.request(prompt).keys->root, rounded));
  const std::vector<NodeId> twins = world.cache.twins(path, rounded);
  for (std::size_t i = 0; i < path.size(); ++i) {
    EXPECT_EQ(world.cache.facts(twins[i]).key, world.cache.facts(path[i]).key);
    EXPECT_EQ(world.cache.facts(twins[i]).lineage, kernels::KvScheme::kInt8);
    EXPECT_EQ(world.cache.twins({&path[i], 1}, rounded).front(), twins[i]);
  }
  EXPECT_EQ(world.cache.twins(twins, exact), path);
  const auto again = world.cache.prompt_of(twins.back(), exact);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->prompt->tokens, prompt);
  EXPECT_EQ(again->keys->root, world.request(prompt).keys->root);
  EXPECT_EQ(again->keys->blocks, world.request(prompt).keys->blocks);
  EXPECT_EQ(again->keys->identity, exact);
  EXPECT_EQ(world.cache.drop_leaf(path[2], "compressed"), Staying::kBelow);
  {
    const Claim reads = world.open(joined(prompt, tokens_from(900, 8)));
    EXPECT_EQ(world.cache.drop_leaf(path[3], "compressed"), Staying::kInUse);
  }
  PinRequest pin;
  pin.node = end.end;
  pin.owner = world.tenant;
  const auto pinned = world.cache.pin(pin);
  ASSERT_TRUE(pinned.ok());
  EXPECT_EQ(world.cache.drop_leaf(path[3], "compressed"), Staying::kPinned);
  ASSERT_TRUE(world.cache.unpin(pinned->pin.id).ok());
  for (std::size_t i = path.size(); i > 0; --i) {
    EXPECT_EQ(world.cache.drop_leaf(path[i - 1], "compressed"), Staying::kNone);
  }
  EXPECT_EQ(world.cache.drop_leaf(path[0], "compressed"), Staying::kGone);
  EXPECT_EQ(world.cache.audit(), "");
  EXPECT_EQ(world.open(prompt).verdict().eviction->policy, "compressed");
  EXPECT_FALSE(world.cache.prompt_of(path.back(), rounded).has_value());
}

TEST(Twins, AnEndThatIsNoWholeBlockIsStoodForByOneThatHoldsItsTokens) {
  CacheWorld world({.lower_tier = true});
  const auto exact = world.identity;
  const auto rounded = rounded_identity();
  const NodeId short_end = world.serve(tokens_from(1, 70)).end;
  round_all(world, rounded);
  const NodeId rounded_end = world.cache.twins({&short_end, 1}, rounded).front();
  ASSERT_NE(rounded_end.value, 0u);
  const Closed longer = world.serve(tokens_from(1, 90));  // the shorter end is superseded
  EXPECT_EQ(world.cache.twins({&rounded_end, 1}, exact).front(), longer.end);
}

TEST(Twins, ADeletedRunTakesItsRoundedCopiesWithIt) {
  CacheWorld world({.lower_tier = true});
  const std::vector<Token> prompt = tokens_from(1, 100);
  const auto rounded = rounded_identity();
  Identity unknown = *rounded;
  unknown.lineage = kernels::KvScheme::kInt4;
  const Closed end = world.serve(prompt);
  round_all(world, rounded);
  world.serve(tokens_from(500, 40));
  const NodeId twin = world.cache.twins({&end.end, 1}, rounded).front();
  const std::vector<Digest256> names{identity_digest(unknown)};
  const auto planned = world.cache.remove(end.end, false, true, names);
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned->nodes, 8u);
  EXPECT_EQ(planned->rounded, 4u);
  EXPECT_NE(world.cache.facts(twin).node.value, 0u);
  const auto removed = world.cache.remove(end.end, false, false, names);
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(removed->rounded, 4u);
  EXPECT_EQ(world.cache.facts(twin).node.value, 0u);
  EXPECT_EQ(world.cache.counts().nodes, 2u);
  std::set<BlockKey> lost;
  for (const StoredName& name : world.cache.take_lost()) lost.insert(name.key);
  EXPECT_EQ(lost.size(), 8u);  // four of its nodes, four that may lie there
  EXPECT_EQ(world.cache.audit(), "");
}

}  // namespace
}  // namespace larder::kv
