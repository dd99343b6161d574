// SPDX-License-Identifier: Apache-2.0
// SequenceSpec, SequenceSink: what goes into the scheduler and what comes out. A sequence is one choice of one request:
// a prompt, and tokens drawn after it until somebody ends it.
// Errors:   SequenceReport::status.
// Threads:  engine thread.    Units: tokens, rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "runtime/base/section.h"
#include "runtime/exec/step.h"
#include "runtime/kv/block_key.h"
#include "runtime/kv/verdict.h"
#include "runtime/sample/sampler.h"

namespace larder::sched {

struct SequenceSpec {
  SeqId seq{};  // made by the caller, never reused
  RequestId request{};
  TenantId tenant{};
  std::shared_ptr<const PreparedPrompt> prompt;  // at least one token
  std::shared_ptr<const kv::PromptKeys> keys;
  std::shared_ptr<const sample::SamplingParams> sampling;
  std::uint64_t stream = 0;          // choice index
  std::uint32_t max_new_tokens = 0;  // 0: the prompt is computed, nothing is drawn
  std::vector<Token> forbidden;      // never drawn
  bool read = true;                  // reuse cached KV
  bool keep = true;                  // leave KV to be found
  bool exact = false;                // nothing that was rounded is reused
  bool score_prompt = false;         // log-probability of every prompt token but the first
  bool want_logits = false;
};

enum class SequenceEnd : std::uint8_t { kStopped, kLength, kCancelled, kFailed };

// What a sequence did, told once.
struct SequenceReport {
  SequenceEnd end = SequenceEnd::kStopped;
  Status status;        // kFailed: why
  kv::Verdict verdict;  // as an admin sees it, all numbers filled
  std::uint32_t drawn_tokens = 0;
  NodeId end_node{};  // last node of its path that stays findable; 0: none
  std::uint32_t kept_tokens = 0;
};

// Implemented by whoever delivers answers. No method may call back into the scheduler. Where one of started, token and
// scored throws for want of memory, its sequence ends with that; ended needs none.
class SequenceSink {
 public:
  virtual ~SequenceSink() = default;
  // false: the reader is slower than the device; the sequence pauses and is asked again at each step.
  virtual bool writable(SeqId seq) const = 0;
  // Left the queue for the first time; reuse is decided, nothing is computed yet.
  virtual void started(SeqId seq, const kv::Verdict& verdict, double match_ms) = 0;
  // One drawn token. false: the answer ends here (end token, stop string).
  virtual bool token(SeqId seq, const exec::SequenceOutput& output) = 0;
  // score_prompt: the next prompt tokens' scores, in order, beginning with the second token's.
  virtual void scored(SeqId seq, const std::vector<sample::Sampled>& scores) = 0;
  virtual void ended(SeqId seq, SequenceReport report) noexcept = 0;
};

}  // namespace larder::sched
