// SPDX-License-Identifier: Apache-2.0
// compress and decompress through the whole engine: what was rounded by name serves whoever asks, across a restart and
// whatever store.codec says; what is pinned stays exact; computed again it answers as before, bit for bit. On the
// processor with the tiny model, whose heads are too small for int4.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/runtime/engine/tier_jobs_rig.h"

namespace larder::test {
namespace {

using engine::CompressBlocks;
using engine::DecompressBlocks;
using kernels::KvScheme;
using State = engine::RequestRecord::State;

class CodecJobsOn : public TierJobsOn {
 protected:
  static CompressBlocks compress(const kv::BlockRange& what, bool dry_run = false) { return {what, "int8", dry_run}; }
  static DecompressBlocks decompress(const kv::BlockRange& what, bool dry_run = false) { return {what, dry_run}; }

  static KvScheme lineage_of(const Collected& answer) { return answer.finished->verdict.lineage; }
  static bool all_of_tree(EngineRig& rig, const std::string& lineage) {
    const auto tree = rig.fresh(rig.admin())->tree;
    return !tree->empty() && std::all_of(tree->begin(), tree->end(),
                                         [&](const TreeNode& node) { return node.lineage == lineage; });
  }
  static bool wait_blocks(EngineRig& rig, std::uint64_t blocks, std::uint64_t rounded) {
    return rig.wait_until([&](const Snapshot& seen) {
      return seen.store.blocks == blocks && seen.store.rounded_blocks == rounded;
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Device, CodecJobsOn, ::testing::Values(true), [](const auto& /*device*/) { return "cpu"; });

TEST_P(CodecJobsOn, ACompressedRunServesRoundedAndSaysSoAlsoAfterARestart) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(400);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig);
  const kv::BlockRange all = whole_tree(rig);
  const auto planned = order(rig, compress(all, true));
  ASSERT_TRUE(planned.ok()) << to_string(planned.error());
  EXPECT_EQ(planned->job->id.value, 0u);
  EXPECT_EQ(planned->job->tally.written, 13u);
  EXPECT_EQ(planned->job->tally.left_pool, 13u);
  EXPECT_EQ(planned->job->tally.left_disk, 13u);
  EXPECT_GT(planned->job->codec.error, 0);
  EXPECT_LT(planned->job->codec.bytes_after, planned->job->codec.bytes_before / 2);
  EXPECT_NE(planned->detail.find("13 rounded to int8"), std::string::npos) << planned->detail;
  EXPECT_TRUE(all_of_tree(rig, "exact"));
  const JobInfo done = run(rig, compress(all));
  EXPECT_EQ(done.state, JobInfo::State::kDone) << done.error;
  EXPECT_EQ(done.tally, planned->job->tally) << done.detail;
  EXPECT_EQ(done.codec.bytes_before, planned->job->codec.bytes_before);
  EXPECT_EQ(done.codec.bytes_after, planned->job->codec.bytes_after);
  EXPECT_EQ(done.blocks_done, done.blocks_total);
  EXPECT_EQ(done.to, "int8");
  EXPECT_TRUE(wait_blocks(rig, 13, 13));
  EXPECT_EQ(rig.fresh(rig.admin())->pool.blocks_cached, 0u);
  EXPECT_TRUE(all_of_tree(rig, "int8"));
  for (const bool restarted : {false, true}) {
    if (restarted) rig.reopen();
    const Collected again = ask(rig, rig.admin(), tokens);
    EXPECT_EQ(lineage_of(again), KvScheme::kInt8);
    EXPECT_EQ(again.finished->verdict.kind, kv::VerdictKind::kFullPrefix);
    EXPECT_GE(again.finished->usage.cached_tokens, 399u);
    EXPECT_NE(again.logprobs, cold.logprobs);  // it was rounded; were it equal, this would show an exact copy
    EXPECT_EQ(rig.fresh(rig.admin())->store.codec, "exact");
  }
}

TEST_P(CodecJobsOn, DecompressedItIsComputedAgainAndAnswersBitForBit) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(400);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig);
  run(rig, compress(whole_tree(rig)));
  const kv::BlockRange rounded = whole_tree(rig);
  const auto planned = order(rig, decompress(rounded, true));
  ASSERT_TRUE(planned.ok()) << to_string(planned.error());
  EXPECT_EQ(planned->job->tally.computed, 13u);
  EXPECT_EQ(planned->job->tally.left_disk, 13u);
  EXPECT_EQ(planned->job->codec.compute_tokens, 405u);
  EXPECT_GT(planned->job->codec.compute_ms, 0);
  EXPECT_NE(planned->detail.find("405 tokens to compute, about"), std::string::npos) << planned->detail;
  const JobInfo done = run(rig, decompress(rounded));
  EXPECT_EQ(done.state, JobInfo::State::kDone) << done.error;
  EXPECT_EQ(done.tally, planned->job->tally) << done.detail;
  EXPECT_EQ(done.codec.compute_tokens, 405u);
  EXPECT_EQ(done.codec.bytes_after, planned->job->codec.bytes_after);
  EXPECT_EQ(done.to, "exact");
  EXPECT_TRUE(wait_blocks(rig, 13, 0));
  EXPECT_TRUE(all_of_tree(rig, "exact"));
  const Collected again = ask(rig, rig.admin(), tokens);
  expect_equal(cold, again);
  EXPECT_EQ(lineage_of(again), KvScheme::kExact);
  EXPECT_EQ(again.finished->usage.cached_tokens, 399u);
  EXPECT_EQ(rig.fresh(rig.admin())->broken_promises, 0u);
}

TEST_P(CodecJobsOn, WhatLiesOnDiskOnlyIsReadAndRounded) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(300);
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  wait_stored(rig);
  run(rig, move(whole_tree(rig), "disk"));
  const JobInfo done = run(rig, compress(whole_tree(rig)));
  EXPECT_EQ(done.tally.written, 10u) << done.detail;
  EXPECT_EQ(done.tally.left_disk, 10u) << done.detail;
  EXPECT_EQ(done.tally.left_pool, 0u) << done.detail;
  EXPECT_TRUE(wait_blocks(rig, 10, 10));
  const Collected again = ask(rig, rig.admin(), tokens);
  EXPECT_EQ(lineage_of(again), KvScheme::kInt8);
  EXPECT_GE(again.finished->usage.cached_tokens, 299u);
}

