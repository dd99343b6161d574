// SPDX-License-Identifier: Apache-2.0
// What the engine does while the disk is slow: cutting a restore that falls behind, computing a start while the rest is
// read, sharing the disk. The device is the fake one with scripted costs; the disk lies in memory and answers reads
// when the test lets it.
#include <gtest/gtest.h>

#include "tests/storage/memory_disk.h"
#include "tests/support/engine_rig.h"
#include "tests/support/slow_disk.h"

namespace larder::test {
namespace {

using engine::Snapshot;
using storage::test::MemoryDisk;

constexpr std::int64_t kRowNs = 1'000'000;

class RestoreOnASlowDisk : public ::testing::Test {
 protected:
  ~RestoreOnASlowDisk() override { disk_->release(); }

  void open(const std::string& restore, std::int64_t row_ns, const char* pool_bytes = "8388608") {
    EngineRigOptions options;
    options.store = true;
    options.settings = {{"store.keep_free_bytes", "4096"}, {"store.restore", restore}, {"pool.bytes", pool_bytes}};
    options.open_disk = slow_disk_over(std::make_shared<MemoryDisk>(), disk_);
    rig_ = std::make_unique<EngineRig>(std::move(options));
    rig_->knobs().set_costs([row_ns](const exec::Step& step) {
      std::int64_t rows = 0;
      for (const exec::SequenceRows& part : step.sequences) rows += static_cast<std::int64_t>(part.tokens.size());
      return rows * row_ns * (step.layer_end - step.layer_begin) / kLayers;
    });
    ASSERT_TRUE(rig_->wait_until([](const Snapshot& seen) {
      return !seen.models.empty() && seen.models.front().identity == engine::ModelInfo::Identity::kKnown;
    }));
  }

  std::vector<Token> prompt(std::size_t tokens) {
    std::vector<Token> made(tokens);
    for (Token& token : made) token = static_cast<Token>(3 + rng_.below(500));
    return made;
  }

  Collected ask(const std::vector<Token>& tokens) {
    return rig_->ask(rig_->admin(), EngineRig::token_request(tokens, 6));
  }
  std::shared_ptr<engine::TokenStream> submit(const std::vector<Token>& tokens) {
    return rig_->submit(rig_->admin(), EngineRig::token_request(tokens, 6));
  }

  // Answered once, on disk, and no longer in memory.
  Collected put_below(const std::vector<Token>& tokens) {
    Collected cold = ask(tokens);
    EXPECT_TRUE(cold.ok());
    stored_ += (tokens.size() + 5 + 31) / 32;
    EXPECT_TRUE(rig_->wait_until([&](const Snapshot& seen) { return seen.store.stored_blocks >= stored_; }));
    const auto whole = rig_->fresh(rig_->admin())->pool.blocks_total;
    for (std::uint32_t filled = 0; filled < whole + 16; filled += 16) {
      EXPECT_TRUE(rig_->ask(rig_->admin(), EngineRig::token_request(prompt(505), 1)).ok());
      stored_ += 16;
    }
    EXPECT_TRUE(rig_->wait_until([&](const Snapshot& seen) { return seen.store.stored_blocks >= stored_; }));
    return cold;
  }

  static void expect_equal(const Collected& a, const Collected& b) {
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_EQ(a.logprobs, b.logprobs);
  }

