// SPDX-License-Identifier: Apache-2.0
// Seal: randomness, keyed hashes and authenticated wrapping for what lies on disk. The only file of storage that knows
// a cryptographic library.
// Shapes:   a wrapped message is nonce (24) | ciphertext | tag (16), XChaCha20-Poly1305.
// Errors:   unwrap: kCorrupt (altered, another key or other associated data).
// Threads:  any.    Source: libsodium 1.0.18; BLAKE2b RFC 7693; draft-irtf-cfrg-xchacha.
#pragma once

#include <cstdint>
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

bool equal_constant_time(const Digest256& a, const Digest256& b);
void wipe(std::span<std::uint8_t> secret);

}  // namespace larder::storage
