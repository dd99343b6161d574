// SPDX-License-Identifier: Apache-2.0
// Every verdict, as the one who asked and as an admin sees it, through the whole engine on both devices.
#include <gtest/gtest.h>

#include "tests/support/engine_rig.h"

namespace larder::test {
namespace {

using engine::Principal;
using engine::RequestRecord;
using kv::VerdictKind;

std::string words(Rng& rng, int count) {
  static constexpr const char* kWords[] = {"Lily", "went", "to",  "the", "park", "and",   "saw",
                                           "a",    "big",  "dog", "Tim", "was",  "happy", "tree",
                                           "ball", "red",  "day", "mom", "said", "play"};
  std::string text = "Once";
  for (int i = 0; i < count; ++i) text += std::string(" ") + kWords[rng.below(std::size(kWords))];
  return text;
}

class VerdictOn : public ::testing::TestWithParam<bool> {
 protected:
  static EngineRigOptions options(std::vector<std::pair<std::string, std::string>> settings = {}) {
    EngineRigOptions made;
    made.cpu = GetParam();
    made.chat_template = true;
    made.settings = std::move(settings);
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(Device, VerdictOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(VerdictOn, ColdThenFullPrefixThenDivergedWithBothTexts) {
  EngineRig rig(options());
  Rng rng(1);
  const std::string system = words(rng, 80);
  const Collected first = rig.ask(rig.admin(), EngineRig::chat_request(system, {"hello dog"}, 8));
  ASSERT_TRUE(first.ok()) << first.error->message;
  EXPECT_EQ(first.started->verdict.kind, VerdictKind::kCold);

  const Collected second = rig.ask(rig.admin(), EngineRig::chat_request(system, {"hello ball"}, 8));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second.started->verdict.kind, VerdictKind::kFullPrefix);
  EXPECT_EQ(second.finished->verdict.tier, "host");

  std::string changed = system;
  changed.replace(changed.size() / 2, 4, "ZZZZ");
  const Collected third = rig.ask(rig.admin(), EngineRig::chat_request(changed, {"hello dog"}, 8));
  ASSERT_TRUE(third.ok());
  ASSERT_EQ(third.started->verdict.kind, VerdictKind::kDiverged);
  ASSERT_TRUE(third.started->verdict.divergence);
  const std::uint32_t section = third.started->verdict.divergence->section;
  EXPECT_EQ(third.started->sections[section].kind, SectionKind::kSystem);
  EXPECT_EQ(third.started->verdict.divergence->cached_by, first.started->request);
  const auto snapshot = rig.fresh(rig.admin());
  const RequestRecord& record = snapshot->requests.back();
  EXPECT_NE(record.diverged_here.find("Z"), std::string::npos) << record.diverged_here;
  EXPECT_EQ(record.diverged_cached.find("Z"), std::string::npos) << record.diverged_cached;
  EXPECT_EQ(record.here_tokens.size(), record.verdict.divergence->here_run.size());
}

TEST_P(VerdictOn, ALongerConversationReusesAnswersToo) {
  EngineRig rig(options());
  Rng rng(2);
  const std::string system = words(rng, 40);
  const Collected first = rig.ask(rig.admin(), EngineRig::chat_request(system, {"hello dog"}, 40));
  ASSERT_TRUE(first.ok());
  const Collected second =
      rig.ask(rig.admin(), EngineRig::chat_request(system, {"hello dog", first.texts[0], "and then"}, 4));
  ASSERT_TRUE(second.ok());
  EXPECT_GT(second.finished->usage.cached_tokens, first.finished->usage.prompt_tokens);
}

TEST_P(VerdictOn, EvictedNamesTheEvictorToTheAdminAndNotToOthers) {
  EngineRig rig(options({{"pool.bytes", "1310720"}}));  // 64 blocks
  const Principal alice = rig.tenant("alice");
  const Principal bob = rig.tenant("bob");
  Rng rng(3);
  std::vector<Token> prompt(400);
  for (Token& token : prompt) token = static_cast<Token>(3 + rng.below(500));
  ASSERT_TRUE(rig.ask(alice, EngineRig::token_request(prompt, 1)).ok());
  for (int i = 0; i < 6; ++i) {
    std::vector<Token> other(500);
    for (Token& token : other) token = static_cast<Token>(3 + rng.below(500));
    ASSERT_TRUE(rig.ask(bob, EngineRig::token_request(other, 1)).ok());
  }
  const Collected again = rig.ask(alice, EngineRig::token_request(prompt, 1));
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again.started->verdict.kind, VerdictKind::kEvicted);
  EXPECT_EQ(again.started->verdict.eviction->by_tenant, TenantId{});
  EXPECT_EQ(again.started->verdict.eviction->by_request, RequestId{});
  const auto seen = rig.fresh(rig.admin());
  ASSERT_TRUE(seen->requests.back().verdict.eviction);
  EXPECT_EQ(seen->requests.back().verdict.eviction->by_tenant, bob.tenant);
  EXPECT_NE(seen->requests.back().verdict.eviction->by_request, RequestId{});
  EXPECT_EQ(seen->requests.back().verdict.eviction->policy, "lru");
}

TEST_P(VerdictOn, AnotherTenantsPromptIsColdAndLeaksNothing) {
  EngineRig rig(options());
  const Principal alice = rig.tenant("alice");
  const Principal bob = rig.tenant("bob");
  Rng rng(4);
  const std::string text = words(rng, 120);
  ASSERT_TRUE(rig.ask(alice, EngineRig::text_request(text, 2)).ok());
  const Collected other = rig.ask(bob, EngineRig::text_request(text, 2));
  EXPECT_EQ(other.started->verdict.kind, VerdictKind::kCold);
  EXPECT_EQ(other.finished->usage.cached_tokens, 0u);
  EXPECT_FALSE(other.started->verdict.divergence);
  const auto seen = rig.fresh(bob);
  ASSERT_EQ(seen->requests.size(), 1u);
  EXPECT_EQ(seen->requests[0].tenant, bob.tenant.value);
  for (const engine::TreeNode& node : *seen->tree) EXPECT_EQ(node.tenant, bob.tenant.value);
  ASSERT_EQ(seen->tenants.size(), 1u);
  EXPECT_TRUE(seen->keys.empty());
}

TEST_P(VerdictOn, ShortAndBypassedSayWhy) {
  EngineRig rig(options());
  engine::Request bypass = EngineRig::text_request("Once upon a time there was a dog", 2);
  bypass.cache = engine::CachePolicy::kBypass;
  EXPECT_EQ(rig.ask(rig.admin(), bypass).started->verdict.kind, VerdictKind::kBypassed);
  EXPECT_EQ(rig.ask(rig.admin(), bypass).started->verdict.kind, VerdictKind::kBypassed);
  EXPECT_EQ(rig.ask(rig.admin(), EngineRig::token_request({5}, 2)).started->verdict.kind, VerdictKind::kCold);
  EXPECT_EQ(rig.ask(rig.admin(), EngineRig::token_request({5}, 2)).started->verdict.kind, VerdictKind::kTooShort);
}

TEST_P(VerdictOn, AnotherModelsIdentityIsNamed) {
  EngineRig rig(options());
  Rng rng(5);
  const std::string text = words(rng, 120);
  ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::text_request(text, 2)).ok());
  EngineRigOptions longer = options();
  longer.n_context = 4096;  // another file, hence other weights
  longer.load_model = false;
  EngineRig other(longer);
  const auto known = [](const engine::Snapshot& s) {
    return s.models.front().identity == engine::ModelInfo::Identity::kKnown;
  };
  ASSERT_TRUE(rig.wait_until(known));  // else nobody can say later that these were other weights
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{other.model_path()}).ok());
  ASSERT_TRUE(rig.wait_until(known));
  const Collected again = rig.ask(rig.admin(), EngineRig::text_request(text, 2));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.started->verdict.kind, VerdictKind::kOtherIdentity);
  EXPECT_EQ(again.started->verdict.identity_part, "weights");
  EXPECT_EQ(again.finished->usage.cached_tokens, 0u);
}

}  // namespace
}  // namespace larder::test
