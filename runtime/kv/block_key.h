// SPDX-License-Identifier: Apache-2.0
// Block keys: chained keyed BLAKE2b-256. A key proves scope, identity, salt and every token from the start; the tokens
// are nevertheless compared on every hit. Runs in the preparation pool: about 100,000 tokens in a few ms.
// Shapes:   root  = H(secret; 'R', 1, len scope id, scope id, len identity, identity, len salt, salt)
//           block = H(secret; 'B', parent key, u32 token count, tokens as i32), all numbers little-endian
//           A sealed tail is keyed like a block with fewer tokens, so its key holds its token count.
//           The neutral chain is the same with tags 'N' and 'n' and no identity: it finds equal tokens that were cached
//           under another identity and is never used to share a block.
// Threads:  pure functions; PromptKeys is immutable after it was made.
// Source:   BLAKE2b, RFC 7693, in libsodium's crypto_generichash.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"
#include "runtime/base/section.h"
#include "runtime/tenant/scope.h"

namespace larder::kv {

// What decides the bits of KV besides the tokens.
struct Identity {
  Digest256 weights{};       // digest of the model file, or a random load id until it is known
  std::string rope;          // every number that RoPE depends on, in a fixed order
  kernels::KvType kv_type = kernels::KvType::kF16;
  std::uint32_t layout_version = kernels::kKvLayoutVersion;
  Digest256 adapter{};       // adapter bytes and scale; zero: none
  std::string arithmetic_id; // "cpu/avx512/1"

  friend bool operator==(const Identity&, const Identity&) = default;
};

Digest256 identity_digest(const Identity& identity);
// The first part that differs: "weights", "rope", "kv_type", "layout", "adapter", "arithmetic"; "" when equal.
const char* differing_part(const Identity& a, const Identity& b);

struct PromptKeys {
  tenant::Scope scope;
  std::shared_ptr<const Identity> identity;
  std::string salt;
  BlockKey root{};
  BlockKey neutral_root{};
  std::vector<BlockKey> blocks;   // one per full block of the prompt
  std::vector<BlockKey> neutral;  // same length
};

// Requires: scope and identity not null.    Errors: none.
PromptKeys chain_keys(tenant::Scope scope, std::shared_ptr<const Identity> identity, std::string_view salt,
                      std::span<const Token> tokens);

// The key below `parent` for 1..kBlockTokens tokens.
BlockKey next_key(const ScopeSecret& secret, const BlockKey& parent, std::span<const Token> tokens);
BlockKey next_neutral_key(const ScopeSecret& secret, const BlockKey& parent, std::span<const Token> tokens);

}  // namespace larder::kv
