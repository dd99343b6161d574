// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/base/rng.h"
#include "runtime/kv/block_range.h"
#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using test::CacheWorld;
using test::joined;
using test::tokens_from;

std::unique_ptr<CacheWorld> world_of(std::uint32_t blocks) {
  return std::make_unique<CacheWorld>(test::WorldOptions{.blocks = blocks, .longest = 4, .lower_tier = true});
}

std::vector<NodeId> subtree(const CacheWorld& world, NodeId node) {
  const auto chosen = world.cache.select({.node = node});
  EXPECT_TRUE(chosen.ok());
  return chosen.ok() ? *chosen : std::vector<NodeId>{};
}

// As a move down does: children first. What stayed, and why.
std::vector<Staying> cool_all(CacheWorld& world, std::vector<NodeId> nodes) {
  std::vector<Staying> stayed;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) stayed.push_back(world.cache.cool(*node));
  EXPECT_EQ(world.cache.audit(), "");
  return stayed;
}

bool pin(CacheWorld& world, NodeId node) {
  PinRequest request;
  request.node = node;
  request.owner = world.tenant;
  return world.cache.pin(request).ok();
}

// As a move up does: a chain at a time. How many came.
std::uint32_t bring_up(CacheWorld& world, std::span<const NodeId> nodes, std::uint64_t since) {
  std::uint32_t came = 0;
  while (!nodes.empty()) {
    Result<Arrival> begun = world.cache.begin_arrival(nodes, since, world.tenant);
    if (!begun.ok()) return came;
    if (!begun->open()) {
      nodes = nodes.subspan(1);
      continue;
    }
    Arrival arrival = std::move(begun).value();
    for (std::size_t i = arrival.blocks().size(); i > 0; --i) {
      EXPECT_TRUE(world.read_up(arrival.blocks()[i - 1]));
      arrival.arrived(i - 1, 1);
    }
    came += static_cast<std::uint32_t>(arrival.blocks().size());
    nodes = nodes.subspan(arrival.blocks().size());
    EXPECT_EQ(world.cache.audit(), "");
  }
  return came;
}

