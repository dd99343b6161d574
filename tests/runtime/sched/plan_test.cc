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
    EXPECT_LE((plan.layer_end - plan.layer_begin) * (128 * rates.row_ns + rates.decode_step_ns) / 30, 50e6);
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

TEST(PlanStep, WhereOneLayerOfAChunkTakesTooLongItsRowsGiveWay) {
  PlanInput input;
  input.decode = {SeqId{2}};
  input.decode_ran_last = true;
  input.prefill = {{SeqId{1}, TenantId{1}, 4000}};
  const StepPlan plan = plan_step(input, limits(), {50e6, 60e6});
  EXPECT_EQ(plan.layer_end - plan.layer_begin, 1u);
  EXPECT_EQ(prefill_rows(plan), 28u);  // (60 + 28 * 50) / 30 ms is 48.7; 29 rows would take 50.3
  EXPECT_LE(plan.expected_ns, 50e6);
}

TEST(PlanStep, OneLayerOfOneRowIsTheBoundWhereThatTakesLonger) {
  PlanInput input;
  input.decode = {SeqId{2}};
  input.decode_ran_last = true;
  input.prefill = {{SeqId{1}, TenantId{1}, 4000}};
  const StepPlan plan = plan_step(input, limits(), {3e9, 60e6});
  EXPECT_EQ(plan.layer_end - plan.layer_begin, 1u);
  EXPECT_EQ(prefill_rows(plan), 1u);
}

TEST(PlanStep, DeepRowsCostMore) {
  const PlanRates rates{1e5, 5e6, 100};  // at depth 4,000 a row takes 0.5 ms
  PlanInput input;
  input.decode = {SeqId{2}};
  input.prefill = {{SeqId{1}, TenantId{1}, 20, 4000}};
  StepPlan plan = plan_step(input, limits(), rates);
  EXPECT_EQ(prefill_rows(plan), 20u);
  EXPECT_NEAR(plan.expected_ns, 5e6 + 20 * 0.501e6, 1e3);
  input.prefill = {{SeqId{1}, TenantId{1}, 100, 4000}};
  input.decode_ran_last = true;
  plan = plan_step(input, limits(), rates);  // 55 ms: cut by layers
  EXPECT_TRUE(plan.decode.empty());
  EXPECT_EQ(prefill_rows(plan), 100u);
  EXPECT_EQ(plan.layer_end, 27u);
}

TEST(PlanStep, AChunkThatHasRunIsCutByWhatItTook) {
  PlanInput input;
  input.decode = {SeqId{2}};
  input.decode_ran_last = true;
  input.open = OpenChunk{{{SeqId{1}, 128}}, 10, 12e6};
  const StepPlan plan = plan_step(input, limits(), {1e5, 5e6});
  EXPECT_EQ(plan.layer_end, 14u);
  EXPECT_DOUBLE_EQ(plan.expected_ns, 48e6);
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
  EXPECT_GE(rates.for_plan().row_ns, 1e7) << "the first step of all must be short";
  rates.record({100, 0, 50, 1.0}, 100'000'000);
  EXPECT_DOUBLE_EQ(rates.prefill_row_ns(), 1e6);
  rates.record({100, 0, 50, 0.5}, 25'000'000);
  EXPECT_DOUBLE_EQ(rates.prefill_row_ns(), 1e6 - 0.25 * 5e5);
  rates.record({0, 3, 0, 1.0}, 7'000'000);
  EXPECT_DOUBLE_EQ(rates.decode_step_ns(), 7e6);
}

// What a row costs beyond a decode step, and how that grows with depth, comes back out of step times.
TEST(Rates, FindTheCostOfDepth) {
  Rates rates;
  rates.record({0, 1, 0, 1.0}, 20'000'000);
  const auto row_ns = [](double depth) { return 1.2e6 + 600 * depth; };
  for (int chunk = 0; chunk < 8; ++chunk) {
    const double depth = 512 * chunk + 256;
    rates.record({512, 0, depth, 1.0}, static_cast<std::int64_t>(20e6 + 512 * row_ns(depth)));
  }
  for (const double depth : {0.0, 2000.0, 6000.0}) {
    const PlanRates plan = rates.for_plan();
    EXPECT_NEAR(plan.row_ns + depth * plan.row_depth_ns, row_ns(depth), row_ns(depth) / 100) << depth;
  }
}

