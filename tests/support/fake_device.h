// SPDX-License-Identifier: Apache-2.0
// FakeDevice: an Executor without arithmetic, for tests of everything above it. It keeps a real block arena in the
// canonical layout, and what it writes for a row is a hash of the row's token, its position and all earlier KV read
// through the block table; logits are a function of that hash. So reading a wrong, stale, shared or half-written block
// changes the answer, as it would on a real device.
// It also watches the contract: writing over other KV, rows beyond the block table, a layer range that goes on with
// other rows, blocks named by nobody's copy; each is counted as a violation and kept as text.
// Timing:   own thread; delays are per step, per row and layer, and random; completions keep their order. `hold` stops
//           the device before the next step, so that a test can look at a state and then go on.
// Threads:  knobs from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/rng.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/mapped_memory.h"

namespace larder::test {

struct FakeDeviceOptions {
  std::string arithmetic_id = "fake/1";
  std::uint64_t seed = 1;  // of delays only; never of the numbers
  std::int64_t step_delay_us = 0;
  std::int64_t row_delay_us = 0;     // whole row through all layers
  std::int64_t random_delay_us = 0;  // up to this much more per step
};

// What a test may change and read while the device runs. Outlives the device it is given to.
class FakeDeviceKnobs {
 public:
  // The device stops before it starts another step, until release.
  void hold() EXCLUDES(mutex_);
  void release() EXCLUDES(mutex_);
  // Waits until the device stands at a held step (true), or until wait_ms have passed.
  bool wait_held(std::int64_t wait_ms) EXCLUDES(mutex_);
  // Lets exactly `steps` more through while held.
  void let_through(std::uint32_t steps) EXCLUDES(mutex_);
  // Asked before each step: not ok fails the step after its rows were written.
  void fail_when(std::function<Status(const exec::Step&)> rule) EXCLUDES(mutex_);
  void set_delays(std::int64_t step_us, std::int64_t row_us, std::int64_t random_us) EXCLUDES(mutex_);
  // What a step says it took, in ns, instead of the time that passed; so that a test can reckon without a clock.
  void set_costs(std::function<std::int64_t(const exec::Step&)> cost) EXCLUDES(mutex_);
  // Every so many-th hand-over of a step throws std::bad_alloc, and the device has nothing of it; 0: none does.
  void lose_hand_overs(std::uint32_t every) EXCLUDES(mutex_);
  // Called with every block that is read out of the device, as a fault of its memory would.
  void spoil_reads(std::function<void(BlockId, std::span<std::byte>)> fault) EXCLUDES(mutex_);
  // Called on the device thread at the start of each step.
  void watch(std::function<void(const exec::Step&)> watcher) EXCLUDES(mutex_);

  std::uint64_t rows() const EXCLUDES(mutex_);  // rows that went through the last layer
  std::uint64_t steps() const EXCLUDES(mutex_);
  std::uint64_t lost_hand_overs() const EXCLUDES(mutex_);
  std::uint64_t copied_tokens() const EXCLUDES(mutex_);
  std::vector<std::string> violations() const EXCLUDES(mutex_);

 private:
  friend class FakeDevice;
  bool loses_this() EXCLUDES(mutex_);
  mutable Mutex mutex_;
  CondVar changed_;
  bool held_ GUARDED_BY(mutex_) = false;
  bool standing_ GUARDED_BY(mutex_) = false;
  std::uint32_t passes_ GUARDED_BY(mutex_) = 0;
  std::int64_t step_us_ GUARDED_BY(mutex_) = 0;
  std::int64_t row_us_ GUARDED_BY(mutex_) = 0;
  std::int64_t random_us_ GUARDED_BY(mutex_) = 0;
  std::function<Status(const exec::Step&)> fail_rule_ GUARDED_BY(mutex_);
  std::function<void(const exec::Step&)> watcher_ GUARDED_BY(mutex_);
  std::function<std::int64_t(const exec::Step&)> cost_ GUARDED_BY(mutex_);
  std::function<void(BlockId, std::span<std::byte>)> read_fault_ GUARDED_BY(mutex_);
  std::uint32_t lose_every_ GUARDED_BY(mutex_) = 0;
  std::uint64_t hand_overs_ GUARDED_BY(mutex_) = 0;
  std::uint64_t lost_hand_overs_ GUARDED_BY(mutex_) = 0;
  std::uint64_t rows_ GUARDED_BY(mutex_) = 0;
  std::uint64_t steps_ GUARDED_BY(mutex_) = 0;
  std::uint64_t copied_tokens_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string> violations_ GUARDED_BY(mutex_);
};

class FakeDevice final : public exec::Executor {
 public:
  // Requires: knobs outlive the device; layout has d_head * element bytes >= 8.
  FakeDevice(model::ModelConfig config, exec::ExecutorOptions options, FakeDeviceOptions fake,
             std::shared_ptr<FakeDeviceKnobs> knobs, exec::StepDone done);
  ~FakeDevice() override;

  const exec::DeviceInfo& info() const override { return info_; }
  kernels::KvLayout layout() const override { return layout_; }
  std::uint32_t block_count() const override { return block_count_; }
  Status grow(std::uint32_t block_count) override;
  void release_blocks(std::span<const BlockId> blocks) override;
  void submit(exec::Step step) override EXCLUDES(mutex_);
  void abort(std::uint64_t step_id) override EXCLUDES(mutex_);
  Status read_block(BlockId block, std::span<std::byte> out) const override;
  Status write_block(BlockId block, std::span<const std::byte> bytes) override;
  std::span<std::byte> host_memory(BlockId) override { return {}; }  // a card's memory cannot be reached

 private:
  void spoil(BlockId block);
  void run();
  bool wait_turn(const exec::Step& step);
  void wait_delay(const exec::Step& step);
  exec::StepResult execute(const exec::Step& step);
  void copy_block(const exec::BlockCopy& copy);
  Status run_layers(const exec::Step& step);
  void run_rows(const exec::Step& step, const exec::SequenceRows& rows, std::uint32_t layer, std::uint64_t* hidden);
  void write_outputs(const exec::Step& step, exec::StepResult& result);
  bool aborted(std::uint64_t step_id) const EXCLUDES(mutex_);
  void violation(const std::string& text);
  std::uint64_t load(BlockId block, std::uint32_t layer, std::uint32_t slot) const;
  void store(BlockId block, std::uint32_t layer, std::uint32_t slot, std::uint64_t value);

  const model::ModelConfig config_;
  const FakeDeviceOptions fake_;
  const std::shared_ptr<FakeDeviceKnobs> knobs_;
  const exec::StepDone done_;
  const kernels::KvLayout layout_;
  exec::DeviceInfo info_;
  exec::MappedMemory arena_;
  const std::uint32_t most_blocks_;
  std::uint32_t block_count_ = 0;
  Rng garbage_;
  std::vector<std::uint64_t> hidden_[exec::kHiddenSlots];
  std::vector<std::uint64_t> rows_digest_;  // per slot: which rows it holds
  std::uint32_t next_layer_[exec::kHiddenSlots] = {};
  Rng rng_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<exec::Step> queue_ GUARDED_BY(mutex_);
  std::set<std::uint64_t> aborted_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace larder::test
