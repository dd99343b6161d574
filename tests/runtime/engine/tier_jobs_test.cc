// SPDX-License-Identifier: Apache-2.0
// Verbs over tiers through the whole engine: what was moved answers exactly as before, what must stay stays, and damage
// is found.
#include <filesystem>
#include <fstream>

#include "tests/runtime/engine/tier_jobs_rig.h"

namespace larder::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Device, TierJobsOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(TierJobsOn, MovedDownAndUpItAnswersBitForBitAndEachTierHasWhatItShould) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(400);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig);
  const kv::BlockRange all = whole_tree(rig);
  for (int round = 0; round < 2; ++round) {
    const JobInfo down = run(rig, move(all, "disk"));
    EXPECT_EQ(down.state, JobInfo::State::kDone) << down.error;
    EXPECT_EQ(down.tally.left_pool, 13u) << down.detail;
    EXPECT_EQ(down.tally.written, round == 0 ? 0u : 13u) << down.detail;
    EXPECT_EQ(down.blocks_done, down.blocks_total);
    auto seen = rig.fresh(rig.admin());
    EXPECT_EQ(seen->pool.blocks_cached, 0u);
    EXPECT_EQ(seen->store.blocks, 13u);
    const JobInfo up = run(rig, move(all, "pool"));
    EXPECT_EQ(up.tally.read_up, 13u) << up.detail;
    EXPECT_EQ(up.tally.left_disk, 13u) << up.detail;
    EXPECT_EQ(up.to, "host");
    EXPECT_TRUE(rig.wait_until([](const Snapshot& now) { return now.store.blocks == 0; }));
    EXPECT_EQ(rig.fresh(rig.admin())->pool.blocks_cached, 13u);
  }
  const Collected again = ask(rig, rig.admin(), tokens);
  expect_equal(cold, again);
  EXPECT_EQ(again.finished->verdict.tier, "host");
  EXPECT_EQ(again.finished->usage.cached_tokens, 399u);
  EXPECT_EQ(rig.fresh(rig.admin())->broken_promises, 0u);
}

TEST_P(TierJobsOn, ACopyLeavesBothPlacesAndADryRunTellsItBefore) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(300);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig);
  const kv::BlockRange all = whole_tree(rig);
  run(rig, move(all, "pool"));  // no copies any more, and none is made behind the requests
  const auto planned = order(rig, engine::MoveBlocks{all, "disk", true, true});
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned->job->id.value, 0u);
  EXPECT_TRUE(planned->job->dry_run);
  EXPECT_EQ(planned->job->tally.written, 10u);
  EXPECT_NE(planned->detail.find("10 written to disk"), std::string::npos) << planned->detail;
  EXPECT_TRUE(rig.wait_until([](const Snapshot& now) { return now.store.blocks == 0; }));
  const JobInfo done = run(rig, copy(all, "disk"));
  EXPECT_EQ(done.tally, planned->job->tally) << done.detail;
  EXPECT_GT(done.bytes_moved, 0u);
  auto seen = rig.fresh(rig.admin());
  EXPECT_EQ(seen->pool.blocks_cached, 10u);
  EXPECT_EQ(seen->store.blocks, 10u);
  for (const char* to : {"disk", "host"}) {
    for (const bool keep : {false, true}) {
      const auto plan = order(rig, engine::MoveBlocks{all, to, keep, true});
      ASSERT_TRUE(plan.ok());
      EXPECT_EQ(run(rig, engine::MoveBlocks{all, to, keep, false}).tally, plan->job->tally) << plan->detail;
    }
  }
  expect_equal(cold, ask(rig, rig.admin(), tokens));
}

TEST_P(TierJobsOn, ARangeOfThePathMovesAloneAndWhatHangsOnItSaysSo) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(320);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig);
  const NodeId end = deepest(rig);
  const JobInfo middle = run(rig, move({end, true, 2, 3}, "disk"));
  EXPECT_EQ(middle.tally.below, 3u) << middle.detail;
  const JobInfo tail = run(rig, move({end, true, 6, 0}, "disk"));
  EXPECT_EQ(tail.tally.left_pool, 5u) << tail.detail;
  const auto located = rig.perform(rig.admin(), engine::Locate{end});
  ASSERT_TRUE(located.ok());
  ASSERT_EQ(located->ranges.size(), 3u);
  EXPECT_EQ(located->ranges[0].tier, "host");
  EXPECT_EQ(located->ranges[0].blocks, 6u);
  EXPECT_TRUE(located->ranges[0].durable);
  EXPECT_EQ(located->ranges[1].tier, "disk");
  EXPECT_EQ(located->ranges[1].blocks, 6u);
  EXPECT_EQ(located->ranges[2].tier, "disk");
  EXPECT_EQ(located->ranges[2].first_block, 6u);
  EXPECT_EQ(located->ranges[2].first_position, 192u);
  EXPECT_EQ(located->ranges[2].blocks, 5u);
  EXPECT_EQ(located->ranges[2].lineage, "exact");
  EXPECT_EQ(located->identity.size(), 64u);
  const auto past = order(rig, move({end, true, 99, 0}, "disk"));
  EXPECT_EQ(past.error().code, ErrorCode::kInvalidArgument);
  expect_equal(cold, ask(rig, rig.admin(), tokens));
}

