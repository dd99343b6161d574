// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "runtime/model/load.h"

namespace larder::model {
namespace {

Error refused(ErrorCode code, const gguf::File& file, const std::string& what) {
  return Error{code, "model refused: " + what, file.path()};
}

Error unsupported(const gguf::File& file, const std::string& what) {
  return refused(ErrorCode::kUnsupported, file, what);
}

Error damaged(const gguf::File& file, const std::string& what) {
  return refused(ErrorCode::kCorrupt, file, what + "; the file is damaged or of another architecture");
}

// Reads keys of one architecture ("llama.…") with their bounds.
class KeyReader {
 public:
  KeyReader(const gguf::File& file, std::string architecture) : file_(file), prefix_(std::move(architecture) + ".") {}

  bool has(const char* name) const { return file_.find_entry(prefix_ + name) != nullptr; }

  // A count in [low, high]; a per-layer array is taken when all its values are equal.
  Result<std::uint32_t> count(const char* name, std::uint32_t low, std::uint32_t high) const {
    const std::string key = prefix_ + name;
    const gguf::Entry* entry = file_.find_entry(key);
    if (entry == nullptr) return damaged(file_, key + " is missing");
    std::uint32_t value = 0;
    if (entry->type == gguf::ValueType::kArray) {
      ASSIGN_OR_RETURN(value, equal_items(key));
    } else {
      auto read = file_.find_u32(key);
      if (!read.ok()) return damaged(file_, read.error().message);
      value = read.value();
    }
    if (value < low || value > high) {
      return damaged(file_, key + " is " + std::to_string(value) + ", expected " + std::to_string(low) + " to " +
                                std::to_string(high));
    }
    return value;
  }

  Result<std::uint32_t> count_or(const char* name, std::uint32_t if_missing, std::uint32_t low,
                                 std::uint32_t high) const {
    if (!has(name)) return if_missing;
    return count(name, low, high);
  }

  // A number in (low, high].
  Result<float> number_or(const char* name, float if_missing, float low, float high) const {
    const std::string key = prefix_ + name;
    auto read = file_.find_f32(key, if_missing);
    if (!read.ok()) return damaged(file_, read.error().message);
    if (!(read.value() > low && read.value() <= high)) {
      return damaged(file_, key + " is " + std::to_string(read.value()) + ", expected above " + std::to_string(low) +
                                " and at most " + std::to_string(high));
    }
    return read.value();
  }

  Result<std::string> text_or(const char* name, const char* if_missing) const {
    auto read = file_.find_string(prefix_ + name, if_missing);
    if (!read.ok()) return damaged(file_, read.error().message);
    return read;
  }

 private:
  Result<std::uint32_t> equal_items(const std::string& key) const {
    auto items = file_.find_u32_array(key);
    if (!items.ok()) return damaged(file_, items.error().message);
    if (items->empty()) return damaged(file_, key + " is an empty array");
    const std::uint32_t first = items->front();
    for (const std::uint32_t item : items.value()) {
      if (item != first) return unsupported(file_, key + " differs between layers; models like that are not supported");
    }
    return first;
  }

