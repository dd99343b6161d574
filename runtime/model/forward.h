// SPDX-License-Identifier: Apache-2.0
// The forward graph, written once against the Device concept: llama's, with the steps that other architectures put
// between (Architecture); a step whose weights a model does not have is none.
// What it is not: it chooses no rows, samples nothing and owns nothing.
// Requires: weights of config.n_layers layers; range inside them; a range that does not begin at 0 goes on from the
//           hidden slot that the range before it left.
// Errors:   none; an aborted pass answers false and what it wrote must not be found.
// Threads:  the device's. Source: Touvron et al. 2023 (LLaMA): pre-norm, rotary positions, gated SiLU.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "runtime/model/device.h"
#include "runtime/model/weights.h"

namespace larder::model {

struct LayerRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// kHidden += in * weight^T, through a norm of its own where the model has one.
template <Device D>
void add_to_hidden(Plane in, const kernels::WeightView& weight, std::span<const float> post_norm, D& device) {
  if (post_norm.empty()) return device.project(in, std::array{Projection{&weight, Plane::kHidden}}, true);
  device.project(in, std::array{Projection{&weight, Plane::kNormed}}, false);
  device.add_norm(post_norm);
}

template <Device D>
void forward_layer(const LayerWeights& weights, std::uint32_t layer, D& device) {
  device.norm(weights.attn_norm);
  device.project(Plane::kNormed,
                 std::array{Projection{&weights.attn_q, Plane::kQuery, weights.attn_q_bias, weights.attn_q_norm},
                            Projection{&weights.attn_k, Plane::kKey, weights.attn_k_bias, weights.attn_k_norm},
                            Projection{&weights.attn_v, Plane::kValue, weights.attn_v_bias}},
                 false);
  device.rotate_and_store(layer);
  device.attend(layer);
  add_to_hidden(Plane::kMixed, weights.attn_output, weights.attn_post_norm, device);
  device.norm(weights.ffn_norm);
  device.project(Plane::kNormed,
                 std::array{Projection{&weights.ffn_gate, Plane::kGate}, Projection{&weights.ffn_up, Plane::kUp}},
                 false);
  device.gate();
  add_to_hidden(Plane::kGate, weights.ffn_down, weights.ffn_post_norm, device);
}

// Runs the batch through layers [range.begin, range.end). Answers false when `abort` was seen, which is read per layer.
template <Device D>
bool forward(const Weights& weights, LayerRange range, const Batch& batch, const std::atomic<bool>& abort, D& device) {
  device.begin(batch);
  if (range.begin == 0) device.embed(weights.token_embd);
  for (std::uint32_t layer = range.begin; layer < range.end; ++layer) {
    if (abort.load(std::memory_order_relaxed)) return false;
    forward_layer(weights.layers[layer], layer, device);
  }
  return !abort.load(std::memory_order_relaxed);
}

}  // namespace larder::model
