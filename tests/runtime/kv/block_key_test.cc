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

std::string hex(const BlockKey& key) {
  std::string text;
  char digits[3];
  for (const std::uint8_t byte : key) {
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

TEST(BlockKey, ChainGivesOneKeyPerFullBlockAndDependsOnEveryTokenBefore) {
  const auto tokens = tokens_from(1, 100);
  const PromptKeys keys = chain_keys(make_scope(1), make_identity(), "", tokens);
  ASSERT_EQ(keys.blocks.size(), 3u);
  ASSERT_EQ(keys.neutral.size(), 3u);
  auto changed = tokens;
  changed[0] += 1;
  const PromptKeys others = chain_keys(make_scope(1), make_identity(), "", changed);
  EXPECT_EQ(others.root, keys.root);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NE(others.blocks[i], keys.blocks[i]);
}

TEST(BlockKey, NextKeyContinuesTheChain) {
  const auto tokens = tokens_from(5, 96);
  const auto scope = make_scope(3);
  const PromptKeys keys = chain_keys(scope, make_identity(), "salt", tokens);
  const std::span<const Token> all(tokens);
  EXPECT_EQ(next_key(scope->secret(), keys.root, all.first(32)), keys.blocks[0]);
  EXPECT_EQ(next_key(scope->secret(), keys.blocks[1], all.subspan(64, 32)), keys.blocks[2]);
  EXPECT_EQ(next_neutral_key(scope->secret(), keys.neutral[1], all.subspan(64, 32)), keys.neutral[2]);
}

TEST(BlockKey, SealedTailsKeyIncludesItsTokenCount) {
  const auto scope = make_scope(3);
  const std::vector<Token> zeros(32, 0);
  std::set<BlockKey> keys;
  for (std::size_t count = 1; count <= 32; ++count) {
    keys.insert(next_key(scope->secret(), BlockKey{}, std::span(zeros).first(count)));
  }
  EXPECT_EQ(keys.size(), 32u);
}

// The same bytes in another field, or cut elsewhere between two fields, are another key.
TEST(BlockKey, AThousandConfusableFieldPairsHaveDistinctRoots) {
  std::set<BlockKey> roots;
  std::size_t made = 0;
  const auto add = [&](const Identity& identity, const std::string& salt, std::uint8_t scope) {
    roots.insert(chain_keys(make_scope(scope), std::make_shared<const Identity>(identity), salt, {}).root);
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
  EXPECT_EQ(roots.size(), made);
}

TEST(BlockKey, NeutralChainIgnoresIdentityAndNeverEqualsTheRealOne) {
  auto other = make_identity();
  other->weights.fill(9);
  const auto tokens = tokens_from(1, 64);
  const PromptKeys a = chain_keys(make_scope(1), make_identity(), "s", tokens);
  const PromptKeys b = chain_keys(make_scope(1), other, "s", tokens);
  EXPECT_EQ(a.neutral, b.neutral);
  EXPECT_NE(a.blocks, b.blocks);
  EXPECT_NE(a.neutral[0], a.blocks[0]);
  EXPECT_NE(chain_keys(make_scope(2), make_identity(), "s", tokens).neutral, a.neutral);
}

// Pinned, so that a store written by one build is read by the next. Computed apart from this code, with Python's
// hashlib.blake2b over the bytes that block_key.h describes.
TEST(BlockKey, GoldenVectorStaysTheSame) {
  Identity identity;
  identity.rope = "base 10000";
  identity.arithmetic_id = "cpu/portable/1";
  const auto tokens = tokens_from(1, 32);
  const PromptKeys keys = chain_keys(make_scope(1), std::make_shared<const Identity>(identity), "a", tokens);
  EXPECT_EQ(hex(keys.root), "3a2cf603e17612eab4bfcee1a29b5c97c483bdd73665ffb8faab4b664d7d7fd2");
  EXPECT_EQ(hex(keys.blocks[0]), "d3c47970537fb33019c62b6c63b01285e3b936f32132b8bb52f0654d5cd9458e");
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
