// SPDX-License-Identifier: Apache-2.0
// The engine as a whole, on the fake device and on the processor.
#include "runtime/engine/engine.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/engine_rig.h"

namespace larder::test {
namespace {

using engine::Principal;
using engine::Request;

std::vector<Token> random_tokens(Rng& rng, std::size_t count) {
  std::vector<Token> tokens(count);
  for (Token& token : tokens) token = static_cast<Token>(3 + rng.below(500));
  return tokens;
}

std::vector<Token> joined(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class EngineOn : public ::testing::TestWithParam<bool> {
 protected:
  static EngineRigOptions options(std::vector<std::pair<std::string, std::string>> settings = {}) {
    EngineRigOptions made;
    made.cpu = GetParam();
    made.settings = std::move(settings);
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(Device, EngineOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(EngineOn, AnswersATextPrompt) {
  EngineRig rig(options());
  const Collected answer = rig.ask(rig.admin(), EngineRig::text_request("Once upon a time", 20));
  ASSERT_TRUE(answer.ok());
  ASSERT_TRUE(answer.started);
  EXPECT_EQ(answer.started->verdict.kind, kv::VerdictKind::kCold);
  EXPECT_EQ(answer.reasons[0], engine::FinishReason::kLength);
  EXPECT_EQ(answer.finished->usage.completion_tokens, 20u);
  EXPECT_EQ(answer.tokens[0].size(), 20u);
  EXPECT_GT(answer.finished->usage.prompt_tokens, 3u);
  EXPECT_EQ(answer.finished->verdict.computed_tokens, answer.finished->usage.prompt_tokens);
  EXPECT_FALSE(answer.texts[0].empty());
}

TEST_P(EngineOn, TheSecondRequestStartsAtItsFirstNewToken) {
  EngineRig rig(options());
  Rng rng(1);
  const std::vector<Token> shared = random_tokens(rng, 2000);
  ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(joined(shared, random_tokens(rng, 20)), 2)).ok());
  const std::vector<Token> second = joined(shared, random_tokens(rng, 20));
  const Collected warm = rig.ask(rig.admin(), EngineRig::token_request(second, 4));
  ASSERT_TRUE(warm.ok());
  EXPECT_GE(warm.finished->usage.cached_tokens, 2000u);
  EXPECT_LE(warm.finished->verdict.computed_tokens, 21u);
  EXPECT_GT(warm.finished->verdict.saved_ms, 0);
  Request bypass = EngineRig::token_request(second, 4);
  bypass.cache = engine::CachePolicy::kBypass;
  const Collected cold = rig.ask(rig.admin(), std::move(bypass));
  EXPECT_EQ(cold.started->verdict.kind, kv::VerdictKind::kBypassed);
  EXPECT_EQ(warm.tokens, cold.tokens);
  EXPECT_EQ(warm.logprobs, cold.logprobs);
  EXPECT_TRUE(rig.wait_idle());
}

TEST_P(EngineOn, ChoicesShareThePromptAndASeedGivesTheSameAnswers) {
  EngineRig rig(options());
  Rng rng(2);
  Request request = EngineRig::token_request(random_tokens(rng, 100), 16);
  request.sampling.temperature = 0.9f;
  request.sampling.seed = 42;
  request.n = 4;
  const Collected first = rig.ask(rig.admin(), request);
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(first.tokens.size(), 4u);
  EXPECT_NE(first.tokens[0], first.tokens[1]);
  EXPECT_EQ(first.finished->usage.completion_tokens, 64u);
  std::vector<std::shared_ptr<engine::TokenStream>> noise;
  for (int i = 0; i < 7; ++i) {
    Request other = EngineRig::token_request(random_tokens(rng, 50), 30);
    other.sampling.temperature = 1;
    other.sampling.seed = static_cast<std::uint64_t>(i);
    noise.push_back(rig.submit(rig.admin(), other));
  }
  const Collected again = rig.ask(rig.admin(), request);
  EXPECT_EQ(first.tokens, again.tokens);
  for (const auto& stream : noise) EXPECT_TRUE(rig.collect(*stream).ok());
}

TEST_P(EngineOn, AStopStringEndsTheAnswerAndIsNotShown) {
  EngineRig rig(options());
  const Collected whole = rig.ask(rig.admin(), EngineRig::text_request("Once upon a time", 60));
  ASSERT_TRUE(whole.ok());
  ASSERT_GT(whole.texts[0].size(), 12u);
  const std::string stop = whole.texts[0].substr(6, 5);
  Request request = EngineRig::text_request("Once upon a time", 60);
  request.stop = {stop};
  const Collected cut = rig.ask(rig.admin(), request);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut.reasons[0], engine::FinishReason::kStop);
  EXPECT_EQ(cut.texts[0], whole.texts[0].substr(0, whole.texts[0].find(stop)));
}

TEST_P(EngineOn, ACancelledReaderFreesEverything) {
  EngineRig rig(options());
  Rng rng(4);
  for (int round = 0; round < (GetParam() ? 20 : 200); ++round) {
    auto stream = rig.submit(rig.admin(), EngineRig::token_request(random_tokens(rng, 1 + rng.below(600)), 200));
    const std::uint64_t events = rng.below(6);
    for (std::uint64_t i = 0; i < events; ++i) stream->next(5'000);
    stream->cancel();
    const Collected rest = rig.collect(*stream);
    ASSERT_TRUE(rest.ok());
  }
  EXPECT_TRUE(rig.wait_idle());
  EXPECT_TRUE(rig.knobs().violations().empty());
}

TEST_P(EngineOn, ASlowReaderDoesNotStallOthersAndGetsEverything) {
  EngineRig rig(options());
  Rng rng(5);
  const engine::Request request = EngineRig::token_request(random_tokens(rng, 40), 600);
  auto slow = rig.submit(rig.admin(), request);
  const Collected quick = rig.ask(rig.admin(), EngineRig::token_request(random_tokens(rng, 40), 600));
  ASSERT_TRUE(quick.ok());
  ASSERT_TRUE(rig.wait_until([](const engine::Snapshot& s) { return s.running == 1; }));
  const Collected all = rig.collect(*slow);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all.tokens[0].size(), 600u);
  EXPECT_EQ(rig.ask(rig.admin(), request).tokens, all.tokens);
}

TEST_P(EngineOn, SnapshotTotalsAreTheSumsOfTheirParts) {
  EngineRig rig(options());
  const Principal alice = rig.tenant("alice");
  Rng rng(6);
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(
        rig.ask(i % 2 == 0 ? alice : rig.admin(), EngineRig::token_request(random_tokens(rng, 50 + rng.below(200)), 20))
            .ok());
  }
  ASSERT_TRUE(rig.wait_idle());
  const auto snapshot = rig.fresh(rig.admin());
  const engine::PoolInfo& pool = snapshot->pool;
  EXPECT_EQ(pool.blocks_total, pool.blocks_free + pool.blocks_cached + pool.blocks_in_use);
  std::uint64_t tree_blocks = 0;
  std::map<std::uint32_t, std::uint64_t> by_tenant;
  std::set<std::uint64_t> seen;
  for (const engine::TreeNode& node : *snapshot->tree) {
    tree_blocks += node.blocks;
    by_tenant[node.tenant] += node.blocks;
    EXPECT_EQ(node.bytes, node.blocks * pool.block_bytes);
    EXPECT_TRUE(node.parent.value == 0 || seen.count(node.parent.value) == 1) << "a child before its parent";
    seen.insert(node.id.value);
  }
  EXPECT_EQ(tree_blocks, pool.blocks_cached);
  std::uint64_t requests = 0;
  for (const engine::TenantInfo& tenant : snapshot->tenants) {
    EXPECT_EQ(tenant.blocks, by_tenant[tenant.id.value]);
    requests += tenant.requests;
    std::uint64_t prompt_tokens = 0;
    for (const engine::RequestRecord& record : snapshot->requests) {
      if (record.tenant == tenant.id.value) prompt_tokens += record.usage.prompt_tokens;
    }
    EXPECT_EQ(tenant.prompt_tokens, prompt_tokens);
  }
  EXPECT_EQ(requests, snapshot->requests.size());
  std::uint64_t in_history = 0;
  for (const engine::Interval& interval : snapshot->history) in_history += interval.requests;
  EXPECT_EQ(in_history, requests);
  for (const engine::RequestRecord& record : snapshot->requests) {
    EXPECT_EQ(record.verdict.prompt_tokens, record.usage.prompt_tokens);
    EXPECT_EQ(record.verdict.computed_tokens + record.usage.cached_tokens, record.usage.prompt_tokens);
    EXPECT_GE(record.timings.total_ms, record.timings.first_token_ms);
  }
  EXPECT_FALSE(rig.engine().metrics_text().empty());
}

TEST_P(EngineOn, DeltasHoldWhatIsNewer) {
  EngineRig rig(options());
  Rng rng(7);
  ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(random_tokens(rng, 50), 2)).ok());
  ASSERT_TRUE(rig.wait_idle());
  const auto first = rig.fresh(rig.admin());
  ASSERT_EQ(first->requests.size(), 1u);
  const auto same = rig.fresh(rig.admin(), first->epoch);
  EXPECT_TRUE(same->requests.empty());
  EXPECT_EQ(same->tree, nullptr);
  ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(random_tokens(rng, 50), 2)).ok());
  ASSERT_TRUE(rig.wait_idle());
  const auto next = rig.fresh(rig.admin(), first->epoch);
  EXPECT_EQ(next->requests.size(), 1u);
  EXPECT_NE(next->tree, nullptr);
}

