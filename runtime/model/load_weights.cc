// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "runtime/model/load.h"

namespace larder::model {
namespace {

std::string shape_text(const gguf::TensorInfo& tensor) {
  std::string text = "[";
  for (std::uint32_t dim = tensor.n_dims; dim > 0; --dim) {
    text += std::to_string(tensor.dims[dim - 1]);
    if (dim > 1) text += ", ";
  }
  return text + "]";
}

// Takes tensors by name, checks each and remembers which were taken.
class TensorTaker {
 public:
  explicit TensorTaker(const gguf::File& file) : file_(file) {}

  bool has(const std::string& name) const { return file_.find_tensor(name) != nullptr; }

  Result<kernels::WeightView> matrix(const std::string& name, std::uint32_t rows, std::uint32_t cols) {
    const gguf::TensorInfo* tensor = file_.find_tensor(name);
    if (tensor == nullptr) return damaged("tensor " + name + " is missing");
    if (!tensor->supported()) {
      return refused(ErrorCode::kUnsupported, "tensor " + name + " has type " + tensor->type_name() +
                                                  "; F32, F16, BF16, Q8_0, Q4_0, Q4_1 and Q6_K are supported");
    }
    if (tensor->dims[0] != cols || tensor->dims[1] != rows || tensor->dims[2] != 1 || tensor->dims[3] != 1) {
      return damaged("tensor " + name + " is " + shape_text(*tensor) + ", expected [" + std::to_string(rows) + ", " +
                     std::to_string(cols) + "]");
    }
    const kernels::WeightView view{file_.tensor_bytes(*tensor).data(), tensor->type(), rows, cols};
    if (cols % kernels::weight_type_info(view.type).block_values != 0) {
      return damaged("tensor " + name + " has rows of " + std::to_string(cols) + " values, no whole number of " +
                     tensor->type_name() + " blocks");
    }
    RETURN_IF_ERROR(count(*tensor, std::uint64_t{rows} * view.row_bytes()));
    return view;
  }

  Result<std::vector<float>> vector(const std::string& name, std::uint32_t size) {
    const gguf::TensorInfo* tensor = file_.find_tensor(name);
    if (tensor == nullptr) return damaged("tensor " + name + " is missing");
    if (tensor->type_id != static_cast<std::uint32_t>(kernels::WeightType::kF32)) {
      return refused(ErrorCode::kUnsupported, "tensor " + name + " has type " + tensor->type_name() + ", expected F32");
    }
    if (tensor->dims[0] != size || tensor->dims[1] != 1 || tensor->dims[2] != 1 || tensor->dims[3] != 1) {
      return damaged("tensor " + name + " is " + shape_text(*tensor) + ", expected [" + std::to_string(size) + "]");
    }
    RETURN_IF_ERROR(count(*tensor, std::uint64_t{size} * sizeof(float)));
    std::vector<float> values(size);
    std::memcpy(values.data(), file_.tensor_bytes(*tensor).data(), values.size() * sizeof(float));
    for (const float value : values) {
      if (!std::isfinite(value)) return damaged("tensor " + name + " holds a value that is not a number");
    }
    return values;
  }

  // A tensor nobody took would change the answers if it were left out (a bias, an expert), so it refuses the model.
  Status all_taken(const std::string& architecture) const {
    for (const gguf::TensorInfo& tensor : file_.tensors()) {
      const bool position_table = tensor.name.size() > 22 && tensor.name.ends_with("attn_rot_embd.weight");
      if (taken_.count(tensor.name) == 0 && !position_table && !tensor.name.ends_with("rotary_emb.inv_freq")) {
        return refused(ErrorCode::kUnsupported, "tensor " + std::string(tensor.name) +
                                                    " is none that a " + architecture + " model is known to have");
      }
    }
    return {};
  }

  std::uint64_t bytes() const { return bytes_; }

