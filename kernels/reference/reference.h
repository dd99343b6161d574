// SPDX-License-Identifier: Apache-2.0
// The slow twin of every kernel: f64 inside, one plain loop per sum, rounded to f32 once at the end. This is the
// definition of what each kernel computes; the tiers of kernels/cpu are compared with it. It is not fast, and makes no
// use of scratch.
// Ensures:  each output is the exact result but for f64 rounding and the last rounding to f32.
// Owns:     nothing.    Threads: any, on disjoint outputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/int8_set.h"
#include "kernels/cpu/kernel_set.h"

namespace larder::kernels::reference {

// The same table as a tier's, so that a whole model can run on it; name "reference", lanes 1.
extern const KernelSet kReferenceKernels;
// The int8 products; it packs nothing.
extern const Int8Kernels kReferenceInt8;

// The value of one weight.    Source: kernels/layout/quant_blocks.h.
double weight(const WeightView& w, std::uint32_t row, std::uint32_t col);

// What column `col` of row `row` of `rows` rounded rows stands for.
double int8_value(const Int8Rows& x, std::uint32_t rows, std::uint32_t cols, std::uint32_t row, std::uint32_t col);

// One stored value of K or V.    Requires: layout.type kF32 or kF16; token < kBlockTokens.
double k_value(const KvLayout& layout, const std::byte* block, std::uint32_t layer, std::uint32_t head,
               std::uint32_t token, std::uint32_t i);
double v_value(const KvLayout& layout, const std::byte* block, std::uint32_t layer, std::uint32_t head,
               std::uint32_t token, std::uint32_t i);

}  // namespace larder::kernels::reference
