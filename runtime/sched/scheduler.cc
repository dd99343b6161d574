// SPDX-License-Identifier: Apache-2.0
#include "runtime/sched/scheduler.h"

#include <algorithm>

#include "kernels/layout/kv_layout.h"
#include "runtime/sched/scheduler_sequence.h"

namespace larder::sched {

Scheduler::Scheduler(kv::PrefixCache& cache, SequenceSink& sink, const Clock& clock, SchedulerLimits limits)
    : cache_(cache), sink_(sink), clock_(clock), limits_(limits) {}

Scheduler::~Scheduler() = default;

Scheduler::Sequence* Scheduler::find(SeqId seq) const {
  const auto found = sequences_.find(seq);
  return found == sequences_.end() ? nullptr : found->second.get();
}

Status Scheduler::add(SequenceSpec spec) {
  INVARIANT(spec.prompt != nullptr && spec.keys != nullptr && spec.sampling != nullptr && !spec.prompt->tokens.empty());
  if (sequences_.size() >= kMaxSequences) {
    return Error{ErrorCode::kResourceExhausted,
                 "the scheduler holds " + std::to_string(kMaxSequences) + " sequences already: try again later", ""};
  }
  auto sequence = std::make_unique<Sequence>();
  sequence->order = next_order_;
  sequence->prompt_tokens = static_cast<std::uint32_t>(spec.prompt->tokens.size());
  sequence->spec = std::move(spec);
  const SeqId seq = sequence->spec.seq;
  Order line{{sequence->order, sequence.get()}};
  Held held;
  share_.join(held.emplace(seq, std::move(sequence)).first->second->spec.tenant);
  // What needs memory is done.
  ++next_order_;
  sequences_.merge(held);
  INVARIANT(held.empty());
  waiting_.merge(line);
  return {};
}

void Scheduler::move_over(Order& from, Order& to, std::uint64_t order) noexcept {
  if (Order::node_type node = from.extract(order)) to.insert(std::move(node));
}

// A step is never out for a sequence that works alone.
void Scheduler::lost_memory(SeqId seq) noexcept {
  Sequence* sequence = find(seq);
  if (sequence == nullptr) return;
  if (in_open_chunk(seq)) drop_open_chunk();
  end(*sequence, SequenceEnd::kFailed, out_of_memory(), kv::CloseAs::kFailed);
}

bool Scheduler::cancel(SeqId seq, Status status) noexcept {
  Sequence* sequence = find(seq);
  if (sequence == nullptr || sequence->cancelled) return false;
  sequence->cancelled = true;
  sequence->cancel_status = std::move(status);
  std::uint32_t live_rows = 0;
  std::uint32_t rows = 0;
  bool in_step = false;
  if (running_) {
    for (const RunningPart& part : running_->parts) {
      in_step = in_step || part.seq == seq;
      rows += part.rows;
      const Sequence* other = find(part.seq);
      if (other != nullptr && !other->cancelled) live_rows += part.rows;
    }
  }
  if (in_step) {
    // What live sequences lose by an abort is less than what is gained.
    const bool abort = !running_->aborted && live_rows * 4 <= rows;
    running_->aborted = running_->aborted || abort;
    return abort;
  }
  if (in_open_chunk(seq)) drop_open_chunk();
  end_cancelled(*sequence, kv::CloseAs::kDone);
  return false;
}

std::optional<exec::Step> Scheduler::next_step(const Turn& turn) {
  if (running_) return std::nullopt;
  if (turn.admits) admit();
  for (int attempt = 0; attempt < 4; ++attempt) {
    const PlanInput input = plan_input(turn);
    PlanLimits limits = limits_.plan;
    limits.step_ns /= rates_.shortfall();
    const StepPlan plan = plan_step(input, limits, rates_.for_plan());
    if (plan.empty()) return std::nullopt;
    // Building may put sequences back or drop the open chunk, and then find nothing left of this plan.
    if (std::optional<exec::Step> step = build(plan)) return step;
  }
  return std::nullopt;
}

Demand Scheduler::running_rows() const {
  Demand rows;
  if (!running_) return rows;
  for (const RunningPart& part : running_->parts) (part.decode ? rows.decodes : rows.prefills) = true;
  return rows;
}

Demand Scheduler::demand() const {
  Demand demand;
  demand.prefills = !waiting_.empty();
  for (const auto& [order, sequence] : active_) {
    if (!sink_.writable(sequence->spec.seq)) continue;
    (sequence->decoding() ? demand.decodes : demand.prefills) = true;
  }
  return demand;
}

RoomNeed Scheduler::room_need() const {
  RoomNeed need;
  for (const auto& [seq, sequence] : sequences_) {
    const std::uint64_t tokens = std::uint64_t{sequence->prompt_tokens} + sequence->spec.max_new_tokens + 1;
    const auto blocks = static_cast<std::uint32_t>((tokens + kernels::kBlockTokens - 1) / kernels::kBlockTokens + 1);
    std::uint32_t& largest = sequence->claim.open() ? need.running : need.waiting;
    largest = std::max(largest, blocks);
  }
  return need;
}

SchedulerCounts Scheduler::counts() const {
  SchedulerCounts counts = totals_;
  counts.waiting = static_cast<std::uint32_t>(waiting_.size());
  for (const auto& [order, sequence] : active_) {
    if (sequence->drawn > 0) {
      ++counts.decoding;
      if (!sink_.writable(sequence->spec.seq)) ++counts.paused;
    } else {
      ++counts.prefilling;
    }
  }
  return counts;
}

bool Scheduler::running(SeqId seq) const {
  const Sequence* sequence = find(seq);
  return sequence != nullptr && sequence->claim.open();
}

bool Scheduler::prefilling(SeqId seq) const {
  const Sequence* sequence = find(seq);
  return sequence != nullptr && sequence->claim.open() && sequence->drawn == 0;
}

}  // namespace larder::sched
