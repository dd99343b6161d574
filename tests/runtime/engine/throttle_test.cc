// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/throttle.h"

#include <gtest/gtest.h>

#include "runtime/base/rng.h"

namespace larder::engine {
namespace {

TEST(Throttle, ASliceIsPaidForWithAPause) {
  Throttle throttle(0.2);
  EXPECT_TRUE(throttle.free(1000));
  throttle.spent(1000, 100);
  EXPECT_FALSE(throttle.free(1499));
  EXPECT_TRUE(throttle.free(1500));
}

TEST(Throttle, WhatIsHeardOfLaterIsPaidForTooAndIdleTimeIsNotSavedUp) {
  Throttle throttle(0.25);
  throttle.spent(0, 100);
  throttle.spent(10, 50);
  EXPECT_EQ(throttle.free_at(), 600);
  throttle.spent(1'000'000, 100);
  EXPECT_EQ(throttle.free_at(), 1'000'400);
}

TEST(Throttle, OverAnySpanItsShareAndOneSliceIsAllThatIsWorked) {
  Throttle throttle(0.2);
  Rng rng(3);
  std::vector<std::pair<Ticks, Ticks>> slices;
  Ticks now = 0;
  for (int i = 0; i < 2000; ++i) {
    now = std::max(now + static_cast<Ticks>(rng.below(300)), throttle.free_at());
    const Ticks cost = static_cast<Ticks>(1 + rng.below(1000));
    throttle.spent(now, cost);
    slices.emplace_back(now, cost);
    now += cost;
  }
  for (std::size_t from = 0; from < slices.size(); from += 97) {
    Ticks worked = 0;
    for (std::size_t i = from; i < slices.size(); ++i) {
      worked += slices[i].second;
      const Ticks span = slices[i].first + slices[i].second - slices[from].first;
      EXPECT_LE(static_cast<double>(worked), 0.2 * static_cast<double>(span) + 1001);
    }
  }
}

}  // namespace
}  // namespace larder::engine
