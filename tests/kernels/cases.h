// SPDX-License-Identifier: Apache-2.0
// What the kernel tests share: the tiers this processor has, aligned memory, random weights and a KV pool.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/kernel_set.h"
#include "kernels/layout/half.h"
#include "kernels/layout/quant_blocks.h"
#include "runtime/base/rng.h"

namespace larder::kernels::testing {

inline constexpr double kUnit = 0x1p-24;  // unit roundoff of f32

// The usual bound on n roundings in a row, Higham 2002 lemma 3.1.
inline double gamma(double n) { return n * kUnit / (1 - n * kUnit); }

inline std::vector<const KernelSet*> tiers() {
  std::vector<const KernelSet*> found;
  for (const IsaRequest request : {IsaRequest::kPortable, IsaRequest::kAvx2, IsaRequest::kAvx512}) {
    if (const KernelSet* kernels = select_kernels(request)) found.push_back(kernels);
  }
  return found;
}

struct FreeDeleter {
  void operator()(std::byte* p) const { std::free(p); }
};

// 64-byte aligned bytes of exactly the size asked for, filled with 0xff: NaN as f32 and f16, so that a read of what was
// never written shows.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes)
      : bytes_((bytes + 63) / 64 * 64), data_(static_cast<std::byte*>(std::aligned_alloc(64, bytes_))) {
    std::memset(data_.get(), 0xff, bytes_);
  }
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte, FreeDeleter> data_;
};

inline float random_float(Rng& rng, float amplitude = 1.0f) {
  return amplitude * static_cast<float>(2 * rng.unit() - 1);
}

inline std::vector<float> random_floats(Rng& rng, std::size_t n, float amplitude = 1.0f) {
  std::vector<float> out(n);
  for (float& value : out) value = random_float(rng, amplitude);
  return out;
}

// Scales are small numbers, whatever else the bytes say: minimums of up to 1 (of K formats 63 / 64).
template <typename Block>
Block random_block(Rng& rng) {
  Block block;
  auto* bytes = reinterpret_cast<std::uint8_t*>(&block);
  for (std::size_t i = 0; i < sizeof block; ++i) bytes[i] = static_cast<std::uint8_t>(rng.below(256));
  if constexpr (requires { block.e; }) {
    block.e = static_cast<std::uint8_t>(rng.below(128));
  } else {
    block.d = f32_to_f16(random_float(rng, 0.1f));
  }
  if constexpr (requires { block.m; }) block.m = f32_to_f16(random_float(rng));
  if constexpr (requires { block.dmin; }) block.dmin = f32_to_f16(random_float(rng, 1.0f / 64));
  return block;
}

// A matrix of random weights in memory of exactly its size, so that asan sees a read past its end.
class RandomWeights {
 public:
  RandomWeights(Rng& rng, WeightType type, std::uint32_t rows, std::uint32_t cols) {
    view_ = {nullptr, type, rows, cols};
    bytes_.resize(rows * view_.row_bytes());
    view_.data = bytes_.data();
    const WeightTypeInfo info = weight_type_info(type);
    for (std::size_t at = 0; at < bytes_.size(); at += info.block_bytes) fill(rng, type, bytes_.data() + at);
  }
  const WeightView& view() const { return view_; }

 private:
  template <typename T>
  static void write(std::byte* at, const T& value) {
    std::memcpy(at, &value, sizeof value);
  }
  static void fill(Rng& rng, WeightType type, std::byte* at) {
    switch (type) {
      case WeightType::kF32: return write(at, random_float(rng));
      case WeightType::kF16: return write(at, f32_to_f16(random_float(rng)));
      case WeightType::kBF16: return write(at, f32_to_bf16(random_float(rng)));
      case WeightType::kQ4_0: return write(at, random_block<BlockQ4_0>(rng));
      case WeightType::kQ4_1: return write(at, random_block<BlockQ4_1>(rng));
      case WeightType::kQ5_0: return write(at, random_block<BlockQ5_0>(rng));
      case WeightType::kQ5_1: return write(at, random_block<BlockQ5_1>(rng));
      case WeightType::kQ8_0: return write(at, random_block<BlockQ8_0>(rng));
      case WeightType::kQ2_K: return write(at, random_block<BlockQ2_K>(rng));
      case WeightType::kQ3_K: return write(at, random_block<BlockQ3_K>(rng));
      case WeightType::kQ4_K: return write(at, random_block<BlockQ4_K>(rng));
      case WeightType::kQ5_K: return write(at, random_block<BlockQ5_K>(rng));
      case WeightType::kQ6_K: return write(at, random_block<BlockQ6_K>(rng));
      case WeightType::kIQ4_NL: return write(at, random_block<BlockIQ4_NL>(rng));
      case WeightType::kIQ4_XS: return write(at, random_block<BlockIQ4_XS>(rng));
      case WeightType::kMXFP4: return write(at, random_block<BlockMXFP4>(rng));
    }
  }
  std::vector<std::byte> bytes_;
  WeightView view_;
};

inline const std::vector<WeightType>& weight_types() {
  static const std::vector<WeightType> types = {
      WeightType::kF32,  WeightType::kF16,  WeightType::kBF16, WeightType::kQ4_0, WeightType::kQ4_1,
      WeightType::kQ5_0, WeightType::kQ5_1, WeightType::kQ8_0, WeightType::kQ2_K, WeightType::kQ3_K,
      WeightType::kQ4_K, WeightType::kQ5_K, WeightType::kQ6_K, WeightType::kIQ4_NL, WeightType::kIQ4_XS,
      WeightType::kMXFP4};
  return types;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace larder::kernels::testing
