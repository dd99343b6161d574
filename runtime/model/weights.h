// SPDX-License-Identifier: Apache-2.0
// Weights: the tensors of one model by what they are for, not by name.
// Shapes:  matrices [out][in] as WeightView (rows = outputs); norms [n_embd] f32 where not said otherwise. A norm or
//          bias that the architecture does not have is empty.
// Owns:    norms, biases and RoPE divisors (small copies); matrices lie in the file's mapping, which Model keeps. Where
//          a file holds several in one tensor, each is a view of its rows.
// Threads: values, immutable after load.
#pragma once

#include <vector>

#include "kernels/layout/weight_types.h"

namespace larder::model {

struct LayerWeights {
  std::vector<float> attn_norm;
  kernels::WeightView attn_q;       // [n_heads * d_head][n_embd]
  kernels::WeightView attn_k;       // [n_kv_heads * d_head][n_embd]
  kernels::WeightView attn_v;       // [n_kv_heads * d_head][n_embd]
  std::vector<float> attn_q_bias;   // [n_heads * d_head]
  std::vector<float> attn_k_bias;   // [n_kv_heads * d_head]
  std::vector<float> attn_v_bias;   // [n_kv_heads * d_head]
  std::vector<float> attn_q_norm;   // [d_head], of each head
  std::vector<float> attn_k_norm;   // [d_head], of each head
  kernels::WeightView attn_output;  // [n_embd][n_heads * d_head]
  std::vector<float> attn_post_norm;
  std::vector<float> ffn_norm;
  kernels::WeightView ffn_gate;  // [n_ff][n_embd]
  kernels::WeightView ffn_up;    // [n_ff][n_embd]
  kernels::WeightView ffn_down;  // [n_embd][n_ff]
  std::vector<float> ffn_post_norm;
};

struct Weights {
  kernels::WeightView token_embd;  // [n_vocab][n_embd]
  std::vector<LayerWeights> layers;
  std::vector<float> output_norm;
  kernels::WeightView output;        // [n_vocab][n_embd]; token_embd again where the file has no output.weight
  std::vector<float> rope_divisors;  // [n_rot / 2], each pair's frequency is divided by it; empty: none
};

}  // namespace larder::model
