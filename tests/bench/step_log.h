// SPDX-License-Identifier: Apache-2.0
// StepLog, LoggedExecutor: an executor that writes down how long each of its steps held the device, for benchmarks of
// the engine above it.
// Threads: notes from the driver's thread, read from any.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/exec/executor.h"

namespace larder::bench {

using TimePoint = std::chrono::steady_clock::time_point;

inline double ms_since(TimePoint begin, TimePoint end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

struct StepNote {
  std::uint32_t rows = 0;
  std::uint32_t sequences = 0;
  std::uint32_t layers = 0;
  std::vector<SeqId> seqs;
  double compute_ms = 0;
  TimePoint done{};
  bool holds(SeqId seq) const {
    for (const SeqId each : seqs) {
      if (each == seq) return true;
    }
    return false;
  }
};

class StepLog {
 public:
  void submitted(const exec::Step& step) EXCLUDES(mutex_) {
    StepNote note;
    note.rows = step.row_count();
    note.sequences = static_cast<std::uint32_t>(step.sequences.size());
    note.layers = step.layer_end - step.layer_begin;
    for (const exec::SequenceRows& rows : step.sequences) note.seqs.push_back(rows.seq);
    MutexLock lock(mutex_);
    out_[step.id] = std::move(note);
  }
  void finished(const exec::StepResult& result) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    StepNote note = std::move(out_[result.id]);
    out_.erase(result.id);
    note.compute_ms = static_cast<double>(result.compute_ns) * 1e-6;
    note.done = std::chrono::steady_clock::now();
    notes_.push_back(std::move(note));
  }
  // Steps that ended in (begin, end], in order.
  std::vector<StepNote> between(TimePoint begin, TimePoint end) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    std::vector<StepNote> some;
    for (const StepNote& note : notes_) {
      if (note.done > begin && note.done <= end) some.push_back(note);
    }
    return some;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::uint64_t, StepNote> out_ GUARDED_BY(mutex_);
  std::vector<StepNote> notes_ GUARDED_BY(mutex_);
};

class LoggedExecutor final : public exec::Executor {
 public:
  static Result<std::unique_ptr<exec::Executor>> create(std::shared_ptr<StepLog> log,
                                                        std::shared_ptr<const model::Model> model,
                                                        exec::ExecutorOptions options, exec::StepDone done) {
    ASSIGN_OR_RETURN(std::unique_ptr<exec::Executor> inner,
                     exec::make_cpu_executor(std::move(model), std::move(options),
                                             [log, done = std::move(done)](exec::StepResult result) {
                                               log->finished(result);
                                               done(std::move(result));
                                             }));
    return std::unique_ptr<exec::Executor>(new LoggedExecutor(std::move(log), std::move(inner)));
  }

  const exec::DeviceInfo& info() const override { return inner_->info(); }
  kernels::KvLayout layout() const override { return inner_->layout(); }
  std::uint32_t block_count() const override { return inner_->block_count(); }
  Status grow(std::uint32_t block_count) override { return inner_->grow(block_count); }
  void release_blocks(std::span<const BlockId> blocks) override { inner_->release_blocks(blocks); }
  void submit(exec::Step step) override {
    log_->submitted(step);
    inner_->submit(std::move(step));
  }
  void abort(std::uint64_t step_id) override { inner_->abort(step_id); }
  Status read_block(BlockId block, std::span<std::byte> out) const override { return inner_->read_block(block, out); }
  Status write_block(BlockId block, std::span<const std::byte> bytes) override {
    return inner_->write_block(block, bytes);
  }
  std::span<std::byte> host_memory(BlockId block) override { return inner_->host_memory(block); }

 private:
  LoggedExecutor(std::shared_ptr<StepLog> log, std::unique_ptr<exec::Executor> inner)
      : log_(std::move(log)), inner_(std::move(inner)) {}

  const std::shared_ptr<StepLog> log_;
  std::unique_ptr<exec::Executor> inner_;
};

}  // namespace larder::bench
