// SPDX-License-Identifier: Apache-2.0
// Blocks for tests: everything about block `n` of chain `chain` follows from the two numbers, so that a test knows what
// a read has to answer without keeping it.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "kernels/layout/checksum.h"
#include "runtime/base/rng.h"
#include "storage/block_store.h"

namespace larder::storage::test {

template <std::size_t N>
Bytes<N> bytes_of(std::uint64_t kind, std::uint64_t a, std::uint64_t b = 0) {
  Bytes<N> bytes;
  for (std::size_t i = 0; i < N; i += 8) {
    const std::uint64_t word = Rng::at(kind, a, b * 64 + i);
    std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, N - i));
  }
  return bytes;
}

inline StoreScope scope_of(std::uint64_t n) { return {bytes_of<16>(1, n), bytes_of<32>(2, n)}; }
inline BlockKey key_of(std::uint64_t chain, std::uint64_t n) { return bytes_of<32>(3, chain, n); }

// Block n of a chain: positions 32 n and on, child of block n - 1. Chains are of scope `scope`.
inline StoredBlock block_of(std::uint64_t chain, std::uint64_t n, std::uint32_t slices = 4,
                            std::uint32_t slice_bytes = 1024, std::uint64_t scope = 1) {
  StoredBlock block;
  block.scope = scope_of(scope).id;
  block.identity = bytes_of<32>(4, 1);
  block.key = key_of(chain, n);
  block.parent = n == 0 ? bytes_of<32>(5, chain) : key_of(chain, n - 1);
  block.first_position = static_cast<std::uint32_t>(32 * n);
  block.valid_tokens = kernels::kBlockTokens;
  for (std::size_t i = 0; i < block.tokens.size(); ++i) {
    block.tokens[i] = static_cast<Token>(Rng::at(6, chain * 1'000'003 + n, i) >> 33);
  }
  block.slice_count = slices;
  block.slice_bytes = slice_bytes;
  block.owner = TenantId{static_cast<std::uint32_t>(scope)};
  return block;
}

inline std::vector<std::byte> payload_of(const StoredBlock& block) {
  std::vector<std::byte> bytes(block.payload_bytes());
  std::uint64_t seed = 0;
  std::memcpy(&seed, block.key.data(), sizeof seed);
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    const std::uint64_t word = mix64(seed + at);
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  return bytes;
}

inline std::uint64_t checksum_of(const StoredBlock& block, const std::vector<std::byte>& payload) {
  std::uint64_t sum = kernels::kKvLayoutVersion;
  for (std::uint32_t slice = 0; slice < block.slice_count; ++slice) {
    const std::byte* bytes = payload.data() + std::size_t{slice} * block.slice_bytes;
    sum = kernels::join_checksum(sum, kernels::slice_checksum(bytes, block.slice_bytes));
  }
  return sum;
}

}  // namespace larder::storage::test