  static constexpr std::int64_t kLayers = 5;
  std::shared_ptr<SlowDiskKnobs> disk_ = std::make_shared<SlowDiskKnobs>();
  std::unique_ptr<EngineRig> rig_;
  std::uint64_t stored_ = 0;
  Rng rng_{77};
};

TEST_F(RestoreOnASlowDisk, AStalledReadIsCutAndWhatCameIsUsed) {
  open("auto", kRowNs);
  const std::vector<Token> tokens = prompt(400);
  const Collected cold = put_below(tokens);
  disk_->hold();
  disk_->let_through(5);
  const Collected again = ask(tokens);  // the disk never answers the rest
  expect_equal(cold, again);
  const kv::Verdict& verdict = again.finished->verdict;
  EXPECT_EQ(verdict.restored.tokens, 160u);
  EXPECT_EQ(verdict.reused_tokens, 160u);
  EXPECT_EQ(verdict.tier, "disk");
  EXPECT_NEAR(verdict.restored.compute_ms, 160, 40);
  EXPECT_EQ(verdict.restored.declined, "stalled");
  EXPECT_EQ(verdict.restored.declined_tokens, 239u);
  EXPECT_NEAR(verdict.restored.declined_compute_ms, 239, 60);
  EXPECT_GT(verdict.restored.declined_read_ms, verdict.restored.declined_compute_ms);
  EXPECT_EQ(verdict.computed_tokens, 240u);
  EXPECT_EQ(verdict.kind, kv::VerdictKind::kEvicted);
  EXPECT_EQ(rig_->fresh(rig_->admin())->store.declined_stalled, 1u);
  EXPECT_EQ(rig_->fresh(rig_->admin())->broken_promises, 1u);
  disk_->release();
  ASSERT_TRUE(rig_->wait_idle());
  const Collected warm = ask(tokens);
  expect_equal(cold, warm);
  EXPECT_EQ(warm.finished->usage.cached_tokens, 399u);
}

TEST_F(RestoreOnASlowDisk, NothingCameAndTheAnswerIsComputed) {
  open("auto", kRowNs / 4);
  const std::vector<Token> tokens = prompt(300);
  const Collected cold = put_below(tokens);
  disk_->hold();
  const Collected again = ask(tokens);
  expect_equal(cold, again);
  EXPECT_EQ(again.finished->verdict.restored.tokens, 0u);
  EXPECT_EQ(again.finished->verdict.restored.compute_ms, 0);
  EXPECT_EQ(again.finished->verdict.restored.declined, "stalled");
  EXPECT_EQ(again.finished->verdict.restored.declined_tokens, 299u);
  // What came too late finds its blocks computed, and a second request finds them warm.
  expect_equal(cold, ask(tokens));
  disk_->release();
  EXPECT_TRUE(rig_->wait_until([](const Snapshot& seen) { return seen.store.read_blocks >= 10; }));
  expect_equal(cold, ask(tokens));
}

TEST_F(RestoreOnASlowDisk, AStartIsComputedWhileTheRestIsRead) {
  open("always", kRowNs / 5);
  disk_->set_delay_us(3000);
  const std::vector<Token> first = prompt(640);
  const std::vector<Token> tokens = prompt(1600);
  const Collected cold_first = put_below(first);
  const Collected cold = put_below(tokens);
  expect_equal(cold_first, ask(first));  // measures the disk
  ASSERT_TRUE(rig_->perform(rig_->admin(), engine::SetSetting{"store.restore", "auto"}).ok());
  const Collected again = ask(tokens);
  expect_equal(cold, again);
  const kv::Verdict& verdict = again.finished->verdict;
  EXPECT_EQ(verdict.restored.declined, "mixed");
  const std::uint32_t head = verdict.restored.declined_tokens;
  EXPECT_EQ(head % 32, 0u);
  EXPECT_GE(head, 128u);
  EXPECT_LE(head, 1472u);
  EXPECT_EQ(verdict.restored.tokens + head, 1599u);
  EXPECT_EQ(verdict.reused_tokens, verdict.restored.tokens);
  EXPECT_EQ(verdict.computed_tokens, head + 1);
  EXPECT_EQ(verdict.kind, kv::VerdictKind::kEvicted);
  ASSERT_TRUE(verdict.eviction);
  EXPECT_EQ(verdict.eviction->lost_tokens, head);
  EXPECT_LT(verdict.restored.declined_compute_ms, verdict.restored.declined_read_ms);
  EXPECT_LT(verdict.restored.estimate_ms, verdict.restored.declined_read_ms);
  EXPECT_EQ(again.finished->usage.cached_tokens, verdict.restored.tokens);
  const auto seen = rig_->fresh(rig_->admin());
  EXPECT_EQ(seen->store.mixed_restores, 1u);
  EXPECT_EQ(rig_->knobs().violations(), std::vector<std::string>());
  const Collected warm = ask(tokens);
  expect_equal(cold, warm);
  EXPECT_EQ(warm.finished->usage.cached_tokens, 1599u);
}

// Also when the disk stops for good in the middle, when the reader goes, and when it goes before anything came.
TEST_F(RestoreOnASlowDisk, AMixThatFallsBehindOrIsGivenUpLeavesEverythingInOrder) {
  open("always", kRowNs / 5);
  disk_->set_delay_us(3000);
  const std::vector<Token> first = prompt(640);
  const Collected cold_first = put_below(first);
  std::vector<std::vector<Token>> prompts;
  std::vector<Collected> cold;
  for (int i = 0; i < 3; ++i) {
    prompts.push_back(prompt(1600));
    cold.push_back(put_below(prompts.back()));
  }
  expect_equal(cold_first, ask(first));
  ASSERT_TRUE(rig_->perform(rig_->admin(), engine::SetSetting{"store.restore", "auto"}).ok());
  disk_->set_delay_us(0);
  disk_->hold();
  disk_->let_through(3);
  const Collected cut = ask(prompts[0]);
  expect_equal(cold[0], cut);
  const kv::Restored& restored = cut.finished->verdict.restored;
  EXPECT_EQ(restored.declined, "stalled");
  EXPECT_EQ(restored.tokens, 96u);
  EXPECT_EQ(restored.tokens + restored.declined_tokens, 1599u);
  EXPECT_EQ(cut.finished->verdict.computed_tokens, 1600u - 96u);
  for (int i = 1; i < 3; ++i) {
    const auto stream = submit(prompts[static_cast<std::size_t>(i)]);
    if (i == 2) disk_->let_through(5);
    stream->cancel();
    rig_->collect(*stream);
  }
  disk_->release();
  ASSERT_TRUE(rig_->wait_idle());
  for (std::size_t i = 0; i < 3; ++i) expect_equal(cold[i], ask(prompts[i]));
  EXPECT_EQ(rig_->knobs().violations(), std::vector<std::string>());
}

// A deleted run leaves the disk once its write is over; what was computed again meanwhile has the same names there.
TEST_F(RestoreOnASlowDisk, WhatIsComputedAgainWhileADeletedOneIsWrittenKeepsItsCopy) {
  open("always", kRowNs);
  const std::vector<Token> tokens = prompt(300);
  disk_->hold_writes();
  const Collected cold = ask(tokens);
  ASSERT_TRUE(rig_->wait_until([](const Snapshot& seen) { return seen.store.lag_ms > 0; }));
  const NodeId run = rig_->fresh(rig_->admin())->tree->front().id;
  ASSERT_TRUE(rig_->perform(rig_->admin(), engine::DeleteNode{run, true, false}).ok());
  expect_equal(cold, ask(tokens));
  ASSERT_TRUE(rig_->wait_until([](const Snapshot& seen) { return seen.store.queued_blocks > 0; }));
  disk_->release();
  rig_->reopen();
  const Collected again = ask(tokens);
  expect_equal(cold, again);
  EXPECT_EQ(again.finished->usage.cached_tokens, 299u);
  EXPECT_EQ(again.finished->verdict.tier, "disk");
}

// On a disk as slow as this one a MiB may be in flight: 51 blocks of the tiny model.
TEST_F(RestoreOnASlowDisk, AShortRestoreDoesNotWaitForALongOne) {
  open("always", kRowNs);
  const std::vector<Token> first = prompt(640);
  const std::vector<Token> long_prompt = prompt(4000);
  const std::vector<Token> short_prompt = prompt(90);
  const Collected first_cold = put_below(first);
  const Collected long_cold = put_below(long_prompt);
  const Collected short_cold = put_below(short_prompt);
  disk_->set_delay_us(1000);
  expect_equal(first_cold, ask(first));  // measures the disk
  disk_->set_delay_us(0);
  const auto before = rig_->fresh(rig_->admin())->store.read_blocks;
  disk_->hold();
  disk_->let_through(1);
  const auto long_stream = submit(long_prompt);
  ASSERT_TRUE(rig_->wait_until([&](const Snapshot& seen) { return seen.store.read_blocks > before; }));
  const auto short_stream = submit(short_prompt);
  ASSERT_TRUE(rig_->wait_until([](const Snapshot& seen) { return seen.queued == 2; }));
  disk_->let_through(90);  // of 126 and 3 blocks
  const Collected short_again = rig_->collect(*short_stream);
  expect_equal(short_cold, short_again);
  EXPECT_EQ(short_again.finished->verdict.restored.tokens, 89u);
  EXPECT_EQ(rig_->fresh(rig_->admin())->queued, 1u);
  disk_->release();
  expect_equal(long_cold, rig_->collect(*long_stream));
}

}  // namespace
}  // namespace larder::test
