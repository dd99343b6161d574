// SPDX-License-Identifier: Apache-2.0
// Several models loaded at once: each with its own tree, asked by name, taking turns on one device, coming and going
// without the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "runtime/engine/pool_size.h"
#include "tests/support/engine_rig.h"

namespace larder::test {
namespace {

using engine::ModelInfo;
using engine::Snapshot;
using kv::VerdictKind;

std::vector<Token> random_tokens(Rng& rng, std::size_t count) {
  std::vector<Token> tokens(count);
  for (Token& token : tokens) token = static_cast<Token>(3 + rng.below(500));
  return tokens;
}

engine::Request to_model(const std::string& model, const std::vector<Token>& tokens, std::uint32_t max_tokens = 6) {
  engine::Request request = EngineRig::token_request(tokens, max_tokens);
  request.model = model;
  return request;
}

std::vector<ModelInfo> ready(const Snapshot& seen) {
  std::vector<ModelInfo> models = seen.models;
  std::erase_if(models, [](const ModelInfo& model) { return model.state != ModelInfo::State::kReady; });
  return models;
}

bool all_known(const Snapshot& seen) {
  const std::vector<ModelInfo> models = ready(seen);
  return !models.empty() && std::all_of(models.begin(), models.end(), [](const ModelInfo& model) {
    return model.identity == ModelInfo::Identity::kKnown;
  });
}

void expect_equal(const Collected& a, const Collected& b) {
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.logprobs, b.logprobs);
}

class ModelsOn : public ::testing::TestWithParam<bool> {
 protected:
  static EngineRigOptions options(std::vector<std::pair<std::string, std::string>> settings = {}) {
    EngineRigOptions made;
    made.cpu = GetParam();
    made.settings = std::move(settings);
    return made;
  }

  // What a model answers that has the engine to itself.
  static std::vector<Collected> alone(const std::string& path, const std::vector<std::vector<Token>>& prompts) {
    EngineRigOptions made = options();
    made.load_model = false;
    EngineRig rig(made);
    EXPECT_TRUE(rig.perform(rig.admin(), engine::LoadModel{path}).ok());
    std::vector<Collected> answers;
    for (const auto& prompt : prompts) answers.push_back(rig.ask(rig.admin(), to_model("", prompt)));
    return answers;
  }
};

INSTANTIATE_TEST_SUITE_P(Device, ModelsOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(ModelsOn, TwoAnswerInterleavedEachFromItsOwnTreeAsIfItWereAlone) {
  EngineRig rig(options());
  const std::string other = rig.add_model("other");
  Rng rng(3);
  std::vector<std::vector<Token>> prompts;
  for (int i = 0; i < 4; ++i) prompts.push_back(random_tokens(rng, 100 + 90 * static_cast<std::size_t>(i)));
  const std::vector<std::string> paths = {rig.model_path(), other};
  const std::vector<std::vector<Collected>> expected = {alone(paths[0], prompts), alone(paths[1], prompts)};
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{other}).ok());
  const std::vector<ModelInfo> models = ready(*rig.fresh(rig.admin()));
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].path, other) << "the one loaded last comes first";
  EXPECT_NE(models[0].name, models[1].name);
  for (const bool warm : {false, true}) {
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const auto first = rig.submit(rig.admin(), to_model("stories260K", prompts[i]));
      const auto second = rig.submit(rig.admin(), to_model("other", prompts[i]));
      const std::vector<Collected> got = {rig.collect(*first), rig.collect(*second)};
      for (std::size_t model = 0; model < 2; ++model) {
        expect_equal(got[model], expected[model][i]);
        EXPECT_EQ(got[model].finished->usage.cached_tokens, warm ? prompts[i].size() - 1 : 0u) << "prompt " << i;
      }
    }
  }
  if (GetParam()) {
    EXPECT_NE(expected[0][0].logprobs, expected[1][0].logprobs) << "else crossing would not be seen";
  }
  const auto seen = rig.fresh(rig.admin());
  std::set<NodeId> ids;
  std::set<std::uint32_t> owners;
  std::uint64_t blocks = 0;
  for (const engine::TreeNode& node : *seen->tree) {
    EXPECT_TRUE(ids.insert(node.id).second) << "an id of two trees";
    owners.insert(node.model);
    blocks += node.blocks;
  }
  EXPECT_EQ(owners.size(), 2u);
  EXPECT_EQ(blocks, seen->pool.blocks_cached);
  EXPECT_TRUE(rig.knobs().violations().empty());
}

