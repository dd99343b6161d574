// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/cpu/isa.h"
#include "tests/kernels/cases.h"

namespace larder::kernels {
namespace {

TEST(SelectKernels, AutoTakesTheBestTierTheProcessorHas) {
  EXPECT_STREQ(select_kernels_for(IsaRequest::kAuto, {false, false})->name, "portable");
#if defined(__x86_64__)
  EXPECT_STREQ(select_kernels_for(IsaRequest::kAuto, {true, false})->name, "avx2");
  EXPECT_STREQ(select_kernels_for(IsaRequest::kAuto, {true, true})->name, "avx512");
#endif
}

TEST(SelectKernels, ATierTheProcessorLacksIsRefused) {
  EXPECT_EQ(select_kernels_for(IsaRequest::kAvx2, {false, false}), nullptr);
  EXPECT_EQ(select_kernels_for(IsaRequest::kAvx512, {true, false}), nullptr);
  EXPECT_STREQ(select_kernels_for(IsaRequest::kPortable, {true, true})->name, "portable");
}

TEST(SelectKernels, AnUnknownTierIsRefused) {
  EXPECT_EQ(select_kernels(static_cast<IsaRequest>(99)), nullptr);
}

TEST(SelectKernels, ForcedTiersAreTheOnesTheFeaturesName) {
  const CpuFeatures features = cpu_features();
  EXPECT_NE(select_kernels(IsaRequest::kPortable), nullptr);
  EXPECT_EQ(select_kernels(IsaRequest::kAvx2) != nullptr, features.avx2);
  EXPECT_EQ(select_kernels(IsaRequest::kAvx512) != nullptr, features.avx512);
  EXPECT_EQ(select_kernels(IsaRequest::kAuto), testing::tiers().back());
}

TEST(SelectKernels, EveryTableIsFullAndNamesItself) {
  for (const KernelSet* k : testing::tiers()) {
    EXPECT_EQ(k->lanes, 16u) << k->name;
    EXPECT_EQ(k->version, kArithmeticVersion);
    EXPECT_TRUE(k->matmul && k->dequantise_row && k->rms_norm && k->rope && k->silu_mul && k->add && k->kv_write &&
                k->attention && k->matmul_scratch_bytes && k->attention_scratch_bytes && k->codec.encode &&
                k->codec.decode);
  }
}

TEST(SelectKernels, TheProcessorHasAName) { EXPECT_GT(std::strlen(processor_name()), 3u); }

}  // namespace
}  // namespace larder::kernels
