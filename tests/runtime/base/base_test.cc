// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "runtime/base/event.h"
#include "runtime/base/inbox.h"
#include "runtime/base/result.h"
#include "runtime/base/rng.h"

namespace larder {
namespace {

Result<int> parse(bool good) {
  if (!good) return Error{ErrorCode::kInvalidArgument, "not good", "here"};
  return 7;
}

Result<int> twice(bool good) {
  ASSIGN_OR_RETURN(const int value, parse(good));
  return 2 * value;
}

TEST(Result, PropagatesValueAndError) {
  EXPECT_EQ(*twice(true), 14);
  EXPECT_EQ(to_string(twice(false).error()), "invalid_argument: not good (here)");
}

TEST(Inbox, RefusesWhenFullButNeverAReservedMessage) {
  Inbox<int> inbox(2);
  EXPECT_TRUE(inbox.push(1));
  EXPECT_TRUE(inbox.push(2));
  EXPECT_FALSE(inbox.push(3));
  inbox.push_reserved(4);
  EXPECT_EQ(inbox.try_pop(), 1);
  EXPECT_EQ(inbox.try_pop(), 2);
  EXPECT_EQ(inbox.try_pop(), 4);
  EXPECT_EQ(inbox.try_pop(), std::nullopt);
}

TEST(Inbox, ANudgeEndsOneWaitAndTakesNoMessagesPlace) {
  Inbox<int> inbox(1);
  const auto later = std::chrono::steady_clock::now() + std::chrono::hours(1);
  inbox.nudge();
  inbox.nudge();
  EXPECT_EQ(inbox.pop_until(later), std::nullopt);
  EXPECT_TRUE(inbox.push(1));
  EXPECT_EQ(inbox.pop_until(later), 1);
  std::thread nudges([&inbox] { inbox.nudge(); });
  EXPECT_EQ(inbox.pop_until(later), std::nullopt);
  nudges.join();
  inbox.nudge();
  EXPECT_TRUE(inbox.push(2));
  EXPECT_EQ(inbox.pop_until(later), 2);
  EXPECT_EQ(inbox.pop_until(std::chrono::steady_clock::now()), std::nullopt);
  EXPECT_EQ(inbox.size(), 0u);
}

TEST(Inbox, KeepsEveryMessageOfManyWriters) {
  Inbox<int> inbox(4000);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&inbox] {
      for (int i = 0; i < 1000; ++i) inbox.push_reserved(1);
    });
  }
  int sum = 0;
  while (sum < 4000) {
    if (auto got = inbox.pop_until(std::chrono::steady_clock::now() + std::chrono::seconds(5))) sum += *got;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(inbox.size(), 0u);
}

TEST(EventRing, CountsWhatItDropped) {
  EventRing ring(4);
  for (std::uint64_t i = 0; i < 10; ++i) ring.write({.subject = i});
  std::vector<Event> events;
  ring.drain(events);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events.front().subject, 6u);
  EXPECT_EQ(ring.dropped(), 6u);
}

TEST(Rng, ValueDependsOnCounterAlone) {
  Rng rng(42, 3);
  rng.next();
  EXPECT_EQ(rng.next(), Rng::at(42, 3, 1));
  for (int i = 0; i < 1000; ++i) EXPECT_LT(rng.below(10), 10u);
}

}  // namespace
}  // namespace larder
