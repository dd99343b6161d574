// SPDX-License-Identifier: Apache-2.0
#include "storage/seal.h"

#include <sodium.h>

#include "runtime/base/invariant.h"

namespace larder::storage {
namespace {

static_assert(kWrapOverhead ==
              crypto_aead_xchacha20poly1305_ietf_NPUBBYTES + crypto_aead_xchacha20poly1305_ietf_ABYTES);
constexpr std::size_t kNonce = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;

// Safe to call often and from any thread; without it the random source is not opened.
void start_library() { INVARIANT(sodium_init() >= 0); }

}  // namespace

void random_bytes(std::span<std::uint8_t> out) {
  start_library();
  randombytes_buf(out.data(), out.size());
}

Digest256 hash256(std::span<const std::uint8_t> data) {
  Digest256 digest;
  crypto_generichash(digest.data(), digest.size(), data.data(), data.size(), nullptr, 0);
  return digest;
}

Digest256 keyed_hash(const SealKey& key, std::span<const std::uint8_t> data) {
  Digest256 digest;
  crypto_generichash(digest.data(), digest.size(), data.data(), data.size(), key.data(), key.size());
  return digest;
}

SealKey derive_key(const SealKey& master, std::string_view purpose) {
  std::vector<std::uint8_t> message{'k', 'e', 'y', ' '};
  message.insert(message.end(), purpose.begin(), purpose.end());
  return keyed_hash(master, message);
}

std::vector<std::uint8_t> wrap(const SealKey& key, std::span<const std::uint8_t> plain,
                               std::span<const std::uint8_t> associated) {
  std::vector<std::uint8_t> wrapped(plain.size() + kWrapOverhead);
  random_bytes({wrapped.data(), kNonce});
  unsigned long long written = 0;
  crypto_aead_xchacha20poly1305_ietf_encrypt(wrapped.data() + kNonce, &written, plain.data(), plain.size(),
                                             associated.data(), associated.size(), nullptr, wrapped.data(), key.data());
  INVARIANT(written + kNonce == wrapped.size());
  return wrapped;
}

Result<std::vector<std::uint8_t>> unwrap(const SealKey& key, std::span<const std::uint8_t> wrapped,
                                         std::span<const std::uint8_t> associated) {
  if (wrapped.size() < kWrapOverhead) return Error{ErrorCode::kCorrupt, "a wrapped secret is too short", {}};
  std::vector<std::uint8_t> plain(wrapped.size() - kWrapOverhead);
  unsigned long long written = 0;
  const int opened = crypto_aead_xchacha20poly1305_ietf_decrypt(
      plain.data(), &written, nullptr, wrapped.data() + kNonce, wrapped.size() - kNonce, associated.data(),
      associated.size(), wrapped.data(), key.data());
  if (opened != 0) return Error{ErrorCode::kCorrupt, "a wrapped secret was altered or belongs to another key", {}};
  return plain;
}

bool equal_constant_time(const Digest256& a, const Digest256& b) {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

void wipe(std::span<std::uint8_t> secret) { sodium_memzero(secret.data(), secret.size()); }

}  // namespace larder::storage
