// SPDX-License-Identifier: Apache-2.0
// The disk tier through the whole engine, on the processor (blocks are read in place) and on the fake device (they go
// through host memory): what comes back from disk answers exactly as if it had been computed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/engine_rig.h"

namespace larder::test {
namespace {

using engine::Principal;
using engine::Snapshot;
using kv::VerdictKind;

constexpr const char* kSmallPool = "1310720";  // 64 blocks of the tiny model in f16

class ColdTierOn : public ::testing::TestWithParam<bool> {
 protected:
  static EngineRigOptions options(std::vector<std::pair<std::string, std::string>> settings = {}) {
    EngineRigOptions made;
    made.cpu = GetParam();
    made.store = true;
    made.settings = std::move(settings);
    made.settings.emplace_back("store.keep_free_bytes", "4096");
    // The tiny model computes about as fast as a disk reads; whether that is worth it has a test of its own.
    made.settings.emplace_back("store.restore", "always");
    return made;
  }

  std::vector<Token> prompt(std::size_t tokens) {
    std::vector<Token> made(tokens);
    for (Token& token : made) token = static_cast<Token>(3 + rng_.below(500));
    return made;
  }

  // Greedy, with the log-probabilities: equal ones to the last bit mean equal KV.
  static Collected ask(EngineRig& rig, const Principal& who, std::vector<Token> tokens) {
    engine::Request request = EngineRig::token_request(std::move(tokens), 6);
    request.sampling.temperature = 0;
    request.sampling.logprobs = true;
    return rig.ask(who, std::move(request));
  }

  // Blocks leave memory, and are known again after a restart, once the digest of the weights is known.
  static std::unique_ptr<EngineRig> make(EngineRigOptions options) {
    auto rig = std::make_unique<EngineRig>(std::move(options));
    EXPECT_TRUE(rig->wait_until([](const Snapshot& seen) {
      return !seen.models.empty() && seen.models.front().identity == engine::ModelInfo::Identity::kKnown;
    }));
    return rig;
  }

  static void wait_stored(EngineRig& rig, std::uint64_t blocks) {
    ASSERT_TRUE(rig.wait_until([&](const Snapshot& seen) {
      return seen.store.stored_blocks >= blocks && seen.store.queued_blocks == 0;
    })) << rig.fresh(rig.admin())->store.reason;
  }

  void push_out(EngineRig& rig, const Principal& who) {
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(rig.ask(who, EngineRig::token_request(prompt(500), 1)).ok());
  }

  static void expect_equal(const Collected& a, const Collected& b) {
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_EQ(a.logprobs, b.logprobs);
  }

  Rng rng_{11};
};

INSTANTIATE_TEST_SUITE_P(Device, ColdTierOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(ColdTierOn, WhatGaveWayComesBackFromDiskBitForBit) {
  const auto made = make(options({{"pool.bytes", kSmallPool}}));
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(400);
  const Collected cold = ask(rig, rig.admin(), tokens);
  ASSERT_TRUE(cold.ok());
  wait_stored(rig, 12);
  push_out(rig, rig.admin());
  const Collected again = ask(rig, rig.admin(), tokens);
  expect_equal(cold, again);
  const kv::Verdict& verdict = again.finished->verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFullPrefix);
  EXPECT_EQ(verdict.tier, "disk");
  EXPECT_GE(verdict.restored.tokens, 399u);
  EXPECT_EQ(verdict.computed_tokens, 1u);
  EXPECT_GT(verdict.restored.ms, 0);
  EXPECT_GT(verdict.restored.compute_ms, 0);
  EXPECT_GE(rig.fresh(rig.admin())->store.read_blocks, 12u);
}

TEST_P(ColdTierOn, ARestartFindsItsTreeBeforeTheFirstRequest) {
  const auto made = make(options());
  EngineRig& rig = *made;
  std::vector<std::vector<Token>> prompts;
  std::vector<Collected> first;
  for (int i = 0; i < 12; ++i) {
    prompts.push_back(prompt(40 + 50 * static_cast<std::size_t>(i)));
    first.push_back(ask(rig, rig.admin(), prompts.back()));
    ASSERT_TRUE(first.back().ok());
  }
  rig.reopen();
  const auto seen = rig.fresh(rig.admin());
  std::uint64_t cold_tokens = 0;
  for (const engine::TreeNode& node : *seen->tree) {
    EXPECT_EQ(node.disk_blocks, node.blocks);
    EXPECT_EQ(node.stored_blocks, node.blocks);
    cold_tokens += node.tokens;
  }
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) expected += prompts[i].size() + 5;
  EXPECT_EQ(cold_tokens, expected);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Collected again = ask(rig, rig.admin(), prompts[i]);
    expect_equal(first[i], again);
    EXPECT_EQ(again.finished->usage.cached_tokens, prompts[i].size() - 1);
    EXPECT_EQ(again.finished->verdict.tier, "disk");
  }
}

