// SPDX-License-Identifier: Apache-2.0
// Checksum of a KV slice and of a block: a block's checksum is a hash over the checksums of its (layer, head) slices,
// so that a GPU can verify slices in parallel. Not a defence against an adversary (that is storage's AEAD).
// Shapes:   a slice is a multiple of 64 bytes; eight 64-bit lanes, lane i takes word i of each 64-byte row.
// Source:   multiply-xorshift lanes with the SplitMix64 constants (Steele, Lea & Flood 2014).
// Threads:  pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/layout/kv_layout.h"

namespace larder::kernels {

constexpr std::uint64_t checksum_mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Requires: bytes a multiple of 64.
inline std::uint64_t slice_checksum(const std::byte* data, std::size_t bytes) {
  std::uint64_t lane[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (std::size_t at = 0; at < bytes; at += 64) {
    std::uint64_t word[8];
    std::memcpy(word, data + at, sizeof word);
    for (int i = 0; i < 8; ++i) lane[i] = (lane[i] ^ word[i]) * 0x9e3779b97f4a7c15u + (lane[i] >> 32);
  }
  std::uint64_t sum = bytes;
  for (const std::uint64_t value : lane) sum = checksum_mix(sum ^ value);
  return sum;
}

// A block's checksum is kKvLayoutVersion with its slices' sums joined in order.
constexpr std::uint64_t join_checksum(std::uint64_t sum, std::uint64_t slice) { return checksum_mix(sum ^ slice); }

inline std::uint64_t block_checksum(const KvLayout& layout, const std::byte* block) {
  std::uint64_t sum = kKvLayoutVersion;
  for (std::size_t slice = 0; slice < layout.slice_count(); ++slice) {
    sum = join_checksum(sum, slice_checksum(block + slice * layout.slice_bytes(), layout.slice_bytes()));
  }
  return sum;
}

}  // namespace larder::kernels
