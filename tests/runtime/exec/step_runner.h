// SPDX-License-Identifier: Apache-2.0
// StepRunner: an executor with a synchronous front for tests: feed tokens of a lane (one sequence with blocks of its
// own), get the last row's logits.
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/int8_set.h"
#include "kernels/cpu/kernel_set.h"
#include "runtime/base/mutex.h"
#include "runtime/exec/executor.h"
#include "runtime/model/model.h"

namespace larder::test {

std::shared_ptr<const model::Model> load_or_die(const std::string& path);

struct Lane {
  SeqId seq{};
  std::vector<BlockId> table;
  std::uint32_t position = 0;
};

class StepRunner {
 public:
  StepRunner(std::shared_ptr<const model::Model> model, exec::ExecutorOptions options);
  // With kernels of the test's choice; int8 null: activations stay f32.
  StepRunner(std::shared_ptr<const model::Model> model, exec::ExecutorOptions options,
             const kernels::KernelSet& kernels, const kernels::Int8Kernels* int8 = nullptr);
  ~StepRunner() { executor_.reset(); }

  exec::Executor& executor() { return *executor_; }
  std::uint32_t n_layers() const { return model_->config().n_layers; }

  // A sequence with fresh blocks for `tokens` positions.
  Lane open_lane(std::uint32_t tokens);
  // Gives all blocks back; lanes opened before must not be fed again.
  void close_lanes() { next_block_ = 0; }
  // Rows of a lane, which moves on by them; greedy sample and logits of the last row.
  exec::SequenceRows rows(Lane& lane, std::span<const Token> tokens) const;
  // All layers, next step id.
  exec::Step step(std::vector<exec::SequenceRows> sequences);
  exec::StepResult run(exec::Step step);
  // Feeds the tokens in chunks of `chunk` rows; the last row's output.
  exec::SequenceOutput feed(Lane& lane, std::span<const Token> tokens, std::uint32_t chunk);
  std::vector<std::byte> block_bytes(BlockId block);

 private:
  void completed(exec::StepResult result) EXCLUDES(mutex_);

  const std::shared_ptr<const model::Model> model_;
  std::uint32_t next_block_ = 0;
  std::uint64_t next_seq_ = 1;
  std::uint64_t next_step_ = 1;
  Mutex mutex_;
  CondVar arrived_;
  std::map<std::uint64_t, exec::StepResult> results_ GUARDED_BY(mutex_);
  std::unique_ptr<exec::Executor> executor_;
};

}  // namespace larder::test
