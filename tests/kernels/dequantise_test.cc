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

TEST(Dequantise, Q5TakesItsFifthBitsFromOneWord) {
  BlockQ5_0 zero{0x3c00, {}, {}};  // d = 1
  zero.qs[0] = 0x2f;
  zero.qs[15] = 0x10;
  zero.qh[0] = 0x01;  // value 0
  zero.qh[3] = 0x80;  // value 31
  BlockQ5_1 one{0x3800, 0xc000, {}, {}};  // d = 0.5, m = -2
  one.qs[3] = 0x74;
  one.qh[0] = 0x08;  // value 3
  one.qh[2] = 0x08;  // value 19
  for (const KernelSet* kernels : all_sets()) {
    const std::vector<float> out = row_of(*kernels, WeightType::kQ5_0, zero, 32);
    EXPECT_EQ(out[0], 15.0f) << kernels->name;  // 16 + 15 - 16
    EXPECT_EQ(out[16], -14.0f);
    EXPECT_EQ(out[15], -16.0f);
    EXPECT_EQ(out[31], 1.0f);
    const std::vector<float> other = row_of(*kernels, WeightType::kQ5_1, one, 32);
    EXPECT_EQ(other[3], 0.5f * 20 - 2) << kernels->name;
    EXPECT_EQ(other[19], 0.5f * 23 - 2);
    EXPECT_EQ(other[0], -2.0f);
  }
}

TEST(Dequantise, Iq4NibblesAreLookedUp) {
  BlockIQ4_NL block{0x3400, {}};  // d = 0.25
  block.qs[0] = 0xf0;
  block.qs[9] = 0x78;
  BlockIQ4_XS wide{};
  wide.d = 0x3c00;
  wide.scales_l[0] = 0x31;         // run 0: low 1, run 1: low 3
  wide.scales_h = 0b11'10;         // run 0: 2, run 1: 3
  wide.qs[0] = 0xf0;               // values 0 and 16
  wide.qs[16 + 15] = 0x08;         // values 32 + 15 and 32 + 31
  for (const KernelSet* kernels : all_sets()) {
    const std::vector<float> out = row_of(*kernels, WeightType::kIQ4_NL, block, 32);
    EXPECT_EQ(out[0], 0.25f * -127) << kernels->name;
    EXPECT_EQ(out[16], 0.25f * 113);
    EXPECT_EQ(out[9], 0.25f * 1);
    EXPECT_EQ(out[25], 0.25f * -10);
    const std::vector<float> other = row_of(*kernels, WeightType::kIQ4_XS, wide, 256);
    EXPECT_EQ(other[0], (33.0f - 32) * -127) << kernels->name;
    EXPECT_EQ(other[16], (33.0f - 32) * 113);
    EXPECT_EQ(other[47], (51.0f - 32) * 1);
    EXPECT_EQ(other[63], (51.0f - 32) * -127);
    EXPECT_EQ(other[64], -32.0f * -127);
  }
}

TEST(Dequantise, Mxfp4IsAPowerOfTwoTimesASmallFloat) {
  BlockMXFP4 block{130, {}};  // 4, halves of what the table doubles
  block.qs[0] = 0xf7;         // value 0: 12, value 16: -12
  block.qs[1] = 0x91;         // value 1: 1, value 17: -1
  BlockMXFP4 smallest{0, {}};
  smallest.qs[0] = 0x01;
  for (const KernelSet* kernels : all_sets()) {
    const std::vector<float> out = row_of(*kernels, WeightType::kMXFP4, block, 32);
    EXPECT_EQ(out[0], 48.0f) << kernels->name;
    EXPECT_EQ(out[16], -48.0f);
    EXPECT_EQ(out[1], 4.0f);
    EXPECT_EQ(out[17], -4.0f);
    EXPECT_EQ(row_of(*kernels, WeightType::kMXFP4, smallest, 32)[0], 0x1p-128f) << kernels->name;
  }
}

