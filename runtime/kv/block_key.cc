// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/block_key.h"

#include <sodium.h>

#include <bit>
#include <cstring>

#include "runtime/base/invariant.h"

namespace larder::kv {
namespace {

static_assert(std::endian::native == std::endian::little, "keys hash tokens in memory order");

enum class Tag : std::uint8_t { kRoot = 'R', kChain = 'C', kBlock = 'B', kIdentity = 'I' };

class Hash {
 public:
  // The keyed start state is made once and copied, which saves one compression per key.
  explicit Hash(const ScopeSecret* secret) {
    const int started = crypto_generichash_init(&state_, secret == nullptr ? nullptr : secret->data(),
                                                secret == nullptr ? 0 : secret->size(), sizeof(Digest256));
    INVARIANT(started == 0);
  }
  Hash(const Hash&) = default;
  ~Hash() { sodium_memzero(&state_, sizeof state_); }

  void add(const void* data, std::size_t bytes) {
    crypto_generichash_update(&state_, static_cast<const unsigned char*>(data), bytes);
  }
  void add_tag(Tag tag) { add(&tag, sizeof tag); }
  void add_u32(std::uint32_t number) { add(&number, sizeof number); }
  void add_prefixed(const void* data, std::size_t bytes) {
    add_u32(static_cast<std::uint32_t>(bytes));
    add(data, bytes);
  }
  Digest256 finish() {
    Digest256 key;
    crypto_generichash_final(&state_, key.data(), key.size());
    return key;
  }

 private:
  crypto_generichash_state state_;
};

ChainKey link(const Hash& start, const ChainKey& parent, std::span<const Token> tokens) {
  std::uint8_t message[1 + sizeof(ChainKey) + 4 + kernels::kBlockTokens * sizeof(Token)];
  INVARIANT(!tokens.empty() && tokens.size() <= kernels::kBlockTokens);
  const auto count = static_cast<std::uint32_t>(tokens.size());
  message[0] = static_cast<std::uint8_t>(Tag::kChain);
  std::memcpy(message + 1, parent.data(), parent.size());
  std::memcpy(message + 1 + parent.size(), &count, sizeof count);
  std::memcpy(message + 1 + parent.size() + sizeof count, tokens.data(), tokens.size_bytes());
  Hash hash(start);
  hash.add(message, 1 + parent.size() + sizeof count + tokens.size_bytes());
  return hash.finish();
}

ChainKey root_key(const Hash& start, const ScopeId& scope, std::string_view salt) {
  Hash hash(start);
  hash.add_tag(Tag::kRoot);
  hash.add_u32(1);
  hash.add_prefixed(scope.data(), scope.size());
  hash.add_prefixed(salt.data(), salt.size());
  return hash.finish();
}

// The scheme, then how it is used (1: kept_scheme has the first block of int4 in int8), then who chose it.
std::uint32_t lineage_word(const Identity& identity) {
  const std::uint32_t use = identity.lineage == kernels::KvScheme::kInt4 ? 1 : 0;
  return static_cast<std::uint32_t>(identity.lineage) | use << 8 | (identity.by_name ? 1u << 16 : 0u);
}

}  // namespace

void Identity::learn_weights(const Digest256& digest) {
  INVARIANT(!weights_known);
  weights = digest;
  weights_known = true;
}

Digest256 identity_digest(const Identity& identity) {
  INVARIANT(identity.weights_known);
  Hash hash(nullptr);
  hash.add_tag(Tag::kIdentity);
  hash.add_u32(1);
  hash.add_prefixed(identity.weights.data(), identity.weights.size());
  hash.add_prefixed(identity.rope.data(), identity.rope.size());
  hash.add_u32(static_cast<std::uint32_t>(identity.kv_type));
  hash.add_u32(identity.layout_version);
  hash.add_prefixed(identity.adapter.data(), identity.adapter.size());
  hash.add_prefixed(identity.arithmetic_id.data(), identity.arithmetic_id.size());
  if (identity.lineage != kernels::KvScheme::kExact) hash.add_u32(lineage_word(identity));
  return hash.finish();
}

const char* differing_part(const Identity& a, const Identity& b) {
  if (a.weights_known && b.weights_known && a.weights != b.weights) return "weights";
  if (a.rope != b.rope) return "rope";
  if (a.kv_type != b.kv_type) return "kv_type";
  if (a.layout_version != b.layout_version) return "layout";
  if (a.adapter != b.adapter) return "adapter";
  if (a.arithmetic_id != b.arithmetic_id) return "arithmetic";
  if (a.lineage != b.lineage || a.by_name != b.by_name) return "lineage";
  return "";
}

PromptKeys chain_keys(tenant::Scope scope, std::shared_ptr<const Identity> identity, std::string_view salt,
                      std::span<const Token> tokens) {
  INVARIANT(scope != nullptr && identity != nullptr);
  PromptKeys keys;
  const Hash start(&scope->secret());
  keys.root = root_key(start, scope->id(), salt);
  const std::size_t blocks = tokens.size() / kernels::kBlockTokens;
  keys.blocks.reserve(blocks);
  ChainKey parent = keys.root;
  for (std::size_t block = 0; block < blocks; ++block) {
    parent = link(start, parent, tokens.subspan(block * kernels::kBlockTokens, kernels::kBlockTokens));
    keys.blocks.push_back(parent);
  }
  keys.scope = std::move(scope);
  keys.identity = std::move(identity);
  return keys;
}

ChainKey next_key(const ScopeSecret& secret, const ChainKey& parent, std::span<const Token> tokens) {
  return link(Hash(&secret), parent, tokens);
}

BlockKey block_key(const ScopeSecret& secret, const Identity& identity, const ChainKey& chain) {
  return block_key(secret, identity_digest(identity), chain);
}

BlockKey block_key(const ScopeSecret& secret, const Digest256& identity, const ChainKey& chain) {
  Hash hash(&secret);
  hash.add_tag(Tag::kBlock);
  hash.add(identity.data(), identity.size());
  hash.add(chain.data(), chain.size());
  return hash.finish();
}

}  // namespace larder::kv