TEST_P(ColdTierOn, EqualPromptsAfterARestartReadTheDiskOnce) {
  const auto made = make(options());
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(600);
  const Collected cold = ask(rig, rig.admin(), tokens);
  rig.reopen();
  std::vector<std::shared_ptr<engine::TokenStream>> streams;
  for (int i = 0; i < 8; ++i) streams.push_back(rig.submit(rig.admin(), EngineRig::token_request(tokens, 1)));
  for (const auto& stream : streams) {
    const Collected answer = rig.collect(*stream);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer.finished->usage.cached_tokens, 599u);
  }
  EXPECT_LE(rig.fresh(rig.admin())->store.read_blocks, 19u);
}

TEST_P(ColdTierOn, WhatWasDeletedStaysDeletedAfterARestart) {
  const auto made = make(options());
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(300);
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  wait_stored(rig, 9);
  const auto tree = rig.fresh(rig.admin())->tree;
  for (const engine::TreeNode& node : *tree) {
    if (node.parent.value != 0) continue;
    ASSERT_TRUE(rig.perform(rig.admin(), engine::DeleteNode{node.id, false, false}).ok());
  }
  rig.reopen();
  EXPECT_TRUE(rig.fresh(rig.admin())->tree->empty());
  EXPECT_EQ(ask(rig, rig.admin(), tokens).finished->usage.cached_tokens, 0u);
}

TEST_P(ColdTierOn, ADeletedTenantLeavesNothingToRead) {
  const auto made = make(options());
  EngineRig& rig = *made;
  const Principal alice = rig.tenant("alice");
  const std::vector<Token> tokens = prompt(300);
  ASSERT_TRUE(ask(rig, alice, tokens).ok());
  wait_stored(rig, 9);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::DeleteTenant{alice.tenant}).ok());
  EXPECT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.store.blocks == 0; }));
  rig.reopen();
  EXPECT_TRUE(rig.fresh(rig.admin())->tree->empty());
  const Principal again = rig.tenant("alice");
  EXPECT_EQ(ask(rig, again, tokens).finished->usage.cached_tokens, 0u);
}

TEST_P(ColdTierOn, DamageOnDiskIsComputedAgainAndSaysSo) {
  const auto made = make(options());
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(300);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig, 9);
  rig.reopen();
  for (const auto& file : std::filesystem::recursive_directory_iterator(rig.folder() + "/data/segments")) {
    if (!file.is_regular_file()) continue;
    const auto size = std::filesystem::file_size(file);
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (std::uintmax_t at = 8192; at < size; at += 4096) {
      bytes.seekp(static_cast<std::streamoff>(at + 1234));
      bytes.put('\x5a');
    }
  }
  const Collected again = ask(rig, rig.admin(), tokens);
  expect_equal(cold, again);
  EXPECT_EQ(again.finished->usage.cached_tokens, 0u);
  EXPECT_EQ(again.finished->verdict.kind, VerdictKind::kEvicted);
  EXPECT_EQ(again.finished->verdict.restored.declined, "damaged");
  EXPECT_GE(rig.fresh(rig.admin())->store.damaged_blocks, 1u);
  expect_equal(cold, ask(rig, rig.admin(), tokens));
}

TEST_P(ColdTierOn, AnUnloadedModelComesBackWithItsTree) {
  const auto made = make(options());
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(500);
  const Collected cold = ask(rig, rig.admin(), tokens);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::UnloadModel{rig.fresh(rig.admin())->models.front().id}).ok());
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.model_path()}).ok());
  const Collected again = ask(rig, rig.admin(), tokens);
  expect_equal(cold, again);
  EXPECT_EQ(again.finished->verdict.tier, "disk");
}

TEST_P(ColdTierOn, ARestoreThatNobodyWaitsForAnyMoreLeavesEverythingInOrder) {
  const auto made = make(options());
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(900);
  const Collected cold = ask(rig, rig.admin(), tokens);
  for (int round = 0; round < 5; ++round) {
    rig.reopen();
    const auto stream = rig.submit(rig.admin(), EngineRig::token_request(tokens, 4));
    stream->cancel();
    ASSERT_TRUE(rig.wait_idle());
    expect_equal(cold, ask(rig, rig.admin(), tokens));
  }
}

TEST_P(ColdTierOn, FrozenServesAndDoesNotStore) {
  const auto made = make(options());
  EngineRig& rig = *made;
  const std::vector<Token> kept = prompt(300);
  const Collected cold = ask(rig, rig.admin(), kept);
  wait_stored(rig, 9);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"store.mode", "frozen"}).ok());
  ASSERT_TRUE(ask(rig, rig.admin(), prompt(300)).ok());
  EXPECT_EQ(rig.fresh(rig.admin())->store.blocks, 10u);
  rig.reopen();
  const Collected served = ask(rig, rig.admin(), kept);
  expect_equal(cold, served);
  EXPECT_EQ(served.finished->verdict.tier, "disk");
}

