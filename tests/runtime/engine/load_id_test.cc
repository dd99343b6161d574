// SPDX-License-Identifier: Apache-2.0
// A model answers before its weights' digest is known. The digest stands at a gate, so that each test sees both sides.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/base/mutex.h"
#include "runtime/base/rng.h"
#include "runtime/gguf/file.h"
#include "runtime/model/digest.h"
#include "tests/support/engine_rig.h"

namespace larder::test {
namespace {

using engine::ModelInfo;
using Identity = ModelInfo::Identity;

// Where hashing waits before it begins, until it is let through or cancelled.
class Gate {
 public:
  Result<Digest256> pass(const gguf::File& file, const model::DigestOptions& options) EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      ++arrived_;
      changed_.notify_all();
      while (!open_ && !options.cancel->load()) {
        changed_.wait_until(mutex_, std::chrono::steady_clock::now() + std::chrono::milliseconds(2));
      }
    }
    auto digest = model::weights_digest(file, options);
    MutexLock lock(mutex_);
    last_ = digest.ok() ? "ok" : std::string(error_code_name(digest.error().code));
    changed_.notify_all();
    return digest;
  }
  void set_open(bool open) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  // How the last hashing ended; waits for it, at most 20 s.
  std::string outcome() EXCLUDES(mutex_) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    MutexLock lock(mutex_);
    while (last_.empty() && changed_.wait_until(mutex_, deadline)) {
    }
    return std::exchange(last_, {});
  }
  // Waits, at most 20 s, until that many have come.
  bool wait_arrived(int count) EXCLUDES(mutex_) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    MutexLock lock(mutex_);
    while (arrived_ < count && changed_.wait_until(mutex_, deadline)) {
    }
    return arrived_ == count;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ GUARDED_BY(mutex_) = false;
  int arrived_ GUARDED_BY(mutex_) = 0;
  std::string last_ GUARDED_BY(mutex_);
};

EngineRigOptions behind(const std::shared_ptr<Gate>& gate, bool cpu = false) {
  EngineRigOptions options;
  options.cpu = cpu;
  options.hash_weights = [gate](const gguf::File& file, const model::DigestOptions& digest) {
    return gate->pass(file, digest);
  };
  return options;
}

ModelInfo model_of(EngineRig& rig) { return rig.fresh(rig.admin())->models.front(); }

bool comes_to(EngineRig& rig, Identity identity) {
  return rig.wait_until([identity](const engine::Snapshot& s) { return s.models.front().identity == identity; });
}

std::vector<Token> random_tokens(Rng& rng, std::size_t count) {
  std::vector<Token> tokens(count);
  for (Token& token : tokens) token = static_cast<Token>(3 + rng.below(500));
  return tokens;
}

class LoadIdOn : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Device, LoadIdOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(LoadIdOn, WhatWasComputedBeforeTheDigestIsReusedAfterItBitForBit) {
  const auto gate = std::make_shared<Gate>();
  EngineRig rig(behind(gate, GetParam()));  // answers the load: ready without the digest
  Rng rng(1);
  const std::vector<Token> prompt = random_tokens(rng, 700);
  const Collected early = rig.ask(rig.admin(), EngineRig::token_request(prompt, 8));
  ASSERT_TRUE(early.ok());
  EXPECT_EQ(early.started->verdict.kind, kv::VerdictKind::kCold);
  const ModelInfo pending = model_of(rig);
  EXPECT_EQ(pending.state, ModelInfo::State::kReady);
  EXPECT_EQ(pending.identity, Identity::kPending);
  EXPECT_EQ(pending.digest, "");

  gate->set_open(true);
  ASSERT_TRUE(comes_to(rig, Identity::kKnown));
  const auto file = gguf::File::open(rig.model_path());
  EXPECT_EQ(model_of(rig).digest, model::to_hex(*model::weights_digest(**file, {})));

  const Collected late = rig.ask(rig.admin(), EngineRig::token_request(prompt, 8));
  ASSERT_TRUE(late.ok());
  EXPECT_EQ(late.started->verdict.kind, kv::VerdictKind::kFullPrefix);
  EXPECT_EQ(late.finished->usage.cached_tokens, 699u);
  engine::Request bypass = EngineRig::token_request(prompt, 8);
  bypass.cache = engine::CachePolicy::kBypass;
  const Collected cold = rig.ask(rig.admin(), std::move(bypass));
  EXPECT_EQ(late.tokens, cold.tokens);
  EXPECT_EQ(late.logprobs, cold.logprobs);
  EXPECT_EQ(early.logprobs, cold.logprobs);
}