TEST_P(ModelsOn, WhoNamesNoneAsksTheOneLoadedLastAndAWrongNameIsToldTheRightOnes) {
  EngineRig rig(options());
  Rng rng(4);
  const std::vector<Token> prompt = random_tokens(rng, 80);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.add_model("other")}).ok());
  const Collected unnamed = rig.ask(rig.admin(), to_model("", prompt));
  ASSERT_TRUE(unnamed.ok());
  EXPECT_EQ(unnamed.started->model, "other");
  EXPECT_EQ(rig.ask(rig.admin(), to_model("other", prompt)).finished->usage.cached_tokens, 79u);
  EXPECT_EQ(rig.ask(rig.admin(), to_model("stories260K", prompt)).finished->usage.cached_tokens, 0u);
  const auto wrong = rig.engine().submit(rig.admin(), to_model("no-such", prompt));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::kNotFound);
  for (const ModelInfo& model : ready(*rig.fresh(rig.admin()))) {
    EXPECT_NE(wrong.error().message.find(model.name), std::string::npos) << wrong.error().message;
  }
}

TEST_P(ModelsOn, AnUnloadEndsItsOwnRequestsWhileTheOtherStreams) {
  EngineRig rig(options());
  Rng rng(5);
  const std::vector<Token> prompt = random_tokens(rng, 200);
  const std::string other = rig.add_model("other");
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{other}).ok());
  const Collected reference = rig.ask(rig.admin(), to_model("stories260K", prompt, 1500));
  const ModelId going = ready(*rig.fresh(rig.admin())).front().id;
  const auto stays = rig.submit(rig.admin(), to_model("stories260K", prompt, 1500));
  const auto ends = rig.submit(rig.admin(), to_model("other", prompt, 3500));
  ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.running == 2; }));
  ASSERT_TRUE(rig.perform(rig.admin(), engine::UnloadModel{going}).ok());
  const Collected ended = rig.collect(*ends);
  ASSERT_TRUE(ended.error);
  EXPECT_EQ(ended.error->code, ErrorCode::kUnavailable);
  expect_equal(rig.collect(*stays), reference);
  const std::vector<ModelInfo> left = ready(*rig.fresh(rig.admin()));
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].path, rig.model_path());
  EXPECT_EQ(rig.engine().submit(rig.admin(), to_model("other", prompt)).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(rig.ask(rig.admin(), to_model("", prompt)).ok());
}

TEST_P(ModelsOn, ASwapBeyondTheMostDemotesTheOneUsedLongestAgoAndItComesBackFromDisk) {
  EngineRigOptions made = options({{"engine.max_models", "2"},
                                   {"store.keep_free_bytes", "4096"},
                                   {"store.restore", "always"}});
  made.store = true;
  EngineRig rig(made);
  Rng rng(6);
  const std::vector<Token> prompt = random_tokens(rng, 300);
  const std::string second = rig.add_model("second");
  const std::string third = rig.add_model("third", 2048);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{second}).ok());
  ASSERT_TRUE(rig.wait_until(all_known));
  const Collected cold = rig.ask(rig.admin(), to_model("second", prompt));
  ASSERT_TRUE(cold.ok());
  ASSERT_TRUE(rig.ask(rig.admin(), to_model("stories260K", prompt)).ok());
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{third}).ok());
  std::vector<ModelInfo> here = ready(*rig.fresh(rig.admin()));
  ASSERT_EQ(here.size(), 2u);
  EXPECT_EQ(here[0].path, third);
  EXPECT_EQ(here[1].path, rig.model_path()) << "used after the second one";
  const std::uint64_t restored = rig.fresh(rig.admin())->store.restored_blocks;
  ASSERT_TRUE(rig.ask(rig.admin(), to_model("third", prompt)).ok());
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{second}).ok());
  const Collected again = rig.ask(rig.admin(), to_model("second", prompt));
  expect_equal(again, cold);
  EXPECT_EQ(again.finished->usage.cached_tokens, prompt.size() - 1);
  EXPECT_EQ(again.finished->verdict.tier, "disk");
  EXPECT_GE(rig.fresh(rig.admin())->store.restored_blocks, restored + 9);
  EXPECT_EQ(rig.ask(rig.admin(), to_model("third", prompt)).finished->usage.cached_tokens, prompt.size() - 1)
      << "the one that stayed has its tree in memory";
}

