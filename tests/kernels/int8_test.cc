// SPDX-License-Identifier: Apache-2.0
// Products with activations rounded to int8: rounding to the bit, sums within a derived bound, equal bits in every cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kernels/reference/reference.h"
#include "tests/kernels/cases.h"

namespace larder::kernels {
namespace {

using reference::kReferenceInt8;
using testing::AlignedBytes;
using testing::RandomWeights;
using testing::same_bits;

constexpr float kUntouched = 1234.5f;

std::vector<const Int8Kernels*> int8_tiers() {
  std::vector<const Int8Kernels*> found;
  for (const IsaRequest request : {IsaRequest::kPortable, IsaRequest::kAvx2, IsaRequest::kAuto, IsaRequest::kAvx512}) {
    const Int8Kernels* const kernels = select_int8_kernels(request);
    if (kernels != nullptr && std::find(found.begin(), found.end(), kernels) == found.end()) found.push_back(kernels);
  }
  return found;
}

std::vector<WeightType> int8_types() {
  std::vector<WeightType> types = testing::weight_types();
  std::erase_if(types, [](WeightType type) { return !kReferenceInt8.takes(type); });
  return types;
}

// Rounded rows in memory of exactly their size.
struct Rounded {
  Rounded(const Int8Kernels& kernels, const std::vector<float>& x, std::size_t x_stride, std::uint32_t row_count,
          std::uint32_t col_count)
      : rows(row_count), cols(col_count), q(std::size_t{rows} * cols),
        groups(std::size_t{rows} * (cols / kInt8Group)) {
    for (std::uint32_t row = 0; row < rows;) {
      const std::uint32_t strip = int8_strip_rows(rows - row);
      kernels.round_strip(x.data() + row * x_stride, x_stride, strip, cols, q.data() + std::size_t{row} * cols,
                          groups.data() + std::size_t{row} * (cols / kInt8Group));
      row += strip;
    }
  }
  Int8Rows view() const { return {q.data(), groups.data()}; }

  std::uint32_t rows;
  std::uint32_t cols;
  std::vector<std::int8_t> q;
  std::vector<Int8Group> groups;
};

bool same_rounding(const Rounded& a, const Rounded& b) {
  return a.q == b.q &&
         std::memcmp(a.groups.data(), b.groups.data(), a.groups.size() * sizeof(Int8Group)) == 0;
}

struct Case {
  Case(Rng& rng, const WeightView& view, std::uint32_t row_count)
      : w(view), rows(row_count), x_stride(view.cols + 5), out_stride(view.rows + 3),
        x(testing::random_floats(rng, rows * x_stride)), rounded(kReferenceInt8, x, x_stride, rows, view.cols) {}

  Int8MatmulArgs args(std::vector<float>& out, const AlignedBytes& scratch) const {
    Int8MatmulArgs a;
    a.w = w;
    a.x = rounded.view();
    a.out = out.data();
    a.out_stride = out_stride;
    a.rows = rows;
    a.n_end = w.rows;
    a.scratch = scratch.data();
    return a;
  }

  std::vector<float> run(const Int8Kernels& kernels, bool accumulate = false) const {
    std::vector<float> out(rows * out_stride, kUntouched);
    const AlignedBytes scratch(kernels.scratch_bytes(w.cols));
    Int8MatmulArgs a = args(out, scratch);
    a.accumulate = accumulate;
    kernels.matmul(a);
    return out;
  }

  // With the weights packed beforehand, in two pieces.
  std::vector<float> run_packed(const Int8Kernels& kernels) const {
    const AlignedBytes packed(kernels.packed_bytes(w));
    const std::uint32_t panels = (w.rows + kPanelWeightRows - 1) / kPanelWeightRows;
    kernels.pack(w, panels / 2, panels, packed.data());
    kernels.pack(w, 0, panels / 2, packed.data());
    std::vector<float> out(rows * out_stride, kUntouched);
    const AlignedBytes scratch(kernels.scratch_bytes(w.cols));
    Int8MatmulArgs a = args(out, scratch);
    a.packed = packed.data();
    a.w.data = nullptr;
    kernels.matmul(a);
    return out;
  }

