// SPDX-License-Identifier: Apache-2.0
// The int8 products for AVX-512 with VNNI. Only intrinsics, <cstddef>, <cstdint> and kernels headers are included, and
// every function has internal linkage, so that no other object can get code with these instructions.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa.h"
#include "kernels/layout/quant_blocks.h"

namespace larder::kernels {
namespace {
#include "kernels/cpu/body/int8_lanes_avx512vnni.inl"
#include "kernels/cpu/body/int8_formats.inl"
#include "kernels/cpu/body/int8_matmul.inl"
}  // namespace

const Int8Kernels kAvx512VnniInt8 = make_int8_kernels("avx512vnni");

}  // namespace larder::kernels