TEST(TierMoves, ARangeIsASubtreeOrAPartOfThePath) {
  const auto world = world_of(32);
  const std::vector<Token> trunk = tokens_from(1, 96);
  const Closed left = world->serve(joined(trunk, tokens_from(500, 64)));
  const Closed right = world->serve(joined(trunk, tokens_from(900, 40)));
  const auto path = world->cache.select({.node = left.end, .path = true});
  ASSERT_TRUE(path.ok());
  ASSERT_EQ(path->size(), 5u);
  EXPECT_EQ(path->back(), left.end);
  for (std::size_t i = 1; i < path->size(); ++i) {
    EXPECT_EQ(world->cache.facts((*path)[i]).parent, (*path)[i - 1]);
  }
  const auto part = world->cache.select({.node = left.end, .path = true, .first_block = 1, .block_count = 2});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(*part, (std::vector<NodeId>{(*path)[1], (*path)[2]}));
  const auto past = world->cache.select({.node = left.end, .path = true, .first_block = 5});
  ASSERT_FALSE(past.ok());
  EXPECT_EQ(past.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(subtree(*world, left.end), (std::vector<NodeId>{(*path)[3], (*path)[4]}));
  const std::vector<NodeId> all = subtree(*world, path->front());
  EXPECT_EQ(all.size(), 7u);
  EXPECT_TRUE(std::find(all.begin(), all.end(), right.end) != all.end());
  EXPECT_EQ(world->cache.select({.node = NodeId{999}}).error().code, ErrorCode::kNotFound);
}

TEST(TierMoves, WhatLeavesThePoolIsStoredIdleAndALeafAndTheRestSaysWhyItStays) {
  const auto world = world_of(32);
  const std::vector<Token> prompt = tokens_from(1, 128);
  const NodeId end = world->serve(prompt).end;
  const std::vector<NodeId> nodes = *world->cache.select({.node = end, .path = true});
  EXPECT_EQ(world->cache.cool(end), Staying::kNoCopy);
  world->store_all();
  EXPECT_EQ(world->cache.cool(nodes[0]), Staying::kBelow);
  {
    const Claim reads = world->open(joined(tokens_from(1, 96), tokens_from(700, 10)));
    ASSERT_EQ(reads.reused_tokens(), 96u);
    EXPECT_EQ(cool_all(*world, nodes),
              (std::vector<Staying>{Staying::kNone, Staying::kInUse, Staying::kInUse, Staying::kInUse}));
  }
  ASSERT_TRUE(pin(*world, nodes[1]));
  EXPECT_EQ(cool_all(*world, nodes),
            (std::vector<Staying>{Staying::kAlready, Staying::kNone, Staying::kPinned, Staying::kPinned}));
  EXPECT_EQ(world->cache.cool(NodeId{999}), Staying::kGone);
  Claim writes = world->open(tokens_from(3000, 20));
  ASSERT_TRUE(world->run_prompt(writes).ok());
  NodeId growing{};
  for (const TreeRow& row : world->cache.describe()) {
    if (row.growing) growing = row.id;
  }
  EXPECT_EQ(world->cache.cool(growing), Staying::kGrowing);
  EXPECT_FALSE(world->cache.unstored(growing).has_value());
  writes.close(CloseAs::kDone);
  EXPECT_EQ(world->restore(prompt), 64u);
  EXPECT_EQ(world->reuse_of(prompt), 127u);
}

TEST(TierMoves, ACopyIsDroppedWhereThePoolHasTheBlockAndNothingBelowHangsOnIt) {
  const auto world = world_of(32);
  const std::vector<Token> prompt = tokens_from(1, 96);
  const NodeId end = world->serve(prompt).end;
  world->store_all();
  const std::vector<NodeId> nodes = *world->cache.select({.node = end, .path = true});
  EXPECT_EQ(world->cache.drop_copy(nodes[0]), Staying::kBelow);
  EXPECT_EQ(world->cache.cool(end), Staying::kNone);
  EXPECT_EQ(world->cache.drop_copy(end), Staying::kNoCopy);
  EXPECT_EQ(world->cache.drop_copy(nodes[1]), Staying::kBelow);
  EXPECT_EQ(bring_up(*world, nodes, world->cache.use_stamp()), 1u);
  ASSERT_TRUE(pin(*world, nodes[0]));
  EXPECT_EQ(world->cache.drop_copy(nodes[2]), Staying::kNone);
  EXPECT_EQ(world->cache.drop_copy(nodes[2]), Staying::kAlready);
  EXPECT_EQ(world->cache.drop_copy(nodes[1]), Staying::kNone);
  EXPECT_EQ(world->cache.drop_copy(nodes[0]), Staying::kPinned);
  EXPECT_EQ(world->cache.take_lost().size(), 2u);
  EXPECT_FALSE(world->cache.has_unstored());
  world->cache.store_again(nodes[1]);
  EXPECT_TRUE(world->cache.has_unstored());
  EXPECT_EQ(world->reuse_of(prompt), 95u);
}

TEST(TierMoves, AMoveUpTakesWhatIsOlderAndNeverWhatIsPinnedInUseOrNewer) {
  const auto world = world_of(8);
  const std::vector<Token> prompt = tokens_from(1, 160);
  const NodeId end = world->serve(prompt).end;
  world->store_all();
  const std::vector<NodeId> nodes = *world->cache.select({.node = end, .path = true});
  cool_all(*world, nodes);
  const std::vector<Token> old = tokens_from(1000, 96);
  world->serve(old);
  const std::uint64_t since = world->cache.use_stamp();
  const std::vector<Token> newer = tokens_from(2000, 128);
  world->serve(newer);  // 7 of 8 blocks are taken
  EXPECT_EQ(bring_up(*world, nodes, since), 4u);
  EXPECT_EQ(world->reuse_of(newer), 127u);
  EXPECT_EQ(world->reuse_of(old), 0u);
  EXPECT_EQ(world->reuse_of(prompt), 128u);
  EXPECT_EQ(bring_up(*world, nodes, since), 0u);
  const auto refused = world->cache.begin_arrival(std::span(nodes).subspan(4), since, world->tenant);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(world->cache.counts().pool.in_use, 0u);
}

TEST(TierMoves, AMoveUpDoesNotPushOutWhatItBroughtUp) {
  const auto world = world_of(4);
  const std::vector<Token> trunk = tokens_from(1, 32);
  std::vector<NodeId> ends;
  for (int i = 0; i < 4; ++i) {
    ends.push_back(world->serve(joined(trunk, tokens_from(100 * (i + 1), 64))).end);
    world->store_all();
    cool_all(*world, subtree(*world, world->cache.select({.node = ends.back(), .path = true})->front()));
  }
  const std::vector<NodeId> all = subtree(*world, world->cache.select({.node = ends[0], .path = true})->front());
  ASSERT_EQ(all.size(), 9u);
  EXPECT_EQ(bring_up(*world, all, world->cache.use_stamp()), 4u);
  EXPECT_EQ(world->cache.counts().pool.cached, 4u);
}

TEST(TierMoves, WhatIsOnItsWayOrHangsOnAColdBlockIsNotBegunAgain) {
  const auto world = world_of(16);
  const NodeId end = world->serve(tokens_from(1, 96)).end;
  world->store_all();
  const std::vector<NodeId> nodes = *world->cache.select({.node = end, .path = true});
  cool_all(*world, nodes);
  const std::uint64_t since = world->cache.use_stamp();
  EXPECT_FALSE(world->cache.begin_arrival(std::span(nodes).subspan(1), since, world->tenant)->open());
  Result<Arrival> first = world->cache.begin_arrival(nodes, since, world->tenant);
  ASSERT_TRUE(first.ok() && first->open());
  EXPECT_FALSE(world->cache.begin_arrival(nodes, since, world->tenant)->open());
  EXPECT_EQ(world->cache.facts(nodes[1]).arriving, true);
  for (std::size_t i = 0; i < 3; ++i) first->missed(i, false);
  EXPECT_EQ(world->cache.audit(), "");
}

TEST(TierMoves, WhatIsDamagedInMemoryGoesWithAllBelowAndRunningRequestsGoOnAlone) {
  const auto world = world_of(32);
  const std::vector<Token> prompt = tokens_from(1, 128);
  const NodeId end = world->serve(prompt).end;
  world->store_all();
  const std::vector<NodeId> nodes = *world->cache.select({.node = end, .path = true});
  ASSERT_TRUE(pin(*world, end));
  Claim running = world->open(joined(prompt, tokens_from(700, 40)));
  ASSERT_EQ(running.reused_tokens(), 128u);
  EXPECT_EQ(world->cache.drop_damaged(nodes[1]), 3u);
  EXPECT_EQ(world->cache.audit(), "");
  EXPECT_TRUE(world->cache.pins().empty());
  EXPECT_TRUE(world->run_prompt(running).ok());
  running.close(CloseAs::kDone);
  EXPECT_EQ(world->reuse_of(joined(prompt, tokens_from(700, 40))), 32u);
  const Claim again = world->open(prompt);
  EXPECT_EQ(again.verdict().kind, VerdictKind::kEvicted);
  EXPECT_EQ(again.verdict().eviction->policy, "damaged");
  EXPECT_EQ(world->cache.take_lost().size(), 3u);
  EXPECT_EQ(world->cache.drop_damaged(nodes[1]), 0u);
}

// Moves in any order between requests, pins and pressure: every sum stays right and nothing wrong is read.
TEST(TierMoves, RandomMovesKeepEverySumAndEveryAnswerRight) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto world = world_of(24);
    Rng rng(seed);
    std::vector<NodeId> ends;
    std::uint64_t moved = 0;
    std::vector<Claim> running;
    for (int step = 0; step < 300; ++step) {
      const NodeId node = ends.empty() ? NodeId{} : ends[rng.below(ends.size())];
      const auto nodes = world->cache.select({.node = node, .path = rng.below(2) == 0});
      switch (rng.below(8)) {
        case 0:
        case 1: {
          std::vector<Token> prompt = tokens_from(static_cast<Token>(1 + 1000 * rng.below(3)), 32);
          prompt = joined(prompt, tokens_from(static_cast<Token>(10'000 + 500 * rng.below(4)), 1 + rng.below(120)));
          ends.push_back(world->serve(prompt).end);
          break;
        }
        case 2:
          world->store_all();
          break;
        case 3:
          if (nodes.ok()) {
            for (const Staying stays : cool_all(*world, *nodes)) moved += stays == Staying::kNone ? 1 : 0;
          }
          break;
        case 4:
          if (nodes.ok()) moved += bring_up(*world, *nodes, world->cache.use_stamp());
          break;
        case 5:
          if (nodes.ok()) {
            for (auto each = nodes->rbegin(); each != nodes->rend(); ++each) (void)world->cache.drop_copy(*each);
            for (const StoredName& name : world->cache.take_lost()) world->below.erase(name.key);
          }
          break;
        case 6:
          if (running.size() < 3) {
            running.push_back(world->open(tokens_from(static_cast<Token>(1 + 1000 * rng.below(3)), 40)));
          } else {
            running.erase(running.begin());
          }
          break;
        default:
          if (rng.below(20) == 0) (void)world->cache.drop_damaged(node);
          for (const StoredName& name : world->cache.take_lost()) world->below.erase(name.key);
      }
      ASSERT_EQ(world->cache.audit(), "") << "seed " << seed << " step " << step;
    }
    EXPECT_GT(moved, 20u);
    running.clear();
    EXPECT_EQ(world->cache.counts().pool.in_use, 0u);
  }
}

}  // namespace
}  // namespace larder::kv