// Ten ranges of one chunk are one measurement, so the chunk before is not forgotten over them.
TEST(Rates, RangesOfAChunkCountOnce) {
  Rates rates;
  rates.record({0, 1, 0, 1.0}, 10'000);
  rates.record({128, 0, 64, 1.0}, 128'010'000);
  for (int range = 0; range < 9; ++range) rates.record({128, 0, 2000, 0.1, false}, 25'601'000);
  rates.record({128, 0, 2000, 0.1, true}, 25'601'000);
  EXPECT_NEAR(rates.for_plan().row_depth_ns, 1e6 / 1936, 1);
}

TEST(Rates, UntilDepthsWereComparedDepthIsFeared) {
  Rates rates;
  rates.record({0, 1, 0, 1.0}, 10'000'000);
  for (int i = 0; i < 20; ++i) rates.record({128, 0, 1000.0 + i % 3, 1.0}, 128'000'000 + i % 3 * 9'000'000);
  PlanRates plan = rates.for_plan();
  EXPECT_GT(plan.row_ns + 5000 * plan.row_depth_ns, 2 * (plan.row_ns + 1000 * plan.row_depth_ns));
  const double row_ns = plan.row_ns + 1000 * plan.row_depth_ns;
  for (int i = 0; i < 3; ++i) rates.record({128, 0, 3000, 1.0}, static_cast<std::int64_t>(10e6 + 128 * row_ns));
  plan = rates.for_plan();
  EXPECT_NEAR(plan.row_ns + 5000 * plan.row_depth_ns, row_ns, row_ns / 5);
}

// Otherwise a cautious start, which makes steps of a few rows, would never end.
TEST(Rates, AFewRowsCountWhileNothingElseIsKnown) {
  Rates rates;
  rates.record({0, 1, 0, 1.0}, 10'000'000);
  for (const std::int64_t ns : {24'000'000, 80'000'000}) {
    rates.record({7, 0, 10, 1.0}, ns);
    const PlanRates plan = rates.for_plan();
    EXPECT_NEAR(plan.row_ns + 10 * plan.row_depth_ns, 2e6, 1);
  }
}

TEST(Rates, WhatFellShortIsMadeRoomForAndForgotten) {
  Rates rates;
  EXPECT_GT(rates.shortfall(), 1) << "nothing is known yet";
  rates.compare(40e6, 50'000'000);
  EXPECT_DOUBLE_EQ(rates.shortfall(), 1.25);
  for (int i = 0; i < 500; ++i) rates.compare(40e6, 40'000'000);
  EXPECT_DOUBLE_EQ(rates.shortfall(), 1.05);
  rates.compare(1e6, 1'000'000'000);
  EXPECT_DOUBLE_EQ(rates.shortfall(), 1.5);
}

TEST(PlanStep, BesideAnotherModelsAnswersAPromptKeepsToTheStepTime) {
  const PlanRates rates{2e6, 20e6};  // 128 rows take 256 ms: 5 layers fit 50 ms
  PlanInput input;
  input.prefill = {{SeqId{1}, TenantId{1}, 4000}};
  input.others_decode = true;
  const StepPlan first = plan_step(input, limits(), rates);
  EXPECT_EQ(prefill_rows(first), kChunkRows);
  EXPECT_EQ(first.layer_begin, 0u);
  EXPECT_EQ(first.layer_end, 5u);
  input.open = OpenChunk{first.prefill, first.layer_end, 0};
  const StepPlan second = plan_step(input, limits(), rates);
  EXPECT_EQ(second.layer_begin, 5u);
  EXPECT_LE(second.expected_ns, limits().step_ns);
  input.others_decode = false;
  EXPECT_EQ(plan_step(input, limits(), rates).layer_end, 30u) << "alone again, it is not cut";
}

TEST(PlanStep, InATurnForAnswersNoPromptRowRuns) {
  PlanInput input;
  input.decode = {SeqId{2}};
  input.decode_ran_last = true;
  input.decode_only = true;
  input.prefill = {{SeqId{1}, TenantId{1}, 40}};
  const PlanRates rates{1e5, 5e6};
  EXPECT_EQ(prefill_rows(plan_step(input, limits(), rates)), 0u);
  EXPECT_EQ(plan_step(input, limits(), rates).decode.size(), 1u);
  input.open = OpenChunk{{{SeqId{1}, 128, 0}}, 5, 0};
  EXPECT_EQ(plan_step(input, limits(), rates).decode.size(), 1u);
  EXPECT_EQ(plan_step(input, limits(), rates).layer_begin, 0u);
  input.decode.clear();
  EXPECT_TRUE(plan_step(input, limits(), rates).empty());
}

}  // namespace
}  // namespace larder::sched
