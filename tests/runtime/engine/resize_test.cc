// SPDX-License-Identifier: Apache-2.0
// The pool's size changes while the engine serves: what leaves it comes back from disk, what runs goes on, and what a
// pool of that size cannot hold is refused with the arithmetic.
#include <gtest/gtest.h>

#include "runtime/settings/settings.h"
#include "tests/support/engine_rig.h"

namespace larder::test {
namespace {

using engine::SetSetting;
using engine::Snapshot;

constexpr const char* kLarge = "8388608";  // 409 blocks of the tiny model in f16
constexpr const char* kSmall = "1310720";  // 64 blocks

class ResizeOn : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    EngineRigOptions options;
    options.cpu = GetParam();
    options.store = true;
    options.settings = {{"store.keep_free_bytes", "4096"}, {"store.restore", "always"}, {"pool.bytes", kLarge}};
    rig_ = std::make_unique<EngineRig>(std::move(options));
    ASSERT_TRUE(rig_->wait_until([](const Snapshot& seen) {
      return !seen.models.empty() && seen.models.front().identity == engine::ModelInfo::Identity::kKnown;
    }));
  }

  std::vector<Token> prompt(std::size_t tokens) {
    std::vector<Token> made(tokens);
    for (Token& token : made) token = static_cast<Token>(3 + rng_.below(500));
    return made;
  }

  Collected ask(const std::vector<Token>& tokens, std::uint32_t answer = 6) {
    engine::Request request = EngineRig::token_request(tokens, answer);
    request.sampling.temperature = 0;
    request.sampling.logprobs = true;
    request.ignore_eos = true;
    return rig_->ask(rig_->admin(), std::move(request));
  }

  Result<engine::VerbResult> resize(const std::string& bytes) {
    return rig_->perform(rig_->admin(), SetSetting{"pool.bytes", bytes});
  }

  bool wait_total(std::uint32_t blocks) {
    return rig_->wait_until([&](const Snapshot& seen) { return seen.pool.blocks_total == blocks; });
  }

  Rng rng_{5};
  std::unique_ptr<EngineRig> rig_;
};

INSTANTIATE_TEST_SUITE_P(Device, ResizeOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(ResizeOn, WhatASmallerPoolLetsGoComesBackFromDiskAndALargerOneKeepsAll) {
  std::vector<std::vector<Token>> prompts;
  std::vector<Collected> cold;
  for (int i = 0; i < 6; ++i) {
    prompts.push_back(prompt(500));
    cold.push_back(ask(prompts.back()));
    ASSERT_TRUE(cold.back().ok());
  }
  const Result<engine::VerbResult> smaller = resize(kSmall);
  ASSERT_TRUE(smaller.ok()) << smaller.error().message;
  EXPECT_FALSE(smaller->restart_needed);
  ASSERT_TRUE(wait_total(64));
  const auto seen = rig_->fresh(rig_->admin());
  EXPECT_EQ(seen->pool.evicted_blocks, 0u) << "all of it had its copy first";
  EXPECT_EQ(seen->pool.blocks_free + seen->pool.blocks_cached + seen->pool.blocks_in_use, 64u);
  int from_disk = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Collected again = ask(prompts[i]);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.tokens, cold[i].tokens);
    EXPECT_EQ(again.logprobs, cold[i].logprobs);
    const kv::Verdict& verdict = again.finished->verdict;
    from_disk += verdict.computed_tokens == 1 ? 1 : 0;
    // A disk that is busy elsewhere may be too slow to wait for, and is named then.
    EXPECT_TRUE(verdict.computed_tokens == 1 || !verdict.restored.declined.empty());
  }
  EXPECT_GT(from_disk, 0);
  EXPECT_GT(rig_->fresh(rig_->admin())->store.read_blocks, 0u);
  ASSERT_TRUE(resize("16777216").ok());
  ASSERT_TRUE(wait_total(819));
  for (const std::vector<Token>& each : prompts) ASSERT_TRUE(ask(each).ok());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Collected warm = ask(prompts[i]);
    EXPECT_EQ(warm.logprobs, cold[i].logprobs);
    EXPECT_NE(warm.finished->verdict.tier, "disk");
    EXPECT_EQ(warm.finished->verdict.computed_tokens, 1u);
  }
}

