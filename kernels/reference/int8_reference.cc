// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "kernels/reference/reference.h"

namespace larder::kernels::reference {
namespace {

struct Strip {
  std::uint32_t first = 0;
  std::uint32_t rows = 1;
};

Strip strip_of(std::uint32_t rows, std::uint32_t row) {
  Strip strip{0, int8_strip_rows(rows)};
  while (row >= strip.first + strip.rows) {
    strip.first += strip.rows;
    strip.rows = int8_strip_rows(rows - strip.first);
  }
  return strip;
}

bool takes(WeightType type) {
  switch (type) {
    case WeightType::kF32:
    case WeightType::kF16:
    case WeightType::kBF16: return false;
    // Runs of 16 with a minimum each: no kernel has them yet.
    case WeightType::kQ2_K:
    case WeightType::kQ3_K: return false;
    default: return true;
  }
}

// Rounding is part of what is defined, so the quotients and products here are f32, each rounded once.
void round_group(const float* x, std::int8_t* q, Int8Group& group) {
  float most = 0;
  bool finite = true;
  for (std::uint32_t i = 0; i < kInt8Group; ++i) {
    finite = finite && std::isfinite(x[i]);
    most = std::fmax(most, std::fabs(x[i]));
  }
  std::int32_t low_sum = 0;
  std::int32_t sum = 0;
  const bool zeros = !finite || most < kLeastGroupMax;
  const float inverse = zeros ? 0.0f : 127.0f / most;
  for (std::uint32_t i = 0; i < kInt8Group; ++i) {
    q[i] = zeros ? std::int8_t{0} : static_cast<std::int8_t>(std::nearbyint(x[i] * inverse));
    sum += q[i];
    if (i < kInt8Group / 2) low_sum += q[i];
  }
  group.scale = !finite ? std::numeric_limits<float>::quiet_NaN() : zeros ? 0.0f : most / 127.0f;
  group.scaled_sum = group.scale * static_cast<float>(sum);
  group.minus_sum = -sum;
  group.minus_low_sum = -low_sum;
}

void round_strip(const float* x, std::size_t x_stride, std::uint32_t rows, std::uint32_t cols, std::int8_t* q,
                 Int8Group* groups) {
  for (std::uint32_t m = 0; m < rows; ++m) {
    for (std::uint32_t g = 0; g < cols / kInt8Group; ++g) {
      std::int8_t rounded[kInt8Group];
      round_group(x + m * x_stride + std::size_t{g} * kInt8Group, rounded, groups[std::size_t{g} * rows + m]);
      for (std::uint32_t i = 0; i < kInt8Group; ++i) {
        const std::size_t quad = std::size_t{g} * 8 + i / 4;
        q[4 * (quad * rows + m) + i % 4] = rounded[i];
      }
    }
  }
}

void matmul(const Int8MatmulArgs& a) {
  for (std::uint32_t m = 0; m < a.rows; ++m) {
    for (std::uint32_t n = a.n_begin; n < a.n_end; ++n) {
      float& out = a.out[m * a.out_stride + n];
      double sum = a.accumulate ? double{out} : 0.0;
      for (std::uint32_t k = 0; k < a.w.cols; ++k) {
        sum += int8_value(a.x, a.rows, a.w.cols, m, k) * weight(a.w, n, k);
      }
      out = static_cast<float>(sum);
    }
  }
}

std::size_t scratch_bytes(std::uint32_t) { return 64; }
std::size_t packed_bytes(const WeightView&) { return 0; }
void pack(const WeightView&, std::uint32_t, std::uint32_t, std::byte*) {}

}  // namespace

double int8_value(const Int8Rows& x, std::uint32_t rows, std::uint32_t cols, std::uint32_t row, std::uint32_t col) {
  const Strip strip = strip_of(rows, row);
  const std::uint32_t m = row - strip.first;
  const std::size_t quad = std::size_t{col / 4} * strip.rows + m;
  const std::int8_t q = x.q[std::size_t{strip.first} * cols + 4 * quad + col % 4];
  const std::size_t group = std::size_t{col / kInt8Group} * strip.rows + m;
  return q * double{x.groups[std::size_t{strip.first} * (cols / kInt8Group) + group].scale};
}

const Int8Kernels kReferenceInt8 = {"reference",    1,             &takes,        &round_strip, &matmul,
                                    &scratch_bytes, &packed_bytes, &pack};

}  // namespace larder::kernels::reference
