// SPDX-License-Identifier: Apache-2.0
#include "runtime/sched/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

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

// A processor as it was measured: 15 ms a decode step, 1.3 ms a prompt row at the start, 3.7 ms at depth 4,000.
std::int64_t processor_ns(const exec::Step& step, std::uint32_t n_layers) {
  double ns = 15e6;
  for (const exec::SequenceRows& rows : step.sequences) {
    const auto count = static_cast<double>(rows.tokens.size());
    if (count > 1) ns += count * (1.3e6 + 600 * (rows.first_position + count / 2));
  }
  return static_cast<std::int64_t>(ns * (step.layer_end - step.layer_begin) / n_layers);
}

struct StreamFacts {
  std::vector<std::int64_t> step_ns;  // of each step while the stream ran beside the others
  std::vector<std::int64_t> gap_ns;   // between two of its tokens, its own step included
  std::vector<std::uint64_t> gap_steps;
};

// Runs until `other` has its first token; `stream` is decoding.
StreamFacts run_beside(SchedRig& rig, SeqId stream, SeqId other) {
  StreamFacts facts;
  std::size_t tokens = rig.result(stream).tokens.size();
  std::int64_t gap = 0;
  std::uint64_t steps = 0;
  while (rig.result(other).tokens.empty() && rig.step()) {
    facts.step_ns.push_back(rig.last_compute_ns());
    gap += rig.last_compute_ns();
    ++steps;
    if (rig.result(stream).tokens.size() == tokens) continue;
    tokens = rig.result(stream).tokens.size();
    facts.gap_ns.push_back(std::exchange(gap, 0));
    facts.gap_steps.push_back(std::exchange(steps, 0));
  }
  return facts;
}

RigOptions processor_rig() {
  RigOptions options;
  options.blocks = 512;
  options.n_layers = 30;
  return options;
}

TEST(Scheduler, BesideAPrefillOfFourThousandTokensAStreamWaitsForTwoShortSteps) {
  const RigOptions options = processor_rig();
  SchedRig rig(options);
  rig.knobs().set_costs([](const exec::Step& step) { return processor_ns(step, 30); });
  Rng rng(20);
  const SeqId stream = rig.add(random_tokens(rng, 20, rig.vocab()), 4000);
  rig.step();
  const SeqId other = rig.add(random_tokens(rng, 4000, rig.vocab()), 1);
  const StreamFacts facts = run_beside(rig, stream, other);
  ASSERT_EQ(rig.result(other).tokens.size(), 1u);
  ASSERT_GT(facts.gap_ns.size(), 100u);
  const auto step_ns = static_cast<std::int64_t>(options.limits.plan.step_ns);
  for (const std::int64_t ns : facts.step_ns) EXPECT_LE(ns, step_ns);
  for (const std::uint64_t steps : facts.gap_steps) EXPECT_LE(steps, 3u) << "two steps and the stream's own";
  for (const std::int64_t ns : facts.gap_ns) EXPECT_LE(ns, 2 * step_ns + 15'000'000);
  rig.cancel(stream);
  rig.run();
  expect_clean(rig);
}

// The common case: many requests with a few new tokens each behind a long cached prefix.
TEST(Scheduler, ShortTailsBehindALongPrefixKeepToTheStepTimeToo) {
  const RigOptions options = processor_rig();
  SchedRig rig(options);
  rig.knobs().set_costs([](const exec::Step& step) { return processor_ns(step, 30); });
  Rng rng(21);
  const std::vector<Token> prefix = random_tokens(rng, 4000, rig.vocab());
  rig.add(prefix, 0);
  rig.run();
  const SeqId stream = rig.add(random_tokens(rng, 20, rig.vocab()), 4000);
  rig.step();
  for (const std::size_t tail : {100u, 5u, 9u, 14u, 20u, 33u}) {
    // What came last says little about the next: a prompt at the start, then one far down.
    run_beside(rig, stream, rig.add(random_tokens(rng, 128, rig.vocab()), 1));
    const SeqId other = rig.add(joined(prefix, random_tokens(rng, tail, rig.vocab())), 1);
    const StreamFacts facts = run_beside(rig, stream, other);
    EXPECT_GE(rig.result(other).started.reused_tokens, 4000u);
    for (const std::int64_t ns : facts.step_ns) EXPECT_LE(static_cast<double>(ns), options.limits.plan.step_ns) << tail;
  }
  rig.cancel(stream);
  rig.run();
  expect_clean(rig);
}

// Times that vary by a tenth from step to step, as on a machine that does other things too.
TEST(Scheduler, OnAnUnsteadyDeviceHardlyAStepIsTooLong) {
  const RigOptions options = processor_rig();
  SchedRig rig(options);
  rig.knobs().set_costs([noise = Rng(3)](const exec::Step& step) mutable {
    return processor_ns(step, 30) * static_cast<std::int64_t>(1000 + noise.below(100)) / 1000;
  });
  Rng rng(22);
  const SeqId stream = rig.add(random_tokens(rng, 20, rig.vocab()), 4000);
  rig.step();
  const SeqId other = rig.add(random_tokens(rng, 4000, rig.vocab()), 1);
  const StreamFacts facts = run_beside(rig, stream, other);
  const double step_ns = options.limits.plan.step_ns;
  std::size_t too_long = 0;
  for (const std::int64_t ns : facts.step_ns) {
    EXPECT_LE(static_cast<double>(ns), 1.1 * step_ns);
    if (static_cast<double>(ns) > step_ns) ++too_long;
  }
  EXPECT_LE(too_long * 50, facts.step_ns.size());
  rig.cancel(stream);
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

// Without putting anybody back: the place was free.
TEST(Scheduler, AFreePlaceGoesToTheTenantThatRunsLess) {
  RigOptions options;
  options.limits.max_batch = 4;
  SchedRig rig(options);
  Rng rng(17);
  for (int i = 0; i < 3; ++i) rig.add(random_tokens(rng, 30, rig.vocab()), 60, 1);
  rig.step();
  const SeqId same = rig.add(random_tokens(rng, 30, rig.vocab()), 60, 1);
  const SeqId other = rig.add(random_tokens(rng, 30, rig.vocab()), 60, 2);
  rig.step();
  EXPECT_TRUE(rig.scheduler().running(other));
  EXPECT_FALSE(rig.scheduler().running(same));
  EXPECT_EQ(rig.scheduler().counts().put_back, 0u);
  rig.run();
  expect_clean(rig);
}

// One place, and prompts of one tenant ten times as long: rows are shared, not turns.
TEST(Scheduler, TenantsThatWaitAreServedEqualRows) {
  RigOptions options;
  options.limits.max_batch = 1;
  SchedRig rig(options);
  Rng rng(18);
  std::vector<SeqId> few;
  for (int i = 0; i < 30; ++i) {
    if (i < 6) rig.add(random_tokens(rng, 320, rig.vocab()), 1, 1);
    few.push_back(rig.add(random_tokens(rng, 32, rig.vocab()), 1, 2));
  }
  const auto done = [&] {
    return std::count_if(few.begin(), few.end(), [&](SeqId seq) { return rig.result(seq).ended; });
  };
  while (rig.rows() < 1600 && rig.step()) {
  }
  EXPECT_NEAR(static_cast<double>(done()) * 32, 800, 320 + 32) << "half of the rows, but for one sequence";
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