TEST_P(ResizeOn, AnAnswerThatRunsIsTheSameWhileThePoolShrinksAndGrows) {
  const std::vector<Token> tokens = prompt(300);
  const Collected alone = ask(tokens, 300);
  ASSERT_TRUE(alone.ok());
  ASSERT_TRUE(rig_->perform(rig_->admin(), SetSetting{"store.restore", "auto"}).ok());
  engine::Request request = EngineRig::token_request(tokens, 300);
  request.sampling.temperature = 0;
  request.sampling.logprobs = true;
  request.ignore_eos = true;
  const auto stream = rig_->submit(rig_->admin(), std::move(request));
  for (const char* bytes : {kSmall, kLarge, kSmall, "16777216", kSmall}) ASSERT_TRUE(resize(bytes).ok());
  const Collected beside = rig_->collect(*stream);
  ASSERT_TRUE(beside.ok());
  EXPECT_EQ(beside.tokens, alone.tokens);
  EXPECT_EQ(beside.logprobs, alone.logprobs);
  EXPECT_TRUE(wait_total(64));
  EXPECT_TRUE(rig_->wait_idle());
}

TEST_P(ResizeOn, TheLongestRequestFollowsThePool) {
  ASSERT_TRUE(resize(kSmall).ok());
  const auto longest = [&] { return rig_->fresh(rig_->admin())->models.front().max_request_tokens; };
  EXPECT_EQ(longest(), 1024u);
  const Collected refused = ask(prompt(2000));
  ASSERT_TRUE(refused.error.has_value());
  EXPECT_EQ(refused.error->code, ErrorCode::kInvalidArgument);
  EXPECT_NE(refused.error->message.find("2000 tokens and must have fewer than 1024"), std::string::npos)
      << refused.error->message;
  ASSERT_TRUE(resize(kLarge).ok());
  EXPECT_EQ(longest(), 6528u);
  EXPECT_TRUE(ask(prompt(2000)).ok());
}

TEST_P(ResizeOn, APoolThatCannotBeIsRefusedAndNothingChanges) {
  const std::vector<Token> tokens = prompt(640);
  ASSERT_TRUE(ask(tokens).ok());
  const auto seen = rig_->fresh(rig_->admin());
  ASSERT_FALSE(seen->tree->empty());
  ASSERT_TRUE(rig_->perform(rig_->admin(), engine::PinNode{seen->tree->back().id, "kept", 0, false}).ok());
  const Result<engine::VerbResult> pins = resize(kSmall);
  ASSERT_FALSE(pins.ok());
  EXPECT_EQ(pins.error().code, ErrorCode::kConflict);
  EXPECT_NE(pins.error().message.find("a pool of 1310720 bytes lets them have 327680"), std::string::npos)
      << pins.error().message;
  const Result<engine::VerbResult> tiny = resize("100000");
  ASSERT_FALSE(tiny.ok());
  EXPECT_EQ(tiny.error().code, ErrorCode::kResourceExhausted);
  EXPECT_NE(tiny.error().message.find("holds 4 blocks"), std::string::npos) << tiny.error().message;
  const Result<engine::VerbResult> huge = resize("70000000000000");
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.error().code, ErrorCode::kResourceExhausted);
  EXPECT_FALSE(resize("many").ok());
  EXPECT_EQ(rig_->fresh(rig_->admin())->pool.blocks_total, 409u);
  EXPECT_EQ(rig_->engine().settings().integer(settings::Key::kPoolBytes), 8388608);
  EXPECT_EQ(ask(tokens).finished->verdict.computed_tokens, 1u);
}

TEST_P(ResizeOn, ThePinBudgetFollowsItsSetting) {
  const auto budget = [&] { return rig_->fresh(rig_->admin())->pool.pin_budget_bytes; };
  const std::uint64_t before = budget();
  ASSERT_TRUE(rig_->perform(rig_->admin(), SetSetting{"pins.budget_percent", "50"}).ok());
  EXPECT_NEAR(static_cast<double>(budget()), 2.0 * static_cast<double>(before), 20480.0 * 2);
}

}  // namespace
}  // namespace larder::test
