// SPDX-License-Identifier: Apache-2.0
#include "runtime/sched/rates.h"

#include <algorithm>

namespace larder::sched {
namespace {

void blend(double& mean, double measured, double weight) {
  mean = mean > 0 ? mean + weight * (measured - mean) : measured;
}

}  // namespace

void Rates::record(const StepWork& work, std::int64_t compute_ns) {
  if (compute_ns <= 0 || work.layer_share <= 0) return;
  const double whole_ns = static_cast<double>(compute_ns) / work.layer_share;
  if (work.prefill_rows == 0 && work.decode_rows > 0) blend(decode_step_ns_, whole_ns, kNewWeight);
  const bool few = work.prefill_rows < kFewRows;
  if (work.prefill_rows == 0 || (few && newest_row_ns_ > 0)) return;
  if (!few) blend(prefill_row_ns_, whole_ns / (work.prefill_rows + work.decode_rows), kNewWeight);
  // What a row takes is what a step takes beyond a decode step, so one of those must be known. One measurement a chunk
  // is enough: the ranges of a chunk are all of one depth, and would push out those that differ.
  if (decode_step_ns_ <= 0 || (!work.ends_rows && newest_row_ns_ > 0)) return;
  // A decode step of many sequences may have been longer than what this step shares with it.
  const double rows_ns = std::max(whole_ns - decode_step_ns_, whole_ns / 2);
  record_row(work.depth, rows_ns / work.prefill_rows);
}

// The slope of a weighted line; old measurements fade.
void Rates::record_row(double depth, double row_ns) {
  const bool first = newest_row_ns_ <= 0;
  newest_depth_ = depth;
  newest_row_ns_ = row_ns;
  if (first) {
    mean_depth_ = depth;
    mean_row_ns_ = row_ns;
    return;
  }
  const double from_depth = depth - mean_depth_;
  const double from_row_ns = row_ns - mean_row_ns_;
  mean_depth_ += kNewWeight * from_depth;
  mean_row_ns_ += kNewWeight * from_row_ns;
  depth_variance_ = (1 - kNewWeight) * (depth_variance_ + kNewWeight * from_depth * from_depth);
  covariance_ = (1 - kNewWeight) * (covariance_ + kNewWeight * from_depth * from_row_ns);
  if (depth_variance_ < kLeastSpread * kLeastSpread) return;
  row_depth_ns_ = std::max(0.0, covariance_ / depth_variance_);
  slope_known_ = true;
}

void Rates::compare(double expected_ns, std::int64_t compute_ns) {
  if (expected_ns <= 0 || compute_ns <= 0) return;
  const double kept = std::max(kLeastShortfall, 1 + (shortfall_ - 1) * kShortfallKept);
  shortfall_ = std::clamp(static_cast<double>(compute_ns) / expected_ns, kept, kMostShortfall);
}

PlanRates Rates::for_plan() const {
  PlanRates rates;
  rates.decode_step_ns = decode_step_ns();
  rates.row_ns = kCautiousRowNs;
  if (newest_row_ns_ <= 0) return rates;
  // No row is expected to cost less than a fifth of the newest, however steep the line is.
  const double steepest = newest_depth_ > 0 ? 0.8 * newest_row_ns_ / newest_depth_ : 0;
  rates.row_depth_ns = std::min(slope_known_ ? row_depth_ns_ : newest_row_ns_ / kFearedDepth, steepest);
  rates.row_ns = newest_row_ns_ - rates.row_depth_ns * newest_depth_;
  return rates;
}

PrefillCost Rates::prefill_cost() const {
  if (prefill_row_ns_ <= 0) return {};
  if (newest_row_ns_ <= 0 || !slope_known_) return {prefill_row_ns_, 0};
  const PlanRates line = for_plan();
  return {line.row_ns, line.row_depth_ns};
}

}  // namespace larder::sched
