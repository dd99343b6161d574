// SPDX-License-Identifier: Apache-2.0
// PackedWeights: a model's quantised matrices in the order the int8 kernels read them, made by a thread of its own
// while steps already run on the file's order. No bits change when a matrix becomes ready (Int8Kernels).
// Ensures:  one copy in memory: what is packed gives the file's pages back to the system.
// Errors:   none; without memory for them all weights stay in the file's order.
// Owns:     the packed bytes and the thread; shares the model.
// Threads:  find from any. The destructor waits for a piece of a few MiB at most; nobody may use find's answers then.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/cpu/int8_set.h"
#include "runtime/exec/mapped_memory.h"
#include "runtime/model/model.h"

namespace larder::exec {

class PackedWeights {
 public:
  // Begins at once: layers in order, then the head.
  PackedWeights(std::shared_ptr<const model::Model> model, const kernels::Int8Kernels& kernels);
  ~PackedWeights();
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  // The packed form of one of the model's matrices; nullptr: not ready, or none is made of it.
  const std::byte* find(const kernels::WeightView& w) const;
  // Whether nothing more will be packed.
  bool done() const { return done_.load(std::memory_order_acquire); }

 private:
  struct Matrix {
    kernels::WeightView view;
    std::size_t offset = 0;  // in memory_
    std::atomic<const std::byte*> ready{nullptr};
  };

  void add(const kernels::WeightView& w);
  void pack_all();
  // Answers false where it was stopped.
  bool pack(Matrix& matrix);

  const std::shared_ptr<const model::Model> model_;
  const kernels::Int8Kernels& kernels_;
  std::map<const std::byte*, Matrix> matrices_;  // by the view's data; complete before the thread starts
  std::vector<Matrix*> order_;
  MappedMemory memory_;  // of all: one mapping, so that it can have huge pages
  std::size_t bytes_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace larder::exec
