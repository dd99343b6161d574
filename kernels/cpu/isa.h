// SPDX-License-Identifier: Apache-2.0
// The tables of the ISA tiers and what select.cc needs to choose one. Private to kernels/cpu and its tests.
// Threads:  constants.    Requires: a table's functions run only where tier_runs_on says so.
#pragma once

#include "kernels/cpu/int8_set.h"
#include "kernels/cpu/kernel_set.h"

namespace larder::kernels {

// Raised whenever a change of the bodies changes bits, so that older KV is another identity.
inline constexpr std::uint32_t kArithmeticVersion = 1;
inline constexpr std::uint32_t kInt8Version = 1;  // the same for the int8 products

extern const KernelSet kPortableKernels;
extern const KernelSet kAvx2Kernels;    // AVX2, FMA, F16C
extern const KernelSet kAvx512Kernels;  // AVX-512 F, BW, VL, DQ, and what avx2 needs
extern const Int8Kernels kAvx2Int8;        // what avx2 needs
extern const Int8Kernels kAvxVnniInt8;     // AVX-VNNI, and what avx2 needs
extern const Int8Kernels kAvx512VnniInt8;  // AVX-512 VNNI, and what avx512 needs

// What processor and operating system offer together.
struct CpuFeatures {
  bool avx2 = false;
  bool avxvnni = false;
  bool avx512 = false;
  bool avx512vnni = false;
};

CpuFeatures cpu_features();
// select_kernels for a processor with these features.
const KernelSet* select_kernels_for(IsaRequest request, const CpuFeatures& features);
// select_int8_kernels for it.
const Int8Kernels* select_int8_kernels_for(IsaRequest request, const CpuFeatures& features);

}  // namespace larder::kernels
