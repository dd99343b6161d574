// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/reuse_promises.h"

#include <gtest/gtest.h>

namespace larder::engine {
namespace {

constexpr ModelId kModel{1};

std::vector<kv::ChainKey> keys_from(std::uint8_t first, std::size_t count) {
  std::vector<kv::ChainKey> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i].fill(static_cast<std::uint8_t>(first + i));
  return keys;
}

kv::PromptKeys prompt_of(std::vector<kv::ChainKey> blocks) {
  kv::PromptKeys keys;
  keys.blocks = std::move(blocks);
  return keys;
}

kv::Verdict verdict_of(kv::VerdictKind kind, std::uint32_t reused) {
  kv::Verdict verdict;
  verdict.kind = kind;
  verdict.prompt_tokens = 1000;
  verdict.reused_tokens = reused;
  return verdict;
}

TEST(ReusePromises, HalfOfItIsEnoughAndLessIsToldOnceWithItsCause) {
  ReusePromises promises;
  promises.promise_blocks(JobId{7}, kModel, "job 7", keys_from(1, 8));
  promises.prompted(RequestId{1}, kModel, prompt_of(keys_from(1, 4)));
  promises.prompted(RequestId{2}, kModel, prompt_of(keys_from(1, 8)));  // four are left for it
  promises.prompted(RequestId{3}, kModel, prompt_of(keys_from(1, 8)));  // none
  EXPECT_TRUE(promises.ended(RequestId{1}, verdict_of(kv::VerdictKind::kEvicted, 64)).empty());
  kv::Verdict evicted = verdict_of(kv::VerdictKind::kEvicted, 4 * 32 + 63);
  evicted.eviction = kv::Eviction{};
  evicted.eviction->policy = "lru";
  evicted.eviction->by_request = RequestId{99};
  const auto broken = promises.ended(RequestId{2}, evicted);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].job, JobId{7});
  for (const char* part : {"job 7", "promised 128 tokens", "request 2", "reused 63", "lru", "request 99"}) {
    EXPECT_NE(broken[0].text.find(part), std::string::npos) << broken[0].text;
  }
  EXPECT_TRUE(promises.ended(RequestId{2}, evicted).empty());
  EXPECT_TRUE(promises.ended(RequestId{3}, verdict_of(kv::VerdictKind::kCold, 0)).empty());
  EXPECT_EQ(promises.broken(), 1u);
  EXPECT_EQ(promises.last_broken(), broken[0].text);
}

TEST(ReusePromises, ARunIsPromisedToWhoAgreesWithAQuarterOfItAndPartsLater) {
  ReusePromises promises;
  promises.promise_run(JobId{1}, kModel, "pack casa", keys_from(1, 8));
  auto other = keys_from(1, 1);
  other.push_back(keys_from(100, 1)[0]);
  promises.prompted(RequestId{1}, kModel, prompt_of(other));
  EXPECT_TRUE(promises.ended(RequestId{1}, verdict_of(kv::VerdictKind::kDiverged, 32)).empty());
  auto parts = keys_from(1, 3);
  parts.push_back(keys_from(100, 1)[0]);
  promises.prompted(RequestId{2}, kModel, prompt_of(parts));
  kv::Verdict diverged = verdict_of(kv::VerdictKind::kDiverged, 99);
  diverged.divergence = kv::Divergence{};
  diverged.divergence->token = 99;
  const auto broken = promises.ended(RequestId{2}, diverged);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_NE(broken[0].text.find("parts from it at token 99"), std::string::npos) << broken[0].text;
}

TEST(ReusePromises, WhoBypassesTheCacheOrNeverBeganBreaksNothing) {
  ReusePromises promises;
  for (const std::uint64_t request : {1, 2, 3}) {
    promises.promise_blocks(JobId{1}, kModel, "a job", keys_from(1, 4));
    promises.prompted(RequestId{request}, kModel, prompt_of(keys_from(1, 4)));
  }
  EXPECT_TRUE(promises.ended(RequestId{1}, verdict_of(kv::VerdictKind::kBypassed, 0)).empty());
  EXPECT_TRUE(promises.ended(RequestId{2}, kv::Verdict{}).empty());
  promises.forget(kModel);
  EXPECT_TRUE(promises.ended(RequestId{3}, verdict_of(kv::VerdictKind::kCold, 0)).empty());
}

TEST(ReusePromises, WhatAnotherModelIsAskedBreaksNothing) {
  ReusePromises promises;
  promises.promise_blocks(JobId{1}, kModel, "a job", keys_from(1, 4));
  promises.prompted(RequestId{1}, ModelId{2}, prompt_of(keys_from(1, 4)));
  EXPECT_TRUE(promises.ended(RequestId{1}, verdict_of(kv::VerdictKind::kCold, 0)).empty());
  promises.forget(ModelId{2});
  promises.prompted(RequestId{2}, kModel, prompt_of(keys_from(1, 4)));
  EXPECT_EQ(promises.ended(RequestId{2}, verdict_of(kv::VerdictKind::kCold, 0)).size(), 1u);
}

TEST(ReusePromises, TheOldestPromisesAreForgottenFirst) {
  ReusePromises promises;
  for (std::size_t i = 0; i < kMaxPromises + 1; ++i) {
    promises.promise_blocks(JobId{i + 1}, kModel, "a job", keys_from(static_cast<std::uint8_t>(1 + 2 * i), 2));
  }
  promises.prompted(RequestId{1}, kModel, prompt_of(keys_from(1, 2)));
  promises.prompted(RequestId{2}, kModel, prompt_of(keys_from(3, 2)));
  EXPECT_TRUE(promises.ended(RequestId{1}, verdict_of(kv::VerdictKind::kCold, 0)).empty());
  EXPECT_EQ(promises.ended(RequestId{2}, verdict_of(kv::VerdictKind::kCold, 0)).size(), 1u);
}

// What a request reads for itself is promised to itself.
TEST(ReusePromises, ARestoreOfWhichUnderHalfIsReusedIsAWarningWithItsCause) {
  ReusePromises promises;
  kv::Verdict verdict = verdict_of(kv::VerdictKind::kEvicted, 100);
  verdict.restored.promised = 200;
  verdict.restored.tokens = 100;
  EXPECT_TRUE(promises.ended(RequestId{1}, verdict).empty()) << "half of it";
  verdict.restored.tokens = 99;
  verdict.restored.declined = "stalled";
  const auto stalled = promises.ended(RequestId{2}, verdict);
  ASSERT_EQ(stalled.size(), 1u);
  EXPECT_EQ(stalled[0].job.value, 0u);
  for (const char* part : {"promised 200 tokens", "request 2", "reused 99", "fell behind"}) {
    EXPECT_NE(stalled[0].text.find(part), std::string::npos) << stalled[0].text;
  }
  verdict.restored.declined = "damaged";
  EXPECT_NE(promises.ended(RequestId{3}, verdict).at(0).text.find("did not hold"), std::string::npos);
  verdict.restored.declined.clear();
  verdict.eviction.emplace().policy = "lru";
  EXPECT_NE(promises.ended(RequestId{4}, verdict).at(0).text.find("evicted meanwhile (lru)"), std::string::npos);
  EXPECT_EQ(promises.broken(), 3u);
}

}  // namespace
}  // namespace larder::engine
