// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/block_key.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <set>

#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using test::make_identity;
using test::make_scope;
using test::tokens_from;

std::string hex(const Digest256& key) {
  std::string text;
  char digits[3];
  for (const std::uint8_t byte : key) {
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

TEST(ChainKey, ChainGivesOneKeyPerFullBlockAndDependsOnEveryTokenBefore) {
  const auto tokens = tokens_from(1, 100);
  const PromptKeys keys = chain_keys(make_scope(1), make_identity(), "", tokens);
  ASSERT_EQ(keys.blocks.size(), 3u);
  auto changed = tokens;
  changed[0] += 1;
  const PromptKeys others = chain_keys(make_scope(1), make_identity(), "", changed);
  EXPECT_EQ(others.root, keys.root);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NE(others.blocks[i], keys.blocks[i]);
}

TEST(ChainKey, NextKeyContinuesTheChain) {
  const auto tokens = tokens_from(5, 96);
  const auto scope = make_scope(3);
  const PromptKeys keys = chain_keys(scope, make_identity(), "salt", tokens);
  const std::span<const Token> all(tokens);
  EXPECT_EQ(next_key(scope->secret(), keys.root, all.first(32)), keys.blocks[0]);
  EXPECT_EQ(next_key(scope->secret(), keys.blocks[1], all.subspan(64, 32)), keys.blocks[2]);
}

TEST(ChainKey, SealedTailsKeyIncludesItsTokenCount) {
  const auto scope = make_scope(3);
  const std::vector<Token> zeros(32, 0);
  std::set<ChainKey> keys;
  for (std::size_t count = 1; count <= 32; ++count) {
    keys.insert(next_key(scope->secret(), ChainKey{}, std::span(zeros).first(count)));
  }
  EXPECT_EQ(keys.size(), 32u);
}

// The same bytes in another field, or cut elsewhere between two fields, are another key.
TEST(BlockKey, AThousandConfusableFieldPairsHaveDistinctKeys) {
  std::set<BlockKey> keys;
  std::size_t made = 0;
  const auto add = [&](const Identity& identity, const std::string& salt, std::uint8_t scope) {
    const auto material = make_scope(scope);
    const ChainKey root = chain_keys(material, std::make_shared<const Identity>(identity), salt, {}).root;
    keys.insert(block_key(material->secret(), identity, root));
    ++made;
  };
  const std::string word = "COLLIDE_SALT";
  for (std::size_t cut = 0; cut <= word.size(); ++cut) {
    for (std::size_t second = cut; second <= word.size(); ++second) {
      Identity identity;
      identity.rope = word.substr(0, cut);
      identity.arithmetic_id = word.substr(cut, second - cut);
      for (std::uint8_t scope = 0; scope < 10; ++scope) add(identity, word.substr(second), scope);
    }
  }
  Identity adapter;
  std::copy(word.begin(), word.end(), adapter.adapter.begin());
  add(adapter, "", 0);
  Identity weights;
  std::copy(word.begin(), word.end(), weights.weights.begin());
  add(weights, "", 0);
  Identity int8;
  int8.kv_type = kernels::KvType::kI8;
  add(int8, "", 0);
  Identity layout;
  layout.layout_version = 2;
  add(layout, "", 0);
  EXPECT_GE(made, 900u);
  EXPECT_EQ(keys.size(), made);
}

TEST(BlockKey, TheChainKnowsNoIdentityAndTheBlockKeyDoes) {
  auto other = make_identity();
  other->weights.fill(9);
  const auto tokens = tokens_from(1, 64);
  const auto scope = make_scope(1);
  const PromptKeys a = chain_keys(scope, make_identity(), "s", tokens);
  const PromptKeys b = chain_keys(scope, other, "s", tokens);
  EXPECT_EQ(a.root, b.root);
  EXPECT_EQ(a.blocks, b.blocks);
  const BlockKey under_a = block_key(scope->secret(), *a.identity, a.blocks[1]);
  EXPECT_EQ(under_a, block_key(scope->secret(), *make_identity(), a.blocks[1]));
  EXPECT_NE(under_a, block_key(scope->secret(), *b.identity, a.blocks[1]));
  EXPECT_NE(under_a, a.blocks[1]);
  EXPECT_NE(chain_keys(make_scope(2), make_identity(), "s", tokens).blocks, a.blocks);
  EXPECT_NE(chain_keys(scope, make_identity(), "t", tokens).blocks, a.blocks);
}

TEST(BlockKey, IsNeverMadeFromALoadId) {
  Identity identity = *make_identity();
  const Identity known = identity;
  identity.weights_known = false;
  identity.weights.fill(200);
  const auto scope = make_scope(1);
  EXPECT_DEATH((void)block_key(scope->secret(), identity, ChainKey{}), "weights_known");
  identity.learn_weights(known.weights);
  EXPECT_EQ(identity, known);
  EXPECT_EQ(block_key(scope->secret(), identity, ChainKey{}), block_key(scope->secret(), known, ChainKey{}));
  EXPECT_DEATH(identity.learn_weights(known.weights), "weights_known");
}

// Pinned, so that a store written by one build is read by the next. Computed apart from this code, with Python's
// hashlib.blake2b over the bytes that block_key.h describes.
TEST(BlockKey, GoldenVectorStaysTheSame) {
  Identity identity;
  identity.rope = "base 10000";
  identity.arithmetic_id = "cpu/portable/1";
  const auto tokens = tokens_from(1, 32);
  const PromptKeys keys = chain_keys(make_scope(1), std::make_shared<const Identity>(identity), "a", tokens);
  EXPECT_EQ(hex(keys.root), "56a183540d3d53c0468871f8b4f76a5d4bba159d8cf8b8953e0dd4b5ce2003b5");
  EXPECT_EQ(hex(keys.blocks[0]), "6eaf2e7843ad2b076c2dbb6b1d43b4dbb93a0cfd0a85897a561e060e81470f7a");
  EXPECT_EQ(hex(block_key(make_scope(1)->secret(), identity, keys.blocks[0])),
            "808e499df18ecb65dbfc2db5affd748b7e73e1daf06c4c5904b48f7fed3411ee");
}

TEST(BlockKey, DifferingPartNamesTheFirst) {
  const auto base = make_identity();
  EXPECT_STREQ(differing_part(*base, *base), "");
  const auto with = [&base](const std::function<void(Identity&)>& change) {
    Identity identity = *base;
    change(identity);
    return std::string(differing_part(*base, identity));
  };
  EXPECT_EQ(with([](Identity& i) { i.weights.fill(1); }), "weights");
  EXPECT_EQ(with([](Identity& i) { i.rope = "x"; }), "rope");
  EXPECT_EQ(with([](Identity& i) { i.kv_type = kernels::KvType::kI8; }), "kv_type");
  EXPECT_EQ(with([](Identity& i) { i.layout_version = 9; }), "layout");
  EXPECT_EQ(with([](Identity& i) { i.adapter.fill(1); }), "adapter");
  EXPECT_EQ(with([](Identity& i) { i.arithmetic_id = "x"; }), "arithmetic");
  EXPECT_EQ(with([](Identity& i) { i.lineage = kernels::KvScheme::kInt8; }), "lineage");
  EXPECT_EQ(with([](Identity& i) { i.by_name = true; }), "lineage");
  // A load id may stand for these very weights.
  const auto load = [](Identity& i) {
    i.weights.fill(1);
    i.weights_known = false;
  };
  EXPECT_EQ(with(load), "");
  EXPECT_EQ(with([&load](Identity& i) { load(i), i.rope = "x"; }), "rope");
}

TEST(BlockKey, HundredThousandTokensTakeAFewMilliseconds) {
  const auto tokens = tokens_from(1, 100'000);
  const auto start = std::chrono::steady_clock::now();
  const PromptKeys keys = chain_keys(make_scope(1), make_identity(), "", tokens);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::printf("chaining the keys of 100,000 tokens: %.2f ms\n", ms);
  EXPECT_EQ(keys.blocks.size(), 3125u);
  EXPECT_LT(ms, 200.0);  // also under a sanitizer and beside other tests
}

}  // namespace
}  // namespace larder::kv
