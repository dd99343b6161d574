// SPDX-License-Identifier: Apache-2.0
#include "runtime/sched/turns.h"

#include <gtest/gtest.h>

#include <map>

#include "runtime/base/rng.h"

namespace larder::sched {
namespace {

constexpr ModelId kA{1};
constexpr ModelId kB{2};
constexpr ModelId kC{3};
constexpr Demand kDecodes{true, false};
constexpr Demand kPrefills{false, true};
constexpr Demand kBoth{true, true};

// Takes the first turn of the order, as if its model always had a step: decode rows where it has some, prompt rows
// where it may.
ModelTurn run_first(Turns& turns, const std::vector<Contender>& contenders) {
  const ModelTurn first = turns.order(contenders).front();
  Demand rows;
  for (const Contender& each : contenders) {
    if (each.model == first.model) rows = each.demand;
  }
  if (first.turn.decode_only) rows.prefills = false;
  turns.ran(first.model, rows);
  return first;
}

TEST(Turns, AModelThatIsAloneIsLeftToItself) {
  Turns turns;
  for (int i = 0; i < 6; ++i) {
    const ModelTurn next = run_first(turns, {{kA, kBoth}, {kB, {}}});
    EXPECT_EQ(next.model, kA);
    EXPECT_FALSE(next.turn.others_decode);
    EXPECT_FALSE(next.turn.decode_only);
  }
  EXPECT_TRUE(turns.order(std::vector<Contender>{{kA, {}}, {kB, {}}}).empty());
}

TEST(Turns, AnAnswerAndAnothersPromptTakeTurns) {
  Turns turns;
  const std::vector<Contender> both = {{kA, kDecodes}, {kB, kPrefills}};
  run_first(turns, both);
  for (int i = 0; i < 6; ++i) {
    const ModelTurn one = run_first(turns, both);
    const ModelTurn other = run_first(turns, both);
    EXPECT_NE(one.model, other.model);
    EXPECT_TRUE((one.model == kB ? one : other).turn.others_decode);
    EXPECT_FALSE((one.model == kA ? one : other).turn.others_decode);
  }
}

TEST(Turns, PromptsOfSeveralModelsTakeTurnsToo) {
  Turns turns;
  std::map<ModelId, int> ran;
  for (int i = 0; i < 30; ++i) ++ran[run_first(turns, {{kA, kPrefills}, {kB, kPrefills}, {kC, kPrefills}}).model];
  EXPECT_EQ(ran[kA], 10);
  EXPECT_EQ(ran[kB], 10);
  EXPECT_EQ(ran[kC], 10);
}

TEST(Turns, WhoHasNoStepAfterAllKeepsNobodyWaiting) {
  Turns turns;
  const std::vector<Contender> both = {{kA, kPrefills}, {kB, kDecodes}};
  turns.ran(kA, kPrefills);
  const std::vector<ModelTurn> order = turns.order(both);
  ASSERT_EQ(order.size(), 2u);
  EXPECT_EQ(order[0].model, kB);
  EXPECT_EQ(order[1].model, kA) << "tried when the other one has none";
}

// Whatever the models have to do, an answer that is being written waits for one step with prompt rows at most, and for
// one step of answers of each other model.
TEST(Turns, BetweenTwoRowsOfAnAnswerLiesOneStepWithPromptRowsAtMost) {
  Rng rng(17);
  for (int round = 0; round < 200; ++round) {
    Turns turns;
    std::map<ModelId, Demand> demand;
    std::map<ModelId, std::pair<int, int>> since;  // steps with prompt rows, others: since its last row
    for (int step = 0; step < 100; ++step) {
      if (step % 10 == 0) {
        for (const ModelId model : {kA, kB, kC}) demand[model] = {rng.below(2) == 0, rng.below(2) == 0};
        since.clear();
      }
      const std::vector<Contender> all = {{kA, demand[kA]}, {kB, demand[kB]}, {kC, demand[kC]}};
      if (turns.order(all).empty()) continue;
      const ModelTurn ran = run_first(turns, all);
      const bool prompt_rows = demand[ran.model].prefills && !ran.turn.decode_only;
      for (auto& [model, waited] : since) ++(prompt_rows ? waited.first : waited.second);
      if (demand[ran.model].decodes) since[ran.model] = {0, 0};
      for (const auto& [model, waited] : since) {
        if (!demand[model].decodes) continue;
        EXPECT_LE(waited.first, 1);
        EXPECT_LE(waited.second, 2);
      }
    }
  }
}

}  // namespace
}  // namespace larder::sched
