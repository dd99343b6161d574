// SPDX-License-Identifier: Apache-2.0
// An engine over a disk tier while its thread runs out of memory: every allocation of a round of writing down, moving,
// restoring and compressing fails, alone, with those behind it, or with others now and then behind it, in one engine
// that is never restarted. No answer is wrong, every verb and job comes to its end, no block is lost or left behind in
// the pool or on disk, and what is computed afterwards is written down.
// LARDER_FAILED_ALLOCATIONS: about how many of them are tried, most at the start of the round; 0: all.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "runtime/base/rng.h"
#include "tests/storage/memory_disk.h"
#include "tests/support/engine_rig.h"
#include "tests/support/failing_memory.h"
#include "tests/support/slow_disk.h"

namespace larder::test {
namespace {

using engine::JobInfo;
using engine::Principal;
using engine::Snapshot;
using engine::TreeNode;

constexpr const char* kEngineThread = "engine";  // as engine/loop.cc calls it
constexpr std::array<std::uint64_t, 4> kAgain{0, 307, 1009, 0};  // a snapshot is made without a failure often enough
constexpr std::size_t kTrunk = 64;
constexpr std::size_t kBase = 4;  // prompts that are asked again and again; together more than the pool holds

// What is done now and then, snapshots for one, is done so often that a round is short.
class FastClock final : public Clock {
 public:
  Ticks now() const override { return real_.now() * 20; }
  WallTime wall() const override { return real_.wall(); }

 private:
  SystemClock real_;
};

class TierRounds {
 public:
  TierRounds(bool cpu, const Clock& clock) : cpu_(cpu), rig_(options(cpu, clock)), admin_(rig_.admin()) {
    guest_ = rig_.tenant("guest");
    EXPECT_TRUE(rig_.wait_until([](const Snapshot& seen) {
      return !seen.models.empty() && seen.models.front().identity == engine::ModelInfo::Identity::kKnown;
    }));
    const std::vector<Token> trunk = random_tokens(kTrunk);
    for (std::size_t i = 0; i < kBase; ++i) {
      prompts_.push_back(trunk);
      const std::vector<Token> more = random_tokens(500);
      prompts_.back().insert(prompts_.back().end(), more.begin(), more.end());
      answers_.push_back(rig_.ask(admin_, request(prompts_.back())));
      EXPECT_TRUE(answers_.back().ok());
    }
    settle();
  }

  // A round with the nth allocation of the engine thread failing; how many there were and how many failed.
  MemorySeen play(std::uint64_t nth, std::uint64_t burst = 1, std::uint64_t again = 0) {
    ++round_;
    refused_now_ = 0;
    arm_memory_again_of(kEngineThread, nth, burst, again);
    look(rig_.ask(guest_, request(random_tokens(300))), nullptr);
    ask_two();
    if (const NodeId trunk = top_of(admin_); trunk.value != 0) {
      run(engine::MoveBlocks{{.node = trunk}, "disk", false, false});
    }
    const std::size_t index = round_ % kBase;
    look(rig_.ask(admin_, request(prompts_[index])), &answers_[index]);
    if (const NodeId node = top_of(cpu_ ? guest_ : admin_); node.value != 0) {
      if (cpu_) run(engine::CompressBlocks{{.node = node}, "int8", false});
      if (!cpu_) run(engine::MoveBlocks{{.node = node}, "pool", true, false});
    }
    const MemorySeen seen = disarm_memory();
    if (seen.failed == 0) {
      EXPECT_EQ(refused_now_, 0u);
    }
    refused_ += refused_now_;
    settle();
    const Collected next = rig_.ask(admin_, request(prompts_[(index + 1) % kBase]));
    EXPECT_TRUE(next.ok());
    EXPECT_EQ(next.tokens, answers_[(index + 1) % kBase].tokens);
    forget_guest();
    return seen;
  }

