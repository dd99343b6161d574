// SPDX-License-Identifier: Apache-2.0
// Rates: how fast this device has been running this model, measured from the steps themselves.
// Units:    ns per row through all layers; ns per step.
// Ensures:  estimates before the first measurement are cautious (a slow device), so that the first chunks are small.
// Threads:  engine thread.
#pragma once

#include <cstdint>

namespace larder::sched {

class Rates {
 public:
  // One finished step: its prefill and decode rows, the share of all layers it ran (0..1], and what it took.
  void record(std::uint32_t prefill_rows, std::uint32_t decode_rows, double layer_share, std::int64_t compute_ns);

  double prefill_row_ns() const { return prefill_row_ns_ > 0 ? prefill_row_ns_ : kUnknownRowNs; }
  double decode_step_ns() const { return decode_step_ns_ > 0 ? decode_step_ns_ : kUnknownStepNs; }
  // 0: not measured yet.
  double prefill_tokens_per_s() const { return prefill_row_ns_ > 0 ? 1e9 / prefill_row_ns_ : 0; }

 private:
  static constexpr double kUnknownRowNs = 1e6;
  static constexpr double kUnknownStepNs = 1e7;
  static constexpr double kNewWeight = 0.25;     // of the newest measurement in the exponential mean
  static constexpr std::uint32_t kFewRows = 16;  // below this a step's time says little about a row's

  double prefill_row_ns_ = 0;
  double decode_step_ns_ = 0;
};

}  // namespace larder::sched
