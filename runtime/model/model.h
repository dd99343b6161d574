// SPDX-License-Identifier: Apache-2.0
// Model: one GGUF file of a known architecture, opened and checked: config, weights as views into the mapping, sizes.
// What it is not: it computes nothing and knows no device; runtime/model/forward.h is the graph.
// Ensures:  every tensor has the shape and a type that the config and the kernels expect; nothing is copied but norms.
// Owns:     the file's read-only mapping; views live as long as the Model.
// Errors:   kIo (the file), kCorrupt (damaged), kUnsupported (architecture, type), kCancelled.
// Threads:  immutable after load; any. A file that shrinks while mapped ends the process, so models are never edited in
//           place, only replaced by rename.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/base/result.h"
#include "runtime/model/config.h"
#include "runtime/model/weights.h"

namespace larder::gguf {
class File;
}

namespace larder::model {

struct LoadOptions {
  std::function<void(double)> progress;      // 0..1, on the loading thread; may be empty
  const std::atomic<bool>* cancel = nullptr;  // read often; may be null
};

class Model {
 public:
  // Blocking: run it on a loader thread. Brings the weights into memory once, so that the first request is not slow.
  static Result<std::shared_ptr<const Model>> load(const std::string& path, const LoadOptions& options);
  // The same from an opened file. Shares its mapping.
  static Result<std::shared_ptr<const Model>> from_file(std::shared_ptr<const gguf::File> file,
                                                        const LoadOptions& options);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelConfig& config() const { return config_; }
  const Weights& weights() const { return weights_; }
  const gguf::File& file() const { return *file_; }
  // What `w` takes of the mapping goes back to the system, for who keeps a copy in a form of its own.
  void leave_pages(const kernels::WeightView& w) const;
  const std::string& path() const;
  std::uint64_t file_bytes() const;
  std::uint64_t weight_bytes() const { return weight_bytes_; }  // of the tensors that are used
  const std::string& quantisation() const { return quantisation_; }  // type of most weights: "Q4_1"

 private:
  Model() = default;

  std::shared_ptr<const gguf::File> file_;
  ModelConfig config_;
  Weights weights_;
  std::uint64_t weight_bytes_ = 0;
  std::string quantisation_;
};

}  // namespace larder::model