TEST_P(ModelsOn, OneBudgetGoesToWhoWorksAndWhatGivesWayComesBackFromDisk) {
  constexpr std::uint64_t kBudget = 1310720;  // 64 blocks of the tiny model in f16
  EngineRigOptions made = options(
      {{"pool.bytes", std::to_string(kBudget)}, {"store.keep_free_bytes", "4096"}, {"store.restore", "always"}});
  made.store = true;
  EngineRig rig(made);
  Rng rng(10);
  std::vector<std::vector<Token>> prompts;
  for (int i = 0; i < 5; ++i) prompts.push_back(random_tokens(rng, 300));
  ASSERT_TRUE(rig.wait_until(all_known));
  std::vector<Collected> cold;
  for (const auto& prompt : prompts) cold.push_back(rig.ask(rig.admin(), to_model("stories260K", prompt)));
  ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.store.stored_blocks >= 50; }));
  EXPECT_EQ(rig.fresh(rig.admin())->pool.bytes_total, kBudget) << "alone it has all";
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.add_model("other")}).ok());
  ASSERT_TRUE(rig.wait_until(all_known));
  for (const auto& prompt : prompts) {
    ASSERT_TRUE(rig.ask(rig.admin(), to_model("other", prompt)).ok());
    EXPECT_LE(rig.fresh(rig.admin())->pool.bytes_total, kBudget);
  }
  const auto seen = rig.fresh(rig.admin());
  const std::vector<ModelInfo> models = ready(*seen);
  ASSERT_EQ(models.size(), 2u);
  EXPECT_GE(models[0].pool.blocks_cached, 40u) << "the one that works has most of it";
  EXPECT_LE(models[1].pool.blocks_cached, 24u);
  EXPECT_EQ(seen->pool.blocks_total, models[0].pool.blocks_total + models[1].pool.blocks_total);
  EXPECT_EQ(seen->pool.bytes_taken, models[0].pool.bytes_taken + models[1].pool.bytes_taken);
  EXPECT_EQ(seen->pool.budget_bytes, kBudget);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Collected again = rig.ask(rig.admin(), to_model("stories260K", prompts[i]));
    expect_equal(again, cold[i]);
    EXPECT_EQ(again.finished->usage.cached_tokens, prompts[i].size() - 1);
    EXPECT_LE(rig.fresh(rig.admin())->pool.bytes_total, kBudget);
  }
  EXPECT_GT(rig.fresh(rig.admin())->store.restored_blocks, 20u);
  EXPECT_TRUE(rig.knobs().violations().empty());
}

TEST_P(ModelsOn, WithoutADiskAVerdictSaysThatTheModelWasUnloaded) {
  EngineRig rig(options({{"engine.max_models", "1"}}));
  Rng rng(7);
  const std::vector<Token> prompt = random_tokens(rng, 150);
  ASSERT_TRUE(rig.wait_until(all_known));
  ASSERT_TRUE(rig.ask(rig.admin(), to_model("", prompt)).ok());
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.add_model("other")}).ok());
  ASSERT_EQ(ready(*rig.fresh(rig.admin())).size(), 1u);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.model_path()}).ok());
  const Collected again = rig.ask(rig.admin(), to_model("", prompt));
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again.started->verdict.kind, VerdictKind::kEvicted);
  EXPECT_EQ(again.started->verdict.eviction->policy, "unloaded");
}

