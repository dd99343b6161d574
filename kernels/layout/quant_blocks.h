// SPDX-License-Identifier: Apache-2.0
// The blocks of the quantised weight formats, byte for byte as GGUF stores them (little endian, no padding).
// What it is not: it decodes nothing; kernels/reference/weights.h defines the values, kernels/cpu/body the fast way.
// Units:    d and m are f16 bits; quants are integers.
// Source:   block layouts of ggml-org/ggml src/ggml-common.h (facts: order and width of the fields).
// Threads:  plain data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/layout/weight_types.h"

namespace larder::kernels {

// 32 values, value = d * (q - 8); the low nibble of qs[i] is value i, the high nibble value i + 16.
struct BlockQ4_0 {
  std::uint16_t d;
  std::uint8_t qs[16];
};

// 32 values, value = d * q + m; nibbles as in Q4_0.
struct BlockQ4_1 {
  std::uint16_t d;
  std::uint16_t m;
  std::uint8_t qs[16];
};

// 32 values, value = d * q.
struct BlockQ8_0 {
  std::uint16_t d;
  std::int8_t qs[32];
};

// 256 values, value = d * scales[i / 16] * (q - 32). Two halves of 128: in half h, value 32 j + l (j 0..3, l 0..31) has
// its low four bits in ql[64 h + 32 (j % 2) + l] (low nibble for j < 2, else high) and its upper two in qh[32 h + l] at
// bit 2 j.
struct BlockQ6_K {
  std::uint8_t ql[128];
  std::uint8_t qh[64];
  std::int8_t scales[16];
  std::uint16_t d;
};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_0) == weight_type_info(WeightType::kQ4_0).block_bytes);
static_assert(sizeof(BlockQ4_1) == 20 && sizeof(BlockQ4_1) == weight_type_info(WeightType::kQ4_1).block_bytes);
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockQ8_0) == weight_type_info(WeightType::kQ8_0).block_bytes);
static_assert(sizeof(BlockQ6_K) == 210 && sizeof(BlockQ6_K) == weight_type_info(WeightType::kQ6_K).block_bytes);
static_assert(offsetof(BlockQ4_1, qs) == 4 && offsetof(BlockQ8_0, qs) == 2);
static_assert(offsetof(BlockQ6_K, qh) == 128 && offsetof(BlockQ6_K, scales) == 192 && offsetof(BlockQ6_K, d) == 208);

}  // namespace larder::kernels