TEST_P(CodecJobsOn, ADamagedExactCopyIsNotRounded) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(300);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig);
  run(rig, move(whole_tree(rig), "disk"));
  for (const auto& file : std::filesystem::recursive_directory_iterator(rig.folder() + "/data/segments")) {
    if (file.is_regular_file()) std::filesystem::resize_file(file.path(), 16384);
  }
  const JobInfo done = run(rig, compress(whole_tree(rig)));
  EXPECT_EQ(done.state, JobInfo::State::kDone) << done.error;
  EXPECT_GE(done.tally.damaged + done.tally.missing, 1u) << done.detail;
  expect_equal(cold, ask(rig, rig.admin(), tokens));
}

TEST_P(CodecJobsOn, OfARangeOnlyTheRangeLeavesAndItsStartIsRoundedToo) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(320);
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  wait_stored(rig);
  const NodeId end = deepest(rig);
  const JobInfo middle = run(rig, compress({end, true, 2, 3}));
  EXPECT_EQ(middle.tally.below, 3u) << middle.detail;
  EXPECT_EQ(middle.tally.written, 0u) << middle.detail;
  const JobInfo tail = run(rig, compress({end, true, 6, 0}));
  EXPECT_EQ(tail.tally.written, 11u) << tail.detail;
  EXPECT_EQ(tail.tally.left_pool, 5u) << tail.detail;
  EXPECT_EQ(rig.fresh(rig.admin())->pool.blocks_cached, 6u);
  const Collected again = ask(rig, rig.admin(), tokens);
  EXPECT_EQ(lineage_of(again), KvScheme::kInt8);
  EXPECT_GE(again.finished->usage.cached_tokens, 319u);
  // The start is there both ways, and exact comes first where it reaches as far.
  const std::vector<Token> start(tokens.begin(), tokens.begin() + 193);
  const Collected exact = ask(rig, rig.admin(), start);
  EXPECT_EQ(lineage_of(exact), KvScheme::kExact);
  EXPECT_EQ(exact.finished->usage.cached_tokens, 192u);
}

TEST_P(CodecJobsOn, PinnedRunsStayExact) {
  const auto made = make();
  EngineRig& rig = *made;
  const auto prompts = grow(rig, 3, 200);
  const Collected before = ask(rig, rig.admin(), prompts[2]);
  wait_stored(rig);
  NodeId pinned{};
  for (const TreeNode& node : *rig.fresh(rig.admin())->tree) pinned = std::max(pinned, node.id);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::PinNode{pinned, "keep", 0, false}).ok());
  wait_stored(rig);
  const JobInfo done = run(rig, compress(whole_tree(rig)));
  EXPECT_EQ(done.state, JobInfo::State::kDone) << done.error;
  EXPECT_GE(done.tally.pinned, 9u) << done.detail;
  EXPECT_GT(done.tally.left_pool, 0u) << done.detail;
  const Collected kept = ask(rig, rig.admin(), prompts[2]);
  EXPECT_EQ(lineage_of(kept), KvScheme::kExact);
  expect_equal(before, kept);
  EXPECT_EQ(lineage_of(ask(rig, rig.admin(), prompts[0])), KvScheme::kInt8);
  EXPECT_TRUE(rig.wait_idle());
}

