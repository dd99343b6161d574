// SPDX-License-Identifier: Apache-2.0
// Scheduler::Sequence: the scheduler's own record of one sequence. Inside this room only.
// Errors:  none of its own.    Threads: engine thread.
#pragma once

#include "runtime/base/out_of_memory.h"
#include "runtime/sched/scheduler.h"

namespace larder::sched {

// A sequence that computed the start of its prompt while the rest was read from a lower tier.
struct Head {
  kv::Verdict verdict;      // of the claim that began it
  std::uint32_t begin = 0;  // what that claim found
  std::uint32_t end = 0;
};

struct Scheduler::Sequence {
  SequenceSpec spec;
  kv::Claim claim;  // open while active
  std::uint64_t order = 0;
  bool started = false;    // told to the sink
  bool cancelled = false;  // ends when the running step comes back
  Status cancel_status;
  std::uint32_t drawn = 0;
  std::uint32_t prompt_tokens = 0;  // of the request; spec.prompt grows when the sequence is put back
  std::uint32_t prompt_rows = 0;    // rows run below prompt_tokens, repeated ones included
  std::uint32_t scored = 0;
  std::uint32_t run_to = 0;  // not 0: it leaves when so much of its prompt was computed
  std::optional<Head> head;
  kv::Verdict verdict;  // of the first admission

  std::uint32_t rows_left() const { return static_cast<std::uint32_t>(claim.tokens().size()) - claim.committed(); }
  std::uint32_t rows_to_run() const { return run_to > claim.committed() ? run_to - claim.committed() : rows_left(); }
  // One drawn token waits for its row; a sequence that was put back prefills first.
  bool decoding() const { return drawn > 0 && rows_left() == 1; }
};

template <typename Work>
bool Scheduler::alone(SeqId seq, Work work) {
  const bool done = had_memory(work);
  if (!done) lost_memory(seq);
  return done;
}

}  // namespace larder::sched
