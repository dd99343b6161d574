// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/pool_budget.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/base/rng.h"

namespace larder::engine {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kBudget = 1024 * kMiB;  // chunks of 64 MiB

// Blocks of 1 MiB, so that blocks and MiB are one number.
PoolShare share(std::uint32_t limit, std::uint32_t taken, std::uint32_t kept, Ticks last_use) {
  PoolShare made;
  made.block_bytes = kMiB;
  made.limit = limit;
  made.taken = taken;
  made.kept = kept;
  made.last_use = last_use;
  return made;
}

std::vector<std::uint32_t> shared(const std::vector<PoolShare>& shares) { return share_pool(kBudget, shares); }

TEST(PoolBudget, AModelAloneHasAllOfIt) {
  EXPECT_EQ(shared({share(1, 0, 0, 1)}), (std::vector<std::uint32_t>{1024}));
}

TEST(PoolBudget, AModelAloneFollowsASmallerBudgetButForWhatRuns) {
  PoolShare one = share(2000, 1500, 900, 1);
  EXPECT_EQ(shared({one}), (std::vector<std::uint32_t>{1024}));
  one.running = 1600;
  EXPECT_EQ(shared({one}), (std::vector<std::uint32_t>{1600}));
  one.running = 3000;  // it would not have come to its end before either
  EXPECT_EQ(shared({one}), (std::vector<std::uint32_t>{2000}));
}

TEST(PoolBudget, ANewcomersFirstChunksComeFromWhatTheOtherDoesNotUse) {
  PoolShare old = share(1024, 300, 0, 1);
  PoolShare fresh = share(1, 0, 0, 2);
  fresh.waiting = 100;
  fresh.headroom = 20;
  const auto limits = shared({old, fresh});
  EXPECT_EQ(limits[1], 129u) << "99 missing, in chunks of 64";
  EXPECT_EQ(limits[0], 1024u - 129u);
}

TEST(PoolBudget, WhereEverythingIsTakenTheOneUsedLongestAgoGivesAndTheRaiseWaitsUntilItLeft) {
  PoolShare oldest = share(400, 400, 10, 1);
  PoolShare older = share(400, 400, 10, 5);
  PoolShare busy = share(224, 224, 40, 9);
  busy.running = 60;
  busy.headroom = 20;
  auto limits = shared({oldest, older, busy});
  EXPECT_EQ(limits, (std::vector<std::uint32_t>{336, 400, 224})) << "nothing has left yet";
  oldest.limit = 336;
  oldest.taken = 336;  // it has
  limits = shared({oldest, older, busy});
  EXPECT_EQ(limits, (std::vector<std::uint32_t>{336, 400, 288}));
}

TEST(PoolBudget, WhatIsInUseOrPinnedAndWhatRunningRequestsNeedStays) {
  PoolShare other = share(800, 700, 200, 1);
  other.running = 500;
  other.headroom = 50;
  PoolShare wants = share(224, 224, 10, 9);
  wants.waiting = 900;
  const auto limits = shared({other, wants});
  EXPECT_EQ(limits[0], 500u);
  EXPECT_EQ(limits[1], 324u) << "700 are taken still";
}

TEST(PoolBudget, TwoThatAnswerKeepAnEvenShareAgainstEachOther) {
  PoolShare a = share(600, 600, 50, 8);
  PoolShare b = share(424, 424, 50, 9);
  for (PoolShare* each : {&a, &b}) {
    each->running = 60;
    each->headroom = 90;
  }
  const auto limits = shared({a, b});
  EXPECT_EQ(limits[0], 512u) << "what is above the half";
  EXPECT_EQ(limits[1], 424u);
  a.limit = a.taken = 512;
  b.limit = b.taken = 512;
  EXPECT_EQ(shared({a, b}), (std::vector<std::uint32_t>{512, 512}));
}

TEST(PoolBudget, ALowerBudgetIsTakenFromTheOldestFirst) {
  const auto limits = share_pool(512 * kMiB, std::vector<PoolShare>{share(400, 400, 0, 1), share(400, 400, 0, 2)});
  EXPECT_EQ(limits, (std::vector<std::uint32_t>{112, 400}));
}

TEST(PoolBudget, BlocksOfDifferentSizesShareBytes) {
  PoolShare large = share(128, 10, 0, 1);
  large.block_bytes = 8 * kMiB;
  PoolShare small = share(1, 0, 0, 2);
  small.block_bytes = kMiB / 4;
  small.waiting = 200;
  const auto limits = share_pool(kBudget, std::vector<PoolShare>{large, small});
  EXPECT_EQ(limits[1], 1u + 256u) << "64 MiB";
  EXPECT_LE(limits[0] * 8 * kMiB + limits[1] * kMiB / 4, kBudget);
}

// Whatever is asked: within the budget, nobody below what it must keep, nobody lowered without another's need.
TEST(PoolBudget, KeepsTheBudgetAndWhatMustStay) {
  Rng rng(5);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<PoolShare> shares(2 + rng.below(3));
    std::uint64_t left = 1024;
    bool any_wants = false;
    for (PoolShare& each : shares) {
      each.block_bytes = kMiB;
      each.limit = static_cast<std::uint32_t>(1 + rng.below(std::max<std::uint64_t>(1, left / 2)));
      left -= std::min<std::uint64_t>(left, each.limit);
      each.taken = static_cast<std::uint32_t>(rng.below(each.limit + 1));
      each.kept = static_cast<std::uint32_t>(rng.below(each.taken + 1));
      if (rng.below(2) == 0) each.running = std::min(each.limit, each.kept + 5);
      if (rng.below(2) == 0) each.waiting = static_cast<std::uint32_t>(rng.below(600));
      if (each.running + each.waiting > 0) each.headroom = static_cast<std::uint32_t>(1 + rng.below(96));
      each.last_use = static_cast<Ticks>(rng.below(10));
      any_wants = any_wants || each.waiting > each.limit || each.taken + each.headroom > each.limit;
    }
    const std::vector<std::uint32_t> limits = share_pool(kBudget, shares);
    std::uint64_t held = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      held += std::max(limits[i], shares[i].taken);
      EXPECT_GE(limits[i], std::min(shares[i].limit, std::max({shares[i].kept, shares[i].running, 1u})));
      if (!any_wants) {
        EXPECT_EQ(limits[i], shares[i].limit);
      }
    }
    EXPECT_LE(held, 1024u);
  }
}

}  // namespace
}  // namespace larder::engine