TEST_P(CodecJobsOn, ADeletedRunDoesNotComeBackRounded) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(320);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"store.codec", "int8"}).ok());
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  ASSERT_TRUE(wait_blocks(rig, 11, 11));
  // After a restart in which nobody asks for rounded copies, the tree does not know of them.
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"store.codec", "exact"}).ok());
  rig.reopen();
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  wait_stored(rig);
  const kv::BlockRange exact = whole_tree(rig);
  run(rig, compress({deepest(rig), true, 8, 0}));
  NodeId run_of_exact{};
  for (const TreeNode& node : *rig.fresh(rig.admin())->tree) {
    if (node.lineage == "exact" && node.parent.value == 0) run_of_exact = node.id;
  }
  ASSERT_NE(run_of_exact.value, 0u) << exact.node.value;
  const auto planned = rig.perform(rig.admin(), engine::DeleteNode{run_of_exact, false, true});
  ASSERT_TRUE(planned.ok()) << to_string(planned.error());
  EXPECT_NE(planned->detail.find("11 rounded blocks"), std::string::npos) << planned->detail;
  ASSERT_TRUE(rig.perform(rig.admin(), engine::DeleteNode{run_of_exact, false, false}).ok());
  EXPECT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.tree->empty() && seen.store.blocks == 0; }));
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"store.codec", "int8"}).ok());
  rig.reopen();
  EXPECT_EQ(ask(rig, rig.admin(), tokens).finished->usage.cached_tokens, 0u);
}

TEST_P(CodecJobsOn, AnEntryKeepsItsNameWhateverItsLineage) {
  const auto made = make();
  EngineRig& rig = *made;
  engine::Request named = EngineRig::token_request(prompt(200), 1);
  named.label = "house rules";
  ASSERT_TRUE(rig.ask(rig.admin(), named).ok());
  wait_stored(rig);
  const auto shown = [&](const std::string& lineage) {
    return rig.wait_until([&](const Snapshot& seen) {
      return std::any_of(seen.tree->begin(), seen.tree->end(), [&](const TreeNode& node) {
        return node.lineage == lineage && node.label == "house rules";
      });
    });
  };
  ASSERT_TRUE(shown("exact"));
  run(rig, compress(whole_tree(rig)));
  EXPECT_TRUE(shown("int8"));
  run(rig, decompress(whole_tree(rig)));
  EXPECT_TRUE(shown("exact"));
  const auto seen = rig.fresh(rig.admin());
  ASSERT_EQ(seen->entries.size(), 1u);
  EXPECT_EQ(seen->entries.front().name, "house rules");
}

TEST_P(CodecJobsOn, CancelledInTheMiddleEachBlockIsExactOrRoundedAndDurable) {
  const auto made = make();
  EngineRig& rig = *made;
  const auto prompts = grow(rig, 10, 1200);
  wait_stored(rig);
  const auto begun = order(rig, compress(whole_tree(rig)));
  ASSERT_TRUE(begun.ok()) << to_string(begun.error());
  // At once: a snapshot that shows progress may come when all is done.
  ASSERT_TRUE(rig.perform(rig.admin(), engine::CancelJob{begun->job->id}).ok());
  const JobInfo ended = wait_done(rig, begun->job->id);
  EXPECT_EQ(ended.state, JobInfo::State::kCancelled);
  EXPECT_LT(ended.progress, 1);
  EXPECT_TRUE(rig.wait_idle());
  for (const auto& each : prompts) {
    EXPECT_EQ(ask(rig, rig.admin(), each).finished->usage.cached_tokens, each.size() - 1);
  }
}

