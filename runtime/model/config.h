// SPDX-License-Identifier: Apache-2.0
// ModelConfig: the sizes and constants of one loaded model, read from GGUF metadata and validated there.
// Units:   counts; eps and bases dimensionless.    Threads: value.    Errors: made by load_config in load.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"

namespace larder::model {

struct ModelConfig {
  std::string architecture;  // "llama"
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
  float rope_base = 10000.0f;
  float rope_scale = 1.0f;  // position multiplier (linear scaling: 1 / factor)
  bool rope_interleaved = true;

  kernels::KvLayout kv_layout(kernels::KvType type) const { return {n_layers, n_kv_heads, d_head, type}; }
};

}  // namespace larder::model
