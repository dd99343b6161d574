// SPDX-License-Identifier: Apache-2.0
// Executor: runs steps of one model on one device. One virtual call per step; everything inside is direct.
// Ensures:  submit returns at once; `done` is called exactly once per step, in order of submission, on a thread of the
//           executor. A step's rows have the same bits whatever else is in the step.
// Bounds:   at most 64 steps submitted and not yet done; the submitter counts them.
// Errors:   in StepResult::status; kCancelled after abort, kDevice when the device is lost, kResourceExhausted when
//           memory ran out. submit throws std::bad_alloc and has not taken the step then.
// Owns:     its block arena (ids 0..block_count-1), hidden slots, threads. Weights are shared.
// Threads:  submit, abort, grow, block_count and release_blocks from the engine thread; read_block and write_block from
//           any, for blocks that no step touches meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "runtime/exec/step.h"
#include "runtime/model/config.h"

namespace larder::model {
class Model;
}

namespace larder::exec {

using StepDone = std::function<void(StepResult)>;

struct ExecutorOptions {
  std::uint32_t block_count = 0;
  std::uint32_t most_blocks = 0;  // to which grow may go; fewer than block_count: no more
  kernels::KvType kv_type = kernels::KvType::kF16;
  std::uint32_t threads = 0;      // 0: one per core, one left to the desktop where there are more than two
  std::uint32_t max_rows = 2048;  // rows of the largest step
  std::string isa = "auto";       // auto, portable, avx2, avx512
  std::string arithmetic = "auto";  // auto (int8 where the tier has it), precise, int8
  bool pack_weights = true;         // a copy in memory in the order int8 products read; without it they are slower
};

struct DeviceInfo {
  std::string device;         // "cpu"
  std::string description;    // processor and tier, for people
  // Kernel family, tier and version, part of the identity: "cpu/avx512/1", with int8 products "cpu/avx512/1/int8/1".
  std::string arithmetic_id;
};

class Executor {
 public:
  virtual ~Executor() = default;  // waits for the running step; pending ones complete with kCancelled
  virtual const DeviceInfo& info() const = 0;
  virtual kernels::KvLayout layout() const = 0;
  virtual std::uint32_t block_count() const = 0;
  // Makes ids up to block_count - 1 usable; fewer than there are changes nothing.  Errors: kResourceExhausted.
  virtual Status grow(std::uint32_t block_count) = 0;
  // The memory of these blocks goes back to the system as far as it can; they stay usable, what they held is lost.
  virtual void release_blocks(std::span<const BlockId> blocks) = 0;
  virtual void submit(Step step) = 0;
  // Raises the abort flag of a step; it is read once per layer. Unknown ids are ignored.
  virtual void abort(std::uint64_t step_id) = 0;
  // A block's bytes, all of layout().block_bytes(), to and from host memory: the way between the tiers.
  virtual Status read_block(BlockId block, std::span<std::byte> out) const = 0;
  virtual Status write_block(BlockId block, std::span<const std::byte> bytes) = 0;
  // The block itself where the host can reach it: what is written there needs no write_block. Empty elsewhere.
  virtual std::span<std::byte> host_memory(BlockId block) = 0;
};

// Errors: kInvalidArgument (unknown isa or arithmetic), kUnsupported (what this processor lacks), kResourceExhausted
//         (arena).
Result<std::unique_ptr<Executor>> make_cpu_executor(std::shared_ptr<const model::Model> model,
                                                    const ExecutorOptions& options, StepDone done);

// kUnavailable with the reason where no CUDA executor can be had (executor_no_cuda.cc, or no card).
Result<std::unique_ptr<Executor>> make_cuda_executor(std::shared_ptr<const model::Model> model,
                                                     const ExecutorOptions& options, StepDone done);

}  // namespace larder::exec