TEST(Models, ALoadThatFindsNoRoomSaysTheSumAndLosesNothing) {
  EngineRigOptions made;
  made.read_memory = [] { return engine::MemoryFacts{40u << 20, 40u << 20, 0, 0}; };
  EngineRig rig(made);
  Rng rng(8);
  const std::vector<Token> prompt = random_tokens(rng, 100);
  ASSERT_TRUE(rig.ask(rig.admin(), to_model("", prompt)).ok());
  rig.knobs().hold();
  const auto running = rig.submit(rig.admin(), to_model("", random_tokens(rng, 100), 50));
  ASSERT_TRUE(rig.knobs().wait_held(60'000));
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"engine.max_models", "1"}).ok());
  const auto refused = rig.perform(rig.admin(), engine::LoadModel{rig.add_model("other")});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_NE(refused.error().message.find("engine.max_models is 1"), std::string::npos) << refused.error().message;
  rig.knobs().release();
  EXPECT_TRUE(rig.collect(*running).ok());
  EXPECT_EQ(rig.ask(rig.admin(), to_model("", prompt)).finished->usage.cached_tokens, 99u);
  // Idle, it gives way.
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.folder() + "/other.gguf"}).ok());
  EXPECT_EQ(ready(*rig.fresh(rig.admin())).size(), 1u);
}

// Costs are told by the device, so nothing here depends on the machine's pace: a row takes a millisecond, so the other
// model's prompt of 3000 rows would take three seconds at once.
TEST(Models, AnAnswerIsNotHeldUpByAnotherModelsPrompt) {
  EngineRig rig;
  Rng rng(9);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.add_model("other")}).ok());
  rig.knobs().set_costs([](const exec::Step& step) {
    return static_cast<std::int64_t>(step.row_count()) * (step.layer_end - step.layer_begin) * 200'000;
  });
  struct Ran {
    std::uint32_t rows = 0;
    std::uint32_t layers = 0;
  };
  std::mutex mutex;
  std::vector<Ran> steps;
  for (const char* model : {"stories260K", "other"}) {  // both have measured how fast they are
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(rig.ask(rig.admin(), to_model(model, random_tokens(rng, 600), 8)).ok());
    }
  }
  rig.knobs().hold();
  const auto answer = rig.submit(rig.admin(), to_model("stories260K", random_tokens(rng, 40), 400));
  ASSERT_TRUE(rig.knobs().wait_held(60'000));
  rig.knobs().let_through(4);
  ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) {
    return std::any_of(seen.requests.begin(), seen.requests.end(), [](const engine::RequestRecord& record) {
      return record.state == engine::RequestRecord::State::kDecode;
    });
  }));
  rig.knobs().watch([&](const exec::Step& step) {
    const std::lock_guard<std::mutex> lock(mutex);
    steps.push_back({step.row_count(), step.layer_end - step.layer_begin});
  });
  const auto prompt = rig.submit(rig.admin(), to_model("other", random_tokens(rng, 3000), 1));
  ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) {
    return std::any_of(seen.requests.begin(), seen.requests.end(), [](const engine::RequestRecord& record) {
      return record.state == engine::RequestRecord::State::kQueued;
    });
  }));
  rig.knobs().release();
  ASSERT_TRUE(rig.collect(*answer).ok());
  ASSERT_TRUE(rig.collect(*prompt).ok());
  const std::lock_guard<std::mutex> lock(mutex);
  std::uint32_t prompt_steps = 0;
  bool prompt_ran_last = false;
  for (const Ran& ran : steps) {
    const bool is_prompt = ran.rows > 1;
    if (is_prompt && prompt_steps < 60) {
      EXPECT_FALSE(prompt_ran_last) << "two steps of the prompt without an answer's row between them";
      EXPECT_LE(ran.rows * ran.layers * 0.2, 60.0) << "ms, of 50";
    }
    prompt_steps += is_prompt ? 1 : 0;
    prompt_ran_last = is_prompt;
  }
  EXPECT_GE(prompt_steps, 60u) << "3000 ms in steps of 50";
}

}  // namespace
}  // namespace larder::test
