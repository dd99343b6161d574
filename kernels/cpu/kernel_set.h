// SPDX-License-Identifier: Apache-2.0
// KernelSet: the CPU arithmetic of one ISA tier as plain function pointers, chosen once per process.
// What it is not: it makes no threads, allocates nothing, knows no model. Callers split ranges over threads.
// Arithmetic (kernels/README.md): a dot product over K, d_head or tokens is `lanes` interleaved partial sums
//   (element k goes to lane k % lanes, in order of k) joined by a fixed binary tree; so an output row has the same bits
//   whatever the number of rows, the chunk and the thread count. Attention is a sum over spans of kSpanTokens positions
//   aligned to 0, merged in order. Masked positions are selected out, never multiplied. The avx2 and avx512 tiers fuse
//   each multiply and add and give equal bits to each other; portable rounds product and sum.
// Ensures:  each function is within the bound derived in its test of its f64 twin in kernels/reference.
// Errors:   none; preconditions are the caller's.    Owns: nothing.    Threads: any, on disjoint outputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/layout/kv_codec.h"
#include "kernels/layout/kv_layout.h"
#include "kernels/layout/weight_types.h"

namespace larder::kernels {

// out[m][n] = dot(x[m], w[n]) for n in [n_begin, n_end).
// Shapes:   x [rows][x_stride] f32, first w.cols used; out [rows][out_stride] f32, element (m, n) at
//           out[m*out_stride+n].
// Requires: w.cols a multiple of the type's block; out does not alias x; scratch: matmul_scratch_bytes, 64-byte
//           aligned, one per thread.
struct MatmulArgs {
  WeightView w;
  const float* x = nullptr;
  std::size_t x_stride = 0;
  float* out = nullptr;
  std::size_t out_stride = 0;
  std::uint32_t rows = 0;
  std::uint32_t n_begin = 0;
  std::uint32_t n_end = 0;
  bool accumulate = false;  // out += dot instead of out = dot (residual)
  std::byte* scratch = nullptr;
};

// Attention of query rows of one sequence, for one KV head and its group of query heads, in one layer.
// Shapes:   q [rows][q_stride] f32: for row r and group member g the query is q + r*q_stride +
//           (kv_head*group+g)*d_head; out has the same shape and stride. blocks[i] is the address of the block for
//           positions [32 i, 32 i + 32); the slice is at layout.slice_offset(layer, kv_head). Row r stands at position
//           first_position + r and sees positions 0..first_position + r (clipped to `window` when not 0).
// Requires: layout.type kF32 or kF16; scratch: attention_scratch_bytes(layout, rows, group), 64-byte aligned, one per
//           thread; out does not alias q.
struct AttentionArgs {
  KvLayout layout;
  const std::byte* const* blocks = nullptr;
  const float* q = nullptr;
  float* out = nullptr;
  std::size_t q_stride = 0;
  std::uint32_t rows = 0;
  std::uint32_t first_position = 0;
  std::uint32_t layer = 0;
  std::uint32_t kv_head = 0;
  std::uint32_t group = 1;
  std::uint32_t window = 0;
  float scale = 1.0f;
  std::byte* scratch = nullptr;
};

// Writes K and V of rows at consecutive positions into their blocks (both slices of one layer and KV head).
// Shapes:   k, v [rows][stride] f32, d_head values used at +kv_head*d_head; blocks as in AttentionArgs.
// Requires: layout.type kF32 or kF16.    Ensures: f16 rounds to nearest even; other positions are left as they are.
struct KvWriteArgs {
  KvLayout layout;
  std::byte* const* blocks = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  std::size_t stride = 0;
  std::uint32_t rows = 0;
  std::uint32_t first_position = 0;
  std::uint32_t layer = 0;
  std::uint32_t kv_head = 0;
};

// Rotates pairs of each head in place. Shapes: x [rows][stride], n_heads*d_head values; inv_freq [n_rot/2] already
// divided by rope_freqs; cos_sin is computed per row position in f64 and rounded once.
struct RopeArgs {
  float* x = nullptr;
  std::size_t stride = 0;
  std::uint32_t rows = 0;
  std::uint32_t first_position = 0;
  std::uint32_t n_heads = 0;
  std::uint32_t d_head = 0;
  std::uint32_t n_rot = 0;
  const float* cos_sin = nullptr;  // [rows][n_rot]: cos, sin interleaved per pair
  bool interleaved = true;         // llama: pairs (2i, 2i+1); else (i, i + n_rot/2)
};

struct KernelSet {
  const char* name;     // "portable", "avx2", "avx512"
  std::uint32_t lanes;  // L of the arithmetic above
  std::uint32_t version;

  void (*matmul)(const MatmulArgs&);
  void (*dequantise_row)(const WeightView& w, std::uint32_t row, float* out);
  // out[i] = x[i] * weight[i] / sqrt(mean(x^2) + eps), one row of n; the sum of squares uses the lanes above.
  // out may be x.
  void (*rms_norm)(const float* x, const float* weight, float* out, std::uint32_t n, float eps);
  void (*rope)(const RopeArgs&);
  // out[i] = silu(gate[i]) * up[i]; exp is one fixed polynomial per tier.
  void (*silu_mul)(const float* gate, const float* up, float* out, std::size_t n);
  // out[i] = gelu(gate[i]) * up[i] in gelu's tanh form, with the same exp.
  void (*gelu_mul)(const float* gate, const float* up, float* out, std::size_t n);
  void (*add)(float* inout, const float* x, std::size_t n);
  void (*scale)(float* inout, float factor, std::size_t n);
  void (*kv_write)(const KvWriteArgs&);
  void (*attention)(const AttentionArgs&);

  std::size_t (*matmul_scratch_bytes)(std::uint32_t max_cols);
  std::size_t (*attention_scratch_bytes)(const KvLayout& layout, std::uint32_t rows, std::uint32_t group);

  KvCodecKernels codec;  // the same bits in every tier
};

enum class IsaRequest : std::uint8_t { kAuto, kPortable, kAvx2, kAvx512 };

// The best tier this processor and its operating system can run, or the one asked for. Answers nullptr when they lack
// the tier asked for or this build does not know it; kAuto never answers nullptr. The set lives as long as the program.
const KernelSet* select_kernels(IsaRequest request);

// The processor's name as it gives it itself, for people; "unknown processor" where it gives none.
const char* processor_name();

}  // namespace larder::kernels
