// SPDX-License-Identifier: Apache-2.0
// Scheduler: which sequences run, over which blocks, in which steps. It owns sequences and their claims on the prefix
// cache; it neither runs steps nor waits for them: the engine takes next_step, gives it to the executor, and hands the
// result to finish_step. One step is out at a time.
// Rules:    admission by pool room, least served tenant first; a prompt whose start another one is computing right now
//           waits for it; decode first, prefill in chunks (plan.h). When the pool is full, cached leaves give way, then
//           the sequence that came last is put back: its blocks stay as cache, and it comes back when there is room.
//           The oldest sequence is never put back for another, so somebody always advances.
// Ensures:  a failed step ends its own sequences only; what it wrote is never found. A cancelled sequence gives its
//           blocks back at once, or when the running step ends if it is part of it.
// Errors:   reach a sequence's sink as SequenceReport::status. A sequence that memory runs out for ends alone, with
//           kResourceExhausted; where it runs out before one is looked at, add and next_step throw std::bad_alloc and
//           have changed nothing that matters: ask again. The rest needs no memory.
// Bounds:   kMaxSequences waiting and running; add answers kResourceExhausted beyond.
// Threads:  engine thread; no mutex.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/kv/prefix_cache.h"
#include "runtime/sched/fair_share.h"
#include "runtime/sched/plan.h"
#include "runtime/sched/rates.h"
#include "runtime/sched/sequence.h"
#include "runtime/sched/tier_gate.h"
#include "runtime/sched/turns.h"

namespace larder::sched {

inline constexpr std::size_t kMaxSequences = 8192;

struct SchedulerLimits {
  std::uint32_t max_batch = 32;
  PlanLimits plan;
};

// Blocks with which the largest sequence comes to its end, prompt and answer; of those that run, and that wait.
struct RoomNeed {
  std::uint32_t running = 0;
  std::uint32_t waiting = 0;
};

struct SchedulerCounts {
  std::uint32_t waiting = 0;
  std::uint32_t prefilling = 0;
  std::uint32_t decoding = 0;  // paused ones included
  std::uint32_t paused = 0;
  std::uint64_t prefill_rows = 0;  // since the start, rows of good steps
  std::uint64_t decode_rows = 0;
  std::uint64_t steps = 0;
  std::uint64_t put_back = 0;  // sequences preempted
};

class Scheduler {
 public:
  // Requires: cache, sink and clock outlive the scheduler.
  Scheduler(kv::PrefixCache& cache, SequenceSink& sink, const Clock& clock, SchedulerLimits limits);
  ~Scheduler();

  Status add(SequenceSpec spec);
  // Ends a sequence with kCancelled (or with `status` when it is not ok). Unknown ids are ignored.
  // Answers whether the running step is hardly worth finishing: abort it then.
  [[nodiscard]] bool cancel(SeqId seq, Status status = {}) noexcept;

  bool holds(SeqId seq) const { return find(seq) != nullptr; }

  // Nothing when a step is out or nothing can run now.
  std::optional<exec::Step> next_step(const Turn& turn = {});
  void finish_step(exec::StepResult result) noexcept;
  // The step that is out was never begun: its rows are run again.
  void take_back_step() noexcept;
  // Id of the step that is out; 0: none.
  std::uint64_t running_step() const { return running_ ? running_->id : 0; }
  Demand running_rows() const;  // of which kinds it has some
  Demand demand() const;
  RoomNeed room_need() const;

  void set_limits(const SchedulerLimits& limits) { limits_ = limits; }
  // Asked before each admission; outlives the scheduler. Null: nothing lies below the pool.
  void set_tier_gate(TierGate* gate) { gate_ = gate; }
  bool idle() const { return sequences_.empty(); }
  const Rates& rates() const { return rates_; }
  SchedulerCounts counts() const;
  bool running(SeqId seq) const;  // admitted and not put back
  bool prefilling(SeqId seq) const;