TEST(LoadId, LeaderAndFollowerInFlightStayValidWhenTheDigestComes) {
  const auto gate = std::make_shared<Gate>();
  EngineRig rig(behind(gate));
  Rng rng(2);
  const std::vector<Token> prompt = random_tokens(rng, 1200);
  rig.knobs().hold();
  auto leader = rig.submit(rig.admin(), EngineRig::token_request(prompt, 40));
  ASSERT_TRUE(rig.knobs().wait_held(20'000));
  auto follower = rig.submit(rig.admin(), EngineRig::token_request(prompt, 4));
  rig.knobs().let_through(1);
  ASSERT_TRUE(rig.wait_until([](const engine::Snapshot& s) { return s.queued == 1 && s.running == 1; }));
  gate->set_open(true);
  ASSERT_TRUE(comes_to(rig, Identity::kKnown));
  auto newcomer = rig.submit(rig.admin(), EngineRig::token_request(prompt, 4));
  rig.knobs().release();
  EXPECT_TRUE(rig.collect(*leader).ok());
  EXPECT_EQ(rig.collect(*follower).finished->usage.cached_tokens, 1199u);
  EXPECT_EQ(rig.collect(*newcomer).finished->usage.cached_tokens, 1199u);
  EXPECT_TRUE(rig.wait_idle());
  EXPECT_TRUE(rig.knobs().violations().empty());
}

TEST(LoadId, UnloadingEndsTheHashing) {
  const auto gate = std::make_shared<Gate>();
  EngineRig rig(behind(gate));
  ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::text_request("Once upon a time", 4)).ok());
  ASSERT_TRUE(gate->wait_arrived(1));
  ASSERT_TRUE(rig.perform(rig.admin(), engine::UnloadModel{model_of(rig).id}).ok());
  EXPECT_EQ(gate->outcome(), "cancelled");
  EXPECT_FALSE(std::filesystem::exists(rig.folder() + "/data/digests"));
  // The next load begins anew, and its digest is its own.
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.model_path()}).ok());
  EXPECT_EQ(model_of(rig).identity, Identity::kPending);
  gate->set_open(true);
  EXPECT_TRUE(comes_to(rig, Identity::kKnown));
  EXPECT_TRUE(gate->wait_arrived(2));
}

TEST(LoadId, ClosingEndsTheHashing) {
  const auto gate = std::make_shared<Gate>();
  {
    EngineRig rig(behind(gate));
    ASSERT_TRUE(gate->wait_arrived(1));
  }
  EXPECT_EQ(gate->outcome(), "cancelled");
}

TEST(LoadId, AKnownFileIsKnownAtOnce) {
  const auto gate = std::make_shared<Gate>();
  gate->set_open(true);
  EngineRig rig(behind(gate));
  ASSERT_TRUE(comes_to(rig, Identity::kKnown));
  const std::string digest = model_of(rig).digest;
  gate->set_open(false);
  rig.reopen();
  EXPECT_EQ(model_of(rig).identity, Identity::kKnown);
  EXPECT_EQ(model_of(rig).digest, digest);
  EXPECT_TRUE(gate->wait_arrived(1));
}

// The load id stays: the model answers and reuses, and says why its KV cannot leave memory.
TEST(LoadId, AFileThatChangesOrShrinksMeanwhileHasNoDigest) {
  for (const bool shrinks : {false, true}) {
    SCOPED_TRACE(shrinks);
    const auto gate = std::make_shared<Gate>();
    EngineRig rig(behind(gate));
    const std::uintmax_t size = std::filesystem::file_size(rig.model_path());
    std::filesystem::resize_file(rig.model_path(), shrinks ? size - 100 : size + 1);
    gate->set_open(true);
    ASSERT_TRUE(comes_to(rig, Identity::kFailed));
    EXPECT_EQ(gate->outcome(), "io");
    const ModelInfo failed = model_of(rig);
    EXPECT_EQ(failed.state, ModelInfo::State::kReady);
    EXPECT_EQ(failed.digest, "");
    EXPECT_NE(failed.digest_error.find("changed"), std::string::npos) << failed.digest_error;
    EXPECT_FALSE(std::filesystem::exists(rig.folder() + "/data/digests"));
    Rng rng(3);
    const std::vector<Token> prompt = random_tokens(rng, 100);
    EXPECT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(prompt, 1)).ok());
    EXPECT_EQ(rig.ask(rig.admin(), EngineRig::token_request(prompt, 1)).finished->usage.cached_tokens, 99u);
    if (shrinks) continue;
    // One byte more at the end does the format no harm: another load, another try.
    ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.model_path()}).ok());
    EXPECT_TRUE(comes_to(rig, Identity::kKnown));
  }
}

TEST(LoadId, TheSameFileLoadedAgainIsNotCalledAnotherModel) {
  const auto gate = std::make_shared<Gate>();
  gate->set_open(true);
  EngineRig rig(behind(gate));
  ASSERT_TRUE(comes_to(rig, Identity::kKnown));
  Rng rng(4);
  const std::vector<Token> one = random_tokens(rng, 200);
  const std::vector<Token> two = random_tokens(rng, 200);
  ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(one, 1)).ok());
  ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(two, 1)).ok());
  std::filesystem::remove(rig.folder() + "/data/digests");
  gate->set_open(false);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.model_path()}).ok());
  EXPECT_EQ(model_of(rig).identity, Identity::kPending);
  EXPECT_EQ(rig.ask(rig.admin(), EngineRig::token_request(one, 1)).started->verdict.kind, kv::VerdictKind::kCold);
  gate->set_open(true);
  ASSERT_TRUE(comes_to(rig, Identity::kKnown));
  const Collected known = rig.ask(rig.admin(), EngineRig::token_request(two, 1));
  EXPECT_EQ(known.started->verdict.kind, kv::VerdictKind::kEvicted);
}

}  // namespace
}  // namespace larder::test
