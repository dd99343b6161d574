// SPDX-License-Identifier: Apache-2.0
// store.codec through the whole engine: rounded copies serve whoever asked for them, say so, and never stand in for
// exact ones. On the processor with the tiny model, whose heads are too small for int4.
#include <gtest/gtest.h>

#include <set>

#include "kernels/layout/kv_kept.h"
#include "runtime/engine/cold_tier.h"
#include "runtime/engine/lineages.h"
#include "tests/support/engine_rig.h"

namespace larder::test {
namespace {

using engine::Snapshot;
using kernels::KvScheme;
using kv::VerdictKind;

class Rounded : public ::testing::Test {
 protected:
  Rounded() {
    EngineRigOptions options;
    options.cpu = true;
    options.store = true;
    options.settings = {{"store.keep_free_bytes", "4096"}, {"store.restore", "always"}};
    rig_ = std::make_unique<EngineRig>(std::move(options));
    EXPECT_TRUE(rig_->wait_until([](const Snapshot& seen) {
      return !seen.models.empty() && seen.models.front().identity == engine::ModelInfo::Identity::kKnown;
    }));
  }

  void set_codec(const std::string& word) {
    ASSERT_TRUE(rig_->perform(rig_->admin(), engine::SetSetting{"store.codec", word}).ok());
  }

  std::vector<Token> prompt(std::size_t tokens) {
    std::vector<Token> made(tokens);
    for (Token& token : made) token = static_cast<Token>(3 + rng_.below(500));
    return made;
  }

  Collected ask(std::vector<Token> tokens) {
    engine::Request request = EngineRig::token_request(std::move(tokens), 6);
    request.sampling.temperature = 0;
    request.sampling.logprobs = true;
    Collected answer = rig_->ask(rig_->admin(), std::move(request));
    EXPECT_TRUE(answer.ok());
    return answer;
  }

  void wait_stored(std::uint64_t blocks) {
    ASSERT_TRUE(rig_->wait_until([&](const Snapshot& seen) {
      return seen.store.stored_blocks >= blocks && seen.store.queued_blocks == 0;
    }));
  }

  engine::StoreInfo store() { return rig_->fresh(rig_->admin())->store; }

