// SPDX-License-Identifier: Apache-2.0
// Rng: a counter-based generator. The value at (seed, stream, counter) depends on nothing else, so a sampled answer is
// the same whatever batch it ran in. Not for secrets (storage/seal.h gives those).
// Source: SplitMix64 finaliser, Steele, Lea & Flood 2014.
// Threads: values.
#pragma once

#include <cstdint>

namespace larder {

__extension__ using Uint128 = unsigned __int128;

constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed, std::uint64_t stream = 0) : key_(mix64(seed ^ mix64(stream))) {}

  static constexpr std::uint64_t at(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
    return mix64(mix64(seed ^ mix64(stream)) + mix64(counter));
  }

  constexpr std::uint64_t next() { return mix64(key_ + mix64(counter_++)); }
  // In [0, bound); bound > 0. The bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Uint128>(next()) * bound) >> 64);
  }
  // In [0, 1).
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace larder
