// SPDX-License-Identifier: Apache-2.0
// CpuExecutor: an Executor on this machine's processor: one driver thread that runs steps in order, and its workers.
// What it is not: a scheduler; it runs what it is given.
// Bounds:   at most kMaxPendingSteps submitted and not yet done (INVARIANT: the submitter counts them).
// Errors:   as Executor; a step that names what it must not (a block, token or position out of range) completes with
//           kInvalidArgument and has touched nothing; logits that are no numbers complete with kCorrupt.
// Owns:     arena, planes, threads.    Threads: as Executor.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "kernels/cpu/kernel_set.h"
#include "runtime/base/mutex.h"
#include "runtime/exec/block_arena.h"
#include "runtime/exec/cpu_device.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/worker_pool.h"
#include "runtime/model/model.h"

namespace larder::exec {

inline constexpr std::size_t kMaxPendingSteps = 64;

class CpuExecutor final : public Executor {
 public:
  // make_cpu_executor with kernels chosen by the caller; int8 null: activations stay f32.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<const model::Model> model,
                                                  const ExecutorOptions& options, const kernels::KernelSet& kernels,
                                                  const kernels::Int8Kernels* int8, StepDone done);
  ~CpuExecutor() override;

  const DeviceInfo& info() const override { return info_; }
  kernels::KvLayout layout() const override { return arena_.layout(); }
  std::uint32_t block_count() const override { return arena_.block_count(); }
  Status grow(std::uint32_t block_count) override { return arena_.grow(block_count); }
  void release_blocks(std::span<const BlockId> blocks) override { arena_.give_back(blocks); }
  void submit(Step step) override EXCLUDES(mutex_);
  void abort(std::uint64_t step_id) override EXCLUDES(mutex_);
  Status read_block(BlockId block, std::span<std::byte> out) const override;
  Status write_block(BlockId block, std::span<const std::byte> bytes) override;
  std::span<std::byte> host_memory(BlockId block) override;

 private:
  Status check_transfer(BlockId block, std::size_t bytes) const;
  struct Pending {
    Step step;
    std::atomic<bool> aborted{false};
  };
  // A row whose logits are wanted, and for whom.
  struct OutputRow {
    std::uint32_t sequence = 0;  // in the step
    std::uint32_t row = 0;       // in the planes
    std::uint32_t scored = 0;    // index into forced_next, where not the last row
    bool last = false;
  };

  CpuExecutor(std::shared_ptr<const model::Model> model, const kernels::KernelSet& kernels,
              const kernels::Int8Kernels* int8, const ExecutorOptions& options, std::uint32_t threads,
              BlockArena arena, StepDone done);
  void drive() EXCLUDES(mutex_);
  Pending* next() EXCLUDES(mutex_);
  StepResult run(Pending& pending);
  Status check(const Step& step) const;
  Status check_rows(const SequenceRows& rows) const;
  // In their order, or at once where none reads or writes what another writes.
  void run_copies(std::span<const BlockCopy> copies);
  Status compute(const Step& step, const std::atomic<bool>& aborted, StepResult& result);
  Status give_outputs(const Step& step, const std::atomic<bool>& aborted, StepResult& result);
  std::vector<OutputRow> output_rows(const Step& step) const;
  // Answers false when the logits are no numbers.
  bool give_output(const Step& step, const OutputRow& row, std::uint32_t logit_row, std::uint32_t worker,
                   StepResult& result);

  const std::shared_ptr<const model::Model> model_;
  const StepDone done_;
  const std::uint32_t max_rows_;
  DeviceInfo info_;
  BlockArena arena_;
  WorkerPool pool_;
  std::unique_ptr<PackedWeights> packed_;  // null: weights stay in the file's order
  std::unique_ptr<CpuDevice> device_;
  std::vector<std::vector<float>> sample_scratch_;  // per worker
  std::vector<model::BatchSequence> sequences_;     // of the running step

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::unique_ptr<Pending>> pending_ GUARDED_BY(mutex_);  // in order of submission
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread driver_;
};

}  // namespace larder::exec
