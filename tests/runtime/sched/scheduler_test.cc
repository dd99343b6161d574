// SPDX-License-Identifier: Apache-2.0
#include "runtime/sched/scheduler.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/sched_rig.h"

namespace larder::test {
namespace {

std::vector<Token> random_tokens(Rng& rng, std::size_t count, std::uint32_t vocab) {
  std::vector<Token> tokens(count);
  for (Token& token : tokens) token = static_cast<Token>(rng.below(vocab));
  return tokens;
}

std::vector<Token> joined(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void expect_clean(SchedRig& rig) {
  EXPECT_EQ(rig.cache().audit(), "");
  const kv::CacheCounts counts = rig.cache().counts();
  EXPECT_EQ(counts.pool.in_use, 0u);
  EXPECT_EQ(counts.open_claims, 0u);
  EXPECT_EQ(counts.pool.free + counts.pool.cached, counts.pool.total);
  EXPECT_TRUE(rig.knobs().violations().empty()) << rig.knobs().violations().front();
}

// What the prompt gives when nothing is cached: the same machine, but neither reading nor keeping.
RigResult cold_run(SchedRig& rig, const std::vector<Token>& prompt, std::uint32_t draw) {
  sched::SequenceSpec spec = rig.spec(prompt, draw, 99);
  spec.read = false;
  spec.keep = false;
  const SeqId seq = rig.add(std::move(spec));
  rig.run();
  return rig.result(seq);
}

TEST(Scheduler, ASequenceRunsToItsLengthAndGivesItsBlocksBack) {
  SchedRig rig({});
  Rng rng(1);
  const SeqId seq = rig.add(random_tokens(rng, 100, rig.vocab()), 50);
  rig.run();
  EXPECT_EQ(rig.result(seq).tokens.size(), 50u);
  EXPECT_EQ(rig.result(seq).report.end, sched::SequenceEnd::kLength);
  EXPECT_EQ(rig.result(seq).report.verdict.computed_tokens, 100u);
  EXPECT_EQ(rig.rows(), 100u + 49u);
  expect_clean(rig);
}

TEST(Scheduler, TheSecondPromptComputesItsNewTokensOnly) {
  SchedRig rig({});
  Rng rng(2);
  const std::vector<Token> shared = random_tokens(rng, 2000, rig.vocab());
  rig.add(shared, 0);
  rig.run();
  const std::uint64_t before = rig.rows();
  const std::vector<Token> second = joined(shared, random_tokens(rng, 20, rig.vocab()));
  const SeqId seq = rig.add(second, 1);
  rig.run();
  EXPECT_LE(rig.rows() - before, 21u);
  EXPECT_EQ(rig.result(seq).started.reused_tokens, 2000u);
  EXPECT_EQ(rig.result(seq).report.verdict.computed_tokens, 20u);
  EXPECT_EQ(rig.result(seq).logits, cold_run(rig, second, 1).logits);
  expect_clean(rig);
}

TEST(Scheduler, AnEqualPromptComputesOneRow) {
  SchedRig rig({});
  Rng rng(3);
  for (const std::size_t length : {2u, 31u, 32u, 33u, 64u, 65u, 320u}) {
    const std::vector<Token> prompt = random_tokens(rng, length, rig.vocab());
    const SeqId first = rig.add(prompt, 3);
    rig.run();
    const std::uint64_t before = rig.rows();
    const SeqId second = rig.add(prompt, 3);
    rig.run();
    EXPECT_EQ(rig.rows() - before, 1u + 2u) << length;
    EXPECT_EQ(rig.result(first).logits, rig.result(second).logits) << length;
  }
  expect_clean(rig);
}

TEST(Scheduler, EightEqualColdPromptsComputeThePromptOnce) {
  for (const std::uint32_t prompt_tokens : {5u, 100u, 1008u}) {
    SchedRig rig({});
    Rng rng(4);
    const std::vector<Token> prompt = random_tokens(rng, prompt_tokens, rig.vocab());
    std::vector<SeqId> all;
    for (int i = 0; i < 8; ++i) all.push_back(rig.add(prompt, 1));
    rig.run();
    EXPECT_LE(rig.scheduler().counts().prefill_rows, prompt_tokens + 7);
    for (const SeqId seq : all) EXPECT_EQ(rig.result(seq).logits, rig.result(all[0]).logits);
    expect_clean(rig);
  }
}

TEST(Scheduler, WhenTheLeaderIsCancelledAFollowerGoesOn) {
  SchedRig rig({});
  Rng rng(5);
  const std::vector<Token> prompt = random_tokens(rng, 900, rig.vocab());
  std::vector<SeqId> all;
  for (int i = 0; i < 8; ++i) all.push_back(rig.add(prompt, 4));
  ASSERT_TRUE(rig.begin_step());
  rig.cancel(all[0]);
  rig.finish();
  rig.run();
  EXPECT_EQ(rig.result(all[0]).report.end, sched::SequenceEnd::kCancelled);
  const RigResult cold = cold_run(rig, prompt, 4);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(rig.result(all[i]).logits, cold.logits);
  expect_clean(rig);
}

TEST(Scheduler, AnswersAreTheSameAloneAndInABatchAcrossTenants) {
  SchedRig rig({});
  Rng rng(6);
  std::vector<std::vector<Token>> prompts;
  for (int i = 0; i < 24; ++i) prompts.push_back(random_tokens(rng, 1 + rng.below(200), rig.vocab()));
  std::vector<SeqId> together;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    together.push_back(rig.add(prompts[i], 20, 1 + static_cast<std::uint32_t>(i % 3)));
  }
  rig.run();
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(rig.result(together[i]).logits, cold_run(rig, prompts[i], 20).logits) << i;
  }
  expect_clean(rig);
}

TEST(Scheduler, TwoTenantsShareNothing) {
  SchedRig rig({});
  Rng rng(7);
  const std::vector<Token> prompt = random_tokens(rng, 300, rig.vocab());
  rig.add(prompt, 1, 1);
  rig.run();
  const SeqId other = rig.add(prompt, 1, 2);
  rig.run();
  EXPECT_EQ(rig.result(other).started.reused_tokens, 0u);
  EXPECT_EQ(rig.result(other).started.kind, kv::VerdictKind::kCold);
  expect_clean(rig);
}

TEST(Scheduler, AFailedStepEndsItsOwnSequencesAndLeavesNothingToFind) {
  SchedRig rig({});
  Rng rng(8);
  const std::vector<Token> good = random_tokens(rng, 40, rig.vocab());
  const std::vector<Token> bad = random_tokens(rng, 600, rig.vocab());
  const SeqId ended = rig.add(good, 2);
  rig.run();
  const SeqId failing = rig.add(bad, 5);
  rig.knobs().fail_when([](const exec::Step&) -> Status {
    return Error{ErrorCode::kDevice, "the device had enough", ""};
  });
  ASSERT_TRUE(rig.begin_step());
  const SeqId waiting = rig.add(good, 2);
  rig.finish();
  rig.knobs().fail_when({});
  EXPECT_EQ(rig.result(failing).report.status.error().code, ErrorCode::kDevice);
  rig.run();
  EXPECT_EQ(rig.result(waiting).logits, rig.result(ended).logits);
  const SeqId again = rig.add(bad, 5);
  rig.run();
  EXPECT_EQ(rig.result(again).started.reused_tokens, 0u);
  EXPECT_EQ(rig.result(again).logits, cold_run(rig, bad, 5).logits);
  expect_clean(rig);
}

TEST(Scheduler, AFailureInTheMiddleKeepsTheGoodChunks) {
  SchedRig rig({});
  Rng rng(9);
  const std::vector<Token> prompt = random_tokens(rng, 1200, rig.vocab());
  rig.add(prompt, 5);
  ASSERT_TRUE(rig.step());
  rig.knobs().fail_when([](const exec::Step&) -> Status { return Error{ErrorCode::kDevice, "no", ""}; });
  ASSERT_TRUE(rig.step());
  rig.knobs().fail_when({});
  const SeqId again = rig.add(prompt, 5);
  rig.run();
  EXPECT_EQ(rig.result(again).started.reused_tokens, 512u);
  EXPECT_EQ(rig.result(again).logits, cold_run(rig, prompt, 5).logits);
  expect_clean(rig);
}

TEST(Scheduler, ALongPrefillLeavesTheOtherStreamItsTurn) {
  RigOptions options;
  options.limits.plan.step_ns = 4e6;
  SchedRig rig(options);
  rig.knobs().set_delays(0, 200, 0);  // 128 rows take 25 ms: a layer of them longer than a step may
  Rng rng(10);
  const SeqId stream = rig.add(random_tokens(rng, 20, rig.vocab()), 200);
  rig.step();
  const SeqId prefill = rig.add(random_tokens(rng, 900, rig.vocab()), 1);
  while (!rig.result(prefill).ended && rig.step()) {
  }
  const std::vector<std::uint64_t>& steps = rig.result(stream).token_steps;
  ASSERT_GT(steps.size(), 10u);
  for (std::size_t i = 1; i < steps.size(); ++i) EXPECT_LE(steps[i] - steps[i - 1], 2u) << i;
  rig.knobs().set_delays(0, 0, 0);
  rig.run();
  expect_clean(rig);
}

TEST(Scheduler, WithoutRoomTheLastComerIsPutBackAndEverybodyEndsRight) {
  RigOptions options;
  options.blocks = 24;
  options.longest_request_blocks = 12;
  options.pin_budget_blocks = 0;
  SchedRig rig(options);
  Rng rng(11);
  std::vector<std::vector<Token>> prompts;
  std::vector<SeqId> all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    prompts.push_back(random_tokens(rng, 60 + rng.below(60), rig.vocab()));
    all.push_back(rig.add(prompts.back(), 200, 1 + i % 2));
  }
  rig.run();
  EXPECT_GT(rig.scheduler().counts().put_back, 0u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(rig.result(all[i]).ended);
    ASSERT_TRUE(rig.result(all[i]).report.status.ok()) << to_string(rig.result(all[i]).report.status.error());
    EXPECT_EQ(rig.result(all[i]).tokens.size(), 200u);
    EXPECT_EQ(rig.result(all[i]).logits, cold_run(rig, prompts[i], 200).logits) << i;
  }
  expect_clean(rig);
}

