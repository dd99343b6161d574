// SPDX-License-Identifier: Apache-2.0
// What the cold blocks of a prompt are called: keys that are made once and carried to what reads them, and what copies
// of them in memory do to the rows of the tree.
#include <gtest/gtest.h>

#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using test::CacheWorld;
using test::tokens_from;

// Five blocks of a prompt that lie below a pool which is too small for another one besides.
class ColdNamesOf : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.serve(prompt_);
    world_.store_all();
    world_.serve(tokens_from(1000, 250));
    names_ = names();
    ASSERT_EQ(names_.keys.size(), 5u);
  }

  ColdNames names() {
    const OpenRequest wanted = world_.request(prompt_);
    return world_.cache.cold_names(*wanted.prompt, *wanted.keys);
  }

  // What an arrival would read; it is given up.
  std::vector<ColdBlock> read_by(const ColdPart& part) {
    const OpenRequest wanted = world_.request(prompt_);
    auto arrival = world_.cache.begin_arrival(*wanted.prompt, *wanted.keys, wanted.request, wanted.tenant, part);
    EXPECT_TRUE(arrival.ok() && arrival->open());
    std::vector<ColdBlock> blocks;
    for (std::size_t i = 0; i < arrival->blocks().size(); ++i) {
      blocks.push_back(arrival->blocks()[i].cold);
      arrival->missed(i, false);
    }
    return blocks;
  }

  static void expect_same_keys(const std::vector<ColdBlock>& a, const std::vector<ColdBlock>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].key, b[i].key) << i;
      EXPECT_EQ(a[i].parent, b[i].parent) << i;
    }
  }

  // Blocks that the rows count as copied, and where the first of them stands.
  std::pair<std::uint32_t, std::uint32_t> copied_of(std::span<const BlockKey> copies) {
    const CopiedNodes copied = world_.cache.cold_among(copies);
    std::pair<std::uint32_t, std::uint32_t> sum{0, 0};
    for (const TreeRow& row : world_.cache.describe(copied)) {
      EXPECT_LE(row.ram_blocks, row.blocks - row.resident_blocks);
      sum.first += row.ram_blocks;
      if (row.ram_blocks > 0) sum.second = row.ram_position;
    }
    EXPECT_EQ(sum.first, copied.size());
    return sum;
  }

  CacheWorld world_{{.blocks = 8, .longest = 4, .lower_tier = true}};
  const std::vector<Token> prompt_ = tokens_from(1, 130);
  ColdNames names_;
};

TEST_F(ColdNamesOf, KeysThatWereMadeForAPromptAreCarriedToWhatReadsIt) {
  const std::vector<ColdBlock> made = read_by({});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(made[i].key, names_.keys[i]) << i;
  expect_same_keys(made, read_by({0, 9, &names_}));
  expect_same_keys({made.begin() + 2, made.end()}, read_by({2, 9, &names_}));
  ColdNames marked = names_;
  marked.keys[1][0] ^= 1;
  const std::vector<ColdBlock> carried = read_by({0, 9, &marked});
  EXPECT_EQ(carried[1].key, marked.keys[1]);
  EXPECT_EQ(carried[2].parent, marked.keys[1]);
  EXPECT_EQ(carried[2].key, made[2].key);
  EXPECT_EQ(world_.cache.audit(), "");
}

TEST_F(ColdNamesOf, KeysOfOtherNodesOrPlacesAreMadeAgain) {
  const std::vector<ColdBlock> made = read_by({});
  ColdNames moved = names_;
  moved.first_position += 32;
  for (BlockKey& key : moved.keys) key[5] ^= 1;
  expect_same_keys(made, read_by({0, 9, &moved}));
  ColdNames another = names_;
  for (NodeId& node : another.nodes) node.value += 100;
  for (BlockKey& key : another.keys) key[5] ^= 1;
  expect_same_keys(made, read_by({0, 9, &another}));
  ColdNames shorter = names_;
  shorter.nodes.resize(2);
  shorter.keys.resize(2);
  expect_same_keys(made, read_by({0, 9, &shorter}));
  EXPECT_EQ(names_.key_of(names_.nodes[3], 96), &names_.keys[3]);
  EXPECT_EQ(names_.key_of(names_.nodes[3], 64), nullptr);
  EXPECT_EQ(names_.key_of(names_.nodes[3], 32 * 99), nullptr);
}

TEST_F(ColdNamesOf, ARowCountsItsColdBlocksThatAreCopiedInMemory) {
  const std::vector<BlockKey>& keys = names_.keys;
  EXPECT_EQ(copied_of({}), std::pair(0u, 0u));
  EXPECT_EQ(copied_of(keys), std::pair(5u, 0u));
  EXPECT_EQ(copied_of(std::span(keys).subspan(2, 2)), std::pair(2u, 64u));
  EXPECT_EQ(copied_of(std::vector<BlockKey>{BlockKey{}, keys[4]}), std::pair(1u, 128u)) << "one that is not here";
  for (const TreeRow& row : world_.cache.describe()) EXPECT_EQ(row.ram_blocks, 0u);
  EXPECT_EQ(world_.restore(prompt_), 130u);
  EXPECT_EQ(copied_of(keys), std::pair(0u, 0u)) << "they are in the pool again";
}

}  // namespace
}  // namespace larder::kv
