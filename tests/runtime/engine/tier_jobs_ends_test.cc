// SPDX-License-Identifier: Apache-2.0
// Verbs over tiers that do not come to their end, or not even to their begin: whatever happens in the middle ends the
// job and nothing else.
#include <algorithm>
#include <optional>

#include "tests/runtime/engine/tier_jobs_rig.h"

namespace larder::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Device, TierJobsOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(TierJobsOn, CancelledInTheMiddleEachBlockIsWhereItWasOrWhereItGoes) {
  const auto made = make();
  EngineRig& rig = *made;
  const auto prompts = grow(rig, 10, 1200);
  const Collected before = ask(rig, rig.admin(), prompts[3]);
  wait_stored(rig);
  meet_in_the_middle(rig, [&](JobId id) {
    if (!rig.perform(rig.admin(), engine::CancelJob{id}).ok()) return false;
    const JobInfo job = wait_done(rig, id);
    EXPECT_EQ(job.state, JobInfo::State::kCancelled);
    EXPECT_LT(job.progress, 1);
    EXPECT_EQ(rig.perform(rig.admin(), engine::CancelJob{id}).error().code, ErrorCode::kConflict);
    return true;
  });
  EXPECT_EQ(rig.perform(rig.admin(), engine::CancelJob{JobId{9999}}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(rig.wait_idle());
  for (const auto& each : prompts) {
    EXPECT_EQ(ask(rig, rig.admin(), each).finished->usage.cached_tokens, each.size() - 1);
  }
  expect_equal(before, ask(rig, rig.admin(), prompts[3]));
}

TEST_P(TierJobsOn, AnUnloadInTheMiddleEndsItWithThatReason) {
  const auto made = make();
  EngineRig& rig = *made;
  const auto prompts = grow(rig, 10, 1200);
  const Collected before = ask(rig, rig.admin(), prompts[3]);
  wait_stored(rig);
  meet_in_the_middle(rig, [&](JobId id) {
    EXPECT_TRUE(rig.perform(rig.admin(), engine::UnloadModel{rig.fresh(rig.admin())->models.front().id}).ok());
    const JobInfo job = wait_done(rig, id);  // it may just have come to its end
    EXPECT_TRUE(job.state != JobInfo::State::kFailed || job.error.find("unloaded") != std::string::npos) << job.error;
    EXPECT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.model_path()}).ok());
    return true;
  });
  expect_equal(before, ask(rig, rig.admin(), prompts[3]));
}

TEST_P(TierJobsOn, ADeletedRunOrTenantEndsItAndNothingComesBack) {
  const auto made = make();
  EngineRig& rig = *made;
  grow(rig, 10, 1200);
  wait_stored(rig);
  const kv::BlockRange all = whole_tree(rig);
  meet_in_the_middle(rig, [&](JobId id) {
    const auto deleted = rig.perform(rig.admin(), engine::DeleteNode{all.node, true, false});
    EXPECT_TRUE(deleted.ok());
    const JobInfo job = wait_done(rig, id);
    EXPECT_TRUE(job.state != JobInfo::State::kFailed || job.error.find("deleted") != std::string::npos) << job.error;
    return true;
  });
  EXPECT_TRUE(rig.fresh(rig.admin())->tree->empty());
  const Principal alice = rig.tenant("alice");
  const std::vector<Token> trunk = prompt(64);
  for (int i = 0; i < 10; ++i) {
    std::vector<Token> tokens = trunk;
    const std::vector<Token> more = prompt(1200);
    tokens.insert(tokens.end(), more.begin(), more.end());
    ASSERT_TRUE(rig.ask(alice, EngineRig::token_request(tokens, 1)).ok());
  }
  wait_stored(rig);
  meet_in_the_middle(rig, [&](JobId id) {
    EXPECT_TRUE(rig.perform(rig.admin(), engine::DeleteTenant{alice.tenant}).ok());
    const JobInfo job = wait_done(rig, id);
    EXPECT_TRUE(job.state != JobInfo::State::kFailed || job.error.find("tenant") != std::string::npos) << job.error;
    return true;
  });
  EXPECT_TRUE(rig.fresh(rig.admin())->tree->empty());
  EXPECT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.store.blocks == 0; }));
  EXPECT_TRUE(rig.wait_idle());
}

TEST_P(TierJobsOn, AStopInTheMiddleLosesNothing) {
  const auto made = make();
  EngineRig& rig = *made;
  const auto prompts = grow(rig, 6, 600);
  const Collected before = ask(rig, rig.admin(), prompts[3]);
  wait_stored(rig);
  for (const char* to : {"disk", "pool", "disk", "pool"}) {
    ASSERT_TRUE(order(rig, copy(whole_tree(rig), to)).ok());
    rig.reopen();
    EXPECT_TRUE(rig.wait_until([](const Snapshot& seen) { return !seen.tree->empty(); }));
  }
  expect_equal(before, ask(rig, rig.admin(), prompts[3]));
}

TEST_P(TierJobsOn, OrdersBeyondTheQueueAreRefusedAndWaitingOnesCanBeCancelled) {
  const auto made = make();
  EngineRig& rig = *made;
  grow(rig, 8, 1000);
  wait_stored(rig);
  const kv::BlockRange all = whole_tree(rig);
  std::vector<JobId> ids;
  std::optional<Error> refused;
  for (int i = 0; i < 400 && !refused; ++i) {
    const auto begun = order(rig, engine::VerifyBlocks{all, false});
    if (begun.ok()) {
      ids.push_back(begun->job->id);
    } else {
      refused = begun.error();
    }
  }
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->code, ErrorCode::kResourceExhausted);
  EXPECT_TRUE(rig.perform(rig.admin(), engine::CancelJob{ids.back()}).ok());
  EXPECT_EQ(wait_done(rig, ids.back()).state, JobInfo::State::kCancelled);
  for (const JobId id : ids) (void)rig.perform(rig.admin(), engine::CancelJob{id});
  EXPECT_TRUE(rig.wait_until([](const Snapshot& seen) {
    return std::all_of(seen.jobs.begin(), seen.jobs.end(), [](const JobInfo& job) { return job.done; });
  }));
}

TEST(TierJobs, WhatCannotBeDoneIsRefusedWithItsReason) {
  EngineRig off;
  const auto stopped = off.perform(off.admin(), engine::MoveBlocks{{.node = NodeId{1}}, "disk", false, false});
  EXPECT_EQ(stopped.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(stopped.error().message.find("store.mode"), std::string::npos) << stopped.error().message;
  EngineRigOptions options;
  options.store = true;
  options.load_model = false;
  EngineRig rig(options);
  const engine::VerifyBlocks verify{{.node = NodeId{1}}, false};
  EXPECT_EQ(rig.perform(rig.admin(), verify).error().code, ErrorCode::kUnavailable);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.model_path()}).ok());
  ASSERT_TRUE(rig.wait_until(
      [](const Snapshot& seen) { return seen.models.front().identity == engine::ModelInfo::Identity::kKnown; }));
  EXPECT_EQ(rig.perform(rig.admin(), verify).error().code, ErrorCode::kNotFound);
  const auto nowhere = rig.perform(rig.admin(), engine::MoveBlocks{{.node = NodeId{1}}, "device", false, false});
  EXPECT_EQ(nowhere.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(nowhere.error().message.find("host"), std::string::npos) << nowhere.error().message;
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"store.mode", "bypass"}).ok());
  EXPECT_EQ(rig.perform(rig.admin(), verify).error().code, ErrorCode::kConflict);
}

}  // namespace
}  // namespace larder::test
