// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/kv/block_range.h"
#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using test::CacheWorld;
using test::joined;
using test::round_all;
using test::rounded_identity;
using test::tokens_from;

// A pool so small that the second prompt pushes the first one out.
std::unique_ptr<CacheWorld> small_world() {
  return std::make_unique<CacheWorld>(test::WorldOptions{.blocks = 8, .longest = 4, .lower_tier = true});
}

// Served, stored, and pushed out of the small pool by another prompt.
void put_below(CacheWorld& world, const std::vector<Token>& prompt) {
  world.serve(prompt);
  world.store_all();
  world.serve(tokens_from(1000, 250));
}

ColdNames cold_names(CacheWorld& world, const std::vector<Token>& prompt) {
  const OpenRequest wanted = world.request(prompt);
  return world.cache.cold_names(*wanted.prompt, *wanted.keys);
}

std::vector<ColdBlock> listed(const CacheWorld& world) {
  std::vector<ColdBlock> blocks;
  for (const auto& [key, copy] : world.below) blocks.push_back(copy.cold);
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const auto& a, const auto& b) { return a.first_position < b.first_position; });
  return blocks;
}

std::vector<ChainedBlock> listing(const CacheWorld& world, std::size_t expected_lost = 0) {
  std::vector<StoredName> lost;
  const std::vector<tenant::Scope> scopes{world.scope};
  std::vector<ChainedBlock> chained = chain_listing(listed(world), scopes, *world.identity, lost);
  EXPECT_EQ(lost.size(), expected_lost);
  return chained;
}

TEST(Tiers, ABlockIsAskedForOnceAndParentsComeFirst) {
  CacheWorld world({.lower_tier = true});
  world.serve(tokens_from(1, 100));
  std::vector<std::uint32_t> positions;
  while (const auto next = world.cache.next_unstored()) {
    positions.push_back(next->cold.first_position);
    EXPECT_EQ(next->cold.tokens[0], static_cast<Token>(1 + next->cold.first_position));
    EXPECT_EQ(next->cold.valid, next->cold.first_position == 96 ? 4u : 32u);
  }
  EXPECT_EQ(positions, (std::vector<std::uint32_t>{0, 32, 64, 96}));
  EXPECT_FALSE(world.cache.next_unstored().has_value());
}

TEST(Tiers, WhatIsComputedBelowAForeignRootIsNotWrittenDown) {
  CacheWorld world({.lower_tier = true});
  auto foreign = test::make_identity();
  foreign->arithmetic_id = "another";
  foreign->foreign = 1;
  world.identity = foreign;
  world.serve(tokens_from(1, 100));
  EXPECT_FALSE(world.cache.next_unstored().has_value());
  NodeId end{};
  for (const TreeRow& row : world.cache.describe()) {
    EXPECT_TRUE(row.foreign);
    end = row.id;
  }
  EXPECT_FALSE(world.cache.unstored(end).has_value());
  EXPECT_TRUE(world.cache.facts(end).foreign);
  PinRequest pin;
  pin.node = end;
  ASSERT_TRUE(world.cache.pin(pin).ok());
  world.cache.store_again(end);
  EXPECT_FALSE(world.cache.has_unstored());
  Claim again = world.open(tokens_from(1, 100));
  EXPECT_TRUE(again.verdict().foreign);
}

TEST(Tiers, WithoutALowerTierNothingIsRemembered) {
  CacheWorld world;
  world.serve(tokens_from(1, 100));
  EXPECT_FALSE(world.cache.next_unstored().has_value());
}

TEST(Tiers, AStoredBlockGivesWayAndIsFoundAgain) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 130);
  put_below(*world, prompt);
  EXPECT_EQ(world->cache.counts().evicted_blocks, 0u);
  EXPECT_GE(world->cache.counts().cooled_blocks, 4u);
  EXPECT_EQ(world->restore(prompt), 130u);
  EXPECT_EQ(world->cache.audit(), "");
  Claim again = world->open(prompt);
  EXPECT_EQ(again.reused_tokens(), 129u);
  EXPECT_EQ(again.verdict().kind, VerdictKind::kFullPrefix);
  EXPECT_TRUE(world->run_prompt(again).ok());
}

