// SPDX-License-Identifier: Apache-2.0
// The int8 products for AVX2 (with FMA and F16C). Only intrinsics, <cstddef>, <cstdint> and kernels
// headers are included, and every function has internal linkage, so that no other object can get code with these
// instructions.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa.h"
#include "kernels/layout/quant_blocks.h"

namespace larder::kernels {
namespace {
#include "kernels/cpu/body/int8_lanes_avx2.inl"
#include "kernels/cpu/body/int8_dot_avx2.inl"
#include "kernels/cpu/body/int8_formats.inl"
#include "kernels/cpu/body/int8_matmul.inl"
}  // namespace

const Int8Kernels kAvx2Int8 = make_int8_kernels("avx2");

}  // namespace larder::kernels
