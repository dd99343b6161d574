// SPDX-License-Identifier: Apache-2.0
// Keys: keyed BLAKE2b-256, of two kinds.
// A chain key names a start of tokens inside one scope: it proves scope, salt and every token from the first. It says
// nothing of the model, so it stands from the moment that the tokens are known; the tree and the history go by it,
// beside a pointer to the identity. The tokens are nevertheless compared on every hit.
// A block key names the KV of those tokens under one identity, in every process and on every machine that has the
// scope's secret: what a block is called once it leaves this process's memory. It is made from the chain key when it is
// needed, and only where the weights' digest is known; so a load id is in no key, and none has to be made again.
// Shapes:   root  = H(secret; 'R', 1, len scope id, scope id, len salt, salt)
//           chain = H(secret; 'C', parent's chain key, u32 token count, tokens as i32), all numbers little-endian
//           block = H(secret; 'B', identity digest, chain key)
//           A sealed tail is keyed like a block with fewer tokens, so its key holds its token count.
// Cost:     one chain key per block, in the preparation pool: about 100,000 tokens in a few ms.
// Threads:  pure functions; PromptKeys is immutable after it was made. An Identity that somebody shares is read, and
//           given its weights, on the engine thread alone; others carry the pointer.
// Source:   BLAKE2b, RFC 7693, in libsodium's crypto_generichash.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/layout/kv_codec.h"
#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"
#include "runtime/base/section.h"
#include "runtime/tenant/scope.h"

namespace larder::kv {

using ChainKey = Bytes<32>;

// What decides the bits of KV besides the tokens.
struct Identity {
  Digest256 weights{};        // digest of the model file, or a random load id until it is known
  bool weights_known = true;  // false: `weights` is a load id, which equals nothing but itself
  std::string rope;           // every number that RoPE depends on, in a fixed order
  kernels::KvType kv_type = kernels::KvType::kF16;
  std::uint32_t layout_version = kernels::kKvLayoutVersion;
  Digest256 adapter{};        // adapter bytes and scale; zero: none
  std::string arithmetic_id;  // "cpu/avx512/1"
  // What blocks went through since they were computed; whoever continues such a block computes under it too. So what
  // was rounded lies under roots of its own, beside the exact ones of the same load.
  kernels::KvScheme lineage = kernels::KvScheme::kExact;
  // Rounded because an admin said so of these blocks, not because of store.codec: whoever asks may use them.
  bool by_name = false;
  // Not 0: the KV of another arithmetic of the same load, by number. It is read, and what continues it stays in memory:
  // no arithmetic would compute that again. In no key: `arithmetic_id` is.
  std::uint8_t foreign = 0;

  // The digest takes the load id's place: for whatever goes by this identity, at once.  Requires: not known yet.
  void learn_weights(const Digest256& digest);

  friend bool operator==(const Identity&, const Identity&) = default;
};

// Requires: weights_known.
Digest256 identity_digest(const Identity& identity);
// The first part that is known to differ: "weights", "rope", "kv_type", "layout", "adapter", "arithmetic", "lineage";
// "" when none is, because they are equal or because a load id may stand for the same weights.
const char* differing_part(const Identity& a, const Identity& b);

struct PromptKeys {
  tenant::Scope scope;
  std::shared_ptr<const Identity> identity;
  ChainKey root{};
  std::vector<ChainKey> blocks;  // one per full block of the prompt
};

// Requires: scope and identity not null.    Errors: none.
PromptKeys chain_keys(tenant::Scope scope, std::shared_ptr<const Identity> identity, std::string_view salt,
                      std::span<const Token> tokens);

// The chain key below `parent` for 1..kBlockTokens tokens.
ChainKey next_key(const ScopeSecret& secret, const ChainKey& parent, std::span<const Token> tokens);

// Requires: identity.weights_known.
BlockKey block_key(const ScopeSecret& secret, const Identity& identity, const ChainKey& chain);
BlockKey block_key(const ScopeSecret& secret, const Digest256& identity, const ChainKey& chain);

}  // namespace larder::kv