TEST(Tiers, WhatLeftThePoolIsToldOnceTheLastFirst) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 130);
  put_below(*world, prompt);
  const ColdNames cold = cold_names(*world, prompt);
  ASSERT_EQ(cold.keys.size(), 5u);
  std::vector<StoredName> told = world->cache.take_cooled(2);
  ASSERT_EQ(told.size(), 2u);
  for (const StoredName& name : world->cache.take_cooled(100)) told.push_back(name);
  EXPECT_TRUE(world->cache.take_cooled(100).empty());
  ASSERT_EQ(told.size(), 5u);
  // Leaves go first, so the root's block is the last that left.
  for (std::size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i].key, cold.keys[i]) << i;
}

TEST(Tiers, WhatIsBackInThePoolOrHasNoCopyAnyMoreIsNotTold) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 130);
  put_below(*world, prompt);
  const ColdNames cold = cold_names(*world, prompt);
  world->cache.drop_stored(cold.keys.back());
  EXPECT_EQ(world->restore(prompt), 128u);
  EXPECT_TRUE(cold_names(*world, prompt).keys.empty());
  EXPECT_TRUE(world->cache.take_cooled(100).empty());
}

TEST(Tiers, ASmallerPoolDemotesWhatIsStored) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 130);
  world->serve(prompt);
  world->store_all();
  const std::uint32_t before = world->cache.counts().pool.total;
  world->cache.set_block_limit(1);
  EXPECT_EQ(world->cache.trim(100), 0u);
  EXPECT_EQ(world->cache.counts().evicted_blocks, 0u);
  EXPECT_EQ(world->cache.counts().cooled_blocks, 4u);
  EXPECT_EQ(world->restore(prompt), 0u);
  world->cache.set_block_limit(before);
  EXPECT_EQ(world->restore(prompt), 98u) << "all but the block that stayed";
  EXPECT_EQ(world->reuse_of(prompt), 129u);
  EXPECT_EQ(world->cache.audit(), "");
}

TEST(Tiers, WhatLiesBelowAndIsNotBroughtUpIsNotReadAndSaysSo) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 130);
  put_below(*world, prompt);
  const Claim claim = world->open(prompt);
  EXPECT_EQ(claim.reused_tokens(), 0u);
  EXPECT_EQ(claim.verdict().kind, VerdictKind::kEvicted);
  EXPECT_EQ(claim.verdict().eviction->policy, "demoted");
}

TEST(Tiers, WhatWasNotStoredIsEvictedAsEver) {
  const auto world = small_world();
  world->serve(tokens_from(1, 130));
  world->serve(tokens_from(1000, 250));
  EXPECT_GT(world->cache.counts().evicted_blocks, 0u);
  EXPECT_EQ(world->cache.counts().cooled_blocks, 0u);
  EXPECT_EQ(world->restore(tokens_from(1, 130)), 0u);
}

TEST(Tiers, ADamagedCopyTakesItsDescendantsAlongAndNothingElse) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 130);
  put_below(*world, prompt);
  std::erase_if(world->below, [](const auto& each) { return each.second.cold.first_position == 64; });
  EXPECT_EQ(world->restore(prompt), 64u);
  EXPECT_EQ(world->cache.audit(), "");
  EXPECT_EQ(world->reuse_of(prompt), 64u);
  std::vector<std::uint32_t> dropped;
  for (const StoredName& name : world->cache.take_lost()) {
    dropped.push_back(world->below.at(name.key).cold.first_position);
  }
  std::sort(dropped.begin(), dropped.end());
  EXPECT_EQ(dropped, (std::vector<std::uint32_t>{96, 128}));
}

TEST(Tiers, TwoRequestsDoNotReadTheSameBlocksTwice) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 100);
  put_below(*world, prompt);
  const OpenRequest wanted = world->request(prompt);
  auto first = world->cache.begin_arrival(*wanted.prompt, *wanted.keys, wanted.request, wanted.tenant);
  ASSERT_TRUE(first.ok() && first->open());
  const auto second = world->cache.begin_arrival(*wanted.prompt, *wanted.keys, wanted.request, wanted.tenant);
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->open());
  for (std::size_t i = 0; i < first->blocks().size(); ++i) first->missed(i, false);
  EXPECT_EQ(world->cache.audit(), "");
}

