// SPDX-License-Identifier: Apache-2.0
// The verdict of whole requests in a real cache: each kind, then the mixes that decide between two of them.
#include "runtime/kv/explain.h"

#include <gtest/gtest.h>

#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using test::CacheWorld;
using test::joined;
using test::tokens_from;

// A chat: 4 template tokens, a system text, then messages; each message is a section.
struct Chat {
  std::vector<Token> tokens = tokens_from(1, 4);
  std::vector<Section> sections = {{SectionKind::kTemplate, "template", 0, 0, 0, 4}};
  std::uint32_t last = 0;

  Chat& add(SectionKind kind, const std::string& label, const std::vector<Token>& text) {
    last = static_cast<std::uint32_t>(tokens.size());
    tokens = joined(std::move(tokens), text);
    sections.push_back({kind, label, 0, 0, last, static_cast<std::uint32_t>(tokens.size())});
    return *this;
  }
  Chat& system(Token first, std::size_t count) {
    return add(SectionKind::kSystem, "system", tokens_from(first, count));
  }
  Chat& user(Token first, std::size_t count) {
    return add(SectionKind::kMessage, "user message", tokens_from(first, count));
  }
};

Claim open(CacheWorld& world, const Chat& chat) {
  return world.cache.open(world.request(chat.tokens, chat.sections, chat.last));
}

Verdict verdict_of(CacheWorld& world, const Chat& chat) { return open(world, chat).verdict(); }

void serve(CacheWorld& world, const Chat& chat, const std::vector<Token>& answer = {}) {
  Claim claim = open(world, chat);
  ASSERT_TRUE(world.run_prompt(claim).ok());
  for (const Token token : answer) ASSERT_TRUE(world.decode(claim, token).ok());
  (void)claim.close(CloseAs::kDone);
}

TEST(Explain, FirstRequestIsCold) {
  CacheWorld world;
  const Verdict verdict = verdict_of(world, Chat().system(100, 60).user(500, 10));
  EXPECT_EQ(verdict.kind, VerdictKind::kCold);
  EXPECT_EQ(verdict.tier, "none");
  EXPECT_EQ(verdict.prompt_tokens, 74u);
}

TEST(Explain, SameSystemWithAnotherQuestionIsFullPrefix) {
  CacheWorld world;
  serve(world, Chat().system(100, 60).user(500, 10));
  const Verdict verdict = verdict_of(world, Chat().system(100, 60).user(900, 10));
  EXPECT_EQ(verdict.kind, VerdictKind::kFullPrefix);
  EXPECT_EQ(verdict.reused_tokens, 64u);
  EXPECT_EQ(verdict.tier, "host");
}

TEST(Explain, SamePromptAgainIsFullPrefixEvenWithoutSections) {
  CacheWorld world;
  (void)world.serve(tokens_from(1, 5));
  Claim claim = world.open(tokens_from(1, 5));
  EXPECT_EQ(claim.verdict().kind, VerdictKind::kFullPrefix);
  EXPECT_EQ(claim.verdict().reused_tokens, 4u);
}

TEST(Explain, NextTurnIsFullPrefixAlthoughTheAnswersLastTokenAndItsClosingAreNew) {
  CacheWorld world;
  Chat chat = Chat().system(100, 60).user(500, 10);
  const auto answer = tokens_from(700, 20);
  serve(world, chat, {answer.begin(), answer.end() - 1});  // the last sampled token is never run
  chat.add(SectionKind::kMessage, "assistant message", joined(answer, {2, 3})).user(900, 8);
  const Verdict verdict = verdict_of(world, chat);
  EXPECT_EQ(verdict.kind, VerdictKind::kFullPrefix);
  EXPECT_EQ(verdict.reused_tokens, 93u);
}

TEST(Explain, NewTextBeforeTheLastMessageIsNoFullPrefix) {
  CacheWorld world;
  Chat chat = Chat().system(100, 60).user(500, 10);
  serve(world, chat);
  chat.add(SectionKind::kTool, "tool result", tokens_from(3000, 40)).user(900, 8);
  const Verdict verdict = verdict_of(world, chat);
  EXPECT_EQ(verdict.kind, VerdictKind::kDiverged);
  EXPECT_EQ(verdict.divergence->token, 74u);
  EXPECT_EQ(verdict.divergence->cached, -1);
  EXPECT_TRUE(verdict.divergence->cached_run.empty());
  EXPECT_EQ(verdict.divergence->section, 3u);
}

