// SPDX-License-Identifier: Apache-2.0
// Copies in memory of what lies on disk, through the whole engine: what left the pool comes back from them bit for bit
// and without the disk.
#include "tests/runtime/engine/tier_jobs_rig.h"

namespace larder::test {
namespace {

class RamCopiesOn : public TierJobsOn {
 protected:
  static Status set(EngineRig& rig, const char* key, const std::string& value) {
    const auto done = rig.perform(rig.admin(), engine::SetSetting{key, value});
    return done.ok() ? Status() : done.error();
  }
  static void set_ram(EngineRig& rig, const std::string& bytes) {
    ASSERT_TRUE(set(rig, "store.ram_bytes", bytes).ok());
  }
  static engine::StoreInfo store(EngineRig& rig) { return rig.fresh(rig.admin())->store; }
  static bool wait_copies(EngineRig& rig, std::uint64_t blocks) {
    return rig.wait_until([blocks](const Snapshot& seen) { return seen.store.ram_blocks >= blocks; });
  }
  void push_out(EngineRig& rig) {
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(prompt(500), 1)).ok());
  }
};

INSTANTIATE_TEST_SUITE_P(Device, RamCopiesOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(RamCopiesOn, WhatLeavesThePoolIsCopiedAndComesBackWithoutTheDisk) {
  const auto made = make(kSmallPool);
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(400);
  const Collected cold = ask(rig, rig.admin(), tokens);
  ASSERT_TRUE(cold.ok());
  wait_stored(rig);
  EXPECT_EQ(store(rig).ram_blocks, 0u) << "off until it is asked for";
  set_ram(rig, "67108864");
  push_out(rig);
  wait_stored(rig);
  ASSERT_TRUE(wait_copies(rig, 12));
  const engine::StoreInfo before = store(rig);
  const Collected again = ask(rig, rig.admin(), tokens);
  expect_equal(cold, again);
  const kv::Verdict& verdict = again.finished->verdict;
  EXPECT_EQ(verdict.kind, kv::VerdictKind::kFullPrefix);
  EXPECT_EQ(verdict.tier, "ram");
  EXPECT_GE(verdict.restored.tokens, 399u);
  EXPECT_EQ(verdict.computed_tokens, 1u);
  const engine::StoreInfo after = store(rig);
  EXPECT_GE(after.ram_reads - before.ram_reads, 12u);
  EXPECT_EQ(after.read_blocks - before.read_blocks, after.ram_reads - before.ram_reads);
  EXPECT_EQ(after.read_bytes, before.read_bytes);
  EXPECT_GT(after.ram_bytes_per_s, 0);
  EXPECT_EQ(after.ram_cap_bytes, 67108864u);
}

TEST_P(RamCopiesOn, TheTreeTellsWhichColdBlocksHaveOne) {
  const auto made = make(kSmallPool);
  EngineRig& rig = *made;
  const std::vector<Token> tokens = prompt(400);
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  wait_stored(rig);
  set_ram(rig, "67108864");
  push_out(rig);
  wait_stored(rig);
  struct Sums {
    std::uint64_t cold = 0, copied = 0, bytes = 0;
  };
  const auto sums = [](const Snapshot& seen) {
    Sums all;
    for (const TreeNode& node : *seen.tree) {
      EXPECT_LE(node.ram_blocks, node.disk_blocks);
      all.cold += node.disk_blocks;
      all.copied += node.ram_blocks;
      all.bytes += node.ram_bytes;
    }
    return all;
  };
  // All that left the pool has its copy in the end.
  ASSERT_TRUE(rig.wait_until([&](const Snapshot& seen) {
    const Sums now = sums(seen);
    return now.copied >= 12 && now.copied == now.cold && now.copied <= seen.store.ram_blocks;
  }));
  const auto seen = rig.fresh(rig.admin());
  EXPECT_EQ(sums(*seen).bytes, sums(*seen).copied * seen->pool.block_bytes);
  // What nobody moved in the tree is told as well.
  set_ram(rig, "0");
  ASSERT_TRUE(rig.wait_until([&](const Snapshot& now) { return sums(now).copied == 0; }));
  EXPECT_EQ(sums(*rig.fresh(rig.admin())).bytes, 0u);
}

TEST_P(RamCopiesOn, WithoutThemTheDiskAnswers) {
  const auto made = make(kSmallPool);
  EngineRig& rig = *made;
  set_ram(rig, "67108864");
  const std::vector<Token> tokens = prompt(400);
  const Collected cold = ask(rig, rig.admin(), tokens);
  wait_stored(rig);
  ASSERT_TRUE(wait_copies(rig, 12));
  push_out(rig);
  set_ram(rig, "0");
  ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.store.ram_blocks == 0; }));
  const Collected again = ask(rig, rig.admin(), tokens);
  expect_equal(cold, again);
  EXPECT_EQ(again.finished->verdict.tier, "disk");
  EXPECT_EQ(store(rig).ram_reads, 0u);
}