  // A run goes down in a moment that has little else in it, while every so many-th allocation fails.
  std::uint64_t write_down(std::uint64_t again) {
    EXPECT_TRUE(set_mode("frozen").ok());
    EXPECT_TRUE(rig_.ask(guest_, request(random_tokens(600))).ok());
    arm_memory_again_of(kEngineThread, 1, 1, again);
    static_cast<void>(set_mode("on"));
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (memory_seen().failed < 40 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    const MemorySeen seen = disarm_memory();
    EXPECT_TRUE(set_mode("on").ok());
    settle();
    forget_guest();
    return seen.failed;
  }

  std::uint64_t refused() const { return refused_; }
  engine::StoreInfo store() { return rig_.fresh(admin_)->store; }

 private:
  static EngineRigOptions options(bool cpu, const Clock& clock) {
    EngineRigOptions made;
    made.cpu = cpu;
    made.store = true;
    made.clock = &clock;
    made.settings = {{"pool.bytes", "1310720"},  // 64 blocks of the tiny model in f16
                     {"store.keep_free_bytes", "4096"},
                     {"store.restore", "always"}};
    made.open_disk = slow_disk_over(std::make_shared<storage::test::MemoryDisk>(), std::make_shared<SlowDiskKnobs>());
    return made;
  }

  std::vector<Token> random_tokens(std::size_t count) {
    std::vector<Token> made(count);
    for (Token& token : made) token = static_cast<Token>(3 + rng_.below(500));
    return made;
  }

  static engine::Request request(std::vector<Token> tokens) { return EngineRig::token_request(std::move(tokens), 6); }

  // right: what it has to be, where that is known.
  void look(const Collected& got, const Collected* right) {
    if (got.ok() && right != nullptr) {
      EXPECT_EQ(got.tokens, right->tokens);
      EXPECT_EQ(got.logprobs, right->logprobs);
    }
    if (got.ok()) return;
    ++refused_now_;
    EXPECT_TRUE(got.error && got.error->code == ErrorCode::kResourceExhausted)
        << (got.error ? to_string(*got.error) : "no last event");
  }

  void ask_two() {
    std::vector<std::shared_ptr<engine::TokenStream>> streams;
    for (const std::size_t i : {round_ % kBase, (round_ + 2) % kBase}) {
      streams.push_back(rig_.submit(admin_, request(prompts_[i])));
    }
    look(rig_.collect(*streams[0]), &answers_[round_ % kBase]);
    look(rig_.collect(*streams[1]), &answers_[(round_ + 2) % kBase]);
  }

  // The run that all of this tenant's hang on. 0: there is none.
  NodeId top_of(const Principal& who) {
    for (const TreeNode& node : *rig_.fresh(admin_)->tree) {
      if (node.parent.value == 0 && node.tenant == who.tenant.value) return node.id;
    }
    return {};
  }

  void run(engine::Verb verb) {
    const auto begun = rig_.perform(admin_, std::move(verb));
    if (!begun.ok()) {
      ++refused_now_;
      EXPECT_EQ(begun.error().code, ErrorCode::kResourceExhausted) << to_string(begun.error());
      return;
    }
    const JobId id = begun->job->id;
    JobInfo job;
    EXPECT_TRUE(rig_.wait_until([&](const Snapshot& seen) {
      const auto found =
          std::find_if(seen.jobs.begin(), seen.jobs.end(), [id](const JobInfo& each) { return each.id == id; });
      if (found != seen.jobs.end()) job = *found;
      return job.done;
    })) << job.verb << " came to no end: " << job.blocks_done << " of " << job.blocks_total;
    EXPECT_TRUE(job.state == JobInfo::State::kDone) << job.verb << ": " << job.error;
    EXPECT_EQ(job.tally.damaged + job.tally.missing, 0u) << job.detail;
  }

  Result<engine::VerbResult> set_mode(const char* mode) {
    return rig_.perform(admin_, engine::SetSetting{"store.mode", mode});
  }

  // Nothing runs, everything has its copy, the disk has nothing else, and each block of the pool is free or cached.
  void settle() {
    EXPECT_TRUE(rig_.wait_idle());
    std::string what;
    EXPECT_TRUE(rig_.wait_until([&](const Snapshot& seen) {
      std::uint64_t blocks = 0;
      std::uint64_t stored = 0;
      for (const TreeNode& node : *seen.tree) {
        blocks += node.blocks;
        stored += node.stored_blocks;
      }
      what = std::to_string(stored) + " of " + std::to_string(blocks) + " blocks stored, " +
             std::to_string(seen.store.blocks) + " on disk, " + std::to_string(seen.store.refused_blocks) + " refused";
      return stored == blocks && seen.store.blocks == blocks && seen.store.queued_blocks == 0 &&
             seen.pool.blocks_free + seen.pool.blocks_cached == seen.pool.blocks_total;
    })) << what;
    EXPECT_TRUE(rig_.knobs().violations().empty());
  }

  void forget_guest() {
    for (NodeId node = top_of(guest_); node.value != 0; node = top_of(guest_)) {
      const auto gone = rig_.perform(admin_, engine::DeleteNode{node, true, false});
      EXPECT_TRUE(gone.ok() || gone.error().code == ErrorCode::kNotFound);
      if (::testing::Test::HasFailure()) return;
    }
  }

  const bool cpu_;
  EngineRig rig_;
  const Principal admin_;
  Principal guest_;
  Rng rng_{17};
  std::vector<std::vector<Token>> prompts_;
  std::vector<Collected> answers_;
  std::size_t round_ = 0;
  std::uint64_t refused_now_ = 0;
  std::uint64_t refused_ = 0;
};

class TierMemoryOn : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Device, TierMemoryOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(TierMemoryOn, NoBlockIsLostAndWritingGoesOnWhateverAllocationFails) {
  const FastClock clock;
  TierRounds rounds(GetParam(), clock);
  std::uint64_t all = 0;
  for (int warm = 0; warm < 3; ++warm) all = std::max(all, rounds.play(0).allocations);
  ASSERT_FALSE(::testing::Test::HasFailure());
  ASSERT_GT(all, 1000u);
  const char* set = std::getenv("LARDER_FAILED_ALLOCATIONS");
  const std::uint64_t wanted = set == nullptr ? 60 : std::strtoull(set, nullptr, 10);
  std::uint64_t runs = 0;
  std::uint64_t failed = 0;
  for (std::uint64_t nth = 1; nth <= all; nth += 1 + (wanted == 0 ? 0 : nth * 10 / wanted), ++runs) {
    SCOPED_TRACE(nth);
    failed += rounds.play(nth, runs % 4 == 3 ? 6 : 1, kAgain[runs % kAgain.size()]).failed;
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(failed, runs / 2);
  const engine::StoreInfo store = rounds.store();
  EXPECT_GT(store.stored_blocks, 5 * runs);
  EXPECT_GT(store.restored_blocks, 5 * runs);
  EXPECT_EQ(store.damaged_blocks + store.failed_io, 0u) << store.last_failure;
  std::printf("%llu of about %llu allocations failed in %llu rounds, %llu requests and verbs were refused; %llu blocks "
              "written, %llu read, 0 lost\n",
              static_cast<unsigned long long>(failed), static_cast<unsigned long long>(all),
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(rounds.refused()),
              static_cast<unsigned long long>(store.stored_blocks),
              static_cast<unsigned long long>(store.restored_blocks));
}

TEST(TierMemory, WhatCouldNotBeWrittenDownIsWrittenLater) {
  const FastClock clock;
  TierRounds rounds(false, clock);
  std::uint64_t failed = 0;
  for (const std::uint64_t again : {2, 3, 4, 5, 7, 11, 17, 29}) {
    SCOPED_TRACE(again);
    failed += rounds.write_down(again);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(failed, 40u);
  std::printf("%llu allocations failed, all blocks were written down\n", static_cast<unsigned long long>(failed));
}

}  // namespace
}  // namespace larder::test
