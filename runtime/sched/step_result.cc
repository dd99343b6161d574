// SPDX-License-Identifier: Apache-2.0
// What a finished step means for its sequences.
#include <algorithm>

#include "kernels/layout/kv_layout.h"
#include "runtime/sched/scheduler_sequence.h"

namespace larder::sched {

void Scheduler::finish_step(exec::StepResult result) noexcept {
  INVARIANT(running_ && running_->id == result.id);
  RunningStep running = *std::exchange(running_, std::nullopt);
  if (running.chunk) open_chunk_.reset();
  if (!result.status.ok()) {
    finish_failed(running, result.status);
    return;
  }
  measure(running, result.compute_ns);
  ++totals_.steps;
  if (!running.whole) return keep_open(running, result.compute_ns);
  for (const RunningPart& part : running.parts) {
    (part.decode ? totals_.decode_rows : totals_.prefill_rows) += part.rows;
  }
  finish_good(running, result);
}

void Scheduler::take_back_step() noexcept {
  const RunningStep running = *std::exchange(running_, std::nullopt);
  if (running.chunk) open_chunk_.reset();
  for (const RunningPart& part : running.parts) {
    if (Sequence& sequence = *find(part.seq); sequence.cancelled) {
      end_cancelled(sequence, kv::CloseAs::kFailed);
    } else {
      sequence.claim.rollback();
    }
  }
}

// A chunk that has run some layers.
void Scheduler::keep_open(RunningStep& running, std::int64_t compute_ns) noexcept {
  OpenChunk chunk;
  chunk.next_layer = running.layer_end;
  chunk.layer_ns = static_cast<double>(compute_ns) / (running.layer_end - running.layer_begin);
  chunk.rows = std::move(running.rows);
  open_chunk_ = std::move(chunk);
  const auto is_cancelled = [this](const RunningPart& part) { return find(part.seq)->cancelled; };
  if (std::none_of(running.parts.begin(), running.parts.end(), is_cancelled)) return;
  drop_open_chunk();
  for (const RunningPart& part : running.parts) {
    if (Sequence& sequence = *find(part.seq); sequence.cancelled) end_cancelled(sequence, kv::CloseAs::kDone);
  }
}

void Scheduler::measure(const RunningStep& running, std::int64_t compute_ns) {
  StepWork work;
  for (const RunningPart& part : running.parts) {
    (part.decode ? work.decode_rows : work.prefill_rows) += part.rows;
    if (!part.decode) work.depth += part.rows * (part.until - part.rows / 2.0);
  }
  if (work.prefill_rows > 0) work.depth /= work.prefill_rows;
  work.layer_share = static_cast<double>(running.layer_end - running.layer_begin) / limits_.plan.n_layers;
  work.ends_rows = running.whole;
  rates_.record(work, compute_ns);
  rates_.compare(running.expected_ns, compute_ns);
}

// An abort ends the cancelled and lets the others run their rows again; a failure ends all that were in the step.
void Scheduler::finish_failed(const RunningStep& running, const Status& status) noexcept {
  const bool aborted = running.aborted && status.error().code == ErrorCode::kCancelled;
  for (const RunningPart& part : running.parts) {
    Sequence* sequence = find(part.seq);
    if (sequence == nullptr) continue;
    if (sequence->cancelled) {
      end_cancelled(*sequence, kv::CloseAs::kFailed);
    } else if (aborted) {
      sequence->claim.rollback();
    } else {
      alone(part.seq, [&] { end(*sequence, SequenceEnd::kFailed, status, kv::CloseAs::kFailed); });
    }
  }
}

void Scheduler::finish_good(const RunningStep& running, exec::StepResult& result) noexcept {
  INVARIANT(result.outputs.size() == running.parts.size());
  std::size_t seal = 0;
  for (std::size_t i = 0; i < running.parts.size(); ++i) {
    const RunningPart& part = running.parts[i];
    alone(part.seq, [&] { finish_part(part, result.outputs[i], result, seal); });
    seal += part.seals.size();
  }
}

void Scheduler::finish_part(const RunningPart& part, exec::SequenceOutput& output, const exec::StepResult& result,
                            std::size_t first_seal) {
  Sequence& sequence = *find(part.seq);
  const std::uint32_t first = sequence.claim.committed();
  sequence.claim.commit(part.until);
  share_.charge(sequence.spec.tenant, part.rows);
  if (first < sequence.prompt_tokens) sequence.prompt_rows += std::min(part.until, sequence.prompt_tokens) - first;
  // commit may have exchanged a block for an equal one that was sealed first; that one has its checksum.
  for (std::size_t i = 0; i < part.seals.size() && first_seal + i < result.seal_checksums.size(); ++i) {
    const std::size_t at = first / kernels::kBlockTokens + i;
    if (at < sequence.claim.blocks().size() && sequence.claim.blocks()[at] == part.seals[i]) {
      cache_.set_checksum(part.seals[i], result.seal_checksums[first_seal + i]);
    }
  }
  if (sequence.cancelled) {
    end_cancelled(sequence, kv::CloseAs::kDone);
    return;
  }
  if (sequence.run_to > 0 && part.until >= sequence.run_to) {
    leave(sequence);
  } else {
    deliver(sequence, output);
  }
}

void Scheduler::deliver(Sequence& sequence, const exec::SequenceOutput& output) {
  const bool complete = sequence.rows_left() == 0;
  if (sequence.spec.score_prompt && sequence.drawn == 0 && sequence.scored + 1 < sequence.prompt_tokens) {
    std::vector<sample::Sampled> scores = output.scored;
    if (!complete) scores.push_back(output.sampled);
    sequence.scored += static_cast<std::uint32_t>(scores.size());
    if (!scores.empty()) sink_.scored(sequence.spec.seq, scores);
  }
  if (!complete) return;
  if (sequence.spec.max_new_tokens == 0) {
    end(sequence, SequenceEnd::kLength, {}, kv::CloseAs::kDone);
    return;
  }
  ++sequence.drawn;
  if (!sink_.token(sequence.spec.seq, output)) {
    end(sequence, SequenceEnd::kStopped, {}, kv::CloseAs::kDone);
  } else if (sequence.drawn >= sequence.spec.max_new_tokens) {
    end(sequence, SequenceEnd::kLength, {}, kv::CloseAs::kDone);
  } else {
    sequence.claim.append(output.sampled.token);
  }
}

void Scheduler::end_cancelled(Sequence& sequence, kv::CloseAs close_as) noexcept {
  const SequenceEnd why = sequence.cancel_status.ok() ? SequenceEnd::kCancelled : SequenceEnd::kFailed;
  end(sequence, why, std::move(sequence.cancel_status), close_as);
}

void Scheduler::end(Sequence& sequence, SequenceEnd why, Status status, kv::CloseAs close_as) noexcept {
  SequenceReport report;
  report.end = why;
  report.status = std::move(status);
  report.verdict = std::move(sequence.verdict);
  report.verdict.prompt_tokens = sequence.prompt_tokens;
  report.verdict.computed_tokens = sequence.prompt_rows;
  report.drawn_tokens = sequence.drawn;
  if (sequence.claim.open()) {
    const kv::Closed closed = sequence.claim.close(close_as);
    report.end_node = closed.end;
    report.kept_tokens = closed.kept_tokens;
    sequence.claim = kv::Claim();
  }
  if (gate_ != nullptr) gate_->forget(sequence.spec.seq);
  waiting_.erase(sequence.order);
  active_.erase(sequence.order);
  share_.leave(sequence.spec.tenant);
  const SeqId seq = sequence.spec.seq;
  sequences_.erase(seq);
  sink_.ended(seq, std::move(report));
}

}  // namespace larder::sched