TEST_P(TierJobsOn, WhatIsPinnedOrInUseStaysInThePool) {
  const auto made = make();
  EngineRig& rig = *made;
  const auto prompts = grow(rig, 3, 200);
  wait_stored(rig);
  NodeId pinned{};
  for (const TreeNode& node : *rig.fresh(rig.admin())->tree) {
    pinned = std::max(pinned, node.id);  // the newest: the third prompt's
  }
  ASSERT_TRUE(rig.perform(rig.admin(), engine::PinNode{pinned, "keep", 0, false}).ok());
  rig.knobs().hold();
  const auto stream = rig.submit(rig.admin(), EngineRig::token_request(prompts[0], 200));
  const bool held = !GetParam();  // on the processor the answer goes on while the blocks move
  if (held) {
    ASSERT_TRUE(rig.knobs().wait_held(10'000));
  }
  const JobInfo down = run(rig, move(whole_tree(rig), "disk"));
  EXPECT_EQ(down.state, JobInfo::State::kDone);
  EXPECT_EQ(down.tally.pinned, 9u) << down.detail;
  if (held) {
    EXPECT_EQ(down.tally.in_use, 7u) << down.detail;  // one as the source of a copy
  }
  EXPECT_GE(rig.fresh(rig.admin())->pool.blocks_pinned, 9u);
  rig.knobs().release();
  EXPECT_TRUE(rig.collect(*stream).ok());
  EXPECT_TRUE(rig.wait_idle());
  EXPECT_TRUE(rig.knobs().violations().empty());
}

TEST_P(TierJobsOn, WhatFindsNoRoomStaysOnDiskAndDoesNotPushOutItsLikes) {
  const auto made = make(kSmallPool);
  EngineRig& rig = *made;
  const std::vector<Token> trunk = prompt(64);
  std::vector<Collected> answers;
  std::vector<std::vector<Token>> prompts;
  for (int i = 0; i < 4; ++i) {  // 78 blocks and more, for a pool of 64
    prompts.push_back(trunk);
    const std::vector<Token> more = prompt(600);
    prompts.back().insert(prompts.back().end(), more.begin(), more.end());
    answers.push_back(ask(rig, rig.admin(), prompts.back()));
    wait_stored(rig);
  }
  const kv::BlockRange all = whole_tree(rig);
  run(rig, move(all, "disk"));
  EXPECT_EQ(rig.fresh(rig.admin())->pool.blocks_cached, 0u);
  const JobInfo up = run(rig, move(all, "pool"));
  EXPECT_EQ(up.state, JobInfo::State::kDone);
  EXPECT_EQ(up.tally.read_up, 64u) << up.detail;
  EXPECT_GT(up.tally.no_room, 0u) << up.detail;
  EXPECT_EQ(up.tally.read_up + up.tally.no_room, up.blocks_total) << up.detail;
  EXPECT_EQ(up.tally.left_disk + up.tally.below, 64u) << up.detail;
  EXPECT_EQ(rig.fresh(rig.admin())->pool.evicted_blocks, 0u);
  for (std::size_t i = 0; i < prompts.size(); ++i) expect_equal(answers[i], ask(rig, rig.admin(), prompts[i]));
  EXPECT_TRUE(rig.wait_idle());
}

TEST_P(TierJobsOn, VerifyCountsGoodCopiesAndDropsDamagedOnes) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(300);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig);
  const kv::BlockRange all = whole_tree(rig);
  // No sum is taken of an end that is not a whole block, until it was read from disk.
  const JobInfo good = run(rig, engine::VerifyBlocks{all, false});
  EXPECT_EQ(good.tally.good, 19u) << good.detail;
  EXPECT_EQ(good.tally.damaged + good.tally.missing + good.tally.unread, 0u) << good.detail;
  for (const auto& file : std::filesystem::recursive_directory_iterator(rig.folder() + "/data/segments")) {
    if (!file.is_regular_file()) continue;
    const auto size = std::filesystem::file_size(file);
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (std::uintmax_t at = 8192; at < size; at += 4096) {
      bytes.seekp(static_cast<std::streamoff>(at + 1234));
      bytes.put('\x5a');
    }
  }
  const JobInfo bad = run(rig, engine::VerifyBlocks{all, false});
  EXPECT_EQ(bad.tally.damaged, 10u) << bad.detail;
  EXPECT_EQ(bad.tally.good, 9u) << bad.detail;
  EXPECT_EQ(bad.state, JobInfo::State::kDone);
  // The pool has them still, so they are written again.
  wait_stored(rig);
  EXPECT_EQ(run(rig, engine::VerifyBlocks{all, false}).tally.good, 19u);
  run(rig, move(all, "disk"));
  expect_equal(cold, ask(rig, rig.admin(), tokens));
}