TEST_P(EngineOn, PromptLogProbabilitiesAreScored) {
  EngineRig rig(options());
  Rng rng(8);
  const std::vector<Token> prompt = random_tokens(rng, 60);
  engine::Request request = EngineRig::token_request(prompt, 2);
  request.echo_logprobs = true;
  const Collected scored = rig.ask(rig.admin(), request);
  ASSERT_TRUE(scored.ok());
  std::vector<Token> told;
  for (const engine::TokenText& token : scored.finished->prompt_logprobs) {
    if (!told.empty()) {
      EXPECT_LT(token.logprob, 0);
    }
    told.push_back(token.token);
  }
  EXPECT_EQ(told, prompt) << "the first token too, which nothing scores";
}

// In this vocabulary token 3 + n stands for the byte n; a bias decides what is drawn.
TEST_P(EngineOn, ACharacterThatTheAnswersEndCutsIsLeftOut) {
  EngineRig rig(options());
  engine::Request request = EngineRig::text_request("Once", 1);
  request.sampling.logit_bias = {{3 + 0xE2, 100.0f}};
  const Collected cut = rig.ask(rig.admin(), request);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut.reasons[0], engine::FinishReason::kLength);
  EXPECT_EQ(cut.texts[0], "");
  EXPECT_EQ(cut.tokens[0], (std::vector<Token>{3 + 0xE2}));
  request.max_tokens = 3;
  EXPECT_EQ(rig.ask(rig.admin(), request).texts[0], "\xEF\xBF\xBD\xEF\xBF\xBD") << "two that cannot be completed";
}

