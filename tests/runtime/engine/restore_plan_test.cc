// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/restore_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/rng.h"

namespace larder::engine {
namespace {

using kernels::kBlockTokens;
using sched::PrefillCost;

constexpr ColdRun kRun{0, 1000};
constexpr PrefillCost kMillisecondARow{1e6, 0};

TEST(RestorePlan, ReadsAllWhereThatIsFaster) {
  const RestorePlan plan = plan_restore(kRun, {1, 0.5, 0}, kMillisecondARow, false);
  EXPECT_TRUE(plan.read);
  EXPECT_EQ(plan.head_blocks, 0u);
  EXPECT_DOUBLE_EQ(plan.read_ms, 1 + 32 * 0.5);
  EXPECT_DOUBLE_EQ(plan.estimate_ms, plan.read_ms);
  EXPECT_DOUBLE_EQ(plan.compute_ms, 1000);
}

TEST(RestorePlan, ComputesAllWhereThatIsFaster) {
  const RestorePlan plan = plan_restore(kRun, {1, 900, 0}, kMillisecondARow, false);
  EXPECT_FALSE(plan.read);
  EXPECT_GT(plan.read_ms, plan.compute_ms);
}

TEST(RestorePlan, ReadsWhatWasNeverMeasuredAndWhatIsAskedFor) {
  EXPECT_TRUE(plan_restore(kRun, {1, 900, 0}, {}, false).read);
  const RestorePlan asked = plan_restore(kRun, {1, 900, 0}, kMillisecondARow, true);
  EXPECT_TRUE(asked.read);
  EXPECT_EQ(asked.head_blocks, 0u);
}

TEST(RestorePlan, DeepRowsAreDearerSoTheyAreReadWhereTheSameAtTheStartAreComputed) {
  const PrefillCost deep{1e5, 500};
  const ReadRate rate{1, 40, 0};
  EXPECT_FALSE(plan_restore({0, 320}, rate, deep, false).read);
  EXPECT_TRUE(plan_restore({8000, 320}, rate, deep, false).read);
}

TEST(RestorePlan, ReadsOfOthersCountAsTime) {
  EXPECT_TRUE(plan_restore(kRun, {1, 10, 0}, kMillisecondARow, false).read);
  EXPECT_FALSE(plan_restore(kRun, {1, 10, 2000}, kMillisecondARow, false).read);
}

// Against every possible head, and against every start that could be read with its end computed afterwards.
TEST(RestorePlan, IsNeverFarFromTheBestOfAllWays) {
  Rng rng(3);
  std::uint32_t mixed = 0;
  for (int round = 0; round < 2000; ++round) {
    const ColdRun run{static_cast<std::uint32_t>(rng.below(200)) * kBlockTokens,
                      static_cast<std::uint32_t>(16 + rng.below(6000))};
    const PrefillCost cost{1e4 * static_cast<double>(1 + rng.below(200)), static_cast<double>(rng.below(300))};
    const ReadRate rate{1, 0.05 * static_cast<double>(1 + rng.below(1500)), static_cast<double>(rng.below(30))};
    const RestorePlan plan = plan_restore(run, rate, cost, false);
    const std::uint32_t blocks = run.blocks();
    const double pure_ms = std::min(plan.read_ms, plan.compute_ms);
    double best_ms = pure_ms;
    for (std::uint32_t at = 1; at < blocks; ++at) {
      const std::uint32_t border = run.position + at * kBlockTokens;
      const double mixed_ms = std::max(cost.ms(run.position, border), rate.ms(blocks - at));
      if (at >= 4) best_ms = std::min(best_ms, mixed_ms);  // shorter chunks are not worth it
      const double start_read_ms = rate.ms(at) + cost.ms(border, run.position + run.tokens);
      // The last block may be short, and is read whole.
      EXPECT_GE(start_read_ms + rate.block_ms, pure_ms);
    }
    const double planned_ms = plan.head_blocks > 0 ? plan.mixed_ms : plan.read ? plan.read_ms : plan.compute_ms;
    EXPECT_LE(planned_ms, std::max(best_ms / 0.9, best_ms + 20) + 1e-6);
    EXPECT_LE(planned_ms, pure_ms + 1e-6);
    if (plan.head_blocks == 0) continue;
    ++mixed;
    EXPECT_LT(plan.head_blocks, blocks);
    EXPECT_DOUBLE_EQ(plan.estimate_ms, rate.ms(blocks - plan.head_blocks));
  }
  EXPECT_GT(mixed, 200u);
}

TEST(RestorePlan, AReadIsOverdueWhenWhatIsLeftIsComputedSooner) {
  ReadState state{30, 2, 40, 20, 10};
  EXPECT_FALSE(overdue(state, 5));  // it is not late yet
  state.asked_ms = 50;              // ten blocks came in 50 ms: ten more in as long
  EXPECT_DOUBLE_EQ(read_left_ms(state), 50);
  EXPECT_TRUE(overdue(state, 30));
  EXPECT_FALSE(overdue(state, 40));  // hardly sooner
  state.idle_ms = 300;               // it stands still
  EXPECT_TRUE(overdue(state, 150));
  EXPECT_FALSE(overdue(state, 0));  // what computing takes is not known
  state.blocks_left = 0;
  EXPECT_FALSE(overdue(state, 1));
}

TEST(RestorePlan, ANeverAnsweredReadIsOverdueAfterTheTimeThatComputingTakes) {
  ReadState state{99, 99, 10, 20, 20};
  EXPECT_FALSE(overdue(state, 100));
  state.asked_ms = state.idle_ms = 151;
  EXPECT_TRUE(overdue(state, 100));
}

}  // namespace
}  // namespace larder::engine
