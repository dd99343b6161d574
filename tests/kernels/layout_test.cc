// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/layout/checksum.h"
#include "kernels/layout/half.h"
#include "kernels/layout/kv_layout.h"
#include "kernels/layout/quant_blocks.h"

namespace larder::kernels {
namespace {

// The value of a finite half from its fields, in f64.
double half_value(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryFiniteValueConvertsToItsFieldsAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half & 0x7c00) == 0x7c00) continue;
    ASSERT_EQ(double{f16_to_f32(half)}, half_value(half)) << bits;
    ASSERT_EQ(f32_to_f16(f16_to_f32(half)), half) << bits;
  }
}

TEST(Half, MidpointsRoundToEvenAndTheirNeighboursToTheNearest) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    const float middle = static_cast<float>((half_value(low) + half_value(high)) / 2);
    ASSERT_EQ(f32_to_f16(middle), (bits & 1) == 0 ? low : high) << bits;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, 0.0f)), low) << bits;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, INFINITY)), high) << bits;
    ASSERT_EQ(f32_to_f16(-middle), ((bits & 1) == 0 ? low : high) | 0x8000) << bits;
  }
}

TEST(Half, OverflowInfinityAndNanKeepTheirKind) {
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-INFINITY), 0xfc00);
  EXPECT_EQ(f32_to_f16(1e-30f), 0);
  EXPECT_EQ(f32_to_f16(NAN) & 0x7fff, 0x7e00);
  EXPECT_TRUE(std::isinf(f16_to_f32(0x7c00)));
  EXPECT_TRUE(std::isnan(f16_to_f32(0x7c01)));
  EXPECT_TRUE(std::isnan(f16_to_f32(0xfe00)));
}

TEST(Bfloat16, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(f32_to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(f32_to_bf16(float_from_bits(0x3f808000)), 0x3f80);
  EXPECT_EQ(f32_to_bf16(float_from_bits(0x3f808001)), 0x3f81);
  EXPECT_EQ(f32_to_bf16(float_from_bits(0x3f818000)), 0x3f82);
  EXPECT_EQ(f32_to_bf16(float_from_bits(0x7f7fffff)), 0x7f80);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(float_from_bits(0x7f800001)))));
  EXPECT_EQ(bf16_to_f32(0xc040), -3.0f);
}

TEST(KvLayout, SlicesAreWholeLinesWithoutOverlap) {
  for (const KvType type : {KvType::kF32, KvType::kF16, KvType::kI8}) {
    for (const std::uint32_t d_head : {8u, 64u, 80u, 128u}) {
      const KvLayout layout{3, 2, d_head, type};
      const std::size_t values = std::size_t{2} * kBlockTokens * d_head * kv_element_bytes(type);
      const std::size_t scales = type == KvType::kI8 ? 2 * kBlockTokens * sizeof(float) : 0;
      EXPECT_GE(layout.slice_bytes(), values + scales);
      EXPECT_EQ(layout.slice_bytes() % 64, 0u);
      EXPECT_EQ(layout.slice_offset(0, 1), layout.slice_bytes());
      EXPECT_EQ(layout.slice_offset(1, 0), 2 * layout.slice_bytes());
      EXPECT_EQ(layout.slice_offset(2, 1) + layout.slice_bytes(), layout.block_bytes());
      EXPECT_EQ(layout.v_offset_in_slice() * 2, values);
    }
  }
}

TEST(Checksum, AnyFlippedBitAndAnySwappedWordShow) {
  const KvLayout layout{1, 2, 8, KvType::kF16};
  std::vector<std::byte> block(layout.block_bytes());
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::byte>(i * 37 + i / 256);
  const std::uint64_t sum = block_checksum(layout, block.data());
  for (std::size_t bit = 0; bit < block.size() * 8; bit += 7) {
    block[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    ASSERT_NE(block_checksum(layout, block.data()), sum) << bit;
    block[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
  }
  EXPECT_EQ(block_checksum(layout, block.data()), sum);
  std::vector<std::byte> swapped = block;
  std::swap_ranges(swapped.begin(), swapped.begin() + 64, swapped.begin() + 64);
  EXPECT_NE(block_checksum(layout, swapped.data()), sum);
}

TEST(Checksum, OfASliceInPartsIsThatOfTheWhole) {
  std::vector<std::byte> slice(4096);
  for (std::size_t i = 0; i < slice.size(); ++i) slice[i] = static_cast<std::byte>(i * 131 + i / 64);
  const std::uint64_t whole = slice_checksum(slice.data(), slice.size());
  for (const std::size_t part : {64u, 128u, 192u, 1024u, 4032u}) {
    SliceSum sum;
    for (std::size_t at = 0; at < slice.size(); at += part) {
      sum.add(slice.data() + at, std::min(part, slice.size() - at));
    }
    EXPECT_EQ(sum.value(), whole) << part;
  }
  SliceSum swapped;
  swapped.add(slice.data() + 64, slice.size() - 64);
  swapped.add(slice.data(), 64);
  EXPECT_NE(swapped.value(), whole);
}

// The value pins the algorithm: blocks on disk and peers depend on it.
TEST(Checksum, OfAKnownSliceIsThisNumber) {
  std::vector<std::byte> slice(128);
  for (std::size_t i = 0; i < slice.size(); ++i) slice[i] = static_cast<std::byte>(i);
  EXPECT_EQ(slice_checksum(slice.data(), slice.size()), 0xa8945dfaebe96967u);
}

}  // namespace
}  // namespace larder::kernels
