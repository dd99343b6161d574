// SPDX-License-Identifier: Apache-2.0
// Seal: randomness, keyed hashes, authenticated wrapping of small secrets and sealing of blocks in pieces. The only
// file of storage that knows a cryptographic library.
// Shapes:   a wrapped message is nonce (24) | ciphertext | tag (16), XChaCha20-Poly1305.
// Errors:   unwrap: kCorrupt (altered, another key or other associated data).
// Threads:  any; a SealStream one.    Source: libsodium 1.0.18; OpenSSL 3; BLAKE2b RFC 7693; AES-GCM NIST SP 800-38D;
//           ChaCha20-Poly1305 RFC 8439; draft-irtf-cfrg-xchacha.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"

namespace larder::storage {

using SealKey = Bytes<32>;
inline constexpr std::size_t kWrapOverhead = 24 + 16;

void random_bytes(std::span<std::uint8_t> out);

Digest256 hash256(std::span<const std::uint8_t> data);
Digest256 keyed_hash(const SealKey& key, std::span<const std::uint8_t> data);
// A key for one purpose, made from a master key; `purpose` is a stable word.
SealKey derive_key(const SealKey& master, std::string_view purpose);

std::vector<std::uint8_t> wrap(const SealKey& key, std::span<const std::uint8_t> plain,
                               std::span<const std::uint8_t> associated);
Result<std::vector<std::uint8_t>> unwrap(const SealKey& key, std::span<const std::uint8_t> wrapped,
                                         std::span<const std::uint8_t> associated);

// How blocks are sealed. The numbers stand in files.
enum class Cipher : std::uint16_t { kAes256Gcm = 1, kXChaCha20Poly1305 = 2 };
// AES-GCM where the processor has AES instructions: about three times as fast there, and constant-time only there.
Cipher fastest_cipher();

using SealNonce = Bytes<24>;  // AES-GCM takes the first 12
using SealTag = Bytes<16>;

// A key that is wiped when it goes.
class CipherKey {
 public:
  CipherKey(Cipher cipher, const SealKey& key) : cipher_(cipher), key_(key) {}
  ~CipherKey();
  CipherKey(const CipherKey&) = delete;
  CipherKey& operator=(const CipherKey&) = delete;
  Cipher cipher() const { return cipher_; }
  const SealKey& key() const { return key_; }

 private:
  Cipher cipher_;
  SealKey key_;
};

// One message, sealed or opened piece by piece. What was opened is not to be trusted before opened_whole() said so.
class SealStream {
 public:
  enum class Direction : std::uint8_t { kSeal, kOpen };
  // Requires: a nonce is used once per key to seal.
  SealStream(Direction direction, const CipherKey& key, const SealNonce& nonce,
             std::span<const std::uint8_t> associated);
  ~SealStream();
  SealStream(const SealStream&) = delete;
  SealStream& operator=(const SealStream&) = delete;

  // False: the library had no memory for it, and nothing below may be called.
  bool ok() const;
  // Requires: the sizes are equal; of all pieces but the last a multiple of 64. `out` may be `in`.
  void update(std::span<const std::byte> in, std::span<std::byte> out);
  SealTag finish();                       // Requires: kSeal
  bool opened_whole(const SealTag& tag);  // Requires: kOpen

 private:
  class Machine;
  class AesGcm;
  class XChaCha;
  std::unique_ptr<Machine> machine_;
};

bool equal_constant_time(const Digest256& a, const Digest256& b);
void wipe(std::span<std::uint8_t> secret);

}  // namespace larder::storage
