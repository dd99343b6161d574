// SPDX-License-Identifier: Apache-2.0
// Rates: how fast this device has been running this model, measured from the steps themselves. A step takes what a
// decode step takes, and for each prompt row a time that grows with the row's depth, because attention does.
// Units:    ns through all layers; depth in tokens.
// Ensures:  estimates before the first measurement are cautious (a slow device), so that the first chunks are small.
// Threads:  engine thread.
#pragma once

#include <cstdint>

#include "runtime/sched/plan.h"
#include "runtime/sched/prefill_cost.h"

namespace larder::sched {

// What one finished step did.
struct StepWork {
  std::uint32_t prefill_rows = 0;
  std::uint32_t decode_rows = 0;
  double depth = 0;        // mean position of the prompt rows
  double layer_share = 1;  // of all layers, (0..1]
  bool ends_rows = true;   // ran the last layer
};

class Rates {
 public:
  void record(const StepWork& work, std::int64_t compute_ns);
  // What a plan said a step would take, and what it took.
  void compare(double expected_ns, std::int64_t compute_ns);

  // For the next plan.
  PlanRates for_plan() const;
  // By how much estimates have fallen short lately, at least a little; plans keep so much room.
  double shortfall() const { return shortfall_; }

  // What rows of a prompt cost beyond the steps that are run anyway; flat until depths were compared.
  PrefillCost prefill_cost() const;
  // A prompt row with its share of everything, whatever its depth.
  double prefill_row_ns() const { return prefill_row_ns_ > 0 ? prefill_row_ns_ : kUnknownRowNs; }
  double decode_step_ns() const { return decode_step_ns_ > 0 ? decode_step_ns_ : kUnknownStepNs; }
  // 0: not measured yet.
  double prefill_tokens_per_s() const { return prefill_row_ns_ > 0 ? 1e9 / prefill_row_ns_ : 0; }

 private:
  static constexpr double kUnknownRowNs = 1e6;
  static constexpr double kCautiousRowNs = 2e7;  // so that the first step of all holds nobody up
  static constexpr double kUnknownStepNs = 1e7;
  static constexpr double kNewWeight = 0.25;     // of the newest measurement in the exponential means
  static constexpr std::uint32_t kFewRows = 16;  // below this a step's time says little about a row's
  static constexpr double kLeastSpread = 64;     // tokens of depth that measurements must differ by to show a slope
  static constexpr double kLeastShortfall = 1.05;
  static constexpr double kFearedDepth = 1024;   // at which a row may cost twice, before depths were compared
  static constexpr double kMostShortfall = 1.5;
  static constexpr double kShortfallKept = 0.99;  // per step, so that one overrun in a hundred steps is remembered

  void record_row(double depth, double row_ns);

  double prefill_row_ns_ = 0;
  double decode_step_ns_ = 0;
  double shortfall_ = 1.1;  // until it is known
  // Rows beyond the decode step: the newest, exponential means of depth and time, their spread, the slope they show.
  double newest_depth_ = 0;
  double newest_row_ns_ = 0;
  double mean_depth_ = 0;
  double mean_row_ns_ = 0;
  double depth_variance_ = 0;
  double covariance_ = 0;
  double row_depth_ns_ = 0;
  bool slope_known_ = false;
};

}  // namespace larder::sched