TEST(Tiers, ARequestThatDoesNotWaitGivesItsBlockToTheColdNode) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 100);
  put_below(*world, prompt);
  const OpenRequest wanted = world->request(prompt);
  auto arrival = world->cache.begin_arrival(*wanted.prompt, *wanted.keys, wanted.request, wanted.tenant);
  ASSERT_TRUE(arrival.ok() && arrival->open());
  Claim impatient = world->open(prompt);
  ASSERT_TRUE(world->run_prompt(impatient).ok());
  EXPECT_EQ(impatient.close(CloseAs::kDone).kept_tokens, 100u);
  for (std::size_t i = 0; i < arrival->blocks().size(); ++i) {
    ASSERT_TRUE(world->read_up(arrival->blocks()[i]));
    arrival->arrived(i, 1);
  }
  EXPECT_EQ(world->cache.audit(), "");
  EXPECT_EQ(world->reuse_of(prompt), 99u);
}

TEST(Tiers, ColdNodesKeepToTheirBoundAndTheirCopiesStay) {
  CacheWorld world({.blocks = 8, .longest = 4, .lower_tier = true, .max_cold_nodes = 6});
  for (Token first = 1000; first < 20'000; first += 1000) {
    world.serve(tokens_from(first, 70));
    world.store_all();
    EXPECT_EQ(world.cache.audit(), "");
    std::uint32_t cold = 0;
    for (const TreeRow& row : world.cache.describe()) cold += row.blocks - row.resident_blocks;
    EXPECT_LE(cold, 6u);
  }
  EXPECT_EQ(world.below.size(), 19u * 3);
  EXPECT_TRUE(world.cache.take_lost().empty());
  EXPECT_EQ(world.cache.counts().forgotten_cold, 19u * 3 - world.cache.counts().nodes);
  // The last ones are known, the first ones are not.
  EXPECT_EQ(world.restore(tokens_from(18'000, 70)) + world.reuse_of(tokens_from(18'000, 70)) > 0, true);
  EXPECT_EQ(world.restore(tokens_from(1000, 70)), 0u);
}

// Another model's blocks below are named, unless the same start is cached under this one.
TEST(Tiers, BlocksOfAnotherIdentityAreNamed) {
  CacheWorld before({.lower_tier = true});
  auto other = test::make_identity();
  other->arithmetic_id = "cpu/other/1";
  before.identity = other;
  before.serve(tokens_from(1, 100));
  before.store_all();
  CacheWorld world({.lower_tier = true});
  std::vector<StoredName> lost;
  const std::vector<tenant::Scope> scopes{world.scope};
  std::vector<OtherMark> marks;
  for (const ChainedBlock& block : chain_listing(listed(before), scopes, *other, lost)) {
    marks.push_back({block.chain, block.cold.scope, other});
  }
  world.cache.note_others(marks);
  {
    const Claim claim = world.open(tokens_from(1, 100));
    EXPECT_EQ(claim.verdict().kind, VerdictKind::kOtherIdentity);
    EXPECT_EQ(claim.verdict().identity_part, "arithmetic");
  }
  world.serve(tokens_from(1, 100));
  world.cache.note_others(marks);
  const Claim again = world.open(tokens_from(1, 100));
  EXPECT_EQ(again.verdict().kind, VerdictKind::kFullPrefix);
}

// The start is computed while the rest is read.
TEST(Tiers, BlocksBelowAColdStartAreFoundOnceItIsThere) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 130);
  put_below(*world, prompt);
  const OpenRequest wanted = world->request(prompt);
  auto arrival = world->cache.begin_arrival(*wanted.prompt, *wanted.keys, wanted.request, wanted.tenant, {2, 9});
  ASSERT_TRUE(arrival.ok() && arrival->open());
  ASSERT_EQ(arrival->blocks().size(), 3u);
  EXPECT_EQ(arrival->blocks().front().cold.first_position, 64u);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(world->read_up(arrival->blocks()[i]));
    arrival->arrived(i, 1);
  }
  arrival->look_again();
  EXPECT_EQ(arrival->warmed_tokens(), 0u);
  EXPECT_EQ(world->reuse_of(prompt), 0u);
  world->serve(tokens_from(1, 64));
  arrival->look_again();
  EXPECT_TRUE(arrival->complete());
  EXPECT_EQ(world->cache.audit(), "");
  EXPECT_EQ(world->reuse_of(prompt), 129u);
}

