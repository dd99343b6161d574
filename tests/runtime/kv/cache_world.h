// SPDX-License-Identifier: Apache-2.0
// CacheWorld: a PrefixCache with an arena that remembers which token every position of every block was computed for, so
// that a test sees what a model would read. Steps are played by run(); broken ones by run_and_fail().
// Threads:  one.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kv/prefix_cache.h"

namespace larder::kv::test {

inline constexpr Token kGarbage = -7;
inline constexpr Token kZero = -1;

inline tenant::Scope make_scope(std::uint8_t seed) {
  ScopeId id{};
  ScopeSecret secret{};
  id.fill(seed);
  secret.fill(static_cast<std::uint8_t>(seed ^ 0x5a));
  return std::make_shared<const tenant::ScopeKeyMaterial>(id, secret);
}

inline std::shared_ptr<Identity> make_identity() {
  auto identity = std::make_shared<Identity>();
  identity->weights.fill(7);
  identity->rope = "base 10000";
  identity->arithmetic_id = "cpu/test/1";
  return identity;
}

// The same model before its weights' digest is known.
inline std::shared_ptr<Identity> make_load_identity(std::uint8_t load_id) {
  auto identity = make_identity();
  identity->weights.fill(static_cast<std::uint8_t>(100 + load_id));
  identity->weights_known = false;
  return identity;
}

inline std::vector<Token> tokens_from(Token first, std::size_t count) {
  std::vector<Token> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = first + static_cast<Token>(i);
  return tokens;
}

inline std::vector<Token> joined(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct WorldOptions {
  std::uint32_t blocks = 64;
  std::uint32_t longest = 8;
  std::uint32_t pin_budget = 0;
  std::size_t ghosts = 1024;
  bool lower_tier = false;
  std::uint32_t max_cold_nodes = 0;
  std::unique_ptr<storage::EvictionPolicy> policy = std::make_unique<storage::LeafLru>();
};

class CacheWorld {
 public:
  using Arena = std::vector<std::array<Token, kernels::kBlockTokens>>;

  explicit CacheWorld(WorldOptions options = {})
      : history(options.ghosts, 4096),
        arena(options.blocks),
        cache(CacheOptions{options.blocks, options.longest, options.pin_budget, &clock, &history, "host",
                           options.lower_tier, options.max_cold_nodes},
              std::move(options.policy)) {
    for (auto& block : arena) block.fill(kGarbage);
  }

  OpenRequest request(std::vector<Token> tokens, std::vector<Section> sections = {}, std::uint32_t last_message = 0) {
    auto prompt = std::make_shared<PreparedPrompt>();
    prompt->tokens = std::move(tokens);
    prompt->sections = std::move(sections);
    prompt->last_message_begin = last_message;
    OpenRequest open;
    open.seq = SeqId{++next_seq};
    open.request = RequestId{next_seq};
    open.tenant = tenant;
    open.keys = std::make_shared<const PromptKeys>(chain_keys(scope, identity, salt, prompt->tokens));
    open.prompt = std::move(prompt);
    return open;
  }

  Claim open(std::vector<Token> tokens) {
    Claim claim = cache.open(request(std::move(tokens)));
    check_reuse(claim);
    return claim;
  }

  // Every reused position was computed for this very token at this very place.
  void check_reuse(const Claim& claim) const {
    const std::size_t whole = claim.blocks().size() * kernels::kBlockTokens;
    ASSERT_LE(whole, claim.reused_tokens());
    for (std::size_t at = 0; at < whole; ++at) ASSERT_EQ(read(claim, at), claim.tokens()[at]) << "position " << at;
  }

  Token read(const Claim& claim, std::size_t at) const {
    return arena[claim.blocks()[at / kernels::kBlockTokens].value][at % kernels::kBlockTokens];
  }

  void do_copies(Claim& claim) {
    for (const BlockCopy& copy : claim.take_copies()) {
      auto& to = arena[copy.to.value];
      if (copy.valid_tokens == 0) {
        to.fill(kZero);
        continue;
      }
      const auto from = arena[copy.from.value];
      check_zeros_past_valid(copy.from);
      to.fill(kZero);
      std::copy(from.begin(), from.begin() + copy.valid_tokens, to.begin());
    }
  }

  // A sealed block holds zeros past its valid tokens.
  void check_zeros_past_valid(BlockId block) const {
    if (cache.pool().writer(block)) return;
    for (std::uint32_t at = cache.pool().valid_tokens(block); at < kernels::kBlockTokens; ++at) {
      ASSERT_EQ(arena[block.value][at], kZero);
    }
  }

  // One good step that computes positions [committed, until).
  Status run(Claim& claim, std::uint32_t until) {
    RETURN_IF_ERROR(claim.grow(until));
    do_copies(claim);
    for (std::size_t at = claim.committed(); at < until; ++at) {
      arena[claim.blocks()[at / kernels::kBlockTokens].value][at % kernels::kBlockTokens] = claim.tokens()[at];
    }
    computed += until - claim.committed();
    claim.commit(until);
    for (std::size_t at = 0; at < until; ++at) EXPECT_EQ(read(claim, at), claim.tokens()[at]) << "position " << at;
    return {};
  }

  // A step that writes nonsense and then fails; what it did not get to copy stays nonsense too.
  Status run_and_fail(Claim& claim, std::uint32_t until) {
    RETURN_IF_ERROR(claim.grow(until));
    do_copies(claim);
    for (std::size_t at = claim.committed(); at < until; ++at) {
      arena[claim.blocks()[at / kernels::kBlockTokens].value][at % kernels::kBlockTokens] = kGarbage;
    }
    return {};
  }

  Status run_prompt(Claim& claim) { return run(claim, static_cast<std::uint32_t>(claim.tokens().size())); }

  Status decode(Claim& claim, Token token) {
    claim.append(token);
    return run_prompt(claim);
  }

  // A whole request: prompt, then `answer` decoded.
  Closed serve(std::vector<Token> tokens, const std::vector<Token>& answer = {}) {
    Claim claim = open(std::move(tokens));
    EXPECT_TRUE(run_prompt(claim).ok());
    for (const Token token : answer) EXPECT_TRUE(decode(claim, token).ok());
    return claim.close(CloseAs::kDone);
  }

  // Writes down everything that has no copy yet.
  void store_all() {
    while (const std::optional<UnstoredBlock> next = cache.next_unstored()) store(*next);
  }

  void store(const UnstoredBlock& next) {
    check_zeros_past_valid(next.block);
    below[next.cold.key] = {next.cold, arena[next.block.value]};
    if (!cache.mark_stored(next.node)) below.erase(next.cold.key);
  }

  // The bytes of one arriving block; false when the copy is gone.
  bool read_up(const ArrivingBlock& block) {
    const auto copy = below.find(block.cold.key);
    if (copy == below.end()) return false;
    EXPECT_EQ(copy->second.cold.tokens, block.cold.tokens);
    EXPECT_EQ(copy->second.cold.parent, block.cold.parent);
    EXPECT_EQ(copy->second.cold.first_position, block.cold.first_position);
    arena[block.to.value] = copy->second.bytes;
    return true;
  }

  // Brings up what the prompt needs; how many tokens came.
  std::uint32_t restore(const std::vector<Token>& tokens) {
    const OpenRequest wanted = request(tokens);
    Result<Arrival> begun = cache.begin_arrival(*wanted.prompt, *wanted.keys, wanted.request, wanted.tenant);
    if (!begun.ok() || !begun->open()) return 0;
    Arrival arrival = std::move(begun).value();
    for (std::size_t i = arrival.blocks().size(); i > 0; --i) {
      if (read_up(arrival.blocks()[i - 1])) {
        arrival.arrived(i - 1, 1);
      } else {
        arrival.missed(i - 1, true);
      }
    }
    return arrival.warmed_tokens();
  }

  std::uint32_t reuse_of(std::vector<Token> tokens) {
    Claim claim = open(std::move(tokens));
    return claim.reused_tokens();
  }

  struct Copy {
    ColdBlock cold;
    std::array<Token, kernels::kBlockTokens> bytes{};
  };

  ManualClock clock;
  ReuseHistory history;
  Arena arena;
  PrefixCache cache;
  tenant::Scope scope = make_scope(1);
  std::shared_ptr<const Identity> identity = make_identity();
  std::string salt;
  TenantId tenant{1};
  std::uint64_t next_seq = 0;
  std::uint64_t computed = 0;  // rows of good steps
  std::map<BlockKey, Copy> below;  // the lower tier
};

inline std::shared_ptr<const Identity> rounded_identity() {
  auto rounded = test::make_identity();
  rounded->lineage = kernels::KvScheme::kInt8;
  return rounded;
}

// Every sealed block goes below as a rounded copy of itself.
inline void round_all(CacheWorld& world, const std::shared_ptr<const Identity>& rounded) {
  while (const auto next = world.cache.next_unstored()) {
    const std::optional<ChainedBlock> copy = world.cache.under(next->node, *rounded);
    ASSERT_TRUE(copy.has_value());
    EXPECT_NE(copy->cold.key, next->cold.key);
    world.below[copy->cold.key] = {copy->cold, world.arena[next->block.value]};
    EXPECT_EQ(world.cache.adopt({&*copy, 1}, rounded), 1u);
  }
}

}  // namespace larder::kv::test
