// SPDX-License-Identifier: Apache-2.0
// A llama model of random weights that holds every quantised type, written as a GGUF file. For bits, not for text: it
// has no vocabulary.
// Threads: one.
#pragma once

#include <cstdint>
#include <string>

namespace larder::test {

inline constexpr std::uint32_t kRandomModelVocab = 512;
inline constexpr std::uint32_t kRandomModelLayers = 4;

// The path of the model, written once per process to gtest's folder for temporary files; ends the program when that
// fails. The same bytes each time.
const std::string& random_model_path();

}  // namespace larder::test
