// SPDX-License-Identifier: Apache-2.0
// Step: one unit of work for an Executor: copies, then rows, then outputs, then seals. sched builds it; exec runs it.
// What it is not: it does not know requests, tenants or the tree; block ids are indices into the executor's arena.
// Errors:  none of its own; what became of a step stands in StepResult::status.
// Threads: a value that is moved to the executor and comes back as a StepResult.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "runtime/sample/sampler.h"

namespace larder::exec {

// Copy-on-write: `to` receives the first valid_tokens positions of `from`; the rest of `to` becomes zero.
// valid_tokens 0 zeroes `to` (a fresh block; `from` is ignored).
struct BlockCopy {
  BlockId from = kNoBlock;
  BlockId to = kNoBlock;
  std::uint32_t valid_tokens = 0;
};

// What a sequence's last row, or several rows, must give.
enum class OutputKind : std::uint8_t {
  kNone,      // an inner prefill chunk
  kSample,    // sample a token after the last row
  kLogProbs,  // log-probability of the given next token after each row (echo, scoring), plus a sample after the last
};

// Consecutive rows of one sequence.
struct SequenceRows {
  SeqId seq{};
  std::vector<BlockId> block_table;  // blocks for positions [0, first_position + tokens.size()), 32 each
  std::uint32_t first_position = 0;
  std::vector<Token> tokens;
  OutputKind output = OutputKind::kNone;
  bool want_logits = false;  // also return the last row's logits (tests, benchmarks)
  sample::SampleState sampling;  // read when output is not kNone
};

// A step runs layers [layer_begin, layer_end). Whole steps have 0 and n_layers. A step that ends early leaves its
// hidden state in `hidden_slot`, and the step that goes on names the same slot, the same rows and layer_begin where it
// stopped.
struct Step {
  std::uint64_t id = 0;
  std::vector<BlockCopy> copies;
  std::vector<SequenceRows> sequences;
  std::vector<BlockId> seals;  // checksum these after the rows
  std::uint32_t layer_begin = 0;
  std::uint32_t layer_end = 0;
  std::uint32_t hidden_slot = 0;  // < kHiddenSlots
  std::uint32_t row_count() const {
    std::uint32_t rows = 0;
    for (const SequenceRows& sequence : sequences) rows += static_cast<std::uint32_t>(sequence.tokens.size());
    return rows;
  }
};

inline constexpr std::uint32_t kHiddenSlots = 2;

struct SequenceOutput {
  SeqId seq{};
  sample::Sampled sampled;                // when output was not kNone
  std::vector<sample::Sampled> scored;    // kLogProbs: one per row but the last
  std::vector<float> logits;              // [n_vocab] when want_logits
};

struct StepResult {
  std::uint64_t id = 0;
  Status status;                        // not ok: nothing this step wrote may be found
  std::vector<SequenceOutput> outputs;  // same order as Step::sequences, only when layer_end reached n_layers
  std::vector<std::uint64_t> seal_checksums;  // same order as Step::seals
  std::int64_t compute_ns = 0;
};

}  // namespace larder::exec
