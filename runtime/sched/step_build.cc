// SPDX-License-Identifier: Apache-2.0
// From a plan to a Step: blocks for the rows to come, and who gives way when there are none.
#include <algorithm>

#include "kernels/layout/kv_layout.h"
#include "runtime/kv/room_for.h"
#include "runtime/sched/scheduler_sequence.h"

namespace larder::sched {
namespace {

// Draws exactly `token` and reports its log-probability, which is of the logits before any bias.
std::shared_ptr<const sample::SamplingParams> forcing(const sample::SamplingParams& params, Token token) {
  auto forced = std::make_shared<sample::SamplingParams>();
  forced->temperature = 0;
  forced->logit_bias = {{token, 1e9f}};
  forced->logprobs = true;
  forced->top_logprobs = params.top_logprobs;
  return forced;
}

// The same prompt, longer by what was drawn; keys of the blocks that came to be full since.
std::shared_ptr<const kv::PromptKeys> longer_keys(const kv::PromptKeys& keys, const std::vector<Token>& tokens) {
  auto longer = std::make_shared<kv::PromptKeys>(keys);
  constexpr std::size_t kBlock = kernels::kBlockTokens;
  for (std::size_t block = longer->blocks.size(); (block + 1) * kBlock <= tokens.size(); ++block) {
    const std::span<const Token> run(tokens.data() + block * kBlock, kBlock);
    const kv::ChainKey& parent = block == 0 ? longer->root : longer->blocks[block - 1];
    longer->blocks.push_back(kv::next_key(longer->scope->secret(), parent, run));
  }
  return longer;
}

}  // namespace

bool Scheduler::in_open_chunk(SeqId seq) const {
  if (!open_chunk_) return false;
  return std::any_of(open_chunk_->rows.begin(), open_chunk_->rows.end(),
                     [&](const PlannedRows& rows) { return rows.seq == seq; });
}

PlanInput Scheduler::plan_input(const Turn& turn) {
  PlanInput input;
  input.others_decode = turn.others_decode;
  input.decode_only = turn.decode_only;
  input.open = open_chunk_;
  input.decode_ran_last = decode_ran_last_;
  std::vector<Sequence*> prefill;
  for (const auto& [order, sequence] : active_) {
    if (!sink_.writable(sequence->spec.seq)) continue;
    if (sequence->decoding()) {
      input.decode.push_back(sequence->spec.seq);
    } else if (!in_open_chunk(sequence->spec.seq)) {
      prefill.push_back(sequence);
    }
  }
  std::stable_sort(prefill.begin(), prefill.end(), [&](const Sequence* a, const Sequence* b) {
    return share_.served(a->spec.tenant) < share_.served(b->spec.tenant);
  });
  for (const Sequence* sequence : prefill) {
    input.prefill.push_back(
        {sequence->spec.seq, sequence->spec.tenant, sequence->rows_to_run(), sequence->claim.committed()});
  }
  return input;
}

// A paused sequence first, then whoever came last; never one that came before `sequence`, unless paused.
Scheduler::Sequence* Scheduler::victim_for(const Sequence& sequence) {
  for (auto it = active_.rbegin(); it != active_.rend(); ++it) {
    Sequence* other = it->second;
    if (other != &sequence && !in_open_chunk(other->spec.seq) && !sink_.writable(other->spec.seq)) return other;
  }
  for (auto it = active_.rbegin(); it != active_.rend() && it->first > sequence.order; ++it) {
    if (!in_open_chunk(it->second->spec.seq)) return it->second;
  }
  if (open_chunk_ && !in_open_chunk(sequence.spec.seq)) {
    Sequence* newest = nullptr;
    for (const PlannedRows& member : open_chunk_->rows) {
      Sequence* other = find(member.seq);
      if (other->order > sequence.order && (newest == nullptr || other->order > newest->order)) newest = other;
    }
    if (newest != nullptr) {
      drop_open_chunk();
      return newest;
    }
  }
  return nullptr;
}

void Scheduler::make_room(Sequence& sequence, std::uint32_t until) {
  while (true) {
    const Status grown = sequence.claim.grow(until);
    if (grown.ok()) return;
    Sequence* victim = victim_for(sequence);
    if (victim != nullptr) {
      put_back(*victim);
      continue;
    }
    const bool oldest = active_.begin()->second == &sequence;
    const bool only_one = oldest && active_.size() == 1;
    if (only_one && gate_ != nullptr && gate_->holds_room()) {
      put_back(sequence);
    } else if (only_one) {
      end(sequence, SequenceEnd::kFailed, grown, kv::CloseAs::kDone);
    } else if (!oldest) {
      put_back(sequence);
    }
    return;
  }
}

void Scheduler::put_back(Sequence& sequence) {
  leave(sequence);
  ++totals_.put_back;
}

void Scheduler::leave(Sequence& sequence) {
  const std::vector<Token>& tokens = sequence.claim.tokens();
  if (tokens.size() > sequence.spec.prompt->tokens.size()) {
    auto longer = std::make_shared<PreparedPrompt>(*sequence.spec.prompt);
    longer->tokens = tokens;
    sequence.spec.keys = longer_keys(*sequence.spec.keys, tokens);
    sequence.spec.prompt = std::move(longer);
  }
  sequence.claim.close(kv::CloseAs::kDone);
  sequence.claim = kv::Claim();
  sequence.run_to = 0;
  move_over(active_, waiting_, sequence.order);
}

// The layers it ran are lost; its sequences start the chunk again.
void Scheduler::drop_open_chunk() noexcept {
  if (!open_chunk_) return;
  const OpenChunk chunk = *std::exchange(open_chunk_, std::nullopt);
  for (const PlannedRows& member : chunk.rows) {
    if (Sequence* sequence = find(member.seq); sequence != nullptr && sequence->claim.open()) {
      sequence->claim.rollback();
    }
  }
}

sample::SampleState Scheduler::sampling_of(const Sequence& sequence, std::uint32_t until) const {
  const std::vector<Token>& tokens = sequence.claim.tokens();
  sample::SampleState state;
  state.params = sequence.spec.sampling;
  state.stream = sequence.spec.stream;
  state.position = sequence.drawn;
  state.forbidden = sequence.spec.forbidden;
  if (until == tokens.size()) {
    const std::size_t window = std::min<std::size_t>(tokens.size(), sequence.spec.sampling->repetition_window);
    state.recent.assign(tokens.end() - static_cast<std::ptrdiff_t>(window), tokens.end());
  }
  return state;
}

void Scheduler::add_rows(exec::Step& step, RunningStep& running, Sequence& sequence, std::uint32_t rows,
                         bool first_range) {
  const std::uint32_t first = sequence.claim.committed();
  const std::uint32_t until = first + rows;
  const std::vector<Token>& tokens = sequence.claim.tokens();
  exec::SequenceRows part;
  part.seq = sequence.spec.seq;
  const std::vector<BlockId>& blocks = sequence.claim.blocks();
  part.block_table.assign(blocks.begin(), blocks.begin() + (until + kernels::kBlockTokens - 1) / kernels::kBlockTokens);
  part.first_position = first;
  part.tokens.assign(tokens.begin() + first, tokens.begin() + until);
  const bool reaches_end = until == tokens.size();
  if (sequence.spec.score_prompt && sequence.drawn == 0 && sequence.scored + 1 < sequence.prompt_tokens) {
    part.output = exec::OutputKind::kLogProbs;
    part.sampling = sampling_of(sequence, until);
    part.sampling.forced_next.assign(tokens.begin() + first + 1, tokens.begin() + until);
    if (!reaches_end) part.sampling.params = forcing(*sequence.spec.sampling, tokens[until]);
  } else if (reaches_end && sequence.spec.max_new_tokens > 0) {
    part.output = exec::OutputKind::kSample;
    part.sampling = sampling_of(sequence, until);
  }
  part.want_logits = sequence.spec.want_logits && reaches_end;
  const bool decode = sequence.decoding();
  RunningPart record{sequence.spec.seq, until, rows, decode, {}};
  if (running.whole) record.seals = sequence.claim.filled_by(until);
  // Memory first, so that its copies are not lost between the claim and the step.
  kv::room_for(step.copies, first_range ? sequence.claim.copy_count() : 0);
  kv::room_for(step.seals, record.seals.size());
  kv::room_for(step.sequences, 1);
  kv::room_for(running.parts, 1);
  kv::room_for(running.rows, 1);
  if (first_range) {
    for (const kv::BlockCopy& copy : sequence.claim.take_copies()) {
      step.copies.push_back({copy.from, copy.to, copy.valid_tokens});
    }
  }
  step.seals.insert(step.seals.end(), record.seals.begin(), record.seals.end());
  step.sequences.push_back(std::move(part));
  running.parts.push_back(std::move(record));
  running.rows.push_back({sequence.spec.seq, rows, first});
}

std::optional<exec::Step> Scheduler::build(const StepPlan& plan) {
  const bool first_range = plan.layer_begin == 0;
  if (first_range) {
    const auto room = [&](SeqId seq, std::uint32_t rows) {
      Sequence* sequence = find(seq);
      if (sequence == nullptr || !sequence->claim.open()) return;
      const std::uint32_t until = rows == 0 ? static_cast<std::uint32_t>(sequence->claim.tokens().size())
                                            : sequence->claim.committed() + rows;
      alone(seq, [&] { make_room(*sequence, until); });
    };
    for (const SeqId seq : plan.decode) room(seq, 0);
    for (const PlannedRows& rows : plan.prefill) room(rows.seq, rows.rows);
  }
  exec::Step step;
  RunningStep running;
  running.id = next_step_id_;
  running.layer_begin = plan.layer_begin;
  running.layer_end = plan.layer_end;
  running.expected_ns = plan.expected_ns;
  running.whole = plan.layer_end == limits_.plan.n_layers;
  running.chunk = plan.decode.empty() && (!first_range || !running.whole);
  const auto add = [&](SeqId seq, std::uint32_t rows) {
    Sequence* sequence = find(seq);
    if (sequence == nullptr || !sequence->claim.open()) return;
    const std::uint32_t room = static_cast<std::uint32_t>(sequence->claim.blocks().size()) * kernels::kBlockTokens;
    if (room < sequence->claim.committed() + rows || sequence->rows_left() < rows) return;
    alone(seq, [&] { add_rows(step, running, *sequence, rows, first_range); });
  };
  for (const SeqId seq : plan.decode) add(seq, 1);
  for (const PlannedRows& rows : plan.prefill) add(rows.seq, rows.rows);
  const bool broken = !first_range && !open_chunk_;  // memory ran out for one of the chunk, so it begins again
  if (running.parts.empty() || broken) return std::nullopt;
  step.id = next_step_id_++;
  step.layer_begin = plan.layer_begin;
  step.layer_end = plan.layer_end;
  step.hidden_slot = running.chunk ? 0 : 1;
  decode_ran_last_ = !plan.decode.empty();
  running_ = std::move(running);
  return step;
}

}  // namespace larder::sched