TEST(Scheduler, WhatCanNeverFitEndsWithTheArithmetic) {
  RigOptions options;
  options.blocks = 8;
  options.longest_request_blocks = 4;
  SchedRig rig(options);
  Rng rng(12);
  const SeqId seq = rig.add(random_tokens(rng, 8 * 32 + 1, rig.vocab()), 1);
  rig.run();
  ASSERT_TRUE(rig.result(seq).ended);
  EXPECT_EQ(rig.result(seq).report.status.error().code, ErrorCode::kResourceExhausted);
  expect_clean(rig);
}

TEST(Scheduler, ASlowReaderStallsNobodyAndLosesNothing) {
  RigOptions options;
  options.blocks = 16;
  options.longest_request_blocks = 8;
  options.pin_budget_blocks = 0;
  SchedRig rig(options);
  Rng rng(13);
  const std::vector<Token> slow_prompt = random_tokens(rng, 200, rig.vocab());
  const SeqId slow = rig.add(slow_prompt, 30);
  rig.step();
  rig.set_paused(slow, true);
  const SeqId quick = rig.add(random_tokens(rng, 200, rig.vocab()), 50);
  const SeqId large = rig.add(random_tokens(rng, 220, rig.vocab()), 30, 2);
  rig.run();
  EXPECT_TRUE(rig.result(quick).ended);
  EXPECT_TRUE(rig.result(large).ended);
  EXPECT_FALSE(rig.result(slow).ended);
  rig.set_paused(slow, false);
  rig.run();
  EXPECT_EQ(rig.result(slow).logits, cold_run(rig, slow_prompt, 30).logits);
  expect_clean(rig);
}

