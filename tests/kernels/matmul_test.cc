// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/reference/reference.h"
#include "tests/kernels/cases.h"

namespace larder::kernels {
namespace {

using testing::AlignedBytes;
using testing::RandomWeights;
using testing::same_bits;
using testing::tiers;

constexpr float kUntouched = 1234.5f;

// x and out lie in rows wider than needed, so that a kernel that mistakes a stride for a width shows.
struct Case {
  Case(Rng& rng, const WeightView& view, std::uint32_t row_count)
      : w(view), rows(row_count), x_stride(view.cols + 5), out_stride(view.rows + 3),
        x(testing::random_floats(rng, rows * x_stride)) {}

  MatmulArgs args(std::vector<float>& out, const AlignedBytes& scratch) const {
    MatmulArgs a;
    a.w = w;
    a.x = x.data();
    a.x_stride = x_stride;
    a.out = out.data();
    a.out_stride = out_stride;
    a.rows = rows;
    a.n_end = w.rows;
    a.scratch = scratch.data();
    return a;
  }

  std::vector<float> run(const KernelSet& kernels, bool accumulate = false) const {
    std::vector<float> out(rows * out_stride, kUntouched);
    const AlignedBytes scratch(kernels.matmul_scratch_bytes(w.cols));
    MatmulArgs a = args(out, scratch);
    a.accumulate = accumulate;
    kernels.matmul(a);
    return out;
  }