TEST(Tiers, BlocksBelowAStartThatNeverComesAreGivenBack) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 130);
  put_below(*world, prompt);
  const std::uint32_t before = world->cache.available_blocks();
  const OpenRequest wanted = world->request(prompt);
  {
    auto arrival = world->cache.begin_arrival(*wanted.prompt, *wanted.keys, wanted.request, wanted.tenant, {1, 2});
    ASSERT_TRUE(arrival.ok() && arrival->open());
    ASSERT_EQ(arrival->blocks().size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(world->read_up(arrival->blocks()[i]));
      arrival->arrived(i, 1);
    }
  }
  EXPECT_EQ(world->cache.available_blocks(), before);
  EXPECT_EQ(world->cache.audit(), "");
  EXPECT_EQ(world->restore(prompt), 130u);
}

TEST(Tiers, WithoutRoomNothingChangesAndTheArithmeticIsGiven) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 130);
  world->serve(prompt);
  world->store_all();
  Claim running = world->open(tokens_from(1000, 250));
  ASSERT_TRUE(world->run_prompt(running).ok());
  const OpenRequest wanted = world->request(prompt);
  const auto refused = world->cache.begin_arrival(*wanted.prompt, *wanted.keys, wanted.request, wanted.tenant);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("bring 5 stored blocks up"), std::string::npos) << refused.error().message;
  EXPECT_EQ(world->cache.audit(), "");
}

TEST(Tiers, TheTreeComesBackFromAListing) {
  CacheWorld before({.lower_tier = true});
  const std::vector<Token> prompt = joined(tokens_from(1, 200), tokens_from(5000, 30));
  before.serve(prompt, {7, 8, 9});
  before.serve(joined(tokens_from(1, 150), tokens_from(9000, 50)));
  before.store_all();
  CacheWorld after({.lower_tier = true});
  after.below = before.below;
  const std::vector<ChainedBlock> blocks = listing(after);
  EXPECT_EQ(blocks.size(), after.below.size());
  EXPECT_EQ(after.cache.adopt(blocks, after.identity), blocks.size());
  EXPECT_EQ(after.cache.audit(), "");
  EXPECT_EQ(after.cache.counts().pool.free, after.cache.counts().pool.total);
  EXPECT_TRUE(after.cache.take_lost().empty());
  EXPECT_EQ(after.restore(joined(prompt, {7, 8, 9})), 233u);
  EXPECT_EQ(after.reuse_of(joined(prompt, {7, 8, 9})), 232u);
  EXPECT_EQ(after.cache.adopt(blocks, after.identity), blocks.size());  // told again: nothing doubles
  EXPECT_EQ(after.cache.counts().nodes, blocks.size());
  EXPECT_EQ(after.cache.audit(), "");
}

TEST(Tiers, ARoundedCopyIsFoundUnderItsOwnLineageAndNoOther) {
  const auto world = small_world();
  const std::vector<Token> prompt = tokens_from(1, 130);
  const auto exact = world->identity;
  const auto rounded = rounded_identity();
  world->serve(prompt);
  round_all(*world, rounded);
  EXPECT_EQ(world->cache.audit(), "");
  EXPECT_EQ(world->reuse_of(prompt), 129u);  // still exact, in the pool
  world->serve(tokens_from(1000, 250));
  EXPECT_GT(world->cache.counts().evicted_blocks, 0u);  // no copy holds its bits
  EXPECT_EQ(world->restore(prompt), 0u);
  EXPECT_EQ(world->open(prompt).verdict().kind, VerdictKind::kEvicted);

  world->identity = rounded;
  EXPECT_EQ(world->restore(prompt), 130u);
  {
    const Claim claim = world->open(prompt);
    EXPECT_EQ(claim.reused_tokens(), 129u);
    EXPECT_EQ(claim.verdict().lineage, kernels::KvScheme::kInt8);
  }
  world->identity = exact;
  Claim computed = world->open(prompt);
  EXPECT_EQ(computed.reused_tokens(), 0u);
  EXPECT_EQ(computed.verdict().lineage, kernels::KvScheme::kExact);
  EXPECT_EQ(world->cache.audit(), "");
}