TEST(Scheduler, TenantsAreServedFairly) {
  RigOptions options;
  options.limits.max_batch = 4;
  SchedRig rig(options);
  Rng rng(14);
  for (int i = 0; i < 20; ++i) rig.add(random_tokens(rng, 30, rig.vocab()), 60, 1);
  for (int i = 0; i < 5; ++i) rig.step();
  const SeqId other = rig.add(random_tokens(rng, 30, rig.vocab()), 60, 2);
  std::uint64_t steps = 0;
  while (!rig.result(other).ended && rig.step()) ++steps;
  EXPECT_LE(steps, 63u) << "the second tenant waited for a place";
  rig.run();
  expect_clean(rig);
}

TEST(Scheduler, PromptScoresAreThoseOfColdRowsInEveryChunking) {
  Rng rng(15);
  std::vector<sample::Sampled> first;
  const std::vector<Token> prompt = random_tokens(rng, 300, 64);
  for (const std::uint32_t chunk : {512u, 64u, 33u}) {
    RigOptions options;
    options.limits.plan.alone_rows = chunk;
    SchedRig rig(options);
    rig.add(prompt, 0);
    rig.run();
    sched::SequenceSpec spec = rig.spec(prompt, 2);
    spec.score_prompt = true;
    const SeqId seq = rig.add(std::move(spec));
    rig.run();
    const std::vector<sample::Sampled>& scores = rig.result(seq).scores;
    ASSERT_EQ(scores.size(), prompt.size() - 1);
    for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_EQ(scores[i].token, prompt[i + 1]);
    if (first.empty()) first = scores;
    for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_EQ(scores[i].logprob, first[i].logprob) << i;
    expect_clean(rig);
  }
}

TEST(Scheduler, APinnedRunSurvivesPressure) {
  RigOptions options;
  options.blocks = 32;
  options.longest_request_blocks = 12;
  options.pin_budget_blocks = 12;
  SchedRig rig(options);
  Rng rng(16);
  const std::vector<Token> pinned = random_tokens(rng, 320, rig.vocab());
  const SeqId seq = rig.add(pinned, 0);
  rig.run();
  const auto pin = rig.cache().pin({rig.result(seq).report.end_node, TenantId{1}, "kept", 0, false});
  ASSERT_TRUE(pin.ok()) << to_string(pin.error());
  for (int i = 0; i < 20; ++i) rig.add(random_tokens(rng, 250, rig.vocab()), 40, 2);
  rig.run();
  const SeqId again = rig.add(pinned, 1);
  rig.run();
  EXPECT_EQ(rig.result(again).started.reused_tokens, 319u);
  expect_clean(rig);
}

}  // namespace
}  // namespace larder::test
