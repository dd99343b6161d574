// SPDX-License-Identifier: Apache-2.0
// SchedRig: a scheduler over a real prefix cache and a real or fake executor, without an engine: prompts in as tokens,
// logits out. run() drives steps on the caller's thread until nothing is left.
// Threads: one.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "runtime/base/inbox.h"
#include "runtime/exec/executor.h"
#include "runtime/kv/prefix_cache.h"
#include "runtime/sched/scheduler.h"
#include "tests/support/fake_device.h"

namespace larder::test {

struct RigOptions {
  std::uint32_t blocks = 256;
  std::uint32_t longest_request_blocks = 64;
  std::uint32_t pin_budget_blocks = 64;
  std::uint32_t n_layers = 3;  // of the fake device
  sched::SchedulerLimits limits;
  FakeDeviceOptions fake;
  std::shared_ptr<const model::Model> cpu_model;  // null: the fake device
};

struct RigResult {
  std::vector<Token> tokens;
  std::vector<std::vector<float>> logits;  // one per drawn token
  std::vector<sample::Sampled> scores;
  kv::Verdict started;
  sched::SequenceReport report;
  std::vector<std::uint64_t> token_steps;  // number of the step that gave each token
  bool ended = false;
};

class SchedRig : public sched::SequenceSink {
 public:
  explicit SchedRig(RigOptions options);
  ~SchedRig() override;

  // A sequence of `tenant` (each has its own scope) that draws `draw` tokens greedily.
  sched::SequenceSpec spec(std::vector<Token> prompt, std::uint32_t draw, std::uint32_t tenant = 1);
  SeqId add(sched::SequenceSpec spec);
  SeqId add(std::vector<Token> prompt, std::uint32_t draw, std::uint32_t tenant = 1) {
    return add(spec(std::move(prompt), draw, tenant));
  }
  void cancel(SeqId seq);

  // One step: false when nothing can run.
  bool step();
  void run();
  // Gives a step to the device without waiting for it; finish takes its result.
  bool begin_step();
  void finish();
  // The two halves of it, for whoever calls the scheduler himself.
  void submit(exec::Step step);
  exec::StepResult take_result();
  // Waits until the device is done with the step, without taking its result.
  bool wait_done() const;

  RigResult& result(SeqId seq) { return results_[seq]; }
  kv::PrefixCache& cache() { return *cache_; }
  sched::Scheduler& scheduler() { return *scheduler_; }
  FakeDeviceKnobs& knobs() { return *knobs_; }
  std::uint32_t vocab() const { return config_.n_vocab; }
  std::uint64_t rows() const;  // prompt and decode rows of good steps
  const exec::Step& last_step() const { return last_step_; }
  std::int64_t last_compute_ns() const { return last_compute_ns_; }
  void set_paused(SeqId seq, bool paused) { paused ? void(paused_.insert(seq)) : void(paused_.erase(seq)); }

  bool writable(SeqId seq) const override { return paused_.count(seq) == 0; }
  void started(SeqId seq, const kv::Verdict& verdict, double match_ms) override;
  bool token(SeqId seq, const exec::SequenceOutput& output) override;
  void scored(SeqId seq, const std::vector<sample::Sampled>& scores) override;
  void ended(SeqId seq, sched::SequenceReport report) noexcept override;

 private:
  tenant::Scope scope_of(std::uint32_t tenant);

  SystemClock clock_;
  model::ModelConfig config_;
  std::shared_ptr<FakeDeviceKnobs> knobs_;
  Inbox<std::shared_ptr<exec::StepResult>> done_{16};
  std::unique_ptr<exec::Executor> executor_;
  kv::ReuseHistory history_{4096, 4096};
  std::unique_ptr<kv::PrefixCache> cache_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  std::shared_ptr<const kv::Identity> identity_;
  std::map<std::uint32_t, tenant::Scope> scopes_;
  std::map<SeqId, RigResult> results_;
  std::set<SeqId> paused_;
  exec::Step last_step_;
  std::int64_t last_compute_ns_ = 0;
  std::uint64_t next_seq_ = 1;
};

}  // namespace larder::test
