// SPDX-License-Identifier: Apache-2.0
// Conversions between f32 and the two 16-bit float formats, bit for bit and usable at compile time.
// Ensures:  f32_to_f16 and f32_to_bf16 round to nearest even, overflow to infinity, keep subnormals and keep NaN a NaN.
// Source:   IEEE 754-2008 binary16 and binary32; bfloat16 is the upper half of binary32.
// Threads:  pure functions, always inlined so that an ISA object never exports one.
#pragma once

#include <cstdint>

namespace larder::kernels {

[[gnu::always_inline]] constexpr float float_from_bits(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
[[gnu::always_inline]] constexpr std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }

// Branch-free, so that loops over it vectorise.
[[gnu::always_inline]] constexpr float f16_to_f32(std::uint16_t half) {
  const std::uint32_t sign = (std::uint32_t{half} & 0x8000u) << 16;
  const std::uint32_t magnitude = (std::uint32_t{half} & 0x7fffu) << 13;
  // Read as f32, the magnitude is 2^112 too small, subnormals included; the product is exact.
  const std::uint32_t finite = bits_of(float_from_bits(magnitude) * 0x1p112f);
  const std::uint32_t special = magnitude | 0x7f800000u;
  return float_from_bits(sign | (magnitude >= 0x0f800000u ? special : finite));
}

[[gnu::always_inline]] constexpr std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {
    // Below 2^-14 the result is a multiple of 2^-24: adding 0.5 puts that multiple into the last bits, rounded by the
    // addition itself.
    half = bits_of(float_from_bits(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    half = (magnitude - 0x38000000u + 0x0fffu + odd) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

[[gnu::always_inline]] constexpr float bf16_to_f32(std::uint16_t value) {
  return float_from_bits(std::uint32_t{value} << 16);
}

[[gnu::always_inline]] constexpr std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x0040u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace larder::kernels
