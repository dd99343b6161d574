// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/reuse_history.h"

#include <gtest/gtest.h>

#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

ChainKey key(std::uint32_t number) {
  ChainKey bytes{};
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

const std::shared_ptr<Identity> kModel = test::make_identity();

Ghost ghost_of(std::uint8_t scope, ChainKey parent = {}, std::vector<Token> tail = {}) {
  Ghost ghost;
  ghost.identity = kModel;
  ghost.scope.fill(scope);
  ghost.parent = parent;
  ghost.tail = std::move(tail);
  return ghost;
}

TEST(ReuseHistory, OldestGhostGivesWayAtTheBound) {
  ReuseHistory history(3, 3);
  for (std::uint32_t i = 1; i <= 5; ++i) history.add_ghost(key(i), ghost_of(1));
  EXPECT_EQ(history.ghost_count(), 3u);
  EXPECT_EQ(history.find_ghost(key(2), *kModel), nullptr);
  EXPECT_NE(history.find_ghost(key(3), *kModel), nullptr);
}

TEST(ReuseHistory, GhostsThatComeAndGoStayBounded) {
  ReuseHistory history(4, 4);
  for (std::uint32_t round = 0; round < 1000; ++round) {
    history.add_ghost(key(round % 3), ghost_of(1, key(99), {1, 2}));
    if (round % 2 == 0) history.drop_ghost(key(round % 3), *kModel);
  }
  EXPECT_LE(history.ghost_count(), 4u);
}

TEST(ReuseHistory, TailGhostWithTheLongestCommonStartIsFound) {
  ReuseHistory history(100, 1);
  history.add_ghost(key(1), ghost_of(1, key(50), {1, 2, 3}));
  history.add_ghost(key(2), ghost_of(1, key(50), {1, 2, 3, 4, 5}));
  history.add_ghost(key(3), ghost_of(1, key(51), {1, 2, 3, 4, 5, 6}));
  const std::vector<Token> tokens{1, 2, 3, 4, 9};
  const auto [ghost, common] = history.find_tail_ghost(key(50), *kModel, tokens);
  ASSERT_NE(ghost, nullptr);
  EXPECT_EQ(common, 4u);
  history.drop_ghost(key(2), *kModel);
  EXPECT_EQ(history.find_tail_ghost(key(50), *kModel, tokens).second, 3u);
}

TEST(ReuseHistory, TailsUnderOneParentAreBounded) {
  ReuseHistory history(100'000, 1);
  for (std::uint32_t i = 1; i <= 10'000; ++i) history.add_ghost(key(i), ghost_of(1, key(0), {static_cast<Token>(i)}));
  EXPECT_EQ(history.ghost_count(), ReuseHistory::kMaxTailsPerParent);
}

TEST(ReuseHistory, ForgottenScopeLeavesNothing) {
  ReuseHistory history(100, 100);
  const auto identity = test::make_identity();
  ScopeId one{};
  one.fill(1);
  ScopeId two{};
  two.fill(2);
  history.add_ghost(key(1), ghost_of(1, key(9), {1}));
  history.add_ghost(key(2), ghost_of(2, key(9), {1, 2}));
  history.mark(key(3), one, identity);
  history.mark(key(4), two, identity);
  history.forget_scope(one);
  EXPECT_EQ(history.ghost_count(), 1u);
  EXPECT_EQ(history.mark_count(), 1u);
  EXPECT_EQ(history.find_ghost(key(1), *kModel), nullptr);
  EXPECT_EQ(history.find_mark(key(3)), nullptr);
  EXPECT_NE(history.find_mark(key(4)), nullptr);
  EXPECT_EQ(history.find_tail_ghost(key(9), *kModel, std::vector<Token>{1, 2}).second, 2u);
}

TEST(ReuseHistory, MarksAreBoundedAndTheLastWriterCounts) {
  ReuseHistory history(1, 2);
  const auto first = test::make_identity();
  auto second = test::make_identity();
  second->rope = "other";
  history.mark(key(1), {}, first);
  history.mark(key(1), {}, second);
  EXPECT_EQ(*history.find_mark(key(1)), *second);
  history.mark(key(2), {}, first);
  history.mark(key(3), {}, first);
  EXPECT_EQ(history.mark_count(), 2u);
  EXPECT_EQ(history.find_mark(key(1)), nullptr);
}

// Two models can have lost the same tokens; each finds its own.
TEST(ReuseHistory, GhostsOfTwoIdentitiesLieSideBySide) {
  ReuseHistory history(100, 1);
  auto other = test::make_identity();
  other->rope = "other";
  const auto lost = [](const std::shared_ptr<Identity>& identity, const char* policy) {
    Ghost ghost = ghost_of(1, key(50), {1, 2, 3});
    ghost.identity = identity;
    ghost.eviction.policy = policy;
    return ghost;
  };
  history.add_ghost(key(1), lost(kModel, "lru"));
  history.add_ghost(key(1), lost(other, "unloaded"));
  history.add_ghost(key(1), lost(other, "deleted"));
  EXPECT_EQ(history.ghost_count(), 2u);
  EXPECT_EQ(history.find_ghost(key(1), *kModel)->eviction.policy, "lru");
  EXPECT_EQ(history.find_ghost(key(1), Identity(*other))->eviction.policy, "deleted");
  history.drop_ghost(key(1), *kModel);
  EXPECT_EQ(history.find_ghost(key(1), *kModel), nullptr);
  const std::vector<Token> tokens{1, 2};
  EXPECT_EQ(history.find_tail_ghost(key(50), *kModel, tokens).second, 0u);
  EXPECT_EQ(history.find_tail_ghost(key(50), *other, tokens).second, 2u);
}

TEST(ReuseHistory, AGhostUnderALoadIdIsItsLoadsAloneUntilTheDigestComes) {
  ReuseHistory history(100, 1);
  const auto load = test::make_load_identity(1);
  Ghost ghost = ghost_of(1);
  ghost.identity = load;
  history.add_ghost(key(1), std::move(ghost));
  EXPECT_NE(history.find_ghost(key(1), *load), nullptr);
  EXPECT_EQ(history.find_ghost(key(1), *kModel), nullptr);
  EXPECT_EQ(history.find_ghost(key(1), *test::make_load_identity(2)), nullptr);
  load->learn_weights(kModel->weights);
  EXPECT_NE(history.find_ghost(key(1), *load), nullptr);
  EXPECT_NE(history.find_ghost(key(1), *kModel), nullptr);
}

}  // namespace
}  // namespace larder::kv
