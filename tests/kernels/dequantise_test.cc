// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/reference/reference.h"
#include "tests/kernels/cases.h"

namespace larder::kernels {
namespace {

using testing::tiers;

std::vector<const KernelSet*> all_sets() {
  std::vector<const KernelSet*> sets = tiers();
  sets.push_back(&reference::kReferenceKernels);
  return sets;
}

template <typename Block>
std::vector<float> row_of(const KernelSet& kernels, WeightType type, const Block& block, std::uint32_t cols) {
  const WeightView view{reinterpret_cast<const std::byte*>(&block), type, 1, cols};
  std::vector<float> out(cols, -1.0f);
  kernels.dequantise_row(view, 0, out.data());
  return out;
}

// The expected numbers of these cases are worked out by hand from the text of kernels/layout/quant_blocks.h.
TEST(Dequantise, Q4_0NibblesAreCentredOnEight) {
  BlockQ4_0 block{0x3800, {}};  // d = 0.5
  block.qs[0] = 0xf0;           // value 0: 0 - 8, value 16: 15 - 8
  block.qs[1] = 0x18;           // value 1: 8 - 8, value 17: 1 - 8
  block.qs[15] = 0x9a;          // value 15: 10 - 8, value 31: 9 - 8
  for (const KernelSet* kernels : all_sets()) {
    const std::vector<float> out = row_of(*kernels, WeightType::kQ4_0, block, 32);
    EXPECT_EQ(out[0], -4.0f) << kernels->name;
    EXPECT_EQ(out[16], 3.5f);
    EXPECT_EQ(out[1], 0.0f);
    EXPECT_EQ(out[17], -3.5f);
    EXPECT_EQ(out[15], 1.0f);
    EXPECT_EQ(out[31], 0.5f);
    EXPECT_EQ(out[2], -4.0f);
  }
}

TEST(Dequantise, Q4_1NibblesStartAtTheMinimum) {
  BlockQ4_1 block{0x3400, 0xbe00, {}};  // d = 0.25, m = -1.5
  block.qs[0] = 0xf0;
  block.qs[7] = 0x62;
  for (const KernelSet* kernels : all_sets()) {
    const std::vector<float> out = row_of(*kernels, WeightType::kQ4_1, block, 32);
    EXPECT_EQ(out[0], -1.5f) << kernels->name;
    EXPECT_EQ(out[16], 2.25f);
    EXPECT_EQ(out[7], -1.0f);
    EXPECT_EQ(out[23], 0.0f);
  }
}

TEST(Dequantise, Q8_0BytesAreSigned) {
  BlockQ8_0 block{0xb400, {}};  // d = -0.25
  block.qs[0] = 127;
  block.qs[15] = -128;
  block.qs[16] = -1;
  block.qs[31] = 4;
  for (const KernelSet* kernels : all_sets()) {
    const std::vector<float> out = row_of(*kernels, WeightType::kQ8_0, block, 32);
    EXPECT_EQ(out[0], -31.75f) << kernels->name;
    EXPECT_EQ(out[15], 32.0f);
    EXPECT_EQ(out[16], 0.25f);
    EXPECT_EQ(out[31], -1.0f);
  }
}

TEST(Dequantise, Q6_KJoinsFourLowAndTwoHighBits) {
  BlockQ6_K block{};
  block.d = 0x3c00;  // 1
  for (int i = 0; i < 16; ++i) block.scales[i] = static_cast<std::int8_t>(i - 8);
  block.ql[0] = 0x53;        // value 0 low 3, value 64 low 5
  block.ql[32] = 0x0f;       // value 32 low 15, value 96 low 0
  block.qh[0] = 0b11100100;  // values 0, 32, 64, 96: high 0, 1, 2, 3
  block.ql[64 + 31] = 0x70;  // value 128 + 31 low 0, value 128 + 95 low 7
  block.qh[32 + 31] = 0b00110000;  // value 128 + 95: high 3
  for (const KernelSet* kernels : all_sets()) {
    const std::vector<float> out = row_of(*kernels, WeightType::kQ6_K, block, 256);
    EXPECT_EQ(out[0], -8.0f * (3 - 32)) << kernels->name;
    EXPECT_EQ(out[32], -6.0f * (16 + 15 - 32));
    EXPECT_EQ(out[64], -4.0f * (32 + 5 - 32));
    EXPECT_EQ(out[96], -2.0f * (48 + 0 - 32));
    EXPECT_EQ(out[128 + 31], 1.0f * (0 - 32));
    EXPECT_EQ(out[128 + 95], 5.0f * (48 + 7 - 32));
    EXPECT_EQ(out[1], -8.0f * -32);
  }
}

// F32, F16, BF16, Q4_0, Q4_1 and Q8_0 weights are exact in f32: the scale's 11 bits times at most 8, and for Q4_1 one
// rounding of the sum. Q6_K rounds once (11 + 7 + 6 bits). So every tier must give the reference's own rounding.
TEST(Dequantise, EveryTierGivesTheReferenceRoundedOnce) {
  Rng rng(11);
  for (const WeightType type : testing::weight_types()) {
    const std::uint32_t block = weight_type_info(type).block_values;
    for (const std::uint32_t blocks : {1u, 3u, 16u, 17u, 45u}) {
      const testing::RandomWeights w(rng, type, 2, block * blocks);
      std::vector<float> want(w.view().cols);
      reference::kReferenceKernels.dequantise_row(w.view(), 1, want.data());
      for (const KernelSet* kernels : tiers()) {
        std::vector<float> got(want.size());
        kernels->dequantise_row(w.view(), 1, got.data());
        for (std::size_t i = 0; i < got.size(); ++i) {
          ASSERT_EQ(got[i], want[i]) << kernels->name << " " << weight_type_info(type).name << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace larder::kernels