// The clock in the system text: which token, in which section, both texts, and that the rest was equal again.
TEST(Explain, DivergenceNamesTokenSectionAndBothTexts) {
  CacheWorld world;
  serve(world, Chat().system(100, 60).user(500, 10));
  Chat changed = Chat().system(100, 60).user(500, 10);
  changed.tokens[24] = 9999;
  const Verdict verdict = verdict_of(world, changed);
  ASSERT_EQ(verdict.kind, VerdictKind::kDiverged);
  const Divergence& divergence = *verdict.divergence;
  EXPECT_EQ(divergence.token, 24u);
  EXPECT_EQ(divergence.section, 1u);
  EXPECT_EQ(divergence.here, 9999);
  EXPECT_EQ(divergence.cached, 120);
  ASSERT_EQ(divergence.here_run.size(), 16u);
  ASSERT_EQ(divergence.cached_run.size(), 16u);
  EXPECT_EQ(divergence.here_run[7], divergence.cached_run[7]);
  EXPECT_EQ(divergence.here_run[8], 9999);
  EXPECT_EQ(divergence.cached_run[8], 120);
  EXPECT_EQ(divergence.equal_after, 49u);  // all of the prompt behind it
  EXPECT_EQ(divergence.cached_by, RequestId{1});
  EXPECT_EQ(divergence.cached_owner, TenantId{1});
  EXPECT_EQ(verdict.reused_tokens, 24u);
}

TEST(Explain, OnlyTheTemplateInCommonIsCold) {
  CacheWorld world;
  serve(world, Chat().system(100, 60).user(500, 10));
  const Verdict verdict = verdict_of(world, Chat().system(7000, 60).user(500, 10));
  EXPECT_EQ(verdict.kind, VerdictKind::kCold);
  EXPECT_EQ(verdict.reused_tokens, 4u);
}

TEST(Explain, OneCommonTokenIsNoCommonStart) {
  CacheWorld world;
  (void)world.serve(joined({1}, tokens_from(100, 20)));
  Claim claim = world.open(joined({1}, tokens_from(200, 20)));
  EXPECT_EQ(claim.verdict().kind, VerdictKind::kCold);
}

