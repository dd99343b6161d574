// SPDX-License-Identifier: Apache-2.0
// TierGate: what admission asks before a waiting sequence may start: is part of its prompt on its way up from a lower
// tier? Implemented by whoever moves blocks; the scheduler knows no tiers.
// Errors:   none; whatever goes wrong below, the sequence starts and computes.    Threads: engine thread.
#pragma once

#include "runtime/kv/prefix_cache.h"
#include "runtime/kv/verdict.h"
#include "runtime/sched/prefill_cost.h"
#include "runtime/sched/sequence.h"

namespace larder::sched {

struct GateAnswer {
  bool waits = false;        // not now: ask again
  std::uint32_t run_to = 0;  // not 0: compute the prompt up to here, while the rest is read, then ask again
};

class TierGate {
 public:
  virtual ~TierGate() = default;
  // The keys under which the sequence looks for its prompt now: its own, or those of another lineage that it may use
  // and that reaches further. Asked before every look.
  virtual std::shared_ptr<const kv::PromptKeys> keys_for(const SequenceSpec& spec) { return spec.keys; }
  // Asked at every admission until it answers neither: the sequence then starts with what the pool holds. Begins to
  // bring blocks up where that is worth it.
  virtual GateAnswer ask(const SequenceSpec& spec, const kv::Outlook& outlook, const PrefillCost& cost) = 0;
  // The sequence has taken its references, so nothing needs to be kept for it any more; what was brought up for it.
  virtual kv::Restored opened(SeqId seq) = 0;
  // It ended before that.
  virtual void forget(SeqId seq) noexcept = 0;
  // Blocks on their way up hold room that comes back by itself.
  virtual bool holds_room() const = 0;
};

}  // namespace larder::sched