  WeightView w;
  std::uint32_t rows;
  std::size_t x_stride;
  std::size_t out_stride;
  std::vector<float> x;
  Rounded rounded;
};

bool has_minimum(WeightType type) {
  return type == WeightType::kQ4_1 || type == WeightType::kQ5_1 || type == WeightType::kQ4_K ||
         type == WeightType::kQ5_K;
}

// Each part of a group adds once: integer sums are exact and below 2^24, so its product with the weights' scale is
// rounded once (in formats with integer scales the product of the two is exact, 11 + 7 bits) and the fused sum once; a
// minimum brings its rounded scaled sum and a fused sum. Sums of P parts then carry at most P + 3 roundings each, and
// accumulating and the reference's own one more. S is the sum of |x| |u - offset| scale and of |minimum| |scaled sum|:
// what cancels between them is not smaller in f32.
void expect_within_bound(const Case& c, const std::vector<float>& got, const std::vector<float>& want, double before,
                         const char* name) {
  const double parts = c.w.cols / 16.0;
  for (std::uint32_t n = 0; n < c.w.rows; ++n) {
    for (std::uint32_t m = 0; m < c.rows; ++m) {
      double size = before;
      for (std::uint32_t k = 0; k < c.w.cols; ++k) {
        const double x = reference::int8_value(c.rounded.view(), c.rows, c.w.cols, m, k);
        // With a minimum, scale * u and the minimum are added one after the other: each is at most the weight's
        // magnitude and twice the minimum's, which cases.h keeps at 1 or below.
        size += std::abs(x) * (std::abs(reference::weight(c.w, n, k)) + (has_minimum(c.w.type) ? 2.0 : 0.0));
      }
      const std::size_t at = m * c.out_stride + n;
      ASSERT_LE(std::abs(double{got[at]} - double{want[at]}), testing::gamma(parts + 5) * size)
          << name << " " << weight_type_info(c.w.type).name << " rows " << c.rows << " n " << n << " K " << c.w.cols;
    }
  }
  for (std::uint32_t m = 0; m < c.rows; ++m) {
    for (std::size_t i = c.w.rows; i < c.out_stride; ++i) ASSERT_EQ(got[m * c.out_stride + i], kUntouched) << name;
  }
}

TEST(Int8, RoundingIsTheReferencesToTheBit) {
  Rng rng(11);
  constexpr std::uint32_t kCols = 160;
  for (const std::uint32_t rows : {1u, 2u, 3u, 7u, 12u, 31u}) {
    std::vector<float> x = testing::random_floats(rng, rows * (kCols + 7), 3.0f);
    // Zeros, tiny numbers, halves that round to even, one large number.
    for (std::uint32_t i = 0; i < 32; ++i) x[i] = 0.0f;
    for (std::uint32_t i = 32; i < 64; ++i) x[i] = (i % 2 == 0 ? 1 : -1) * 0x1p-101f * static_cast<float>(i % 2);
    for (std::uint32_t i = 64; i < 96; ++i) x[i] = static_cast<float>(static_cast<int>(i) - 80) + 0.5f;
    x[95] = 127.0f;
    x[130] = -1e30f;
    const Rounded want(kReferenceInt8, x, kCols + 7, rows, kCols);
    EXPECT_EQ(want.groups[0].scale, 0.0f);
    for (const Int8Kernels* kernels : int8_tiers()) {
      EXPECT_TRUE(same_rounding(Rounded(*kernels, x, kCols + 7, rows, kCols), want)) << kernels->name << " " << rows;
    }
  }
}

// A value is off by at most half a step; the largest stays within one rounding of f32.
TEST(Int8, RoundedValuesAreWithinHalfAStep) {
  Rng rng(12);
  constexpr std::uint32_t kCols = 64;
  const std::vector<float> x = testing::random_floats(rng, 5 * kCols, 2.0f);
  const Rounded rounded(kReferenceInt8, x, kCols, 5, kCols);
  for (std::uint32_t m = 0; m < 5; ++m) {
    for (std::uint32_t k = 0; k < kCols; ++k) {
      const double value = reference::int8_value(rounded.view(), 5, kCols, m, k);
      double largest = 0;
      for (std::uint32_t i = k / 32 * 32; i < k / 32 * 32 + 32; ++i) {
        largest = std::max(largest, std::abs(double{x[m * kCols + i]}));
      }
      ASSERT_LE(std::abs(value - double{x[m * kCols + k]}), largest / 254 * (1 + 1e-4)) << m << " " << k;
    }
  }
}

TEST(Int8, WhatIsNoNumberShowsInItsRowAlone) {
  Rng rng(13);
  constexpr std::uint32_t kCols = 96;
  const RandomWeights w(rng, WeightType::kQ4_0, 20, kCols);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    std::vector<float> x = testing::random_floats(rng, 3 * kCols);
    x[kCols + 40] = bad;
    for (const Int8Kernels* kernels : int8_tiers()) {
      const Rounded rounded(*kernels, x, kCols, 3, kCols);
      Int8MatmulArgs a;
      std::vector<float> out(3 * 20);
      const AlignedBytes scratch(kernels->scratch_bytes(kCols));
      a.w = w.view();
      a.x = rounded.view();
      a.out = out.data();
      a.out_stride = 20;
      a.rows = 3;
      a.n_end = 20;
      a.scratch = scratch.data();
      kernels->matmul(a);
      for (std::uint32_t n = 0; n < 20; ++n) {
        EXPECT_TRUE(std::isfinite(out[n]) && std::isnan(out[20 + n]) && std::isfinite(out[40 + n])) << kernels->name;
      }
    }
  }
}

TEST(Int8, EveryTierTypeAndOddSizeIsWithinTheBound) {
  Rng rng(14);
  for (const WeightType type : int8_types()) {
    const bool wide = weight_type_info(type).block_values == 256;
    for (const std::uint32_t cols : wide ? std::vector<std::uint32_t>{256, 1024}
                                         : std::vector<std::uint32_t>{32, 96, 576, 1568}) {
      for (const std::uint32_t n : {1u, 3u, 16u, 17u, 63u}) {
        const RandomWeights w(rng, type, n, cols);
        for (const std::uint32_t rows : {1u, 2u, 3u, 5u, 11u, 12u, 25u}) {
          if (std::size_t{cols} * n * rows > 300'000) continue;
          const Case c(rng, w.view(), rows);
          const std::vector<float> want = c.run(kReferenceInt8);
          for (const Int8Kernels* kernels : int8_tiers()) {
            expect_within_bound(c, c.run(*kernels), want, 0, kernels->name);
          }
        }
      }
    }
  }
}

TEST(Int8, AccumulateAddsToWhatIsThere) {
  Rng rng(15);
  for (const WeightType type : int8_types()) {
    const RandomWeights w(rng, type, 19, 512);
    const Case c(rng, w.view(), 7);
    const std::vector<float> want = c.run(kReferenceInt8, true);
    for (const Int8Kernels* kernels : int8_tiers()) {
      expect_within_bound(c, c.run(*kernels, true), want, double{kUntouched}, kernels->name);
    }
  }
}

TEST(Int8, PackedWeightsGiveTheBitsOfThoseInTheFile) {
  Rng rng(16);
  for (const WeightType type : int8_types()) {
    for (const std::uint32_t n : {1u, 16u, 50u}) {
      const RandomWeights w(rng, type, n, 768);
      const Case c(rng, w.view(), 14);
      for (const Int8Kernels* kernels : int8_tiers()) {
        EXPECT_TRUE(same_bits(c.run_packed(*kernels), c.run(*kernels)))
            << kernels->name << " " << weight_type_info(type).name << " " << n;
      }
    }
  }
}

TEST(Int8, RowsAloneAndChunkedAndSplitRangesGiveTheBitsOfTheWhole) {
  Rng rng(17);
  constexpr std::uint32_t kCols = 1280;
  for (const WeightType type : int8_types()) {
    const RandomWeights w(rng, type, 35, kCols);
    const Case c(rng, w.view(), 33);
    for (const Int8Kernels* kernels : int8_tiers()) {
      const std::vector<float> whole = c.run(*kernels);
      const AlignedBytes scratch(kernels->scratch_bytes(kCols));
      for (const std::uint32_t chunk : {1u, 2u, 3u, 5u, 8u, 13u, 32u}) {
        std::vector<float> out(whole.size(), kUntouched);
        for (std::uint32_t m = 0; m < c.rows; m += chunk) {
          const std::uint32_t count = std::min(chunk, c.rows - m);
          const std::vector<float> x(c.x.begin() + static_cast<std::ptrdiff_t>(m * c.x_stride),
                                     c.x.begin() + static_cast<std::ptrdiff_t>((m + count) * c.x_stride));
          const Rounded rounded(*kernels, x, c.x_stride, count, kCols);
          for (const auto& [begin, end] : {std::pair{0u, 1u}, std::pair{1u, 20u}, std::pair{20u, 35u}}) {
            Int8MatmulArgs a = c.args(out, scratch);
            a.x = rounded.view();
            a.out += m * a.out_stride;
            a.rows = count;
            a.n_begin = begin;
            a.n_end = end;
            kernels->matmul(a);
          }
        }
        EXPECT_TRUE(same_bits(out, whole)) << kernels->name << " " << weight_type_info(type).name << " chunk " << chunk;
      }
    }
  }
}

TEST(Int8, AllTiersGiveEqualBitsAndPackEqually) {
  Rng rng(19);
  const std::vector<const Int8Kernels*> tiers = int8_tiers();
  if (tiers.size() < 2) GTEST_SKIP() << "this processor has fewer than two int8 tiers";
  for (const WeightType type : int8_types()) {
    const RandomWeights w(rng, type, 45, 768);
    const Case c(rng, w.view(), 27);
    const std::vector<float> want = c.run(*tiers.front());
    for (const Int8Kernels* kernels : tiers) {
      const char* const name = weight_type_info(type).name;
      EXPECT_TRUE(same_bits(c.run(*kernels), want)) << kernels->name << " " << name;
      const AlignedBytes first(kernels->packed_bytes(w.view()));
      const AlignedBytes other(kernels->packed_bytes(w.view()));
      tiers.front()->pack(w.view(), 0, 3, first.data());
      kernels->pack(w.view(), 0, 3, other.data());
      EXPECT_EQ(std::memcmp(first.data(), other.data(), first.size()), 0) << kernels->name << " " << name;
    }
  }
}

// What the header says of the arithmetic, done literally for Q4_0: an exact integer per group, two roundings, in order.
TEST(Int8, TheBitsAreTheOnesTheHeaderDescribes) {
  Rng rng(18);
  const RandomWeights w(rng, WeightType::kQ4_0, 9, 160);
  const Case c(rng, w.view(), 7);
  for (const Int8Kernels* kernels : int8_tiers()) {
    const std::vector<float> got = c.run(*kernels);
    for (std::uint32_t m = 0; m < c.rows; ++m) {
      const Rounded row(kReferenceInt8, {c.x.begin() + static_cast<std::ptrdiff_t>(m * c.x_stride), c.x.end()},
                        c.x_stride, 1, 160);
      for (std::uint32_t n = 0; n < w.view().rows; ++n) {
        float sum = 0;
        for (std::uint32_t g = 0; g < 5; ++g) {
          BlockQ4_0 block;
          std::memcpy(&block, w.view().data + n * w.view().row_bytes() + g * sizeof block, sizeof block);
          int dot = 0;
          for (std::uint32_t i = 0; i < 32; ++i) {
            const int u = i < 16 ? block.qs[i] & 15 : block.qs[i - 16] >> 4;
            dot += (u - 8) * row.q[g * 32 + i];
          }
          const volatile float scaled = static_cast<float>(dot) * f16_to_f32(block.d);
          sum = std::fma(scaled, row.groups[g].scale, sum);
        }
        ASSERT_EQ(got[m * c.out_stride + n], sum) << kernels->name << " " << m << " " << n;
      }
    }
  }
}

TEST(Int8, FloatsAreNotTaken) {
  for (const Int8Kernels* kernels : int8_tiers()) {
    for (const WeightType type : {WeightType::kF32, WeightType::kF16, WeightType::kBF16}) {
      EXPECT_FALSE(kernels->takes(type)) << kernels->name;
      EXPECT_EQ(kernels->packed_bytes({nullptr, type, 64, 64}), 0u);
    }
    for (const WeightType type : int8_types()) EXPECT_TRUE(kernels->takes(type)) << kernels->name;
  }
}

}  // namespace
}  // namespace larder::kernels