TEST(Explain, EvictionNamesWhenByWhomAndUnderWhichPolicy) {
  CacheWorld world({.blocks = 6});
  const Chat chat = Chat().system(100, 90).user(500, 10);
  serve(world, chat);
  (void)verdict_of(world, chat);  // a hit, so that last_hit is set
  const WallTime hit = world.clock.wall();
  world.clock.advance_ns(5'000'000'000);
  world.tenant = TenantId{4};
  (void)world.serve(tokens_from(9000, 160));  // 5 of 6 blocks
  world.tenant = TenantId{1};
  const Verdict verdict = verdict_of(world, chat);
  ASSERT_EQ(verdict.kind, VerdictKind::kEvicted);
  EXPECT_EQ(verdict.eviction->at, world.clock.wall());
  EXPECT_EQ(verdict.eviction->by_request, RequestId{3});
  EXPECT_EQ(verdict.eviction->by_tenant, TenantId{4});
  EXPECT_EQ(verdict.eviction->policy, "lru");
  EXPECT_EQ(verdict.eviction->last_hit, hit);
  EXPECT_EQ(verdict.reused_tokens, 32u);
  EXPECT_EQ(verdict.eviction->lost_tokens, 103u - 32u);
}

TEST(Explain, ShortPromptThatWasEvictedSaysSoToo) {
  CacheWorld world({.blocks = 2});
  (void)world.serve(tokens_from(1, 20));
  (void)world.serve(tokens_from(9000, 64));
  Claim claim = world.open(tokens_from(1, 20));
  EXPECT_EQ(claim.verdict().kind, VerdictKind::kEvicted);
  EXPECT_EQ(claim.verdict().eviction->lost_tokens, 19u);
}

// A sibling is still there, but what this prompt lost is its own evicted continuation.
TEST(Explain, EvictedOutweighsASiblingWhenTheGhostExplainsMore) {
  CacheWorld world({.blocks = 8});
  const Chat mine = Chat().system(100, 60).add(SectionKind::kDocument, "document", tokens_from(3000, 64)).user(500, 4);
  const Chat other = Chat().system(100, 60).add(SectionKind::kDocument, "document", tokens_from(4000, 64)).user(500, 4);
  serve(world, mine);
  serve(world, other);
  (void)world.serve(tokens_from(9000, 96));
  const Verdict verdict = verdict_of(world, mine);
  EXPECT_EQ(verdict.kind, VerdictKind::kEvicted);
  EXPECT_EQ(verdict.reused_tokens, 64u);
  EXPECT_EQ(verdict_of(world, other).kind, VerdictKind::kFullPrefix);
}

// A ghost that shares a few tokens by chance is not the cause.
TEST(Explain, GhostOfAFewTokensDoesNotHideADivergence) {
  CacheWorld world({.blocks = 8});
  const auto document = joined({8, 9}, tokens_from(3000, 18));
  const Chat lost = Chat().system(100, 60).add(SectionKind::kDocument, "document", document);
  serve(world, lost);
  const Chat near = Chat().system(100, 60).add(SectionKind::kDocument, "document", tokens_from(4000, 60));
  serve(world, near);
  (void)world.serve(tokens_from(9000, 150));
  Chat chat = Chat().system(100, 60).add(SectionKind::kDocument, "document", joined({8, 9}, tokens_from(6000, 60)));
  chat.user(500, 10);
  EXPECT_EQ(verdict_of(world, chat).kind, VerdictKind::kDiverged);
}

TEST(Explain, FullPrefixOutweighsAnEvictedLastMessage) {
  CacheWorld world({.blocks = 6});
  serve(world, Chat().system(100, 60).user(500, 60));
  (void)world.serve(tokens_from(9000, 128));
  const Verdict verdict = verdict_of(world, Chat().system(100, 60).user(500, 60));
  EXPECT_EQ(verdict.reused_tokens, 64u);
  EXPECT_EQ(verdict.kind, VerdictKind::kFullPrefix);
}

TEST(Explain, DeletedByAnAdminReadsEvictedWithThatWord) {
  CacheWorld world;
  const Chat chat = Chat().system(100, 60).user(500, 10);
  Claim claim = open(world, chat);
  ASSERT_TRUE(world.run_prompt(claim).ok());
  const Closed closed = claim.close(CloseAs::kDone);
  ASSERT_TRUE(world.cache.remove(closed.end, false, false).ok());
  const auto rows = world.cache.describe();
  ASSERT_FALSE(rows.empty());
  ASSERT_TRUE(world.cache.remove(rows.front().id, false, false).ok());
  const Verdict verdict = verdict_of(world, chat);
  EXPECT_EQ(verdict.kind, VerdictKind::kEvicted);
  EXPECT_EQ(verdict.eviction->policy, "deleted");
  EXPECT_EQ(verdict.eviction->by_request, RequestId{});
}

TEST(Explain, SameTokensUnderAnotherKvTypeAreOtherIdentity) {
  CacheWorld world;
  const Chat chat = Chat().system(100, 60).user(500, 10);
  serve(world, chat);
  auto other = test::make_identity();
  other->kv_type = kernels::KvType::kI8;
  world.identity = other;
  const Verdict verdict = verdict_of(world, chat);
  EXPECT_EQ(verdict.kind, VerdictKind::kOtherIdentity);
  EXPECT_EQ(verdict.identity_part, "kv_type");
  EXPECT_EQ(verdict.reused_tokens, 0u);
}

TEST(Explain, OtherIdentityIsSeenOnlyInsideTheScope) {
  CacheWorld world;
  const Chat chat = Chat().system(100, 60).user(500, 10);
  serve(world, chat);
  auto other = test::make_identity();
  other->weights.fill(99);
  world.identity = other;
  world.scope = test::make_scope(2);
  EXPECT_EQ(verdict_of(world, chat).kind, VerdictKind::kCold);
}

TEST(Explain, EvictedComesBeforeOtherIdentity) {
  CacheWorld world({.blocks = 5});
  const Chat chat = Chat().system(100, 60).user(500, 10);
  const auto first = world.identity;
  serve(world, chat);
  (void)world.serve(tokens_from(9000, 160));
  auto other = test::make_identity();
  other->rope = "base 500000";
  world.identity = other;
  serve(world, chat);
  world.identity = first;
  EXPECT_EQ(verdict_of(world, chat).kind, VerdictKind::kEvicted);
}

TEST(Explain, OneTokenPromptThatIsKnownIsTooShort) {
  CacheWorld world;
  EXPECT_EQ(world.open({5}).verdict().kind, VerdictKind::kCold);
  (void)world.serve({5, 6, 7});
  const Verdict verdict = world.open({5}).verdict();
  EXPECT_EQ(verdict.kind, VerdictKind::kTooShort);
  EXPECT_EQ(verdict.reused_tokens, 0u);
}

TEST(Explain, BypassedByRequest) {
  CacheWorld world;
  (void)world.serve(tokens_from(1, 50));
  OpenRequest request = world.request(tokens_from(1, 50));
  request.read = false;
  EXPECT_EQ(world.cache.open(std::move(request)).verdict().kind, VerdictKind::kBypassed);
  OpenRequest less = world.request(tokens_from(1, 50));
  less.max_reuse = 10;
  EXPECT_EQ(world.cache.open(std::move(less)).verdict().kind, VerdictKind::kBypassed);
}

TEST(Explain, UnloadedModelLeavesGhostsThatSayUnloaded) {
  CacheWorld world;
  const Chat chat = Chat().system(100, 60).user(500, 10);
  serve(world, chat);
  world.cache.retire("unloaded");
  EXPECT_EQ(world.cache.counts().pool.free, 64u);
  EXPECT_EQ(world.cache.audit(), "");
  const Verdict verdict = verdict_of(world, chat);
  EXPECT_EQ(verdict.kind, VerdictKind::kEvicted);
  EXPECT_EQ(verdict.eviction->policy, "unloaded");
}

}  // namespace
}  // namespace larder::kv