 private:
  struct Sequence;
  struct RunningPart {
    SeqId seq{};
    std::uint32_t until = 0;  // committed when the last layer of the step was run
    std::uint32_t rows = 0;
    bool decode = false;
    std::vector<BlockId> seals;
  };
  struct RunningStep {
    std::uint64_t id = 0;
    std::vector<RunningPart> parts;
    std::vector<PlannedRows> rows;  // of the parts, for the open chunk
    std::uint32_t layer_begin = 0;
    std::uint32_t layer_end = 0;
    double expected_ns = 0;
    bool chunk = false;  // it belongs to the open chunk
    bool whole = false;  // it gives outputs
    bool aborted = false;
  };
  using Held = std::map<SeqId, std::unique_ptr<Sequence>>;
  using Order = std::map<std::uint64_t, Sequence*>;  // by arrival

  // admission.cc
  enum class Admitted : std::uint8_t { kYes, kNotNow, kNobody };
  void admit();
  bool admit_one();
  Admitted try_admit(Sequence& candidate, bool& first_is_too_large);
  std::vector<Sequence*> candidates() const;
  static bool must_wait(const Sequence& sequence, const kv::Outlook& outlook);
  bool has_room(const Sequence& sequence, const kv::Outlook& outlook) const;
  bool put_back_a_paused_one();
  bool free_a_slot(const Sequence& sequence);
  void start(Sequence& sequence, std::uint32_t run_to);
  void tell_started(Sequence& sequence, double match_ms);
  static kv::Verdict verdict_of(const Sequence& sequence);
  std::uint32_t active_count() const;
  std::uint32_t active_of(TenantId tenant) const;

  // step_build.cc
  PlanInput plan_input(const Turn& turn);
  void make_room(Sequence& sequence, std::uint32_t until);
  Sequence* victim_for(const Sequence& sequence);
  void put_back(Sequence& sequence);  // preempted
  void leave(Sequence& sequence);     // back into the queue; what it computed stays as cache
  bool in_open_chunk(SeqId seq) const;
  void drop_open_chunk() noexcept;
  std::optional<exec::Step> build(const StepPlan& plan);
  void add_rows(exec::Step& step, RunningStep& running, Sequence& sequence, std::uint32_t rows, bool first_range);
  sample::SampleState sampling_of(const Sequence& sequence, std::uint32_t until) const;

  // step_result.cc
  void measure(const RunningStep& running, std::int64_t compute_ns);
  void keep_open(RunningStep& running, std::int64_t compute_ns) noexcept;
  void finish_failed(const RunningStep& running, const Status& status) noexcept;
  void finish_good(const RunningStep& running, exec::StepResult& result) noexcept;
  void finish_part(const RunningPart& part, exec::SequenceOutput& output, const exec::StepResult& result,
                   std::size_t first_seal);
  void deliver(Sequence& sequence, const exec::SequenceOutput& output);
  void end(Sequence& sequence, SequenceEnd why, Status status, kv::CloseAs close_as) noexcept;
  void end_cancelled(Sequence& sequence, kv::CloseAs close_as) noexcept;
  // Does one sequence's part of the work. False: memory ran out for it, and the sequence has ended.
  template <typename Work>
  bool alone(SeqId seq, Work work);
  void lost_memory(SeqId seq) noexcept;
  static void move_over(Order& from, Order& to, std::uint64_t order) noexcept;

  Sequence* find(SeqId seq) const;

  kv::PrefixCache& cache_;
  SequenceSink& sink_;
  TierGate* gate_ = nullptr;
  const Clock& clock_;
  SchedulerLimits limits_;
  FairShare share_;
  Rates rates_;
  Held sequences_;
  Order waiting_;
  Order active_;
  std::optional<OpenChunk> open_chunk_;
  std::optional<RunningStep> running_;
  bool decode_ran_last_ = false;
  std::uint64_t next_step_id_ = 1;
  std::uint64_t next_order_ = 1;
  std::uint32_t passed_over_ = 0;  // admissions since the first in line was found too large for now
  SchedulerCounts totals_;
};

}  // namespace larder::sched