  WeightView w;
  std::uint32_t rows;
  std::size_t x_stride;
  std::size_t out_stride;
  std::vector<float> x;
};

// A lane sums ceil(K / 16) products, each rounded at most twice (once where fused), then the tree adds four times, the
// decoded weight may be rounded once, an accumulated sum once more, and the reference is rounded once: with S the sum
// of |x| |w| (and |out| before, when accumulating), |got - want| <= gamma(ceil(K / 16) + 1 + 4 + 1 + 1 + 1) S.
void expect_within_bound(const Case& c, const std::vector<float>& got, const std::vector<float>& want, double before,
                         const char* name) {
  const double roundings = std::ceil(c.w.cols / 16.0) + 8;
  std::vector<float> weights(c.w.cols);
  for (std::uint32_t n = 0; n < c.w.rows; ++n) {
    reference::kReferenceKernels.dequantise_row(c.w, n, weights.data());
    for (std::uint32_t m = 0; m < c.rows; ++m) {
      double size = before;
      const float* x = c.x.data() + m * c.x_stride;
      for (std::uint32_t k = 0; k < c.w.cols; ++k) size += std::abs(double{x[k]} * double{weights[k]});
      const std::size_t at = m * c.out_stride + n;
      ASSERT_LE(std::abs(double{got[at]} - double{want[at]}), testing::gamma(roundings) * size)
          << name << " " << weight_type_info(c.w.type).name << " rows " << c.rows << " n " << n << " K " << c.w.cols;
    }
  }
  for (std::uint32_t m = 0; m < c.rows; ++m) {
    for (std::size_t i = c.w.rows; i < c.out_stride; ++i) ASSERT_EQ(got[m * c.out_stride + i], kUntouched) << name;
  }
}

std::vector<std::uint32_t> widths_of(WeightType type) {
  switch (weight_type_info(type).block_values) {
    case 1: return {1, 7, 16, 33, 172, 1530};
    case 32: return {32, 96, 576, 1568};
    default: return {256, 1024};
  }
}

TEST(Matmul, EveryTierTypeAndOddSizeIsWithinTheBound) {
  Rng rng(1);
  for (const WeightType type : testing::weight_types()) {
    for (const std::uint32_t cols : widths_of(type)) {
      for (const std::uint32_t n : {1u, 3u, 17u, 64u}) {
        const RandomWeights w(rng, type, n, cols);
        for (const std::uint32_t rows : {1u, 2u, 3u, 5u, 7u, 16u}) {
          if (std::size_t{cols} * n * rows > 300'000) continue;
          const Case c(rng, w.view(), rows);
          const std::vector<float> want = c.run(reference::kReferenceKernels);
          for (const KernelSet* kernels : tiers()) {
            expect_within_bound(c, c.run(*kernels), want, 0, kernels->name);
          }
        }
      }
    }
  }
}

TEST(Matmul, AccumulateAddsToWhatIsThere) {
  Rng rng(2);
  const RandomWeights w(rng, WeightType::kQ4_1, 19, 96);
  const Case c(rng, w.view(), 7);
  const std::vector<float> want = c.run(reference::kReferenceKernels, true);
  for (const KernelSet* kernels : tiers()) {
    expect_within_bound(c, c.run(*kernels, true), want, double{kUntouched}, kernels->name);
  }
}

TEST(Matmul, NoRowsTouchNothing) {
  Rng rng(9);
  const RandomWeights w(rng, WeightType::kF32, 5, 16);
  const Case c(rng, w.view(), 1);
  for (const KernelSet* kernels : tiers()) {
    std::vector<float> out(8, kUntouched);
    const AlignedBytes scratch(kernels->matmul_scratch_bytes(16));
    MatmulArgs a = c.args(out, scratch);
    a.rows = 0;
    kernels->matmul(a);
    EXPECT_EQ(out, std::vector<float>(8, kUntouched)) << kernels->name;
  }
}

TEST(Matmul, AZeroWideRowGivesZero) {
  Rng rng(3);
  const RandomWeights w(rng, WeightType::kF32, 5, 0);
  const Case c(rng, w.view(), 3);
  for (const KernelSet* kernels : tiers()) {
    const std::vector<float> out = c.run(*kernels);
    for (std::uint32_t n = 0; n < 5; ++n) EXPECT_EQ(out[n], 0.0f) << kernels->name;
  }
}

// Any split of rows (a row alone, chunks) and of n (threads) must leave the bits as they are.
TEST(Matmul, RowsAloneAndChunkedAndSplitRangesGiveTheBitsOfTheWhole) {
  Rng rng(4);
  for (const WeightType type : testing::weight_types()) {
    const std::uint32_t cols = weight_type_info(type).block_values == 1 ? 1530 : 1280;
    const RandomWeights w(rng, type, 35, cols);
    const Case c(rng, w.view(), 33);
    for (const KernelSet* kernels : tiers()) {
      const std::vector<float> whole = c.run(*kernels);
      const AlignedBytes scratch(kernels->matmul_scratch_bytes(cols));
      for (const std::uint32_t chunk : {1u, 2u, 3u, 5u, 8u, 32u}) {
        std::vector<float> out(whole.size(), kUntouched);
        for (std::uint32_t m = 0; m < c.rows; m += chunk) {
          for (const auto& [begin, end] : {std::pair{0u, 1u}, std::pair{1u, 20u}, std::pair{20u, 35u}}) {
            MatmulArgs a = c.args(out, scratch);
            a.x += m * a.x_stride;
            a.out += m * a.out_stride;
            a.rows = std::min(chunk, c.rows - m);
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

// What the header says of the arithmetic, done literally: 16 partial sums in order of k, then lane i + (i + 8), + 4, +
// 2, + 1.
TEST(Matmul, TheBitsAreTheOnesTheHeaderDescribes) {
  Rng rng(5);
  const RandomWeights w(rng, WeightType::kF32, 9, 172);
  const Case c(rng, w.view(), 7);
  for (const KernelSet* kernels : tiers()) {
    const bool fused = std::string(kernels->name) != "portable";
    const std::vector<float> got = c.run(*kernels);
    for (std::uint32_t m = 0; m < c.rows; ++m) {
      for (std::uint32_t n = 0; n < w.view().rows; ++n) {
        float lane[16] = {};
        std::vector<float> weights(w.view().cols);
        kernels->dequantise_row(w.view(), n, weights.data());
        for (std::size_t k = 0; k < weights.size(); ++k) {
          const volatile float product = c.x[m * c.x_stride + k] * weights[k];
          lane[k % 16] = fused ? std::fma(c.x[m * c.x_stride + k], weights[k], lane[k % 16]) : lane[k % 16] + product;
        }
        for (int half = 8; half > 0; half /= 2) {
          for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
        }
        ASSERT_EQ(got[m * c.out_stride + n], lane[0]) << kernels->name << " " << m << " " << n;
      }
    }
  }
}

}  // namespace
}  // namespace larder::kernels
