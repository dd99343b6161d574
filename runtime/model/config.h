// SPDX-License-Identifier: Apache-2.0
// ModelConfig: the sizes and constants of one loaded model, read from GGUF metadata and validated there.
// Units:   counts; eps, bases and scales dimensionless.    Threads: value.    Errors: made by load_config in load.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"
#include "runtime/model/architecture.h"

namespace larder::model {

struct ModelConfig {
  std::string architecture;  // "llama"
  Architecture traits;       // its row
  std::string name;          // general.name, or the file's stem
  std::uint32_t n_layers = 0;
  std::uint32_t n_embd = 0;
  std::uint32_t n_heads = 0;
  std::uint32_t n_kv_heads = 0;
  std::uint32_t d_head = 0;
  std::uint32_t n_ff = 0;
  std::uint32_t n_vocab = 0;
  std::uint32_t n_context = 0;
  std::uint32_t n_rot = 0;
  float rms_eps = 1e-5f;
  float embedding_scale = 1.0f;
  float attention_scale = 1.0f;  // of the products of queries and keys
  float rope_base = 10000.0f;
  float rope_scale = 1.0f;      // position multiplier (linear scaling: 1 / factor)
  float rope_magnitude = 1.0f;  // of the rotated pair
  bool rope_long = false;  // of rope_factors_long and _short, the long ones: the context goes past the original one

  // Local layers see the last `window` positions, their own among them; 0: every layer sees all.
  std::uint32_t window = 0;
  std::uint32_t global_every = 0;  // as Architecture says
  float local_rope_base = 10000.0f;
  float local_rope_scale = 1.0f;

  bool is_local(std::uint32_t layer) const {
    return window != 0 && (global_every == 0 || layer % global_every + 1 < global_every);
  }
  bool has_rope(std::uint32_t layer) const {
    return traits.no_rope_every == 0 || (layer + 1) % traits.no_rope_every != 0;
  }
  kernels::KvLayout kv_layout(kernels::KvType type) const { return {n_layers, n_kv_heads, d_head, type}; }
};

}  // namespace larder::model
