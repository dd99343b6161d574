// SPDX-License-Identifier: Apache-2.0
// Quantised weight formats as GGUF stores them: type ids, values per block, bytes per block.
// Source: ggml-org/ggml docs/gguf.md and include/ggml.h (type ids); sizes asserted in tests/kernels.
// Threads: constexpr values, always inlined so that an ISA object never exports one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace larder::kernels {

enum class WeightType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIQ4_NL = 20,
  kIQ4_XS = 23,
  kBF16 = 30,
  kMXFP4 = 39,
};

struct WeightTypeInfo {
  const char* name;
  std::uint32_t block_values;
  std::uint32_t block_bytes;
};

// Answers {nullptr, 0, 0} for a type this build does not know.
[[gnu::always_inline]] constexpr WeightTypeInfo weight_type_info(WeightType type) {
  switch (type) {
    case WeightType::kF32: return {"F32", 1, 4};
    case WeightType::kF16: return {"F16", 1, 2};
    case WeightType::kQ4_0: return {"Q4_0", 32, 18};
    case WeightType::kQ4_1: return {"Q4_1", 32, 20};
    case WeightType::kQ5_0: return {"Q5_0", 32, 22};
    case WeightType::kQ5_1: return {"Q5_1", 32, 24};
    case WeightType::kQ8_0: return {"Q8_0", 32, 34};
    case WeightType::kQ2_K: return {"Q2_K", 256, 84};
    case WeightType::kQ3_K: return {"Q3_K", 256, 110};
    case WeightType::kQ4_K: return {"Q4_K", 256, 144};
    case WeightType::kQ5_K: return {"Q5_K", 256, 176};
    case WeightType::kQ6_K: return {"Q6_K", 256, 210};
    case WeightType::kIQ4_NL: return {"IQ4_NL", 32, 18};
    case WeightType::kIQ4_XS: return {"IQ4_XS", 256, 136};
    case WeightType::kBF16: return {"BF16", 1, 2};
    case WeightType::kMXFP4: return {"MXFP4", 32, 17};
  }
  return {nullptr, 0, 0};
}

// A weight matrix in memory somebody else owns. Shape: [rows][cols], each row a whole number of blocks, rows
// contiguous.
struct WeightView {
  const std::byte* data = nullptr;
  WeightType type = WeightType::kF32;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;

  [[gnu::always_inline]] constexpr std::size_t row_bytes() const {
    const WeightTypeInfo info = weight_type_info(type);
    return std::size_t{cols} / info.block_values * info.block_bytes;
  }
};

}  // namespace larder::kernels
