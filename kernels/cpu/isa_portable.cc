// SPDX-License-Identifier: Apache-2.0
// The portable tier: plain C++ with the flags of the whole build. Only intrinsics, <cstddef>, <cstdint> and kernels
// headers are included, and every function has internal linkage, so that no other object can get code with these
// instructions.
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa.h"
#include "kernels/layout/half.h"
#include "kernels/layout/quant_blocks.h"

namespace larder::kernels {
namespace {
#include "kernels/cpu/body/lanes_portable.inl"
#include "kernels/cpu/body/table.inl"
}  // namespace

const KernelSet kPortableKernels = make_kernel_set("portable");

}  // namespace larder::kernels