  const gguf::File& file_;
  std::string prefix_;
};

std::string file_stem(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string stem = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::size_t dot = stem.rfind(".gguf");
  if (dot != std::string::npos && dot > 0) stem.resize(dot);
  return stem;
}

// A name for people and for the API: printable, at most 128 bytes, else the file's stem.
std::string model_name(const gguf::File& file) {
  auto name = file.find_string("general.name", "");
  const bool usable = name.ok() && !name->empty() && name->size() <= 128 &&
                      std::none_of(name->begin(), name->end(), [](char c) {
                        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                      });
  return usable ? std::move(name).value() : file_stem(file.path());
}

Status load_sizes(const gguf::File& file, const KeyReader& keys, ModelConfig& config) {
  ASSIGN_OR_RETURN(config.n_layers, keys.count("block_count", 1, kMaxLayers));
  ASSIGN_OR_RETURN(config.n_embd, keys.count("embedding_length", 1, kMaxEmbd));
  ASSIGN_OR_RETURN(config.n_ff, keys.count("feed_forward_length", 1, kMaxFf));
  ASSIGN_OR_RETURN(config.n_context, keys.count("context_length", 1, kMaxContext));
  ASSIGN_OR_RETURN(config.n_heads, keys.count("attention.head_count", 1, kMaxHeads));
  ASSIGN_OR_RETURN(config.n_kv_heads, keys.count_or("attention.head_count_kv", config.n_heads, 1, kMaxHeads));
  if (config.n_heads % config.n_kv_heads != 0) {
    return damaged(file, "attention.head_count " + std::to_string(config.n_heads) +
                             " is no multiple of head_count_kv " + std::to_string(config.n_kv_heads));
  }
  if (!keys.has("attention.key_length") && config.n_embd % config.n_heads != 0) {
    return damaged(file, "embedding_length " + std::to_string(config.n_embd) + " is no multiple of head_count " +
                             std::to_string(config.n_heads));
  }
  const std::uint32_t usual = std::max(1u, config.n_embd / config.n_heads);
  ASSIGN_OR_RETURN(config.d_head, keys.count_or("attention.key_length", usual, 1, kMaxHeadDim));
  ASSIGN_OR_RETURN(const std::uint32_t d_value, keys.count_or("attention.value_length", config.d_head, 1, kMaxHeadDim));
  if (d_value != config.d_head) {
    return unsupported(file, "attention.value_length " + std::to_string(d_value) + " differs from key_length " +
                                 std::to_string(config.d_head));
  }
  if (config.d_head > kMaxHeadDim || config.d_head % 2 != 0) {
    return unsupported(file, "a head of " + std::to_string(config.d_head) + " values; even sizes up to " +
                                 std::to_string(kMaxHeadDim) + " are supported");
  }
  return {};
}

// Which of the two lists of divisors is used depends on the model's whole context, not on a prompt's length: positions
// that are cached would otherwise be wrong as soon as a prompt grows past the original context.
Status load_rope_factors(const KeyReader& keys, ModelConfig& config) {
  ASSIGN_OR_RETURN(const std::uint32_t original,
                   keys.count_or("rope.scaling.original_context_length", config.n_context, 1, kMaxContext));
  config.rope_long = config.n_context > original;
  ASSIGN_OR_RETURN(config.rope_magnitude, keys.number_or("rope.scaling.attn_factor", 1.0f, 0.0f, 100.0f));
  return {};
}

Status load_rope(const gguf::File& file, const KeyReader& keys, ModelConfig& config) {
  ASSIGN_OR_RETURN(config.n_rot, keys.count_or("rope.dimension_count", config.d_head, 2, config.d_head));
  if (config.n_rot % 2 != 0) {
    return damaged(file, "rope.dimension_count is " + std::to_string(config.n_rot) + ", expected an even number");
  }
  ASSIGN_OR_RETURN(config.rope_base, keys.number_or("rope.freq_base", 10000.0f, 0.0f, 1e12f));
  ASSIGN_OR_RETURN(const std::string kind, keys.text_or("rope.scaling.type", "none"));
  ASSIGN_OR_RETURN(const float old_factor, keys.number_or("rope.scale_linear", 1.0f, 0.0f, 1e6f));
  ASSIGN_OR_RETURN(const float factor, keys.number_or("rope.scaling.factor", old_factor, 0.0f, 1e6f));
  const bool known = kind == "none" || kind == "linear" || (kind == "longrope" && config.traits.rope_factors);
  if (!known) {
    return unsupported(file, "RoPE scaling \"" + kind.substr(0, 32) + "\"; none and linear are supported, longrope " +
                                 "in phi3 models");
  }
  // llama.cpp takes a factor without a type as linear; so do files that carry only rope.scale_linear.
  const bool scaled = kind == "linear" || !keys.has("rope.scaling.type");
  config.rope_scale = scaled ? 1.0f / factor : 1.0f;
  return config.traits.rope_factors ? load_rope_factors(keys, config) : Status();
}

// Layers that see only a window of the positions before them.
Status load_window(const gguf::File& file, const KeyReader& keys, ModelConfig& config) {
  if (keys.has("attention.sliding_window") || config.traits.window_required) {
    const std::uint32_t least = config.traits.window_required ? 1 : 0;
    ASSIGN_OR_RETURN(config.window, keys.count("attention.sliding_window", least, kMaxContext));
  }
  if (config.window != 0 && !config.traits.window_allowed) {
    return unsupported(file, "sliding-window attention of " + std::to_string(config.window) + " tokens in a " +
                                 config.architecture + " model");
  }
  ASSIGN_OR_RETURN(config.global_every,
                   keys.count_or("attention.sliding_window_pattern", config.traits.global_every, 0, kMaxLayers));
  // Where some layers see all, those that do not have frequencies of their own, and no scaling.
  config.local_rope_base = config.rope_base;
  config.local_rope_scale = config.rope_scale;
  if (config.traits.global_every == 0) return {};
  ASSIGN_OR_RETURN(config.local_rope_base, keys.number_or("rope.freq_base_swa", 10000.0f, 0.0f, 1e12f));
  config.local_rope_scale = 1.0f;
  return {};
}

Status load_scales(const KeyReader& keys, ModelConfig& config) {
  ASSIGN_OR_RETURN(config.rms_eps, keys.number_or("attention.layer_norm_rms_epsilon", 1e-5f, 0.0f, 1.0f));
  if (config.traits.embedding_scaled) config.embedding_scale = std::sqrt(static_cast<float>(config.n_embd));
  // Gemma 3's largest model divides by the root of n_embd / n_heads instead, and its files do not say so.
  const bool largest_gemma = config.traits.global_every != 0 && config.n_layers == 62;
  const std::uint32_t divisor = largest_gemma ? config.n_embd / config.n_heads : config.d_head;
  const auto usual = static_cast<float>(1.0 / std::sqrt(static_cast<double>(divisor)));
  ASSIGN_OR_RETURN(config.attention_scale, keys.number_or("attention.scale", usual, 0.0f, 1e6f));
  return {};
}

Status refuse_other_features(const gguf::File& file, const KeyReader& keys) {
  ASSIGN_OR_RETURN(const std::uint32_t parts, file.find_u32("split.count", 1));
  if (parts > 1) {
    ASSIGN_OR_RETURN(const std::uint32_t part, file.find_u32("split.no", 0));
    return unsupported(file, "this is part " + std::to_string(std::uint64_t{part} + 1) + " of " +
                                 std::to_string(parts) + "; join the parts to one file first");
  }
  ASSIGN_OR_RETURN(const std::uint32_t experts, keys.count_or("expert_count", 0, 0, 1u << 20));
  if (experts != 0) {
    return unsupported(file, "a mixture of " + std::to_string(experts) + " experts; dense models are supported");
  }
  for (const char* cap : {"final_logit_softcapping", "attn_logit_softcapping"}) {
    if (keys.has(cap)) return unsupported(file, std::string("capped logits (") + cap + ")");
  }
  return {};
}

}  // namespace

Result<ModelConfig> load_config(const gguf::File& file) {
  auto architecture = file.find_string("general.architecture");
  if (!architecture.ok()) return damaged(file, architecture.error().message);
  const Architecture* const traits = find_architecture(architecture.value());
  if (traits == nullptr) {
    return unsupported(file, "architecture \"" + architecture->substr(0, 64) + "\"; supported are " +
                                 known_architectures());
  }
  ModelConfig config;
  config.traits = *traits;
  config.architecture = std::move(architecture).value();
  config.name = model_name(file);
  const KeyReader keys(file, config.architecture);
  RETURN_IF_ERROR(refuse_other_features(file, keys));
  RETURN_IF_ERROR(load_sizes(file, keys, config));
  RETURN_IF_ERROR(load_rope(file, keys, config));
  RETURN_IF_ERROR(load_window(file, keys, config));
  RETURN_IF_ERROR(load_scales(keys, config));

  const gguf::TensorInfo* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr) return damaged(file, "tensor token_embd.weight is missing");
  if (embedding->dims[1] < 1 || embedding->dims[1] > kMaxVocab) {
    return damaged(file, "token_embd.weight has " + std::to_string(embedding->dims[1]) + " rows, expected 1 to " +
                             std::to_string(kMaxVocab));
  }
  config.n_vocab = static_cast<std::uint32_t>(embedding->dims[1]);
  ASSIGN_OR_RETURN(const std::uint32_t stated, keys.count_or("vocab_size", config.n_vocab, 1, kMaxVocab));
  if (stated != config.n_vocab) {
    return damaged(file, "vocab_size is " + std::to_string(stated) + ", but token_embd.weight has " +
                             std::to_string(config.n_vocab) + " rows");
  }
  return config;
}

}  // namespace larder::model
