// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/cpu/isa.h"
#include "tests/kernels/cases.h"

namespace larder::kernels {
namespace {

constexpr CpuFeatures kNone{};
constexpr CpuFeatures kWithAvx2{.avx2 = true};
constexpr CpuFeatures kWithAvxVnni{.avx2 = true, .avxvnni = true};
constexpr CpuFeatures kWithAvx512{.avx2 = true, .avx512 = true};
constexpr CpuFeatures kWithAll{.avx2 = true, .avxvnni = true, .avx512 = true, .avx512vnni = true};

TEST(SelectKernels, AutoTakesTheBestTierTheProcessorHas) {
  EXPECT_STREQ(select_kernels_for(IsaRequest::kAuto, kNone)->name, "portable");
#if defined(__x86_64__)
  EXPECT_STREQ(select_kernels_for(IsaRequest::kAuto, kWithAvx2)->name, "avx2");
  EXPECT_STREQ(select_kernels_for(IsaRequest::kAuto, kWithAvx512)->name, "avx512");
#endif
}

TEST(SelectKernels, ATierTheProcessorLacksIsRefused) {
  EXPECT_EQ(select_kernels_for(IsaRequest::kAvx2, kNone), nullptr);
  EXPECT_EQ(select_kernels_for(IsaRequest::kAvx512, kWithAvx2), nullptr);
  EXPECT_STREQ(select_kernels_for(IsaRequest::kPortable, kWithAll)->name, "portable");
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

TEST(SelectKernels, Int8KernelsNeedTheirInstructionsAndGoWithTheTier) {
  EXPECT_EQ(select_int8_kernels_for(IsaRequest::kPortable, kWithAll), nullptr);
  for (const IsaRequest request : {IsaRequest::kAuto, IsaRequest::kAvx2, IsaRequest::kAvx512}) {
    EXPECT_EQ(select_int8_kernels_for(request, kNone), nullptr);
  }
#if defined(__x86_64__)
  EXPECT_STREQ(select_int8_kernels_for(IsaRequest::kAuto, kWithAll)->name, "avx512vnni");
  EXPECT_STREQ(select_int8_kernels_for(IsaRequest::kAvx512, kWithAll)->name, "avx512vnni");
  EXPECT_STREQ(select_int8_kernels_for(IsaRequest::kAvx2, kWithAll)->name, "avx2");
  EXPECT_STREQ(select_int8_kernels_for(IsaRequest::kAuto, kWithAvxVnni)->name, "avxvnni");
  EXPECT_STREQ(select_int8_kernels_for(IsaRequest::kAuto, kWithAvx512)->name, "avx2");
  EXPECT_STREQ(select_int8_kernels_for(IsaRequest::kAuto, kWithAvx2)->name, "avx2");
#endif
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
