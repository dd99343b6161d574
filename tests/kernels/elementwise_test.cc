// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/reference/reference.h"
#include "tests/kernels/cases.h"

namespace larder::kernels {
namespace {

using reference::kReferenceKernels;
using testing::gamma;
using testing::kUnit;
using testing::random_floats;
using testing::same_bits;
using testing::tiers;

// The sum of squares has positive terms, so it is off by at most ceil(n / 16) + 1 + 4 roundings relatively; the mean
// and eps add two; the root halves what came before and adds one; reciprocal and two products add three, the reference
// one.
TEST(RmsNorm, EveryTierIsWithinTheBound) {
  Rng rng(1);
  for (const std::uint32_t n : {1u, 7u, 16u, 64u, 172u, 576u, 2048u}) {
    const std::vector<float> x = random_floats(rng, n, 3.0f);
    const std::vector<float> weight = random_floats(rng, n);
    std::vector<float> want(n);
    kReferenceKernels.rms_norm(x.data(), weight.data(), want.data(), n, 1e-5f);
    const double bound = gamma((std::ceil(n / 16.0) + 7) / 2 + 5);
    for (const KernelSet* kernels : tiers()) {
      std::vector<float> got(n + 1, 7.0f);
      kernels->rms_norm(x.data(), weight.data(), got.data(), n, 1e-5f);
      for (std::uint32_t i = 0; i < n; ++i) {
        ASSERT_LE(std::abs(double{got[i]} - double{want[i]}), bound * std::abs(double{want[i]}))
            << kernels->name << " " << n;
      }
      EXPECT_EQ(got[n], 7.0f) << kernels->name;
    }
  }
}

TEST(RmsNorm, InPlaceIsTheSame) {
  Rng rng(7);
  const std::vector<float> x = random_floats(rng, 172, 3.0f);
  const std::vector<float> weight = random_floats(rng, 172);
  for (const KernelSet* kernels : tiers()) {
    std::vector<float> apart(172);
    kernels->rms_norm(x.data(), weight.data(), apart.data(), 172, 1e-5f);
    std::vector<float> inside = x;
    kernels->rms_norm(inside.data(), weight.data(), inside.data(), 172, 1e-5f);
    EXPECT_TRUE(same_bits(inside, apart)) << kernels->name;
  }
}

// Two products and a sum, each rounded, and the reference's rounding: 3 roundings of |x0 c| + |x1 s|.
TEST(Rope, BothPairingsAreWithinTheBoundAndLeaveTheRestAlone) {
  Rng rng(2);
  for (const bool interleaved : {true, false}) {
    for (const auto& [d_head, n_rot] :
         {std::pair{8u, 8u}, std::pair{64u, 64u}, std::pair{80u, 40u}, std::pair{20u, 14u}}) {
      const std::uint32_t rows = 5;
      const std::uint32_t heads = 3;
      const std::size_t stride = heads * d_head + 7;
      const std::vector<float> x = random_floats(rng, rows * stride);
      const std::vector<float> angles = random_floats(rng, rows * n_rot);
      RopeArgs a;
      a.stride = stride;
      a.rows = rows;
      a.n_heads = heads;
      a.d_head = d_head;
      a.n_rot = n_rot;
      a.cos_sin = angles.data();
      a.interleaved = interleaved;
      std::vector<float> want = x;
      a.x = want.data();
      kReferenceKernels.rope(a);
      for (const KernelSet* kernels : tiers()) {
        std::vector<float> got = x;
        a.x = got.data();
        kernels->rope(a);
        // |x0 c| + |x1 s| <= 2 here, as x, c and s lie in [-1, 1].
        for (std::size_t i = 0; i < got.size(); ++i) {
          ASSERT_LE(std::abs(double{got[i]} - double{want[i]}), gamma(3) * 2) << kernels->name << " " << i;
          const std::size_t in_row = i % stride;
          if (in_row >= heads * d_head || in_row % d_head >= n_rot) {
            ASSERT_EQ(got[i], x[i]) << i;
          }
        }
      }
    }
  }
}

TEST(Rope, TurnsAPairByItsAngle) {
  const float angles[4] = {0.0f, 1.0f, 0.6f, 0.8f};  // a quarter turn; cos 0.6, sin 0.8
  for (const KernelSet* kernels : tiers()) {
    RopeArgs a;
    a.rows = 1;
    a.n_heads = 1;
    a.d_head = 4;
    a.n_rot = 4;
    a.cos_sin = angles;
    float x[4] = {1, 2, 3, 4};
    a.x = x;
    kernels->rope(a);
    EXPECT_FLOAT_EQ(x[0], -2.0f) << kernels->name;
    EXPECT_FLOAT_EQ(x[1], 1.0f);
    EXPECT_FLOAT_EQ(x[2], 3 * 0.6f - 4 * 0.8f);
    EXPECT_FLOAT_EQ(x[3], 3 * 0.8f + 4 * 0.6f);
    float y[4] = {1, 2, 3, 4};
    a.x = y;
    a.interleaved = false;
    kernels->rope(a);
    EXPECT_FLOAT_EQ(y[0], -3.0f) << kernels->name;
    EXPECT_FLOAT_EQ(y[2], 1.0f);
    EXPECT_FLOAT_EQ(y[1], 2 * 0.6f - 4 * 0.8f);
    EXPECT_FLOAT_EQ(y[3], 2 * 0.8f + 4 * 0.6f);
  }
}

// exp: the reduced argument carries two roundings of at most 0.35 units, the series is cut at 0.13 units, and its
// Horner steps, rounded twice each where not fused, add at most 2 (1 + 0.35 + 0.35^2 + ...) / 0.7 < 4.5 units: 6 in
// all. Then 1 + e, the quotient, the product and the reference: 10 roundings. Beyond |x| = 87 the answer is x up or
// nearly 0.
TEST(SiluMul, EveryTierIsWithinTheBound) {
  Rng rng(3);
  for (const std::size_t n : {std::size_t{1}, std::size_t{5}, std::size_t{16}, std::size_t{23}, std::size_t{4099}}) {
    std::vector<float> gate = random_floats(rng, n, 12.0f);
    const std::vector<float> up = random_floats(rng, n);
    for (std::size_t i = 0; i < n; i += 7) gate[i] *= 20;
    std::vector<float> want(n);
    kReferenceKernels.silu_mul(gate.data(), up.data(), want.data(), n);
    for (const KernelSet* kernels : tiers()) {
      std::vector<float> got(n + 1, 7.0f);
      kernels->silu_mul(gate.data(), up.data(), got.data(), n);
      for (std::size_t i = 0; i < n; ++i) {
        const double least = std::abs(double{gate[i]} * double{up[i]}) * 0x1p-126;
        ASSERT_LE(std::abs(double{got[i]} - double{want[i]}), gamma(10) * std::abs(double{want[i]}) + least)
            << kernels->name << " gate " << gate[i];
      }
      EXPECT_EQ(got[n], 7.0f) << kernels->name;
    }
  }
}

// The exponent's argument 2 u is made in at most 7 roundings, its constants' own among them, so it is off by
// gamma(7) |2 u|, and e^(2 u) by as much relatively; then what SiluMul says.
TEST(GeluMul, EveryTierIsWithinTheBound) {
  Rng rng(8);
  for (const std::size_t n : {std::size_t{1}, std::size_t{5}, std::size_t{16}, std::size_t{23}, std::size_t{4099}}) {
    std::vector<float> gate = random_floats(rng, n, 6.0f);
    const std::vector<float> up = random_floats(rng, n);
    for (std::size_t i = 0; i < n; i += 7) gate[i] *= 1e3f;
    std::vector<float> want(n);
    kReferenceKernels.gelu_mul(gate.data(), up.data(), want.data(), n);
    for (const KernelSet* kernels : tiers()) {
      std::vector<float> got(n + 1, 7.0f);
      kernels->gelu_mul(gate.data(), up.data(), got.data(), n);
      for (std::size_t i = 0; i < n; ++i) {
        const double g = double{gate[i]};
        const double argument = std::abs(1.5957691216057308 * (g + 0.044715 * g * g * g));
        const double bound = gamma(10) + 1.01 * gamma(7) * std::fmin(argument, 88.0);
        const double least = std::abs(g * double{up[i]}) * 0x1p-126;
        ASSERT_LE(std::abs(double{got[i]} - double{want[i]}), bound * std::abs(double{want[i]}) + least)
            << kernels->name << " gate " << gate[i];
      }
      EXPECT_EQ(got[n], 7.0f) << kernels->name;
    }
  }
}

// Values of the usual tables: gelu(1) = 0.84119, gelu(-1) = -0.15881 (tanh form); far out it is g or nothing.
TEST(GeluMul, IsTheGate) {
  const float gate[6] = {0.0f, 1.0f, -1.0f, 30.0f, -30.0f, 1e20f};
  const float up[6] = {5.0f, 1.0f, 1.0f, 2.0f, 2.0f, 1.0f};
  const float want[6] = {0.0f, 0.841192f, -0.158808f, 60.0f, 0.0f, 1e20f};
  for (const KernelSet* kernels : tiers()) {
    float out[6];
    kernels->gelu_mul(gate, up, out, 6);
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(out[i], want[i], 1e-6 * std::fmax(1.0f, want[i])) << kernels->name << i;
  }
}

TEST(Scale, IsTheRoundedProductInEveryTier) {
  Rng rng(9);
  for (const std::size_t n : {std::size_t{1}, std::size_t{17}, std::size_t{576}}) {
    const std::vector<float> x = random_floats(rng, n);
    std::vector<float> want = x;
    kReferenceKernels.scale(want.data(), 5.656854f, n);
    for (const KernelSet* kernels : tiers()) {
      std::vector<float> got = x;
      kernels->scale(got.data(), 5.656854f, n);
      EXPECT_TRUE(same_bits(got, want)) << kernels->name;
    }
  }
}

TEST(Gates, NanStaysNan) {
  for (const KernelSet* kernels : tiers()) {
    for (const auto gate_mul : {kernels->silu_mul, kernels->gelu_mul}) {
      const float gate[3] = {1.0f, NAN, -1.0f};
      const float up[3] = {1.0f, 1.0f, NAN};
      float out[3];
      gate_mul(gate, up, out, 3);
      EXPECT_FALSE(std::isnan(out[0])) << kernels->name;
      EXPECT_TRUE(std::isnan(out[1])) << kernels->name;
      EXPECT_TRUE(std::isnan(out[2])) << kernels->name;
    }
  }
}

TEST(Add, IsTheRoundedSumInEveryTier) {
  Rng rng(4);
  for (const std::size_t n : {std::size_t{1}, std::size_t{17}, std::size_t{576}}) {
    const std::vector<float> a = random_floats(rng, n);
    const std::vector<float> b = random_floats(rng, n);
    std::vector<float> want = a;
    kReferenceKernels.add(want.data(), b.data(), n);
    for (const KernelSet* kernels : tiers()) {
      std::vector<float> got = a;
      kernels->add(got.data(), b.data(), n);
      EXPECT_TRUE(same_bits(got, want)) << kernels->name;
    }
  }
}

TEST(SelectKernels, TheFusingTiersGiveEqualBitsElementwise) {
  const KernelSet* narrow = select_kernels(IsaRequest::kAvx2);
  const KernelSet* wide = select_kernels(IsaRequest::kAvx512);
  if (narrow == nullptr || wide == nullptr) GTEST_SKIP() << "this processor lacks one of avx2 and avx512";
  Rng rng(6);
  const std::vector<float> x = random_floats(rng, 2051, 9.0f);
  const std::vector<float> y = random_floats(rng, 2051);
  std::vector<float> a(x.size());
  std::vector<float> b(x.size());
  narrow->silu_mul(x.data(), y.data(), a.data(), a.size());
  wide->silu_mul(x.data(), y.data(), b.data(), b.size());
  EXPECT_TRUE(same_bits(a, b));
  narrow->gelu_mul(x.data(), y.data(), a.data(), a.size());
  wide->gelu_mul(x.data(), y.data(), b.data(), b.size());
  EXPECT_TRUE(same_bits(a, b));
  narrow->rms_norm(x.data(), y.data(), a.data(), 2051, 1e-5f);
  wide->rms_norm(x.data(), y.data(), b.data(), 2051, 1e-5f);
  EXPECT_TRUE(same_bits(a, b));
  RopeArgs rope;
  rope.rows = 1;
  rope.n_heads = 32;
  rope.d_head = 64;
  rope.n_rot = 64;
  rope.cos_sin = y.data();
  a = b = x;
  rope.x = a.data();
  narrow->rope(rope);
  rope.x = b.data();
  wide->rope(rope);
  EXPECT_TRUE(same_bits(a, b));
}

// The bits of an element do not depend on where it stands or how many there are.
TEST(Gates, AnElementAloneHasTheBitsItHasInARow) {
  Rng rng(5);
  const std::vector<float> gate = random_floats(rng, 45, 6.0f);
  const std::vector<float> up = random_floats(rng, 45);
  for (const KernelSet* kernels : tiers()) {
    for (const auto gate_mul : {kernels->silu_mul, kernels->gelu_mul}) {
      std::vector<float> whole(45);
      gate_mul(gate.data(), up.data(), whole.data(), 45);
      std::vector<float> single(45);
      for (std::size_t i = 0; i < 45; ++i) gate_mul(&gate[i], &up[i], &single[i], 1);
      EXPECT_TRUE(same_bits(whole, single)) << kernels->name;
    }
  }
}

}  // namespace
}  // namespace larder::kernels