TEST(Engine, AFullQueueIsAnAnswer) {
  EngineRigOptions options;
  options.settings = {{"engine.queue_limit", "4"}, {"engine.max_batch", "1"}};
  EngineRig rig(options);
  rig.knobs().hold();
  Rng rng(9);
  std::vector<std::shared_ptr<engine::TokenStream>> streams;
  std::optional<Error> refused;
  for (int i = 0; i < 20 && !refused; ++i) {
    auto stream = rig.engine().submit(rig.admin(), EngineRig::token_request(random_tokens(rng, 30), 2));
    if (stream.ok()) {
      streams.push_back(std::move(stream).value());
    } else {
      refused = stream.error();
    }
  }
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::kResourceExhausted);
  EXPECT_NE(refused->message.find("engine.queue_limit"), std::string::npos);
  rig.knobs().release();
  for (const auto& stream : streams) EXPECT_TRUE(rig.collect(*stream).ok());
  EXPECT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(random_tokens(rng, 30), 2)).ok());
}

TEST(Engine, AFailedStepEndsItsOwnRequestOnly) {
  EngineRig rig;
  Rng rng(10);
  const std::vector<Token> bad = random_tokens(rng, 300);
  rig.knobs().fail_when([first = bad[0]](const exec::Step& step) -> Status {
    for (const exec::SequenceRows& rows : step.sequences) {
      if (rows.first_position == 0 && rows.tokens[0] == first && rows.tokens.size() > 200) {
        return Error{ErrorCode::kDevice, "the device failed", ""};
      }
    }
    return {};
  });
  const Collected failed = rig.ask(rig.admin(), EngineRig::token_request(bad, 5));
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->code, ErrorCode::kDevice);
  EXPECT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(random_tokens(rng, 100), 5)).ok());
  rig.knobs().fail_when({});
  const Collected again = rig.ask(rig.admin(), EngineRig::token_request(bad, 5));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.finished->usage.cached_tokens, 0u);
  EXPECT_TRUE(rig.knobs().violations().empty());
}

