// SPDX-License-Identifier: Apache-2.0
// plan_step: which sequences run next, with how many rows and which layers. A pure function of what it is shown: no
// pool, no tree, no clock. Scheduler (scheduler.h) shows it the running sequences and turns the plan into a Step.
// Rules:    decode first, every writable decoding sequence one row; then prefill under a row budget. While others
//           decode, a step holds the device at most `step_ns` by the measured rates: a chunk that fits whole joins the
//           decode rows; a longer one keeps kChunkRows rows, is cut by layer range, and decode steps run between its
//           ranges. Rows give way only where one layer of kChunkRows takes longer than a step. Alone, a chunk is
//           `alone_rows`.
// Ensures:  a chunk once begun is finished with the same rows; a decoding sequence waits for at most one range.
// Units:    rows, layers, ns.    Threads: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/base/ids.h"

namespace larder::sched {

inline constexpr std::uint32_t kChunkRows = 128;  // a chunk is not cut below this where the prompt has as many rows

struct PlanLimits {
  double step_ns = 50e6;
  std::uint32_t alone_rows = 512;
  std::uint32_t max_rows = 2048;  // of the executor
  std::uint32_t n_layers = 1;
};

// A step takes decode_step_ns, and row_ns + depth * row_depth_ns more for each prompt row.
struct PlanRates {
  double row_ns = 1e6;
  double decode_step_ns = 1e7;
  double row_depth_ns = 0;
};

// A running sequence with prompt rows left, best first (fairness decides the order, not this function).
struct PrefillView {
  SeqId seq{};
  TenantId tenant{};
  std::uint32_t rows_left = 0;
  std::uint32_t depth = 0;  // position of the next row
};

struct PlannedRows {
  SeqId seq{};
  std::uint32_t rows = 0;
  std::uint32_t depth = 0;
};

// A chunk that has run some layers and waits for the rest.
struct OpenChunk {
  std::vector<PlannedRows> rows;
  std::uint32_t next_layer = 0;
  double layer_ns = 0;  // what a layer of it took; 0: not known
};

struct StepPlan {
  std::vector<SeqId> decode;
  std::vector<PlannedRows> prefill;
  std::uint32_t layer_begin = 0;
  std::uint32_t layer_end = 0;  // n_layers: the rows give their outputs
  double expected_ns = 0;       // 0: nobody decodes, so nobody asked
  bool empty() const { return decode.empty() && prefill.empty(); }
};

struct PlanInput {
  std::vector<SeqId> decode;         // writable decoding sequences
  std::vector<PrefillView> prefill;  // best first
  std::optional<OpenChunk> open;
  bool decode_ran_last = false;  // the step before this one decoded: an open chunk's range is due
  bool others_decode = false;    // answers of another model on this device: prompt rows keep to the step time
  bool decode_only = false;      // prompt rows have their turn later
};

StepPlan plan_step(const PlanInput& input, const PlanLimits& limits, const PlanRates& rates);

}  // namespace larder::sched
