// SPDX-License-Identifier: Apache-2.0
// The blocks of the quantised weight formats, byte for byte as GGUF stores them (little endian, no padding).
// What it is not: it decodes no block; kernels/reference defines the values, kernels/cpu/body the fast way.
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

// 32 values, value = d * (q - 16): the low four bits of q as in Q4_0, its fifth is bit i of the 32 bits of qh.
struct BlockQ5_0 {
  std::uint16_t d;
  std::uint8_t qh[4];
  std::uint8_t qs[16];
};

// 32 values, value = d * q + m; q as in Q5_0.
struct BlockQ5_1 {
  std::uint16_t d;
  std::uint16_t m;
  std::uint8_t qh[4];
  std::uint8_t qs[16];
};

// 32 values, value = d * iq4_value(q); nibbles as in Q4_0.
struct BlockIQ4_NL {
  std::uint16_t d;
  std::uint8_t qs[16];
};

// 32 values, value = 2^(e - 128) * mxfp4_value(q); nibbles as in Q4_0.
struct BlockMXFP4 {
  std::uint8_t e;
  std::uint8_t qs[16];
};

// 32 values, value = d * q.
struct BlockQ8_0 {
  std::uint16_t d;
  std::int8_t qs[32];
};

// 256 values in 16 runs, value = d * (scales[i / 16] & 15) * q - dmin * (scales[i / 16] >> 4). Two halves of 128: in
// half h, value 32 j + l (j 0..3, l 0..31) has its two bits in qs[32 h + l] at bit 2 j.
struct BlockQ2_K {
  std::uint8_t scales[16];
  std::uint8_t qs[64];
  std::uint16_t d;
  std::uint16_t dmin;
};

// 256 values in 16 runs, value = d * (scale(i / 16) - 32) * (q - 4). The low two bits of q as in Q2_K; the third of
// value 128 h + 32 j + l is bit 4 h + j of hmask[l]. scale(s) has its low four bits in scales[s % 8] (low nibble for
// s < 8, else high) and its upper two in scales[8 + s % 4] at bit 2 (s / 4).
struct BlockQ3_K {
  std::uint8_t hmask[32];
  std::uint8_t qs[64];
  std::uint8_t scales[12];
  std::uint16_t d;
};

// 256 values in 8 runs of 32, value = d * scale(run) * q - dmin * minimum(run); scale and minimum by k_scale. Run 2 c
// has the low nibbles of qs[32 c .. 32 c + 31], run 2 c + 1 the high ones.
struct BlockQ4_K {
  std::uint16_t d;
  std::uint16_t dmin;
  std::uint8_t scales[12];
  std::uint8_t qs[128];
};

// As Q4_K, with a fifth bit of q: bit `run` of qh[l] for value l of the run.
struct BlockQ5_K {
  std::uint16_t d;
  std::uint16_t dmin;
  std::uint8_t scales[12];
  std::uint8_t qh[32];
  std::uint8_t qs[128];
};

// 256 values in 8 runs of 32, value = d * (scale(run) - 32) * iq4_value(q). scale has its low four bits in
// scales_l[run / 2] (low nibble for even runs) and its upper two in scales_h at bit 2 run. Run r has qs[16 r .. 16 r +
// 15], nibbles as in Q4_0.
struct BlockIQ4_XS {
  std::uint16_t d;
  std::uint16_t scales_h;
  std::uint8_t scales_l[4];
  std::uint8_t qs[128];
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
static_assert(sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_0) == weight_type_info(WeightType::kQ5_0).block_bytes);
static_assert(sizeof(BlockQ5_1) == 24 && sizeof(BlockQ5_1) == weight_type_info(WeightType::kQ5_1).block_bytes);
static_assert(sizeof(BlockIQ4_NL) == 18 && sizeof(BlockIQ4_NL) == weight_type_info(WeightType::kIQ4_NL).block_bytes);
static_assert(sizeof(BlockMXFP4) == 17 && sizeof(BlockMXFP4) == weight_type_info(WeightType::kMXFP4).block_bytes);
static_assert(sizeof(BlockQ2_K) == 84 && sizeof(BlockQ2_K) == weight_type_info(WeightType::kQ2_K).block_bytes);
static_assert(sizeof(BlockQ3_K) == 110 && sizeof(BlockQ3_K) == weight_type_info(WeightType::kQ3_K).block_bytes);
static_assert(sizeof(BlockQ4_K) == 144 && sizeof(BlockQ4_K) == weight_type_info(WeightType::kQ4_K).block_bytes);
static_assert(sizeof(BlockQ5_K) == 176 && sizeof(BlockQ5_K) == weight_type_info(WeightType::kQ5_K).block_bytes);
static_assert(sizeof(BlockIQ4_XS) == 136 && sizeof(BlockIQ4_XS) == weight_type_info(WeightType::kIQ4_XS).block_bytes);
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockQ8_0) == weight_type_info(WeightType::kQ8_0).block_bytes);
static_assert(sizeof(BlockQ6_K) == 210 && sizeof(BlockQ6_K) == weight_type_info(WeightType::kQ6_K).block_bytes);
static_assert(offsetof(BlockQ4_1, qs) == 4 && offsetof(BlockQ8_0, qs) == 2);
static_assert(offsetof(BlockQ6_K, qh) == 128 && offsetof(BlockQ6_K, scales) == 192 && offsetof(BlockQ6_K, d) == 208);
static_assert(offsetof(BlockQ2_K, d) == 80 && offsetof(BlockQ3_K, d) == 108 && offsetof(BlockQ5_K, qs) == 48);

// The 16 values of IQ4, and of MXFP4 (E2M1, doubled so that they are whole).
[[gnu::always_inline]] constexpr int iq4_value(unsigned q) {
  constexpr std::uint64_t kLow = 0xf6eaddcfbfad9881u;   // -127 -104 -83 -65 -49 -35 -22 -10
  constexpr std::uint64_t kHigh = 0x7159453526190d01u;  // 1 13 25 38 53 69 89 113
  return static_cast<std::int8_t>((q < 8 ? kLow : kHigh) >> (8 * (q % 8)));
}
[[gnu::always_inline]] constexpr int mxfp4_value(unsigned q) {
  constexpr std::uint64_t kSizes = 0x0c08060403020100u;  // 0 1 2 3 4 6 8 12
  const int size = static_cast<std::int8_t>(kSizes >> (8 * (q % 8)));
  return q < 8 ? size : -size;
}

// 2^(e - 128), the scale of an MXFP4 block; the two smallest are no normal numbers.
[[gnu::always_inline]] constexpr std::uint32_t mxfp4_scale_bits(std::uint32_t e) {
  return e < 2 ? 0x00200000u << e : (e - 1) << 23;
}

struct KScale {
  std::uint8_t scale;
  std::uint8_t minimum;
};

// Scale and minimum of a run of Q4_K or Q5_K, six bits each, from its twelve bytes.
[[gnu::always_inline]] constexpr KScale k_scale(const std::uint8_t* scales, std::uint32_t run) {
  if (run < 4) {
    return {static_cast<std::uint8_t>(scales[run] & 63), static_cast<std::uint8_t>(scales[run + 4] & 63)};
  }
  return {static_cast<std::uint8_t>((scales[run + 4] & 15) | ((scales[run - 4] >> 6) << 4)),
          static_cast<std::uint8_t>((scales[run + 4] >> 4) | ((scales[run] >> 6) << 4))};
}

}  // namespace larder::kernels
