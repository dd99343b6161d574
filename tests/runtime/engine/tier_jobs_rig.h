// SPDX-License-Identifier: Apache-2.0
// TierJobsOn: an engine over a disk tier, on the processor (blocks are read in place) or on the fake device (they go
// through host memory), with short words for jobs.    Threads: one caller.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "tests/support/engine_rig.h"

namespace larder::test {

using engine::JobInfo;
using engine::Principal;
using engine::Snapshot;
using engine::TreeNode;

inline constexpr const char* kSmallPool = "1310720";   // 64 blocks of the tiny model in f16
inline constexpr const char* kLargePool = "41943040";  // 2048

class TierJobsOn : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<EngineRig> make(const char* pool = kLargePool, const char* packs = "") {
    EngineRigOptions options;
    options.cpu = GetParam();
    options.store = true;
    options.chat_template = *packs != '\0';
    options.packs_dir = packs;
    options.settings = {{"pool.bytes", pool}, {"store.keep_free_bytes", "4096"}, {"store.restore", "always"}};
    auto rig = std::make_unique<EngineRig>(std::move(options));
    wait_known(*rig);
    return rig;
  }

  std::vector<Token> prompt(std::size_t tokens) {
    std::vector<Token> made(tokens);
    for (Token& token : made) token = static_cast<Token>(3 + rng_.below(500));
    return made;
  }

  static Collected ask(EngineRig& rig, const Principal& who, std::vector<Token> tokens) {
    engine::Request request = EngineRig::token_request(std::move(tokens), 6);
    request.sampling.temperature = 0;
    request.sampling.logprobs = true;
    return rig.ask(who, std::move(request));
  }

  static void expect_equal(const Collected& a, const Collected& b) {
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_EQ(a.logprobs, b.logprobs);
  }

  // Nothing moves before the digest of the weights is known.
  static void wait_known(EngineRig& rig) {
    EXPECT_TRUE(rig.wait_until([](const Snapshot& seen) {
      return !seen.models.empty() && seen.models.front().identity == engine::ModelInfo::Identity::kKnown;
    }));
  }

  static void wait_stored(EngineRig& rig) {
    ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) {
      for (const TreeNode& node : *seen.tree) {
        if (node.stored_blocks != node.blocks) return false;
      }
      return seen.store.queued_blocks == 0;
    })) << rig.fresh(rig.admin())->store.reason;
  }

  static Result<engine::VerbResult> order(EngineRig& rig, engine::Verb verb) {
    return rig.perform(rig.admin(), std::move(verb));
  }

  static JobInfo job_of(const Snapshot& seen, JobId id) {
    for (const JobInfo& job : seen.jobs) {
      if (job.id == id) return job;
    }
    return {};
  }

  static JobInfo wait_done(EngineRig& rig, JobId id) {
    EXPECT_TRUE(rig.wait_until([&](const Snapshot& seen) { return job_of(seen, id).done; }));
    return job_of(*rig.fresh(rig.admin()), id);
  }

  static JobInfo run(EngineRig& rig, engine::Verb verb) {
    const auto begun = order(rig, std::move(verb));
    if (!begun.ok()) {
      ADD_FAILURE() << to_string(begun.error());
      return {};
    }
    EXPECT_TRUE(begun->job && begun->job->id.value != 0);
    return wait_done(rig, begun->job->id);
  }

  static kv::BlockRange whole_tree(EngineRig& rig) {
    for (const TreeNode& node : *rig.fresh(rig.admin())->tree) {
      if (node.parent.value == 0) return {.node = node.id};
    }
    return {};
  }

  static NodeId deepest(EngineRig& rig) {
    TreeNode deepest;
    for (const TreeNode& node : *rig.fresh(rig.admin())->tree) {
      if (node.first_position + node.tokens > deepest.first_position + deepest.tokens) deepest = node;
    }
    return deepest.id;
  }

  static engine::MoveBlocks move(const kv::BlockRange& what, const char* to) { return {what, to, false, false}; }
  static engine::MoveBlocks copy(const kv::BlockRange& what, const char* to) { return {what, to, true, false}; }

  // A trunk of 64 tokens with `branches` of `tokens` each on it.
  std::vector<std::vector<Token>> grow(EngineRig& rig, int branches, std::size_t tokens) {
    const std::vector<Token> trunk = prompt(64);
    std::vector<std::vector<Token>> prompts;
    for (int i = 0; i < branches; ++i) {
      prompts.push_back(trunk);
      const std::vector<Token> more = prompt(tokens);
      prompts.back().insert(prompts.back().end(), more.begin(), more.end());
      EXPECT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(prompts.back(), 1)).ok());
    }
    return prompts;
  }

  // Moves the whole tree down and up until `meet` sees a move half done and is content with it.
  template <typename Meet>
  void meet_in_the_middle(EngineRig& rig, Meet meet) {
    for (int round = 0; round < 50; ++round) {
      const auto begun = order(rig, move(whole_tree(rig), round % 2 == 0 ? "disk" : "pool"));
      ASSERT_TRUE(begun.ok()) << to_string(begun.error());
      const JobId id = begun->job->id;
      JobInfo seen;
      do {
        seen = job_of(*rig.fresh(rig.admin()), id);
      } while (!seen.done && seen.progress <= 0);
      if (seen.done) continue;
      if (meet(id)) return;
      wait_done(rig, id);
    }
    FAIL() << "the job was never met in its middle";
  }

  Rng rng_{11};
};

}  // namespace larder::test