TEST(Tiers, WhatContinuesARoundedBlockIsRoundedToo) {
  CacheWorld world({.lower_tier = true});
  const std::vector<Token> prompt = tokens_from(1, 64);
  const auto exact = world.identity;
  const auto rounded = rounded_identity();
  world.serve(prompt);
  round_all(world, rounded);
  world.identity = rounded;
  EXPECT_EQ(world.restore(prompt), 64u);
  world.serve(joined(prompt, tokens_from(7000, 40)));
  const auto next = world.cache.next_unstored();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->cold.first_position, 64u);
  EXPECT_EQ(next->cold.key, world.cache.under(next->node, *rounded)->cold.key);
  world.identity = exact;
  EXPECT_EQ(world.reuse_of(joined(prompt, tokens_from(7000, 40))), 64u);
}

TEST(Tiers, AListedBlockWithoutItsParentIsLost) {
  CacheWorld before({.lower_tier = true});
  before.serve(tokens_from(1, 100));
  before.store_all();
  std::erase_if(before.below, [](const auto& each) { return each.second.cold.first_position == 32; });
  CacheWorld after({.lower_tier = true});
  EXPECT_EQ(after.cache.adopt(listing(before, 2), after.identity), 1u);
}

TEST(Tiers, AListedBlockOfAnotherIdentityScopeOrTextIsLost) {
  CacheWorld before({.lower_tier = true});
  before.serve(tokens_from(1, 100));
  before.store_all();
  std::vector<StoredName> lost;
  auto other = test::make_identity();
  other->rope = "base 500000";
  const std::vector<tenant::Scope> scopes{before.scope};
  EXPECT_TRUE(chain_listing(listed(before), scopes, *other, lost).empty());
  EXPECT_EQ(lost.size(), 4u);
  const std::vector<tenant::Scope> strangers{test::make_scope(99)};
  EXPECT_TRUE(chain_listing(listed(before), strangers, *before.identity, lost).empty());
  std::vector<ColdBlock> altered = listed(before);
  ++altered[1].tokens[5];
  EXPECT_EQ(chain_listing(altered, scopes, *before.identity, lost).size(), 1u);
  altered = listed(before);
  altered[0].valid = 0;
  altered[1].first_position = 33;
  EXPECT_TRUE(chain_listing(altered, scopes, *before.identity, lost).empty());
}

TEST(Tiers, NothingLeavesMemoryBeforeTheDigestOfTheWeightsIsKnown) {
  CacheWorld world({.lower_tier = true});
  const auto load = test::make_load_identity(1);
  world.identity = load;
  world.serve(tokens_from(1, 100));
  EXPECT_FALSE(world.cache.next_unstored().has_value());
  load->learn_weights(test::make_identity()->weights);
  std::uint32_t blocks = 0;
  while (world.cache.next_unstored()) ++blocks;
  EXPECT_EQ(blocks, 4u);
}

TEST(Tiers, ErasingAScopeForgetsItsColdNodesToo) {
  const auto world = small_world();
  put_below(*world, tokens_from(1, 100));
  (void)world->cache.erase_scope(world->scope->id());
  EXPECT_EQ(world->cache.counts().nodes, 0u);
  EXPECT_TRUE(world->cache.take_lost().empty());  // the scope's keys are destroyed instead
  EXPECT_EQ(world->cache.audit(), "");
}

TEST(Tiers, DeletingARunDropsItsCopies) {
  const auto world = small_world();
  const Closed closed = world->serve(tokens_from(1, 100));
  world->store_all();
  world->serve(tokens_from(1000, 250));
  const auto removed = world->cache.remove(closed.end, false, false);
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_EQ(removed->stored, 4u);
  EXPECT_EQ(world->cache.take_lost().size(), 4u);
  EXPECT_EQ(world->restore(tokens_from(1, 100)), 0u);
}

TEST(Tiers, APinOutlivesItsBlocksInThePoolAndGoesWithTheLastCopy) {
  const auto world = small_world();
  put_below(*world, tokens_from(1, 60));
  const std::vector<TreeRow> rows = world->cache.describe();
  const auto cold = std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row.resident_blocks == 0; });
  ASSERT_NE(cold, rows.end());
  PinRequest request;
  request.node = cold->id;
  ASSERT_TRUE(world->cache.pin(request).ok());
  EXPECT_EQ(world->restore(tokens_from(1, 60)), 60u);
  world->serve(tokens_from(2000, 190));
  EXPECT_EQ(world->reuse_of(tokens_from(1, 60)), 59u);  // pinned: it stayed
  EXPECT_EQ(world->cache.audit(), "");
}

}  // namespace
}  // namespace larder::kv
