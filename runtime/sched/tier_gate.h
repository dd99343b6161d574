// SPDX-License-Identifier: Apache-2.0
// TierGate: what admission asks before a waiting sequence may start: is part of its prompt on its way up from a lower
// tier? Implemented by whoever moves blocks; the scheduler knows no tiers.
// Errors:   none; whatever goes wrong below, the sequence starts and computes.    Threads: engine thread.
#pragma once

#include "runtime/kv/prefix_cache.h"
#include "runtime/kv/verdict.h"
#include "runtime/sched/sequence.h"

namespace larder::sched {

class TierGate {
 public:
  virtual ~TierGate() = default;
  // The keys under which the sequence looks for its prompt now: its own, or those of another lineage that it may use
  // and that reaches further. Asked before every look.
  virtual std::shared_ptr<const kv::PromptKeys> keys_for(const SequenceSpec& spec) { return spec.keys; }
  // Asked at every admission until it answers false: the sequence then starts with what the pool holds. Begins to
  // bring blocks up where that is worth it. prefill_row_ns: measured cost of one prompt row; 0: not known yet.
  virtual bool holds_back(const SequenceSpec& spec, const kv::Outlook& outlook, double prefill_row_ns) = 0;
  // The sequence has taken its references, so nothing needs to be kept for it any more; what was brought up for it.
  virtual kv::Restored opened(SeqId seq) = 0;
  // It ended before that.
  virtual void forget(SeqId seq) = 0;
};

}  // namespace larder::sched
