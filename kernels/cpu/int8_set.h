// SPDX-License-Identifier: Apache-2.0
// Int8Kernels: products of quantised weights with activations rounded to int8, as plain function pointers. The second
// arithmetic beside KernelSet's matmul, which keeps activations as f32.
// Arithmetic (kernels/README.md): the integer product of a group of 32 columns is exact (Q6_K: of 16, which share a
//   scale); it is turned to f32, multiplied by the weights' scale, and added, fused with the activations' scale, to one
//   f32 sum per output, group after group in order of k. Formats with a minimum then add minimum * scaled_sum, fused.
//   So an output has the same bits in every tier, whatever the number of rows, the chunk, the thread count and whether
//   weights are packed.
// Ensures:  within the bound derived in tests/kernels/int8_test.cc of the f64 twin in kernels/reference.
// Errors:   none; preconditions are the caller's.    Owns: nothing.    Threads: any, on disjoint outputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/kernel_set.h"
#include "kernels/layout/int8_rows.h"

namespace larder::kernels {

inline constexpr std::uint32_t kPanelWeightRows = 16;  // weight rows that are packed together

// out[m][n] = dot(x[m], w[n]) for n in [n_begin, n_end).
// Shapes:   x: `rows` rows of w.cols columns as int8_rows.h says; out [rows][out_stride] f32. `packed`: all of w as
//           pack wrote it, or null; w.data is not read where it is not null.
// Requires: takes(w.type); w.cols a multiple of the type's block; scratch: scratch_bytes(w.cols), 64-byte aligned, one
//           per thread; packed 64-byte aligned.
struct Int8MatmulArgs {
  WeightView w;
  const std::byte* packed = nullptr;
  Int8Rows x;
  float* out = nullptr;
  std::size_t out_stride = 0;
  std::uint32_t rows = 0;
  std::uint32_t n_begin = 0;
  std::uint32_t n_end = 0;
  bool accumulate = false;  // out += dot instead of out = dot (residual)
  std::byte* scratch = nullptr;
};

struct Int8Kernels {
  const char* name;  // "avx2", "avxvnni", "avx512vnni"
  std::uint32_t version;

  // Whether this type has an integer product here; others stay with KernelSet's matmul.
  bool (*takes)(WeightType type);
  // Rounds `rows` (a strip: 12, 8, 4, 2 or 1) rows x [rows][x_stride] f32 of `cols` columns, a multiple of 32, to
  // nearest even. Ensures: the same bits for a row in every strip.
  void (*round_strip)(const float* x, std::size_t x_stride, std::uint32_t rows, std::uint32_t cols, std::int8_t* q,
                      Int8Group* groups);
  void (*matmul)(const Int8MatmulArgs&);
  std::size_t (*scratch_bytes)(std::uint32_t max_cols);
  // Weights in the order the tile reads them: panels of kPanelWeightRows rows, one after the other, packed_bytes /
  // panels each; rows that are missing in the last panel are zeros. 0: this set has no order of its own.
  std::size_t (*packed_bytes)(const WeightView& w);
  // Packs panels [begin, end) to their places in `packed`.
  void (*pack)(const WeightView& w, std::uint32_t begin, std::uint32_t end, std::byte* packed);
};

// The int8 kernels that go with select_kernels(request) on this processor; nullptr where it has none. They live as long
// as the program.
const Int8Kernels* select_int8_kernels(IsaRequest request);

}  // namespace larder::kernels
