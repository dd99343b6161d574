// SPDX-License-Identifier: Apache-2.0
// The AVX2 tier (with FMA and F16C). Only intrinsics, <cstddef>, <cstdint> and kernels headers are
// included, and every function has internal linkage, so that no other object can get code with these instructions.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa.h"
#include "kernels/layout/half.h"
#include "kernels/layout/quant_blocks.h"

namespace larder::kernels {
namespace {
#include "kernels/cpu/body/lanes_avx2.inl"
#include "kernels/cpu/body/table.inl"
}  // namespace

const KernelSet kAvx2Kernels = make_kernel_set("avx2");

}  // namespace larder::kernels