// What the fake device writes is nothing that a codec keeps.
class RamCopiesOfRounded : public RamCopiesOn {};
INSTANTIATE_TEST_SUITE_P(Device, RamCopiesOfRounded, ::testing::Values(true), [](const auto&) { return "cpu"; });

TEST_P(RamCopiesOfRounded, AreMadeAsTheBlocksLieOnDisk) {
  const auto made = make(kSmallPool);
  EngineRig& rig = *made;
  ASSERT_TRUE(set(rig, "store.codec", "int8").ok());
  set_ram(rig, "67108864");
  const std::vector<Token> tokens = prompt(400);
  ASSERT_TRUE(ask(rig, rig.admin(), tokens).ok());
  ASSERT_TRUE(rig.wait_until([](const Snapshot& seen) { return seen.store.rounded_blocks >= 13; }));
  ASSERT_TRUE(wait_copies(rig, 13));
  const engine::StoreInfo seen = store(rig);
  EXPECT_LT(seen.ram_bytes / seen.ram_blocks, 20'480u) << "a block of the pool";
  push_out(rig);
  const Collected again = ask(rig, rig.admin(), tokens);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.finished->verdict.tier, "ram");
  EXPECT_EQ(again.finished->verdict.lineage, kernels::KvScheme::kInt8);
}

TEST_P(RamCopiesOn, LocateNamesThemAndVerifyReadsTheDisk) {
  const auto made = make();
  EngineRig& rig = *made;
  set_ram(rig, "67108864");
  ASSERT_TRUE(ask(rig, rig.admin(), prompt(200)).ok());
  wait_stored(rig);
  ASSERT_TRUE(wait_copies(rig, 6));
  const auto located = rig.perform(rig.admin(), engine::Locate{.node = deepest(rig)});
  ASSERT_TRUE(located.ok());
  ASSERT_EQ(located->ranges.size(), 3u);
  EXPECT_EQ(located->ranges[0].tier, "host");
  EXPECT_EQ(located->ranges[1].tier, "ram");
  EXPECT_EQ(located->ranges[2].tier, "disk");
  EXPECT_EQ(located->ranges[1].bytes, located->ranges[2].bytes);
  const engine::StoreInfo before = store(rig);
  const JobInfo verified = run(rig, engine::VerifyBlocks{whole_tree(rig), false});
  EXPECT_EQ(verified.tally.damaged, 0u);
  const engine::StoreInfo after = store(rig);
  EXPECT_EQ(after.ram_reads, before.ram_reads);
  EXPECT_GT(after.read_bytes, before.read_bytes);
}

TEST_P(RamCopiesOn, MoreThanTheMachineHasIsRefusedAndNotWrittenDown) {
  const auto made = make();
  EngineRig& rig = *made;
  const Status refused = set(rig, "store.ram_bytes", "35184372088832");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_NE(refused.error().message.find("35184372088832"), std::string::npos);
  EXPECT_EQ(store(rig).ram_cap_bytes, 0u);
  EXPECT_FALSE(set(rig, "store.ram_bytes", "some").ok());
}

}  // namespace
}  // namespace larder::test
