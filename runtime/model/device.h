// SPDX-License-Identifier: Apache-2.0
// Device: what the forward graph needs from a device, as a C++20 concept: planes of activations, and operations over
// all rows of a step. Satisfied by exec::CpuDevice and by the CUDA device; the graph stands once, in forward.h.
// What it is not: no virtual calls, no queues, no sampling; Executor is above it.
// Shapes:   a plane is [max_rows][width] f32 on the device, width by its meaning in Plane. Weights are named by their
//           host view; a device with its own memory finds its copy by WeightView::data.
// Requires: begin(batch) before anything else; the batch and what it points to live until the step's end.
// Ensures:  a row's result does not depend on the other rows of the step (DESIGN.md contract 3).
// Threads:  one at a time; a device may use its own workers inside a call.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "kernels/layout/weight_types.h"
#include "runtime/base/ids.h"

namespace larder::model {

enum class Plane : std::uint8_t {
  kHidden,  // [n_embd], the residual stream; lies in the batch's hidden slot and outlives the step
  kNormed,  // [n_embd]
  kQuery,   // [n_heads * d_head]
  kKey,     // [n_kv_heads * d_head]
  kValue,   // [n_kv_heads * d_head]
  kMixed,   // [n_heads * d_head], attention's answer
  kGate,    // [n_ff]
  kUp,      // [n_ff]
};
inline constexpr std::size_t kPlaneCount = 8;

// Consecutive rows of one sequence: rows [row_begin, row_begin + rows) of every plane.
struct BatchSequence {
  std::uint32_t row_begin = 0;
  std::uint32_t rows = 0;
  std::uint32_t first_position = 0;
  std::span<const BlockId> block_table;  // for positions [0, first_position + rows)
  std::span<const Token> tokens;         // [rows]
};

struct Batch {
  std::span<const BatchSequence> sequences;
  std::uint32_t rows = 0;
  std::uint32_t hidden_slot = 0;
};

// Shapes: bias [weight rows] or empty; head_norm [d_head] or empty.
struct Projection {
  const kernels::WeightView* weight = nullptr;
  Plane out = Plane::kNormed;
  std::span<const float> bias = {};       // added to what was projected
  std::span<const float> head_norm = {};  // then each d_head values are RMS-normed by it
};

template <typename D>
concept Device = requires(D& device, const Batch& batch, const kernels::WeightView& weight, std::span<const float> norm,
                          std::span<const Projection> projections, std::span<const std::uint32_t> rows,
                          std::uint32_t layer) {
  { device.begin(batch) } -> std::same_as<void>;
  // Row r of kHidden = row tokens[r] of `weight`, times the model's embedding scale.
  { device.embed(weight) } -> std::same_as<void>;
  // kNormed = RMS norm of kHidden.
  { device.norm(norm) } -> std::same_as<void>;
  // kHidden += RMS norm of kNormed.
  { device.add_norm(norm) } -> std::same_as<void>;
  // Each projection's plane = in * weight^T, or += where `accumulate`; then its bias and its head norm.
  { device.project(Plane::kNormed, projections, false) } -> std::same_as<void>;
  // Rotates kQuery and kKey by their positions, where the layer has RoPE, and writes kKey and kValue into the
  // sequences' blocks.
  { device.rotate_and_store(layer) } -> std::same_as<void>;
  // kMixed = attention of kQuery over the blocks, or over the layer's window of them.
  { device.attend(layer) } -> std::same_as<void>;
  // kGate = activation(kGate) * kUp.
  { device.gate() } -> std::same_as<void>;
  // Logits of the named rows, in that order: norm, then head. At most device.max_logit_rows() at once.
  { device.logits(norm, weight, rows) } -> std::same_as<void>;
  { device.max_logit_rows() } -> std::convertible_to<std::uint32_t>;
};

}  // namespace larder::model
