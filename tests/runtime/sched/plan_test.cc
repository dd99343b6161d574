// SPDX-License-Identifier: Apache-2.0
#include "runtime/sched/plan.h"

#include <gtest/gtest.h>

#include "runtime/base/rng.h"
#include "runtime/sched/fair_share.h"
#include "runtime/sched/rates.h"

namespace larder::sched {
namespace {

PlanLimits limits() {
  PlanLimits l;
  l.n_layers = 30;
  return l;
}

std::uint32_t rows_of(const StepPlan& plan, SeqId seq) {
  for (const PlannedRows& rows : plan.prefill) {
    if (rows.seq == seq) return rows.rows;
  }
  return 0;
}

std::uint32_t prefill_rows(const StepPlan& plan) {
  std::uint32_t rows = 0;
  for (const PlannedRows& each : plan.prefill) rows += each.rows;
  return rows;
}

TEST(PlanStep, NothingToDoIsAnEmptyPlan) { EXPECT_TRUE(plan_step({}, limits(), {}).empty()); }

TEST(PlanStep, AloneAChunkIsWholeAndLarge) {
  PlanInput input;
  input.prefill = {{SeqId{1}, TenantId{1}, 4000}};
  const StepPlan plan = plan_step(input, limits(), {});
  EXPECT_EQ(rows_of(plan, SeqId{1}), 512u);
  EXPECT_EQ(plan.layer_begin, 0u);
  EXPECT_EQ(plan.layer_end, 30u);
}

TEST(PlanStep, AChunkThatFitsJoinsTheDecodeRows) {
  PlanInput input;
  input.decode = {SeqId{2}};
  input.prefill = {{SeqId{1}, TenantId{1}, 4000}};
  const StepPlan plan = plan_step(input, limits(), {1e5, 5e6});  // 45 ms left at 0.1 ms a row
  ASSERT_EQ(plan.decode.size(), 1u);
  EXPECT_EQ(rows_of(plan, SeqId{1}), 450u);
  EXPECT_EQ(plan.layer_end, 30u);
}

TEST(PlanStep, ALongChunkIsCutByLayersAndDecodeRunsBetweenItsRanges) {
  const PlanRates rates{2e6, 20e6};  // 128 rows take 256 ms: 5 layers fit 50 ms
  PlanInput input;
  input.decode = {SeqId{2}};
  input.prefill = {{SeqId{1}, TenantId{1}, 4000}};
  std::uint32_t ranges = 0;
  std::uint32_t decode_steps = 0;
  bool finished = false;
  for (int step = 0; step < 40 && !finished; ++step) {
    const StepPlan plan = plan_step(input, limits(), rates);
    if (!plan.decode.empty()) {
      EXPECT_TRUE(plan.prefill.empty());
      ++decode_steps;
      input.decode_ran_last = true;
      continue;
    }
    EXPECT_TRUE(input.decode_ran_last) << "two ranges without a decode step between them";
    EXPECT_EQ(prefill_rows(plan), kChunkRows);
    EXPECT_LE((plan.layer_end - plan.layer_begin) * 128 * rates.prefill_row_ns / 30, 50e6);
    EXPECT_EQ(plan.layer_begin, input.open ? input.open->next_layer : 0u);
    input.open = OpenChunk{plan.prefill, plan.layer_end};
    input.decode_ran_last = false;
    ++ranges;
    finished = plan.layer_end == 30;
  }
  EXPECT_TRUE(finished);
  EXPECT_EQ(ranges, 6u);
  EXPECT_EQ(decode_steps, 6u);
}

TEST(PlanStep, AnOpenChunkEndsAtOnceWhenNobodyDecodesAnyMore) {
  PlanInput input;
  input.open = OpenChunk{{{SeqId{1}, 128}}, 10};
  const StepPlan plan = plan_step(input, limits(), {2e6, 20e6});
  EXPECT_EQ(plan.layer_begin, 10u);
  EXPECT_EQ(plan.layer_end, 30u);
  EXPECT_EQ(rows_of(plan, SeqId{1}), 128u);
}

TEST(PlanStep, OneRangeOfOneLayerIsTheBoundWhereALayerTakesLonger) {
  PlanInput input;
  input.decode = {SeqId{2}};
  input.decode_ran_last = true;
  input.prefill = {{SeqId{1}, TenantId{1}, 4000}};
  const StepPlan plan = plan_step(input, limits(), {50e6, 60e6});
  EXPECT_EQ(plan.layer_end - plan.layer_begin, 1u);
  EXPECT_EQ(prefill_rows(plan), kChunkRows);
}

TEST(PlanStep, TenantsShareTheChunkAndLeftoversGoToWhoIsFirst) {
  PlanInput input;
  input.prefill = {{SeqId{1}, TenantId{1}, 4000}, {SeqId{2}, TenantId{1}, 4000}, {SeqId{3}, TenantId{2}, 40}};
  const StepPlan plan = plan_step(input, limits(), {});
  EXPECT_EQ(rows_of(plan, SeqId{3}), 40u);
  EXPECT_EQ(rows_of(plan, SeqId{1}), 472u);
  EXPECT_EQ(rows_of(plan, SeqId{2}), 0u);
}

TEST(PlanStep, NeverMoreRowsThanTheSequenceHasOrTheExecutorTakes) {
  Rng rng(5);
  for (int round = 0; round < 2000; ++round) {
    PlanInput input;
    std::uint32_t waiting = 0;
    for (std::uint64_t i = 0; i < rng.below(6); ++i) input.decode.push_back(SeqId{100 + i});
    const std::uint64_t prompts = rng.below(5);
    for (std::uint64_t i = 0; i < prompts; ++i) {
      input.prefill.push_back({SeqId{1 + i}, TenantId{static_cast<std::uint32_t>(rng.below(3))},
                               1 + static_cast<std::uint32_t>(rng.below(900))});
      waiting += input.prefill.back().rows_left;
    }
    input.decode_ran_last = rng.below(2) == 0;
    PlanLimits l = limits();
    l.max_rows = 256;
    const StepPlan plan = plan_step(input, l, {1e3 * static_cast<double>(1 + rng.below(5000)), 1e7});
    EXPECT_LE(plan.decode.size() + prefill_rows(plan), 256u);
    EXPECT_LE(prefill_rows(plan), waiting);
    for (const PrefillView& view : input.prefill) EXPECT_LE(rows_of(plan, view.seq), view.rows_left);
    EXPECT_EQ(plan.empty(), input.decode.empty() && input.prefill.empty());
    EXPECT_LE(plan.layer_end, l.n_layers);
    EXPECT_LT(plan.layer_begin, plan.layer_end);
  }
}

TEST(FairShare, WhoWasAwaySavesNothingUpAndIsNotPunished) {
  FairShare share;
  share.join(TenantId{1});
  share.charge(TenantId{1}, 5000);
  share.join(TenantId{2});
  EXPECT_EQ(share.served(TenantId{2}), 5000u);
  share.charge(TenantId{2}, 10);
  share.leave(TenantId{2});
  share.join(TenantId{2});
  EXPECT_EQ(share.served(TenantId{2}), 5000u);
  share.leave(TenantId{1});
  share.leave(TenantId{2});
  EXPECT_EQ(share.tenants(), 0u);
}

TEST(Rates, AreUnknownUntilMeasuredAndThenFollow) {
  Rates rates;
  EXPECT_EQ(rates.prefill_tokens_per_s(), 0);
  rates.record(100, 0, 1.0, 100'000'000);
  EXPECT_DOUBLE_EQ(rates.prefill_row_ns(), 1e6);
  rates.record(100, 0, 0.5, 25'000'000);
  EXPECT_DOUBLE_EQ(rates.prefill_row_ns(), 1e6 - 0.25 * 5e5);
  rates.record(0, 3, 1.0, 7'000'000);
  EXPECT_DOUBLE_EQ(rates.decode_step_ns(), 7e6);
}

}  // namespace
}  // namespace larder::sched
