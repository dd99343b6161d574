// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/architecture.h"

namespace larder::model {
namespace {

constexpr Architecture kArchitectures[] = {
    {.name = "llama", .rope_interleaved = true},
    {.name = "smollm3", .rope_interleaved = true, .no_rope_every = 4},
    {.name = "qwen2", .qkv_bias = true},
    {.name = "qwen3", .head_norms = true},
    {.name = "phi3", .rope_factors = true, .fused = true, .window_allowed = true},
    {.name = "gemma3",
     .head_norms = true,
     .post_norms = true,
     .embedding_scaled = true,
     .window_required = true,
     .window_allowed = true,
     .activation = Activation::kGelu,
     .global_every = 6},
};

}  // namespace

const Architecture* find_architecture(std::string_view name) {
  for (const Architecture& known : kArchitectures) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

std::string known_architectures() {
  std::string names;
  for (const Architecture& known : kArchitectures) names += (names.empty() ? "" : ", ") + std::string(known.name);
  return names;
}

}  // namespace larder::model