TEST(Engine, TooLongIsRefusedWithTheNumbers) {
  EngineRigOptions options;
  options.settings = {{"engine.max_tokens", "256"}};
  EngineRig rig(options);
  Rng rng(11);
  const Collected refused = rig.ask(rig.admin(), EngineRig::token_request(random_tokens(rng, 300), 5));
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.error->context, "context_length_exceeded");
  EXPECT_NE(refused.error->message.find("300"), std::string::npos);
  EXPECT_NE(refused.error->message.find("256"), std::string::npos);
  const Collected clipped = rig.ask(rig.admin(), EngineRig::token_request(random_tokens(rng, 200), 5000));
  ASSERT_TRUE(clipped.ok());
  EXPECT_EQ(clipped.finished->usage.completion_tokens, 56u);
  EXPECT_EQ(clipped.reasons[0], engine::FinishReason::kLength);
}

TEST(Engine, ADeadlineEndsARequestThatWaits) {
  EngineRigOptions options;
  options.settings = {{"engine.max_batch", "1"}};
  EngineRig rig(options);
  Rng rng(12);
  rig.knobs().hold();
  auto running = rig.submit(rig.admin(), EngineRig::token_request(random_tokens(rng, 300), 5));
  ASSERT_TRUE(rig.knobs().wait_held(60'000));
  engine::Request request = EngineRig::token_request(random_tokens(rng, 300), 5);
  request.deadline_ms = 20;
  const Collected ended = rig.ask(rig.admin(), request);
  ASSERT_TRUE(ended.error);
  EXPECT_EQ(ended.error->code, ErrorCode::kDeadlineExceeded);
  rig.knobs().release();
  EXPECT_TRUE(rig.collect(*running).ok()) << "another one's deadline";
  EXPECT_TRUE(rig.wait_idle());
}

TEST(Engine, EightEqualColdPromptsComputeOnce) {
  EngineRig rig;
  Rng rng(13);
  const std::vector<Token> prompt = random_tokens(rng, 1008);
  const std::uint64_t before = rig.knobs().rows();
  std::vector<std::shared_ptr<engine::TokenStream>> streams;
  for (int i = 0; i < 8; ++i) streams.push_back(rig.submit(rig.admin(), EngineRig::token_request(prompt, 1)));
  std::vector<Collected> all;
  for (const auto& stream : streams) all.push_back(rig.collect(*stream));
  for (const Collected& each : all) EXPECT_EQ(each.logprobs, all[0].logprobs);
  EXPECT_LE(rig.knobs().rows() - before, 1008u + 7u);
}

TEST(Engine, ClosingEndsEveryStream) {
  std::vector<std::shared_ptr<engine::TokenStream>> streams;
  Rng rng(14);
  {
    EngineRig rig;
    for (int i = 0; i < 40; ++i) {
      streams.push_back(rig.submit(rig.admin(), EngineRig::token_request(random_tokens(rng, 200), 4000)));
    }
  }
  for (const auto& stream : streams) {
    bool ended = false;
    while (std::optional<engine::StreamEvent> event = stream->next(0)) {
      ended = std::holds_alternative<Error>(*event) || std::holds_alternative<engine::Finished>(*event);
    }
    EXPECT_TRUE(ended);
  }
}

TEST(Engine, ASecondEngineOnTheSameFolderIsRefused) {
  EngineRig rig;
  engine::EngineOptions options;
  options.data_dir = rig.folder() + "/data";
  const auto second = engine::Engine::open(std::move(options));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
}

}  // namespace
}  // namespace larder::test