TEST_P(CodecJobsOn, ACancelledDecompressLeavesTheRoundedRun) {
  const auto made = make();
  EngineRig& rig = *made;
  const auto prompts = grow(rig, 4, 6000);
  wait_stored(rig);
  run(rig, compress(whole_tree(rig)));
  const auto begun = order(rig, decompress(whole_tree(rig)));
  ASSERT_TRUE(begun.ok()) << to_string(begun.error());
  ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.requests.back().state == State::kPrefill; }));
  ASSERT_TRUE(rig.perform(rig.admin(), engine::CancelJob{begun->job->id}).ok());
  EXPECT_EQ(wait_done(rig, begun->job->id).state, JobInfo::State::kCancelled);
  EXPECT_TRUE(rig.wait_idle());
  EXPECT_EQ(rig.fresh(rig.admin())->requests.back().state, State::kCancelled);
  for (const auto& each : prompts) {
    const Collected answer = ask(rig, rig.admin(), each);
    EXPECT_GE(answer.finished->usage.cached_tokens, each.size() - 1);
  }
}

TEST_P(CodecJobsOn, AnUnloadEndsADecompressThatComputes) {
  const auto made = make();
  EngineRig& rig = *made;
  grow(rig, 4, 2000);
  wait_stored(rig);
  run(rig, compress(whole_tree(rig)));
  const auto begun = order(rig, decompress(whole_tree(rig)));
  ASSERT_TRUE(begun.ok()) << to_string(begun.error());
  ASSERT_TRUE(rig.perform(rig.admin(), engine::UnloadModel{rig.fresh(rig.admin())->models.front().id}).ok());
  const JobInfo job = wait_done(rig, begun->job->id);
  EXPECT_TRUE(job.state != JobInfo::State::kFailed || job.error.find("unloaded") != std::string::npos) << job.error;
}

TEST_P(CodecJobsOn, UnderAFrozenStoreNothingIsRoundedAndNothingLeaves) {
  const auto made = make();
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(200);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"store.mode", "frozen"}).ok());
  const auto planned = order(rig, compress(whole_tree(rig), true));
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned->job->tally.refused, 7u) << planned->detail;
  EXPECT_EQ(planned->job->tally.left_pool, 0u) << planned->detail;
  const JobInfo done = run(rig, compress(whole_tree(rig)));
  EXPECT_EQ(done.tally, planned->job->tally) << done.detail;
  expect_equal(cold, ask(rig, rig.admin(), tokens));
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"store.mode", "on"}).ok());
  run(rig, compress(whole_tree(rig)));
  ASSERT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"store.mode", "frozen"}).ok());
  const JobInfo back = run(rig, decompress(whole_tree(rig)));
  EXPECT_EQ(back.tally.computed, 7u) << back.detail;
  EXPECT_EQ(back.tally.refused, 7u) << back.detail;
  EXPECT_EQ(back.tally.left_disk, 0u) << back.detail;
  EXPECT_EQ(rig.fresh(rig.admin())->store.rounded_blocks, 7u);
  expect_equal(cold, ask(rig, rig.admin(), tokens));  // computed, and exact comes first
}

TEST_P(CodecJobsOn, WhatCannotBeDoneIsRefusedWithItsReason) {
  const auto made = make();
  EngineRig& rig = *made;
  ASSERT_TRUE(ask(rig, rig.admin(), prompt(100)).ok());
  wait_stored(rig);
  const kv::BlockRange all = whole_tree(rig);
  const auto unknown = order(rig, CompressBlocks{all, "int3", false});
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(unknown.error().message.find("int3"), std::string::npos) << unknown.error().message;
  EXPECT_EQ(order(rig, CompressBlocks{all, "exact", false}).error().code, ErrorCode::kInvalidArgument);
  const auto too_small = order(rig, CompressBlocks{all, "int4", false});
  EXPECT_EQ(too_small.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(too_small.error().message.find("int4"), std::string::npos) << too_small.error().message;
  const auto exact = order(rig, decompress(all));
  EXPECT_EQ(exact.error().code, ErrorCode::kConflict);
  EXPECT_NE(exact.error().message.find("exact"), std::string::npos) << exact.error().message;
  EXPECT_EQ(order(rig, compress({deepest(rig), true, 99, 0})).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(order(rig, compress({.node = NodeId{999999}})).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(order(rig, decompress({.node = NodeId{999999}})).error().code, ErrorCode::kNotFound);
  run(rig, compress(all));
  const auto twice = order(rig, compress(whole_tree(rig)));
  EXPECT_EQ(twice.error().code, ErrorCode::kConflict);
  EXPECT_NE(twice.error().message.find("decompress"), std::string::npos) << twice.error().message;
  const Principal guest = rig.tenant("guest");
  EXPECT_EQ(rig.perform(guest, compress(all)).error().code, ErrorCode::kForbidden);
}

}  // namespace
}  // namespace larder::test