TEST_P(TierJobsOn, VerifyOfDamagedBlocksThatLieOnDiskOnlyForgetsThem) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(300);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig);
  const kv::BlockRange all = whole_tree(rig);
  run(rig, move(all, "disk"));
  for (const auto& file : std::filesystem::recursive_directory_iterator(rig.folder() + "/data/segments")) {
    if (file.is_regular_file()) std::filesystem::resize_file(file.path(), 16384);
  }
  const JobInfo bad = run(rig, engine::VerifyBlocks{all, false});
  EXPECT_GE(bad.tally.damaged, 1u) << bad.detail;
  EXPECT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.tree->empty(); }));
  expect_equal(cold, ask(rig, rig.admin(), tokens));
}

TEST_P(TierJobsOn, WhatWasBroughtUpForNothingIsAWarningThatNamesTheCause) {
  const auto made = make(kSmallPool);
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(400);
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  wait_stored(rig);
  const kv::BlockRange all = whole_tree(rig);
  run(rig, move(all, "disk"));
  const JobInfo up = run(rig, move(all, "pool"));  // and its copies on disk are gone
  EXPECT_EQ(up.warning, "");
  EXPECT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.store.blocks == 0; }));
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"store.mode", "frozen"}).ok());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(prompt(500), 1)).ok());
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  const auto seen = rig.fresh(rig.admin());
  EXPECT_EQ(seen->broken_promises, 1u);
  EXPECT_NE(seen->last_broken_promise.find("evicted"), std::string::npos) << seen->last_broken_promise;
  EXPECT_EQ(job_of(*seen, up.id).warning, seen->last_broken_promise);
  EXPECT_NE(rig.engine().metrics_text().find("larder_broken_promises_total 1"), std::string::npos);
}

TEST(TierJobs, DamageInMemoryIsFoundAndComputedAgain) {
  EngineRigOptions options;
  options.store = true;
  options.settings = {{"store.keep_free_bytes", "4096"}};
  EngineRig rig(options);
  Rng rng(5);
  std::vector<Token> tokens(300);
  for (Token& token : tokens) token = static_cast<Token>(3 + rng.below(500));
  const Collected cold = rig.ask(rig.admin(), EngineRig::token_request(tokens, 6));
  ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.store.stored_blocks >= 10; }));
  const TreeNode run = rig.fresh(rig.admin())->tree->front();
  std::optional<BlockId> spoiled;
  int reads = 0;
  rig.knobs().spoil_reads([&](BlockId block, std::span<std::byte> bytes) {
    if (++reads == 5) spoiled = block;
    if (spoiled && block == *spoiled) bytes[100] ^= std::byte{1};
  });
  const auto begun = rig.perform(rig.admin(), engine::VerifyBlocks{{.node = run.id}, false});
  ASSERT_TRUE(begun.ok()) << to_string(begun.error());
  ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.jobs.back().done; }));
  rig.knobs().spoil_reads({});
  const auto seen = rig.fresh(rig.admin());
  EXPECT_EQ(seen->jobs.back().tally.damaged, 1u) << seen->jobs.back().detail;
  EXPECT_EQ(seen->jobs.back().tally.gone, 5u) << seen->jobs.back().detail;
  ASSERT_EQ(seen->tree->size(), 1u);
  EXPECT_EQ(seen->tree->front().blocks, 4u);
  const Collected again = rig.ask(rig.admin(), EngineRig::token_request(tokens, 6));
  EXPECT_EQ(again.finished->usage.cached_tokens, 128u);
  EXPECT_EQ(again.finished->verdict.eviction->policy, "damaged");
  EXPECT_EQ(again.tokens, cold.tokens);
  EXPECT_EQ(again.logprobs, cold.logprobs);
}

}  // namespace
}  // namespace larder::test