TEST(Dequantise, Q2_KHasAScaleAndAMinimumForSixteen) {
  BlockQ2_K block{};
  block.d = 0x3c00;     // 1
  block.dmin = 0x3800;  // 0.5
  block.scales[0] = 0x35;
  block.scales[15] = 0x2f;
  block.qs[0] = 0b11'10'01'10;   // values 0, 32, 64, 96: 2, 1, 2, 3
  block.qs[32 + 31] = 0b01'000000;  // value 128 + 96 + 31: 1
  for (const KernelSet* kernels : all_sets()) {
    const std::vector<float> out = row_of(*kernels, WeightType::kQ2_K, block, 256);
    EXPECT_EQ(out[0], 5.0f * 2 - 1.5f) << kernels->name;
    EXPECT_EQ(out[1], -1.5f);
    EXPECT_EQ(out[32], 0.0f);  // scale and minimum of its run are 0
    EXPECT_EQ(out[255], 15.0f * 1 - 1.0f);
  }
}

TEST(Dequantise, Q3_KJoinsTwoLowBitsAndAMask) {
  BlockQ3_K block{};
  block.d = 0x3c00;
  block.scales[0] = 0x21;          // run 0: low 1, run 8: low 2
  block.scales[8] = 0b00'10'00'11;  // run 0: high 3, run 8: high 2
  block.qs[0] = 0b10;              // value 0
  block.qs[32] = 0b01;             // value 128
  block.hmask[0] = 0b0001'0000;    // value 128
  for (const KernelSet* kernels : all_sets()) {
    const std::vector<float> out = row_of(*kernels, WeightType::kQ3_K, block, 256);
    EXPECT_EQ(out[0], (49.0f - 32) * (2 - 4)) << kernels->name;
    EXPECT_EQ(out[128], (34.0f - 32) * (4 + 1 - 4));
    EXPECT_EQ(out[16], -32.0f * -4);
  }
}

TEST(Dequantise, Q4_KAndQ5_KHaveSixBitScalesAndMinimums) {
  BlockQ4_K four{};
  four.d = 0x3c00;
  four.dmin = 0x3800;
  four.scales[0] = 0xc0 | 7;   // run 0: scale 7; run 4: upper scale bits 3
  four.scales[4] = 0x80 | 5;   // run 0: minimum 5; run 4: upper minimum bits 2
  four.scales[8] = 0x21;       // run 4: lower scale bits 1, lower minimum bits 2
  four.qs[0] = 0x0c;           // run 0, value 0: 12
  four.qs[64 + 31] = 0x09;     // run 4, value 31: 9
  BlockQ5_K five{};
  five.d = four.d;
  five.dmin = four.dmin;
  for (int i = 0; i < 12; ++i) five.scales[i] = four.scales[i];
  for (int i = 0; i < 128; ++i) five.qs[i] = four.qs[i];
  five.qh[0] = 0b0000'0001;
  five.qh[31] = 0b0001'0000;
  for (const KernelSet* kernels : all_sets()) {
    const std::vector<float> out = row_of(*kernels, WeightType::kQ4_K, four, 256);
    EXPECT_EQ(out[0], 7.0f * 12 - 2.5f) << kernels->name;
    EXPECT_EQ(out[4 * 32 + 31], 49.0f * 9 - 17.0f);
    EXPECT_EQ(out[32], 0.0f);
    const std::vector<float> other = row_of(*kernels, WeightType::kQ5_K, five, 256);
    EXPECT_EQ(other[0], 7.0f * 28 - 2.5f) << kernels->name;
    EXPECT_EQ(other[1], -2.5f);
    EXPECT_EQ(other[4 * 32 + 31], 49.0f * 25 - 17.0f);
  }
}

// Weights without a minimum are exact in f32 (at most 11 + 6 + 7 bits), those with one round the sum once, and Q6_K
// rounds once (11 + 8 + 6 bits). So every tier must give the reference's own rounding.
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
