// SPDX-License-Identifier: Apache-2.0
// 2,000 pairs of prompts with random shared prefixes, half of them at the same time: what is computed after reuse is
// the same, bit for bit, as what is computed cold, and only the rows that had to be computed were.
#include <gtest/gtest.h>

#include "runtime/model/model.h"
#include "test_paths.h"
#include "tests/support/sched_rig.h"

namespace larder::test {
namespace {

constexpr std::uint32_t kDraw = 2;

struct Pair {
  std::vector<Token> first;
  std::vector<Token> second;
  std::uint32_t shared = 0;  // tokens in which they agree
};

Pair random_pair(Rng& rng, std::uint32_t vocab, std::uint32_t most) {
  Pair pair;
  const std::uint64_t shared = rng.below(most);
  for (std::uint64_t i = 0; i < shared; ++i) pair.first.push_back(static_cast<Token>(rng.below(vocab)));
  pair.second = pair.first;
  const auto extend = [&](std::vector<Token>& tokens) {
    for (std::uint64_t i = 0, n = rng.below(40); i < n; ++i) tokens.push_back(static_cast<Token>(rng.below(vocab)));
    if (tokens.empty()) tokens.push_back(0);
  };
  extend(pair.first);
  extend(pair.second);
  while (pair.shared < pair.first.size() && pair.shared < pair.second.size() &&
         pair.first[pair.shared] == pair.second[pair.shared]) {
    ++pair.shared;
  }
  return pair;
}

RigResult cold(SchedRig& rig, const std::vector<Token>& prompt, std::uint32_t tenant) {
  sched::SequenceSpec spec = rig.spec(prompt, kDraw, tenant);
  spec.read = false;
  spec.keep = false;
  const SeqId seq = rig.add(std::move(spec));
  rig.run();
  return rig.result(seq);
}

void run_pairs(SchedRig& rig, std::uint32_t pairs, std::uint32_t most, std::uint64_t seed) {
  Rng rng(seed);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const Pair pair = random_pair(rng, rig.vocab(), most);
    const std::uint32_t tenant = 10 + i;
    const bool together = i % 2 == 1;
    const std::uint64_t before = rig.scheduler().counts().prefill_rows;
    const SeqId first = rig.add(pair.first, kDraw, tenant);
    if (!together) rig.run();
    const SeqId second = rig.add(pair.second, kDraw, tenant);
    rig.run();
    const std::uint32_t reused = rig.result(second).started.reused_tokens;
    const auto most_reuse = static_cast<std::uint32_t>(pair.second.size() - 1);
    ASSERT_GE(reused, std::min(pair.shared, most_reuse)) << "pair " << i << " of seed " << seed;
    ASSERT_LE(reused, most_reuse);
    const std::uint64_t rows = rig.scheduler().counts().prefill_rows - before;
    ASSERT_EQ(rows, pair.first.size() + pair.second.size() - reused) << "pair " << i << " of seed " << seed;
    ASSERT_EQ(rig.result(second).report.verdict.computed_tokens, pair.second.size() - reused);
    ASSERT_EQ(rig.result(first).logits, cold(rig, pair.first, 1).logits) << "pair " << i << " of seed " << seed;
    ASSERT_EQ(rig.result(second).logits, cold(rig, pair.second, 1).logits) << "pair " << i << " of seed " << seed;
    ASSERT_EQ(rig.result(second).tokens, cold(rig, pair.second, 1).tokens);
  }
  EXPECT_EQ(rig.cache().audit(), "");
  EXPECT_EQ(rig.cache().counts().pool.in_use, 0u);
}

TEST(PromptPairs, HitEqualsColdOnTheFakeDevice) {
  for (std::uint64_t seed = 1; seed <= 19; ++seed) {
    RigOptions options;
    options.blocks = seed % 3 == 0 ? 48 : 512;  // every third under pressure
    options.longest_request_blocks = 12;
    options.pin_budget_blocks = 0;
    options.fake.seed = seed;
    if (seed % 4 == 0) options.limits.plan.alone_rows = 33;
    SchedRig rig(options);
    run_pairs(rig, 100, 200, seed);
    ASSERT_TRUE(rig.knobs().violations().empty()) << rig.knobs().violations().front();
    if (HasFatalFailure()) return;
  }
}

TEST(PromptPairs, HitEqualsColdOnTheProcessor) {
  auto model = model::Model::load(LARDER_TEST_DATA "/models-tiny/stories260K-f16.gguf", {});
  ASSERT_TRUE(model.ok()) << to_string(model.error());
  RigOptions options;
  options.blocks = 512;
  options.longest_request_blocks = 12;
  options.cpu_model = std::move(model).value();
  SchedRig rig(options);
  run_pairs(rig, 100, 160, 77);
}

}  // namespace
}  // namespace larder::test
