// SPDX-License-Identifier: Apache-2.0
// A model answers under a load id until its weights' digest is known: what is found, what is said and what may leave
// memory before, at and after that moment.
#include <gtest/gtest.h>

#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using test::CacheWorld;
using test::joined;
using test::make_identity;
using test::make_load_identity;
using test::tokens_from;

const Digest256 kDigest = make_identity()->weights;

// The key as a process makes it that knew the digest from the start.
BlockKey fresh_key(const CacheWorld& world, const std::vector<Token>& tokens) {
  const PromptKeys keys = chain_keys(world.scope, make_identity(), world.salt, tokens);
  const std::size_t whole = keys.blocks.size() * kernels::kBlockTokens;
  ChainKey key = whole == 0 ? keys.root : keys.blocks.back();
  if (whole < tokens.size()) key = next_key(world.scope->secret(), key, std::span(tokens).subspan(whole));
  return block_key(world.scope->secret(), *keys.identity, key);
}

TEST(LoadId, NoBlockHasAKeyUntilTheDigestComesAndThenTheRightOne) {
  CacheWorld world;
  const auto load = make_load_identity(1);
  world.identity = load;
  const auto prompt = tokens_from(1, 75);
  const Closed closed = world.serve(prompt);
  const auto early = world.cache.key_of(closed.end);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, ErrorCode::kUnavailable);
  load->learn_weights(kDigest);
  const auto key = world.cache.key_of(closed.end);
  ASSERT_TRUE(key.ok()) << to_string(key.error());
  EXPECT_EQ(*key, fresh_key(world, prompt));
  EXPECT_EQ(world.cache.key_of(NodeId{999}).error().code, ErrorCode::kNotFound);
}

// Everything that was begun under the load id goes on: a writer, its follower, a prompt whose keys wait in a queue.
TEST(LoadId, WhatRunsWhileTheDigestComesStaysValid) {
  CacheWorld world;
  const auto load = make_load_identity(1);
  world.identity = load;
  const auto prompt = tokens_from(1, 200);
  const OpenRequest follower = world.request(prompt);
  Claim leader = world.open(prompt);
  ASSERT_TRUE(world.run(leader, 100).ok());
  const NodeId growing = world.cache.describe().back().id;
  load->learn_weights(kDigest);
  EXPECT_EQ(world.cache.key_of(growing).error().code, ErrorCode::kConflict);
  EXPECT_EQ(world.cache.outlook(*follower.prompt, *follower.keys).leader, leader.seq());
  const OpenRequest newcomer = world.request(prompt);
  EXPECT_EQ(world.cache.outlook(*newcomer.prompt, *newcomer.keys).leader, leader.seq());
  EXPECT_EQ(world.cache.outlook(*newcomer.prompt, *newcomer.keys).cached_tokens, 100u);
  ASSERT_TRUE(world.run_prompt(leader).ok());
  for (Token token = 900; token < 940; ++token) ASSERT_TRUE(world.decode(leader, token).ok());
  const Closed closed = leader.close(CloseAs::kDone);
  EXPECT_EQ(world.cache.open(follower).reused_tokens(), 199u);
  EXPECT_EQ(world.cache.open(newcomer).reused_tokens(), 199u);
  EXPECT_EQ(*world.cache.key_of(closed.end), fresh_key(world, joined(prompt, tokens_from(900, 40))));
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(LoadId, GhostsAndPinsFollow) {
  CacheWorld world({.blocks = 8, .longest = 2, .pin_budget = 4});
  const auto load = make_load_identity(1);
  world.identity = load;
  const auto pinned = tokens_from(1, 64);
  PinRequest pin;
  pin.node = world.serve(pinned).end;
  ASSERT_TRUE(world.cache.pin(pin).ok());
  const auto lost = tokens_from(1000, 70);
  (void)world.serve(lost);
  (void)world.serve(tokens_from(2000, 190));
  load->learn_weights(kDigest);
  EXPECT_EQ(world.open(pinned).reused_tokens(), 63u);
  const Verdict verdict = world.open(lost).verdict();
  EXPECT_EQ(verdict.kind, VerdictKind::kEvicted);
  EXPECT_EQ(verdict.eviction->lost_tokens, 69u);  // its tail, too
  EXPECT_EQ(*world.cache.key_of(world.cache.pins().front().node), fresh_key(world, pinned));
  // The next load of the same file knows the digest at once.
  world.identity = make_identity();
  EXPECT_EQ(world.open(lost).verdict().kind, VerdictKind::kEvicted);
}

TEST(LoadId, IsNeverGivenAsAnotherIdentity) {
  CacheWorld world;
  const auto prompt = tokens_from(1, 100);
  (void)world.serve(prompt);
  const auto again = make_load_identity(1);
  world.identity = again;
  EXPECT_EQ(world.open(prompt).verdict().kind, VerdictKind::kCold);
  (void)world.serve(prompt);
  const auto once_more = make_load_identity(2);
  world.identity = once_more;
  EXPECT_EQ(world.open(prompt).verdict().kind, VerdictKind::kCold);
  again->learn_weights(kDigest);
  EXPECT_EQ(world.open(prompt).verdict().kind, VerdictKind::kCold);
  // Other weights are named as soon as they are known to be others.
  Digest256 other{};
  once_more->learn_weights(other);
  const Verdict verdict = world.open(prompt).verdict();
  EXPECT_EQ(verdict.kind, VerdictKind::kOtherIdentity);
  EXPECT_EQ(verdict.identity_part, "weights");
}

TEST(LoadId, APartThatIsKnownToDifferIsNamedAtOnce) {
  CacheWorld world;
  const auto prompt = tokens_from(1, 100);
  (void)world.serve(prompt);
  const auto load = make_load_identity(1);
  load->rope = "base 500000";
  world.identity = load;
  const Verdict verdict = world.open(prompt).verdict();
  EXPECT_EQ(verdict.kind, VerdictKind::kOtherIdentity);
  EXPECT_EQ(verdict.identity_part, "rope");
}

TEST(LoadId, TwoLoadsShareNothing) {
  CacheWorld world;
  const auto prompt = tokens_from(1, 100);
  world.identity = make_load_identity(1);
  (void)world.serve(prompt);
  world.identity = make_load_identity(1);
  EXPECT_EQ(world.reuse_of(prompt), 0u);
}

}  // namespace
}  // namespace larder::kv
