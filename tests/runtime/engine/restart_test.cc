// SPDX-License-Identifier: Apache-2.0
// What a restart keeps beside the blocks: why another model or setting misses, the names of entries, and how much of
// the disk the tree may know.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/engine/stored_identities.h"
#include "tests/support/engine_rig.h"

namespace larder::test {
namespace {

using engine::Snapshot;
using kv::VerdictKind;
using Settings = std::vector<std::pair<std::string, std::string>>;

class Restart : public ::testing::Test {
 protected:
  void open(Settings settings = {}) {
    EngineRigOptions options;
    options.store = true;
    options.chat_template = true;
    options.settings = std::move(settings);
    options.settings.emplace_back("store.keep_free_bytes", "4096");
    options.settings.emplace_back("store.restore", "always");
    rig_ = std::make_unique<EngineRig>(std::move(options));
    wait_known();
  }

  void wait_known() {
    ASSERT_TRUE(rig_->wait_until([](const Snapshot& seen) {
      return !seen.models.empty() && seen.models.front().identity == engine::ModelInfo::Identity::kKnown;
    }));
  }

  // Twice, so that the digest of a file that was never seen is known before the second load.
  void restart() {
    rig_->reopen();
    wait_known();
    rig_->reopen();
  }

  std::vector<Token> prompt(std::size_t tokens) {
    std::vector<Token> made(tokens);
    for (Token& token : made) token = static_cast<Token>(3 + rng_.below(500));
    return made;
  }

  Collected ask(const std::vector<Token>& tokens) {
    return rig_->ask(rig_->admin(), EngineRig::token_request(tokens, 4));
  }

  void wait_stored(std::uint64_t blocks) {
    ASSERT_TRUE(rig_->wait_until(
        [&](const Snapshot& seen) { return seen.store.stored_blocks >= blocks && seen.store.queued_blocks == 0; }));
  }

  // Cold under A, a named miss under B, and restored bit for bit under A again.
  void expect_named_miss(const std::string& part, const std::function<void()>& to_b,
                         const std::function<void()>& to_a) {
    const std::vector<Token> tokens = prompt(200);
    const Collected cold = ask(tokens);
    EXPECT_EQ(cold.finished->verdict.kind, VerdictKind::kCold);
    wait_stored(7);
    to_b();
    restart();
    const Collected missed = ask(tokens);
    ASSERT_TRUE(missed.ok());
    EXPECT_EQ(missed.finished->verdict.kind, VerdictKind::kOtherIdentity);
    EXPECT_EQ(missed.finished->verdict.identity_part, part);
    EXPECT_EQ(missed.finished->usage.cached_tokens, 0u);
    EXPECT_EQ(ask(prompt(200)).finished->verdict.kind, VerdictKind::kCold);
    to_a();
    restart();
    const Collected again = ask(tokens);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.finished->verdict.tier, "disk");
    EXPECT_EQ(again.finished->usage.cached_tokens, 199u);
    EXPECT_EQ(again.logprobs, cold.logprobs);
  }

  std::uint64_t cold_blocks() {
    std::uint64_t cold = 0;
    const auto seen = rig_->fresh(rig_->admin());
    for (const engine::TreeNode& node : *seen->tree) cold += node.disk_blocks;
    return cold;
  }