  std::string commonest_type() const {
    const auto most = std::max_element(bytes_of_type_.begin(), bytes_of_type_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == bytes_of_type_.end() ? "" : most->first;
  }

  Error damaged(const std::string& what) const {
    return refused(ErrorCode::kCorrupt, what + "; the file is damaged or of another architecture");
  }

 private:
  Error refused(ErrorCode code, const std::string& what) const {
    return Error{code, "model refused: " + what, file_.path()};
  }

  Status count(const gguf::TensorInfo& tensor, std::uint64_t expected_bytes) {
    if (tensor.bytes != expected_bytes || file_.tensor_bytes(tensor).size() != expected_bytes) {
      return damaged("tensor " + std::string(tensor.name) + " has " + std::to_string(tensor.bytes) +
                     " bytes, expected " + std::to_string(expected_bytes));
    }
    if (taken_.insert(tensor.name).second) {
      bytes_ += tensor.bytes;
      bytes_of_type_[tensor.type_name()] += tensor.bytes;
    }
    return {};
  }

  const gguf::File& file_;
  std::set<std::string_view> taken_;
  std::map<std::string, std::uint64_t> bytes_of_type_;
  std::uint64_t bytes_ = 0;
};

kernels::WeightView rows_of(const kernels::WeightView& whole, std::uint32_t begin, std::uint32_t rows) {
  return {whole.data + std::size_t{begin} * whole.row_bytes(), whole.type, rows, whole.cols};
}

Status load_attention(TensorTaker& tensors, const ModelConfig& config, const std::string& prefix,
                      LayerWeights& weights) {
  const std::uint32_t n_query = config.n_heads * config.d_head;
  const std::uint32_t n_key = config.n_kv_heads * config.d_head;
  if (config.traits.fused) {
    ASSIGN_OR_RETURN(const kernels::WeightView all,
                     tensors.matrix(prefix + "attn_qkv.weight", n_query + 2 * n_key, config.n_embd));
    weights.attn_q = rows_of(all, 0, n_query);
    weights.attn_k = rows_of(all, n_query, n_key);
    weights.attn_v = rows_of(all, n_query + n_key, n_key);
  } else {
    ASSIGN_OR_RETURN(weights.attn_q, tensors.matrix(prefix + "attn_q.weight", n_query, config.n_embd));
    ASSIGN_OR_RETURN(weights.attn_k, tensors.matrix(prefix + "attn_k.weight", n_key, config.n_embd));
    ASSIGN_OR_RETURN(weights.attn_v, tensors.matrix(prefix + "attn_v.weight", n_key, config.n_embd));
  }
  if (config.traits.qkv_bias) {
    ASSIGN_OR_RETURN(weights.attn_q_bias, tensors.vector(prefix + "attn_q.bias", n_query));
    ASSIGN_OR_RETURN(weights.attn_k_bias, tensors.vector(prefix + "attn_k.bias", n_key));
    ASSIGN_OR_RETURN(weights.attn_v_bias, tensors.vector(prefix + "attn_v.bias", n_key));
  }
  if (config.traits.head_norms) {
    ASSIGN_OR_RETURN(weights.attn_q_norm, tensors.vector(prefix + "attn_q_norm.weight", config.d_head));
    ASSIGN_OR_RETURN(weights.attn_k_norm, tensors.vector(prefix + "attn_k_norm.weight", config.d_head));
  }
  ASSIGN_OR_RETURN(weights.attn_output, tensors.matrix(prefix + "attn_output.weight", config.n_embd, n_query));
  return {};
}

Status load_feed_forward(TensorTaker& tensors, const ModelConfig& config, const std::string& prefix,
                         LayerWeights& weights) {
  if (config.traits.fused) {
    ASSIGN_OR_RETURN(const kernels::WeightView both,
                     tensors.matrix(prefix + "ffn_up.weight", 2 * config.n_ff, config.n_embd));
    weights.ffn_gate = rows_of(both, 0, config.n_ff);
    weights.ffn_up = rows_of(both, config.n_ff, config.n_ff);
  } else {
    ASSIGN_OR_RETURN(weights.ffn_gate, tensors.matrix(prefix + "ffn_gate.weight", config.n_ff, config.n_embd));
    ASSIGN_OR_RETURN(weights.ffn_up, tensors.matrix(prefix + "ffn_up.weight", config.n_ff, config.n_embd));
  }
  ASSIGN_OR_RETURN(weights.ffn_down, tensors.matrix(prefix + "ffn_down.weight", config.n_embd, config.n_ff));
  return {};
}

Result<LayerWeights> load_layer(TensorTaker& tensors, const ModelConfig& config, std::uint32_t layer) {
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  LayerWeights weights;
  ASSIGN_OR_RETURN(weights.attn_norm, tensors.vector(prefix + "attn_norm.weight", config.n_embd));
  ASSIGN_OR_RETURN(weights.ffn_norm, tensors.vector(prefix + "ffn_norm.weight", config.n_embd));
  if (config.traits.post_norms) {
    ASSIGN_OR_RETURN(weights.attn_post_norm, tensors.vector(prefix + "post_attention_norm.weight", config.n_embd));
    ASSIGN_OR_RETURN(weights.ffn_post_norm, tensors.vector(prefix + "post_ffw_norm.weight", config.n_embd));
  }
  RETURN_IF_ERROR(load_attention(tensors, config, prefix, weights));
  RETURN_IF_ERROR(load_feed_forward(tensors, config, prefix, weights));
  return weights;
}

Result<std::vector<float>> divisors_of(TensorTaker& tensors, const std::string& name, const ModelConfig& config) {
  ASSIGN_OR_RETURN(std::vector<float> divisors, tensors.vector(name, config.n_rot / 2));
  for (const float divisor : divisors) {
    if (!(divisor > 0)) return tensors.damaged(name + " holds " + std::to_string(divisor));
  }
  return divisors;
}

Result<std::vector<float>> load_rope_divisors(TensorTaker& tensors, const ModelConfig& config) {
  if (config.traits.rope_factors && tensors.has("rope_factors_long.weight")) {
    ASSIGN_OR_RETURN(std::vector<float> far, divisors_of(tensors, "rope_factors_long.weight", config));
    ASSIGN_OR_RETURN(std::vector<float> near, divisors_of(tensors, "rope_factors_short.weight", config));
    return config.rope_long ? std::move(far) : std::move(near);
  }
  if (!tensors.has("rope_freqs.weight")) return std::vector<float>{};
  return divisors_of(tensors, "rope_freqs.weight", config);
}

}  // namespace

Result<LoadedWeights> load_weights(const gguf::File& file, const ModelConfig& config) {
  TensorTaker tensors(file);
  LoadedWeights loaded;
  Weights& weights = loaded.weights;
  ASSIGN_OR_RETURN(weights.token_embd, tensors.matrix("token_embd.weight", config.n_vocab, config.n_embd));
  ASSIGN_OR_RETURN(weights.output_norm, tensors.vector("output_norm.weight", config.n_embd));
  weights.output = weights.token_embd;
  if (tensors.has("output.weight")) {
    ASSIGN_OR_RETURN(weights.output, tensors.matrix("output.weight", config.n_vocab, config.n_embd));
  }
  ASSIGN_OR_RETURN(weights.rope_divisors, load_rope_divisors(tensors, config));
  for (std::uint32_t layer = 0; layer < config.n_layers; ++layer) {
    ASSIGN_OR_RETURN(LayerWeights layer_weights, load_layer(tensors, config, layer));
    weights.layers.push_back(std::move(layer_weights));
  }
  RETURN_IF_ERROR(tensors.all_taken(config.architecture));
  loaded.bytes = tensors.bytes();
  loaded.quantisation = tensors.commonest_type();
  return loaded;
}

}  // namespace larder::model
