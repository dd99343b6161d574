// SPDX-License-Identifier: Apache-2.0
// Rows of activations rounded to signed bytes, in groups of 32 columns with a scale each: what the int8 matmul reads.
// Shapes:   rows go in strips of int8_strip_rows(rows left): 12, 8, 4, 2 or 1. The strip that begins with row r of a
//           matrix of `cols` columns has its bytes at r * cols as [cols / 4][strip][4] and its groups at
//           r * (cols / 32) as [cols / 32][strip]: what a tile needs next lies next.
// Ensures:  column k of a row stands for q * scale. Zeros are zeros; a group that holds what is no number has the scale
//           NaN, so that it shows in every sum; a group with nothing of at least kLeastGroupMax is zeros.
// Threads:  plain data; constexpr functions, always inlined so that an ISA object never exports one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace larder::kernels {

inline constexpr std::uint32_t kInt8Group = 32;
inline constexpr std::uint32_t kInt8StripRows = 12;
inline constexpr float kLeastGroupMax = 0x1p-100f;  // 127 over less than it could overflow

// Sums are over q and negative, because they are where the weights' offsets are taken off.
struct Int8Group {
  float scale;                 // largest magnitude / 127
  float scaled_sum;            // scale * the sum of all 32 q
  std::int32_t minus_sum;      // of all 32 q
  std::int32_t minus_low_sum;  // of the first 16
};
static_assert(sizeof(Int8Group) == 16);

// Rows of the next strip where `left` (at least 1) are left.
[[gnu::always_inline]] constexpr std::uint32_t int8_strip_rows(std::uint32_t left) {
  return left >= 12 ? 12 : left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

struct Int8Rows {
  const std::int8_t* q = nullptr;
  const Int8Group* groups = nullptr;
};

}  // namespace larder::kernels