  std::unique_ptr<EngineRig> rig_;
  Rng rng_{31};
};

TEST_F(Restart, WithAnotherModelFileTheMissNamesTheWeights) {
  open();
  const std::string kept = rig_->folder() + "/kept";
  expect_named_miss(
      "weights",
      [&] {
        std::filesystem::copy_file(rig_->model_path(), kept);
        std::fstream file(rig_->model_path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(-1, std::ios::end);
        const int last = file.get();
        file.seekp(-1, std::ios::end);
        file.put(static_cast<char>(last ^ 1));
      },
      [&] { std::filesystem::copy_file(kept, rig_->model_path(), std::filesystem::copy_options::overwrite_existing); });
}

TEST_F(Restart, WithAnotherNumberFormatTheMissNamesIt) {
  open();
  const Settings before = rig_->options().settings;
  expect_named_miss(
      "kv_type", [&] { rig_->options().settings.emplace_back("pool.kv_type", "f32"); },
      [&] { rig_->options().settings = before; });
}

TEST_F(Restart, WithOtherArithmeticTheMissNamesIt) {
  open();
  expect_named_miss(
      "arithmetic", [&] { rig_->options().fake.arithmetic_id = "fake/2"; },
      [&] { rig_->options().fake.arithmetic_id = "fake/1"; });
}

// What another arithmetic computed is nobody's until a tenant asks for it, is named where it is used, and is not mixed
// with what this one computes.
TEST_F(Restart, WhatOtherArithmeticComputedIsReusedByTenantsThatAskForIt) {
  open();
  const std::vector<Token> first = prompt(200);
  const std::vector<Token> second = prompt(300);
  const std::vector<Token> third = prompt(250);
  for (const auto& each : {first, second, third}) ASSERT_TRUE(ask(each).ok());
  wait_stored(7 + 10 + 8);
  rig_->options().fake.arithmetic_id = "fake/2";
  restart();
  EXPECT_EQ(ask(first).finished->verdict.kind, VerdictKind::kOtherIdentity);
  const auto foreign_blocks = [](const Snapshot& seen) {
    std::pair<std::uint64_t, std::uint64_t> all_and_stored;
    for (const engine::TreeNode& node : *seen.tree) {
      if (node.lineage != "foreign") continue;
      all_and_stored.first += node.blocks;
      all_and_stored.second += node.stored_blocks;
    }
    return all_and_stored;
  };
  EXPECT_EQ(foreign_blocks(*rig_->fresh(rig_->admin())).first, 0u);

  const TenantId home = rig_->admin().tenant;
  ASSERT_TRUE(rig_->perform(rig_->admin(), engine::SetTenant{home, true}).ok());
  ASSERT_TRUE(rig_->wait_until([&](const Snapshot& seen) { return foreign_blocks(seen).first == 25; }));
  const Collected reused = ask(second);
  ASSERT_TRUE(reused.ok());
  EXPECT_EQ(reused.finished->usage.cached_tokens, 299u);
  EXPECT_TRUE(reused.finished->verdict.foreign);
  EXPECT_EQ(reused.finished->verdict.tier, "disk");
  EXPECT_EQ(reused.finished->verdict.kind, VerdictKind::kFullPrefix);
  // What this arithmetic has itself is not given up for it.
  const Collected own = ask(first);
  EXPECT_FALSE(own.finished->verdict.foreign);
  EXPECT_EQ(own.finished->usage.cached_tokens, 199u);
  // What continues it is found again, stays in memory, and leaves what lies on disk as it was.
  std::vector<Token> longer = second;
  const std::vector<Token> more = prompt(100);
  longer.insert(longer.end(), more.begin(), more.end());
  ASSERT_TRUE(ask(longer).ok());
  const Collected again = ask(longer);
  EXPECT_EQ(again.finished->usage.cached_tokens, 399u);
  EXPECT_TRUE(again.finished->verdict.foreign);
  ASSERT_TRUE(rig_->wait_until([](const Snapshot& seen) { return seen.store.queued_blocks == 0; }));
  const auto [all, stored] = foreign_blocks(*rig_->fresh(rig_->admin()));
  EXPECT_GT(all, stored);
  EXPECT_EQ(stored, 25u);

  ASSERT_TRUE(rig_->perform(rig_->admin(), engine::SetTenant{home, false}).ok());
  const Collected alone = ask(third);
  EXPECT_FALSE(alone.finished->verdict.foreign);
  EXPECT_EQ(alone.finished->usage.cached_tokens, 0u);
  EXPECT_EQ(alone.finished->verdict.kind, VerdictKind::kOtherIdentity);

  // Under its own arithmetic it is exact again, and nothing that the other one added to it is there.
  rig_->options().fake.arithmetic_id = "fake/1";
  restart();
  const Collected back = ask(longer);
  EXPECT_FALSE(back.finished->verdict.foreign);
  EXPECT_EQ(back.finished->usage.cached_tokens, 300u);
}

TEST_F(Restart, OnlyOtherArithmeticIsForeign) {
  open();
  ASSERT_TRUE(rig_->perform(rig_->admin(), engine::SetTenant{rig_->admin().tenant, true}).ok());
  const std::vector<Token> tokens = prompt(200);
  ASSERT_TRUE(ask(tokens).ok());
  wait_stored(7);
  rig_->options().settings.emplace_back("pool.kv_type", "f32");
  rig_->options().fake.arithmetic_id = "fake/2";
  restart();
  for (const engine::TreeNode& node : *rig_->fresh(rig_->admin())->tree) EXPECT_NE(node.lineage, "foreign");
  const Collected missed = ask(tokens);
  EXPECT_EQ(missed.finished->verdict.kind, VerdictKind::kOtherIdentity);
  EXPECT_EQ(missed.finished->usage.cached_tokens, 0u);
}

TEST_F(Restart, EveryPartOfAnIdentityComesBackFromItsRecord) {
  kv::Identity identity;
  identity.weights.fill(7);
  identity.rope = "base 0x1.388p+13 rot 8";
  identity.kv_type = kernels::KvType::kF32;
  identity.layout_version = 3;
  identity.adapter.fill(9);
  identity.arithmetic_id = "cpu/avx512/1";
  identity.lineage = kernels::KvScheme::kInt8;
  identity.by_name = true;
  const std::vector<std::uint8_t> bytes = engine::identity_bytes(identity);
  ASSERT_EQ(engine::identity_from(bytes), identity);
  const auto changed = [&](auto change) {
    kv::Identity other = identity;
    change(other);
    return std::string(kv::differing_part(*engine::identity_from(engine::identity_bytes(other)), identity));
  };
  EXPECT_EQ(changed([](kv::Identity& other) { other.rope = "base 0x1p+9 rot 8"; }), "rope");
  EXPECT_EQ(changed([](kv::Identity& other) { other.layout_version = 4; }), "layout");
  EXPECT_EQ(changed([](kv::Identity& other) { other.adapter.fill(1); }), "adapter");
  EXPECT_EQ(changed([](kv::Identity& other) { other.lineage = kernels::KvScheme::kExact; }), "lineage");
  EXPECT_EQ(changed([](kv::Identity& other) { other.by_name = false; }), "lineage");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = engine::identity_from({bytes.data(), size});
    EXPECT_TRUE(!cut || *cut != identity);
  }
}

TEST_F(Restart, EntriesKeepTheirNamesHitsAndWhatTheySaved) {
  open();
  const auto chat = [](const std::string& turn) {
    return EngineRig::chat_request("rules of the house: " + std::string(120, 'r'), {turn + std::string(60, 'q')}, 4);
  };
  ASSERT_TRUE(rig_->ask(rig_->admin(), chat("one ")).ok());
  ASSERT_TRUE(rig_->ask(rig_->admin(), chat("two ")).ok());
  engine::Request named = EngineRig::token_request(prompt(100), 4);
  named.label = "the pantry list";
  ASSERT_TRUE(rig_->ask(rig_->admin(), std::move(named)).ok());
  const auto facts = [this] {
    std::vector<std::tuple<std::string, std::uint32_t, std::uint64_t, double, std::uint32_t>> all;
    const auto seen = rig_->fresh(rig_->admin());
    for (const engine::EntryInfo& entry : seen->entries) {
      all.emplace_back(entry.name, entry.tokens, entry.hits, entry.saved_ms, entry.tenant.value);
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  const auto before = facts();
  ASSERT_GE(before.size(), 3u);
  EXPECT_TRUE(std::any_of(before.begin(), before.end(), [](const auto& e) { return std::get<2>(e) > 0; }));
  EXPECT_TRUE(
      std::any_of(before.begin(), before.end(), [](const auto& e) { return std::get<0>(e) == "the pantry list"; }));
  rig_->reopen();
  EXPECT_EQ(facts(), before);
  rig_->reopen();
  EXPECT_EQ(facts(), before);
  // A deleted run takes its entry along for good.
  const auto seen = rig_->fresh(rig_->admin());
  for (const engine::EntryInfo& entry : seen->entries) {
    if (entry.name != "the pantry list") continue;
    const auto deleted = rig_->perform(rig_->admin(), engine::DeleteNode{entry.node, false, false});
    ASSERT_TRUE(deleted.ok()) << to_string(deleted.error());
  }
  EXPECT_EQ(facts().size(), before.size() - 1);
  rig_->reopen();
  EXPECT_EQ(facts().size(), before.size() - 1);
}

TEST_F(Restart, TheTreeKnowsNoMoreOfTheDiskThanItMayAndSaysHowMuchItLeavesOut) {
  open();
  std::vector<std::vector<Token>> prompts;
  std::vector<Collected> cold;
  for (int i = 0; i < 10; ++i) {
    prompts.push_back(prompt(280));
    cold.push_back(ask(prompts.back()));
    wait_stored(9 * prompts.size());
  }
  engine::PinNode pin;
  const auto full = rig_->fresh(rig_->admin());
  for (const engine::TreeNode& node : *full->tree) {
    if (pin.node.value == 0 || node.id < pin.node) pin.node = node.id;  // of the first prompt
  }
  pin.reason = "kept";
  ASSERT_TRUE(rig_->perform(rig_->admin(), pin).ok());
  rig_->options().settings.emplace_back("store.tree_blocks", "32");
  rig_->reopen();
  EXPECT_LE(cold_blocks(), 32u);
  EXPECT_GE(cold_blocks(), 18u);
  const auto seen = rig_->fresh(rig_->admin());
  EXPECT_EQ(seen->store.unlisted_blocks, seen->store.blocks - cold_blocks());
  EXPECT_EQ(seen->pins.size(), 1u);
  const Collected newest = ask(prompts[9]);
  EXPECT_EQ(newest.finished->verdict.tier, "disk");
  EXPECT_EQ(newest.logprobs, cold[9].logprobs);
  const Collected pinned = ask(prompts[0]);
  EXPECT_EQ(pinned.finished->verdict.tier, "disk");
  // What was left out is computed, and found from then on; nothing of it was dropped from the disk.
  const Collected left = ask(prompts[4]);
  EXPECT_EQ(left.finished->usage.cached_tokens, 0u);
  EXPECT_EQ(left.logprobs, cold[4].logprobs);
  EXPECT_EQ(ask(prompts[4]).finished->usage.cached_tokens, 279u);
  rig_->options().settings.pop_back();
  rig_->reopen();
  EXPECT_EQ(rig_->fresh(rig_->admin())->store.unlisted_blocks, 0u);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Collected again = ask(prompts[i]);
    EXPECT_EQ(again.finished->usage.cached_tokens, 279u);
    EXPECT_EQ(again.logprobs, cold[i].logprobs);
  }
}

TEST_F(Restart, WhatGivesWayInMemoryKeepsTheTreeWithinItsBound) {
  open({{"pool.bytes", "1310720"}, {"store.tree_blocks", "32"}});
  std::uint64_t stored = 0;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(ask(prompt(150)).ok());
    stored += 5;
    if (i % 8 != 7) continue;
    wait_stored(stored);
    EXPECT_LE(cold_blocks(), 32u);
  }
  const auto seen = rig_->fresh(rig_->admin());
  EXPECT_GT(seen->store.unlisted_blocks, 0u);
  EXPECT_EQ(seen->store.blocks, stored);
}

}  // namespace
}  // namespace larder::test
