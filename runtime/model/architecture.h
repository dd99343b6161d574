// SPDX-License-Identifier: Apache-2.0
// Architecture: what sets one kind of model apart from llama, as a row of one table. Reading a file and the forward
// graph follow the row; neither knows a kind by its name.
// Threads: constants.    Source: ggml-org/llama.cpp convert_hf_to_gguf.py and src/llama-model.cpp (what files of each
//          architecture hold); the models' own code in huggingface/transformers (what it means).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace larder::model {

enum class Activation : std::uint8_t { kSilu, kGelu };  // kGelu: its tanh form

struct Architecture {
  std::string_view name;  // general.architecture
  // RoPE turns pairs (2i, 2i+1); else (i, i + n_rot/2). Conversion permutes q and k of llama models.
  bool rope_interleaved = false;
  // rope_factors_long and _short divide the frequencies.
  bool rope_factors = false;
  // attn_qkv holds the rows of q, k and v, and ffn_up those of gate and up.
  bool fused = false;
  bool qkv_bias = false;
  bool head_norms = false;  // RMS norm of each head of q and k, before RoPE
  bool post_norms = false;  // RMS norm of what attention and the feed-forward add to the residual stream
  bool embedding_scaled = false;  // by the root of n_embd
  bool window_required = false;   // attention.sliding_window must be there
  bool window_allowed = false;
  Activation activation = Activation::kSilu;
  // Every n-th layer sees all positions, those between only a window of them; 0: where there is a window, none does.
  std::uint32_t global_every = 0;
  // Every n-th layer has no RoPE; 0: all have.
  std::uint32_t no_rope_every = 0;
};

// nullptr: this build does not know it.
const Architecture* find_architecture(std::string_view name);
// "llama, smollm3, …", for messages.
std::string known_architectures();

}  // namespace larder::model