  std::unique_ptr<EngineRig> rig_;
  Rng rng_{5};
};

TEST_F(Rounded, IsFoundAfterARestartAndNamedInTheVerdict) {
  set_codec("int8");
  const std::vector<Token> tokens = prompt(400);
  const Collected cold = ask(tokens);
  EXPECT_EQ(cold.finished->verdict.lineage, KvScheme::kExact);
  wait_stored(12);
  EXPECT_EQ(store().codec, "int8");
  EXPECT_GE(store().rounded_blocks, 12u);
  EXPECT_GT(store().codec_error, 0);
  EXPECT_LT(store().codec_error, engine::Lineages::bound(KvScheme::kInt8));
  rig_->reopen();
  const Collected again = ask(tokens);
  EXPECT_EQ(again.finished->verdict.kind, VerdictKind::kFullPrefix);
  EXPECT_EQ(again.finished->verdict.lineage, KvScheme::kInt8);
  EXPECT_EQ(again.finished->verdict.tier, "disk");
  EXPECT_GE(again.finished->usage.cached_tokens, 399u);
  EXPECT_NE(again.logprobs, cold.logprobs);  // it was rounded; were it equal, this would show an exact copy
  const auto seen = rig_->fresh(rig_->admin());
  EXPECT_TRUE(std::all_of(seen->tree->begin(), seen->tree->end(),
                          [](const engine::TreeNode& node) { return node.lineage == "int8"; }));
}

TEST_F(Rounded, IsNotFoundByWhoAsksForExact) {
  set_codec("int8");
  const std::vector<Token> tokens = prompt(400);
  const Collected cold = ask(tokens);
  wait_stored(12);
  set_codec("exact");
  rig_->reopen();
  const Collected again = ask(tokens);
  EXPECT_EQ(again.finished->usage.cached_tokens, 0u);
  EXPECT_EQ(again.tokens, cold.tokens);
  EXPECT_EQ(again.logprobs, cold.logprobs);
  // What was rounded before is there when it is asked for again, and the exact blocks in memory still come first.
  set_codec("int8");
  ASSERT_TRUE(rig_->wait_until([](const Snapshot& seen) {
    return seen.tree && std::any_of(seen.tree->begin(), seen.tree->end(),
                                    [](const engine::TreeNode& node) { return node.lineage == "int8"; });
  }));
  const Collected third = ask(tokens);
  EXPECT_EQ(third.finished->verdict.lineage, KvScheme::kExact);
  EXPECT_EQ(third.logprobs, cold.logprobs);
}

TEST_F(Rounded, WhatIsPinnedStaysExact) {
  set_codec("int8");
  const std::vector<Token> tokens = prompt(320);
  const Collected cold = ask(tokens);
  wait_stored(10);
  const auto tree = rig_->fresh(rig_->admin())->tree;
  const auto node = std::find_if(tree->begin(), tree->end(),
                                 [](const engine::TreeNode& each) { return each.lineage == "exact"; });
  ASSERT_NE(node, tree->end());
  ASSERT_TRUE(rig_->perform(rig_->admin(), engine::PinNode{node->id, "kept", 0, false}).ok());
  wait_stored(20);
  rig_->reopen();
  const Collected again = ask(tokens);
  EXPECT_EQ(again.finished->verdict.lineage, KvScheme::kExact);
  EXPECT_GE(again.finished->usage.cached_tokens, 319u);
  EXPECT_EQ(again.logprobs, cold.logprobs);
}

TEST_F(Rounded, ASchemeThatTheModelDoesNotAllowIsNotUsedAndSaysWhy) {
  set_codec("int4");
  const std::vector<Token> tokens = prompt(200);
  const Collected cold = ask(tokens);
  wait_stored(6);
  EXPECT_EQ(store().codec, "exact");
  EXPECT_NE(store().codec_note.find("int4"), std::string::npos) << store().codec_note;
  EXPECT_EQ(store().rounded_blocks, 0u);
  rig_->reopen();
  EXPECT_EQ(ask(tokens).logprobs, cold.logprobs);
}

std::uint32_t keeps_nothing(const kernels::KvEncodeArgs& args) {
  std::fill_n(args.coded, kernels::coded_slice_bytes(args.scheme, args.layout), std::byte{0});
  return 0;
}

TEST(Lineages, ACodecThatLosesTooMuchStepsBack) {
  auto exact = std::make_shared<kv::Identity>();
  kernels::KvLayout layout;
  layout.n_layers = 2;
  layout.n_kv_heads = 2;
  layout.d_head = 32;
  layout.type = kernels::KvType::kF32;
  std::vector<float> values(layout.block_bytes() / sizeof(float));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0f + static_cast<float>(i % 7);
  const std::span<const std::byte> block = std::as_bytes(std::span(values));

  engine::Lineages good;
  good.attach(exact, layout, exec::kv_codec());
  good.choose(KvScheme::kInt8);
  EXPECT_TRUE(good.sample(*good.chosen(), 32, block, kernels::kBlockTokens));
  EXPECT_GT(good.sampled_error(KvScheme::kInt8), 0);
  EXPECT_NE(good.chosen(), nullptr);
  EXPECT_EQ(good.note(), "");

  engine::Lineages bad;
  kernels::KvCodecKernels codec = exec::kv_codec();
  codec.encode = keeps_nothing;
  bad.attach(exact, layout, codec);
  bad.choose(KvScheme::kInt8);
  EXPECT_FALSE(bad.sample(**bad.named(KvScheme::kInt8), 32, block, kernels::kBlockTokens));
  EXPECT_EQ(bad.chosen(), nullptr);
  EXPECT_NE(bad.note().find("int8"), std::string::npos);
  EXPECT_EQ(bad.named(KvScheme::kInt8).error().code, ErrorCode::kConflict);
  bad.choose(KvScheme::kInt8);  // a setting that is applied again changes nothing
  EXPECT_EQ(bad.chosen(), nullptr);
  bad.choose(KvScheme::kInt4);
  EXPECT_NE(bad.chosen(), nullptr);
}

TEST(Lineages, Int4KeepsTheStartOfAPromptInInt8AndEachLineageHasItsName) {
  auto exact = std::make_shared<kv::Identity>();
  kernels::KvLayout layout;
  layout.n_layers = 2;
  layout.n_kv_heads = 2;
  layout.d_head = 64;
  layout.type = kernels::KvType::kF16;
  engine::Lineages lineages;
  lineages.attach(exact, layout, exec::kv_codec());
  kv::ColdBlock cold;
  cold.lineage = KvScheme::kInt4;
  std::set<Digest256> names;
  for (const bool by_name : {false, true}) {
    cold.by_name = by_name;
    for (const std::uint32_t position : {0u, 32u}) {
      cold.first_position = position;
      storage::StoredBlock stored;
      lineages.name(stored, cold);
      const KvScheme kept = position == 0 ? KvScheme::kInt8 : KvScheme::kInt4;
      EXPECT_EQ(stored.scheme, static_cast<std::uint32_t>(kept));
      EXPECT_EQ(stored.slice_bytes, kernels::coded_slice_bytes(kept, layout));
      EXPECT_EQ(stored.identity, kv::identity_digest(*lineages.identity_of(KvScheme::kInt4, by_name)));
      names.insert(stored.identity);
    }
  }
  EXPECT_EQ(names.size(), 2u);
  const std::size_t int4 = kernels::coded_block_bytes(KvScheme::kInt4, layout);
  EXPECT_EQ(kernels::kept_bytes(KvScheme::kInt4, 0, 3, layout),
            kernels::coded_block_bytes(KvScheme::kInt8, layout) + 2 * int4);
  EXPECT_EQ(kernels::kept_bytes(KvScheme::kInt4, 32, 3, layout), 3 * int4);
  EXPECT_EQ(lineages.rounded_digests().size(), 4u);
}

TEST(CopyIsGone, NotWhereItIsKeptInAFormThatIsNotReadHere) {
  EXPECT_FALSE(engine::copy_is_gone(storage::Miss::kWrongScheme));
  EXPECT_FALSE(engine::copy_is_gone(storage::Miss::kNoCodec));
  EXPECT_FALSE(engine::copy_is_gone(storage::Miss::kReadFailed));
  EXPECT_TRUE(engine::copy_is_gone(storage::Miss::kNotStored));
  EXPECT_TRUE(engine::copy_is_gone(storage::Miss::kSliceChecksum));
}

}  // namespace
}  // namespace larder::test
