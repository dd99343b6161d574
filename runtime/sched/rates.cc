// SPDX-License-Identifier: Apache-2.0
#include "runtime/sched/rates.h"

namespace larder::sched {
namespace {

void blend(double& mean, double measured, double weight) {
  mean = mean > 0 ? mean + weight * (measured - mean) : measured;
}

}  // namespace

void Rates::record(std::uint32_t prefill_rows, std::uint32_t decode_rows, double layer_share, std::int64_t compute_ns) {
  if (compute_ns <= 0 || layer_share <= 0) return;
  const double whole_ns = static_cast<double>(compute_ns) / layer_share;
  if (prefill_rows == 0 && decode_rows > 0) blend(decode_step_ns_, whole_ns, kNewWeight);
  if (prefill_rows >= kFewRows) blend(prefill_row_ns_, whole_ns / (prefill_rows + decode_rows), kNewWeight);
}

}  // namespace larder::sched
