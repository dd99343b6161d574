// SPDX-License-Identifier: Apache-2.0
// Checksum of a KV slice and of a block: a block's checksum is a hash over the checksums of its (layer, head) slices,
// so that a GPU can verify slices in parallel. Not a defence against an adversary (that is storage's AEAD).
// Shapes:   a slice is a multiple of 64 bytes; eight 64-bit lanes, lane i takes word i of each 64-byte row.
// Source:   multiply-xorshift lanes with the SplitMix64 constants (Steele, Lea & Flood 2014).
// Threads:  pure functions.
#pragma once

#include <array>
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

// The checksum of one slice that comes in parts.
class SliceSum {
 public:
  // Requires: bytes a multiple of 64.
  void add(const std::byte* data, std::size_t bytes) {
    std::array<std::uint64_t, 8> lane = lane_;  // they and nothing else stay in registers
    for (const std::byte* const end = data + bytes; data != end; data += 64) {
      for (std::size_t i = 0; i < lane.size(); ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, data + i * sizeof word, sizeof word);
        lane[i] = (lane[i] ^ word) * 0x9e3779b97f4a7c15u + (lane[i] >> 32);
      }
    }
    lane_ = lane;
    bytes_ += bytes;
  }
  std::uint64_t value() const {
    std::uint64_t sum = bytes_;
    for (const std::uint64_t lane : lane_) sum = checksum_mix(sum ^ lane);
    return sum;
  }

 private:
  std::array<std::uint64_t, 8> lane_{1, 2, 3, 4, 5, 6, 7, 8};
  std::uint64_t bytes_ = 0;
};

// Requires: bytes a multiple of 64.
inline std::uint64_t slice_checksum(const std::byte* data, std::size_t bytes) {
  SliceSum sum;
  sum.add(data, bytes);
  return sum.value();
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
