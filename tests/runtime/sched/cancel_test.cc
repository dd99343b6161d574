// SPDX-License-Identifier: Apache-2.0
// 5,000 cancelled sequences, a thousand in each place where one can be: every block comes back, nothing half-written is
// ever found, and what was finished before is still right.
#include <gtest/gtest.h>

#include "tests/support/sched_rig.h"

namespace larder::test {
namespace {

constexpr int kEach = 1000;

class Cancel : public ::testing::Test {
 protected:
  static RigOptions options() {
    RigOptions made;
    made.blocks = 96;
    made.longest_request_blocks = 24;
    made.pin_budget_blocks = 0;
    made.limits.plan.alone_rows = 64;
    return made;
  }

  std::vector<Token> prompt() {
    // Few different starts, so that cancelled and living sequences meet on the same blocks.
    std::vector<Token> tokens(32 * (1 + rng_.below(4)) + rng_.below(31), static_cast<Token>(rng_.below(6)));
    for (std::size_t i = tokens.size() / 2; i < tokens.size(); ++i) tokens[i] = static_cast<Token>(rng_.below(64));
    return tokens;
  }

  // A bystander that lives on through the cancels, checked against cold at the end.
  void expect_right_and_clean(int round) {
    rig_.run();
    ASSERT_EQ(rig_.cache().counts().pool.in_use, 0u) << "round " << round;
    ASSERT_EQ(rig_.cache().counts().open_claims, 0u) << "round " << round;
    if (round % 50 != 0) return;
    ASSERT_EQ(rig_.cache().audit(), "") << "round " << round;
    const std::vector<Token> tokens = prompt();
    const SeqId warm = rig_.add(tokens, 3);
    rig_.run();
    sched::SequenceSpec spec = rig_.spec(tokens, 3, 99);
    spec.read = spec.keep = false;
    const SeqId cold = rig_.add(std::move(spec));
    rig_.run();
    ASSERT_EQ(rig_.result(warm).logits, rig_.result(cold).logits) << "round " << round;
    ASSERT_TRUE(rig_.knobs().violations().empty()) << rig_.knobs().violations().front();
  }

  SchedRig rig_{options()};
  Rng rng_{5};
};

TEST_F(Cancel, InTheQueue) {
  for (int round = 0; round < kEach; ++round) {
    const SeqId other = rig_.add(prompt(), 2);
    const SeqId seq = rig_.add(prompt(), 5);
    rig_.cancel(seq);
    ASSERT_TRUE(rig_.result(seq).ended);
    ASSERT_EQ(rig_.result(seq).report.end, sched::SequenceEnd::kCancelled);
    ASSERT_NO_FATAL_FAILURE(expect_right_and_clean(round));
    ASSERT_TRUE(rig_.result(other).ended);
  }
}

TEST_F(Cancel, InPrefillWhileTheDeviceRuns) {
  for (int round = 0; round < kEach; ++round) {
    const SeqId seq = rig_.add(prompt(), 5);
    const bool company = rng_.below(2) == 0;
    const SeqId other = company ? rig_.add(prompt(), 2) : SeqId{};
    rig_.knobs().hold();
    ASSERT_TRUE(rig_.begin_step());
    rig_.cancel(seq);
    rig_.knobs().release();
    rig_.finish();
    ASSERT_TRUE(rig_.result(seq).ended);
    ASSERT_NO_FATAL_FAILURE(expect_right_and_clean(round));
    if (company) {
      ASSERT_TRUE(rig_.result(other).report.status.ok());
    }
  }
}

TEST_F(Cancel, BetweenTheStepsEndAndItsPublication) {
  for (int round = 0; round < kEach; ++round) {
    const SeqId seq = rig_.add(prompt(), 5);
    ASSERT_TRUE(rig_.begin_step());
    ASSERT_TRUE(rig_.wait_done());
    rig_.cancel(seq);
    rig_.finish();
    ASSERT_TRUE(rig_.result(seq).ended);
    ASSERT_NO_FATAL_FAILURE(expect_right_and_clean(round));
  }
}

TEST_F(Cancel, InDecode) {
  for (int round = 0; round < kEach; ++round) {
    const SeqId seq = rig_.add(prompt(), 60);
    const std::uint64_t tokens = 1 + rng_.below(8);
    while (rig_.result(seq).tokens.size() < tokens && rig_.step()) {
    }
    if (rng_.below(2) == 0) {
      ASSERT_TRUE(rig_.begin_step());
      rig_.cancel(seq);
      rig_.finish();
    } else {
      rig_.cancel(seq);
    }
    ASSERT_TRUE(rig_.result(seq).ended);
    ASSERT_NO_FATAL_FAILURE(expect_right_and_clean(round));
  }
}

TEST_F(Cancel, WhileItsReaderDoesNotRead) {
  for (int round = 0; round < kEach; ++round) {
    const SeqId seq = rig_.add(prompt(), 60);
    while (rig_.result(seq).tokens.empty() && rig_.step()) {
    }
    rig_.set_paused(seq, true);
    const SeqId other = rig_.add(prompt(), 4);
    rig_.run();
    ASSERT_TRUE(rig_.result(other).ended);
    ASSERT_FALSE(rig_.result(seq).ended);
    rig_.cancel(seq);
    ASSERT_TRUE(rig_.result(seq).ended);
    ASSERT_NO_FATAL_FAILURE(expect_right_and_clean(round));
    rig_.set_paused(seq, false);
  }
}

TEST_F(Cancel, BetweenTheLayerRangesOfAChunk) {
  sched::SchedulerLimits limits;
  limits.plan.step_ns = 1;  // every range is one layer
  limits.plan.n_layers = 3;
  rig_.scheduler().set_limits(limits);
  for (int round = 0; round < 200; ++round) {
    const SeqId stream = rig_.add(prompt(), 12);
    while (rig_.result(stream).tokens.empty() && rig_.step()) {
    }
    const SeqId seq = rig_.add(prompt(), 5);
    for (std::uint64_t i = 0; i < 1 + rng_.below(6) && !rig_.result(seq).ended; ++i) rig_.step();
    if (!rig_.result(seq).ended) rig_.cancel(seq);
    ASSERT_NO_FATAL_FAILURE(expect_right_and_clean(round));
    ASSERT_EQ(rig_.result(stream).tokens.size(), 12u);
  }
}

}  // namespace
}  // namespace larder::test
