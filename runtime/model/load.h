// SPDX-License-Identifier: Apache-2.0
// Loading steps behind Model::load: metadata to ModelConfig, tensors to Weights. Untrusted input: every size is
// bounded, every shape is compared with the config.
// Errors:  kUnsupported (architecture, type or feature this build lacks), kCorrupt (a value or shape that cannot be).
//          Messages begin with "model refused:" and name the key or tensor, its value and what was expected.
// Threads: pure functions.    Source: ggml-org/ggml docs/gguf.md (key and tensor names).
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/result.h"
#include "runtime/gguf/file.h"
#include "runtime/model/config.h"
#include "runtime/model/weights.h"

namespace larder::model {

inline constexpr std::uint32_t kMaxLayers = 1024;
inline constexpr std::uint32_t kMaxEmbd = 1u << 16;
inline constexpr std::uint32_t kMaxHeads = 1024;
inline constexpr std::uint32_t kMaxHeadDim = 512;
inline constexpr std::uint32_t kMaxFf = 1u << 20;
inline constexpr std::uint32_t kMaxVocab = 1u << 22;
inline constexpr std::uint32_t kMaxContext = 1u << 24;

Result<ModelConfig> load_config(const gguf::File& file);

struct LoadedWeights {
  Weights weights;
  std::uint64_t bytes = 0;   // of the tensors in use
  std::string quantisation;  // the type that most weight bytes have
};

Result<LoadedWeights> load_weights(const gguf::File& file, const ModelConfig& config);

}  // namespace larder::model