TEST_P(ColdTierOn, PinsOutliveARestartAndAnUnpinDoesToo) {
  const auto made = make(options({{"pool.bytes", kSmallPool}}));
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(300);
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  engine::PinNode pin;
  for (const engine::TreeNode& node : *rig.fresh(rig.admin())->tree) pin.node = node.id;
  pin.reason = "rules of the house";
  pin.ttl_ms = 3'600'000;
  ASSERT_TRUE(rig.perform(rig.admin(), pin).ok());
  const engine::PinInfo before = rig.fresh(rig.admin())->pins.at(0);
  rig.reopen();
  const auto seen = rig.fresh(rig.admin());
  ASSERT_EQ(seen->pins.size(), 1u);
  const engine::PinInfo& after = seen->pins[0];
  EXPECT_EQ(after.reason, before.reason);
  EXPECT_EQ(after.created, before.created);
  EXPECT_EQ(after.expires, before.expires);
  EXPECT_EQ(after.tenant, before.tenant);
  EXPECT_EQ(after.blocks, before.blocks);
  ASSERT_TRUE(rig.wait_until([&](const Snapshot& now) { return now.store.pinned_blocks == before.blocks; }));
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  push_out(rig, rig.admin());
  const Collected again = ask(rig, rig.admin(), tokens);
  EXPECT_EQ(again.finished->usage.cached_tokens, 299u);
  EXPECT_EQ(again.finished->verdict.tier, "host");
  ASSERT_TRUE(rig.perform(rig.admin(), engine::Unpin{after.id, {}}).ok());
  rig.reopen();
  EXPECT_TRUE(rig.fresh(rig.admin())->pins.empty());
  EXPECT_TRUE(rig.wait_until([](const Snapshot& now) { return now.store.pinned_blocks == 0; }));
}

TEST_P(ColdTierOn, BypassNeitherServesNorStores) {
  const auto made = make(options({{"pool.bytes", kSmallPool}}));
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(300);
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  wait_stored(rig, 9);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"store.mode", "bypass"}).ok());
  push_out(rig, rig.admin());
  const Collected again = ask(rig, rig.admin(), tokens);
  EXPECT_EQ(again.finished->usage.cached_tokens, 0u);
  EXPECT_EQ(again.finished->verdict.kind, VerdictKind::kEvicted);
  EXPECT_EQ(rig.fresh(rig.admin())->store.blocks, 10u);
}

// The fake device computes for nothing, so reading can never be faster.
TEST(ColdTier, WhatIsFasterToComputeIsComputedAndBothEstimatesAreTold) {
  EngineRigOptions options;
  options.store = true;
  options.settings = {{"pool.bytes", kSmallPool}, {"store.keep_free_bytes", "4096"}};
  EngineRig rig(options);
  Rng rng(5);
  const auto prompt = [&rng](std::size_t tokens) {
    std::vector<Token> made(tokens);
    for (Token& token : made) token = static_cast<Token>(3 + rng.below(500));
    return made;
  };
  const std::vector<Token> tokens = prompt(40);
  ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(tokens, 1)).ok());
  ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.store.stored_blocks >= 2; }));
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(prompt(500), 1)).ok());
  }
  const Collected again = rig.ask(rig.admin(), EngineRig::token_request(tokens, 1));
  ASSERT_TRUE(again.ok());
  const kv::Restored& restored = again.finished->verdict.restored;
  EXPECT_EQ(restored.declined, "slower");
  EXPECT_GE(restored.estimate_ms, restored.compute_ms);
  EXPECT_GT(restored.compute_ms, 0);
  EXPECT_EQ(restored.declined_tokens, 39u);
  EXPECT_EQ(again.finished->verdict.kind, VerdictKind::kEvicted);
  EXPECT_EQ(rig.fresh(rig.admin())->store.declined_slower, 1u);
}

TEST_P(ColdTierOn, AFolderThatCannotBeWrittenIsNamedAndTheEngineAnswers) {
  const auto made = make(options());
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(100);
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  std::filesystem::remove_all(rig.folder() + "/data/segments");
  std::ofstream(rig.folder() + "/data/segments") << "in the way";
  rig.reopen();
  const auto seen = rig.fresh(rig.admin());
  EXPECT_FALSE(seen->store.used);
  EXPECT_FALSE(seen->store.reason.empty());
  EXPECT_TRUE(ask(rig, rig.admin(), tokens).ok());
}

}  // namespace
}  // namespace larder::test
