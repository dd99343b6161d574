// SPDX-License-Identifier: Apache-2.0
// The forward graph of a llama model, written once against the Device concept.
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

template <Device D>
void forward_layer(const LayerWeights& weights, std::uint32_t layer, D& device) {
  device.norm(weights.attn_norm);
  device.project(Plane::kNormed,
                 std::array{Projection{&weights.attn_q, Plane::kQuery}, Projection{&weights.attn_k, Plane::kKey},
                            Projection{&weights.attn_v, Plane::kValue}},
                 false);
  device.rotate_and_store(layer);
  device.attend(layer);
  device.project(Plane::kMixed, std::array{Projection{&weights.attn_output, Plane::kHidden}}, true);
  device.norm(weights.ffn_norm);
  device.project(Plane::kNormed,
                 std::array{Projection{&weights.ffn_gate, Plane::kGate}, Projection{&weights.ffn_up, Plane::kUp}},
                 false);
  device.gate();
  device.project(Plane::kGate, std::array{Projection{&weights.ffn_down, Plane::kHidden}}, true);
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
