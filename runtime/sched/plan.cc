// SPDX-License-Identifier: Apache-2.0
#include "runtime/sched/plan.h"

#include <algorithm>

namespace larder::sched {
namespace {

// Shares `budget` rows among the prefilling sequences: tenants in turn, so that a long prompt of one does not keep a
// short one of another out of the chunk.
std::vector<PlannedRows> share_rows(const std::vector<PrefillView>& prefill, std::uint32_t budget) {
  std::vector<PlannedRows> shared;
  std::vector<TenantId> tenants;
  for (const PrefillView& view : prefill) {
    if (std::find(tenants.begin(), tenants.end(), view.tenant) == tenants.end()) tenants.push_back(view.tenant);
  }
  const auto tenant_count = static_cast<std::uint32_t>(std::max<std::size_t>(1, tenants.size()));
  for (const TenantId tenant : tenants) {
    std::uint32_t quantum = std::max(1u, budget / tenant_count);
    for (const PrefillView& view : prefill) {
      if (view.tenant != tenant || quantum == 0) continue;
      const std::uint32_t rows = std::min(view.rows_left, quantum);
      quantum -= rows;
      shared.push_back({view.seq, rows, view.depth});
    }
  }
  // What a tenant left over goes to whoever is first in line.
  std::uint32_t used = 0;
  for (const PlannedRows& rows : shared) used += rows.rows;
  for (const PrefillView& view : prefill) {
    if (used >= budget) break;
    auto found = std::find_if(shared.begin(), shared.end(), [&](const PlannedRows& r) { return r.seq == view.seq; });
    const std::uint32_t has = found == shared.end() ? 0 : found->rows;
    const std::uint32_t more = std::min(view.rows_left - has, budget - used);
    if (more == 0) continue;
    used += more;
    if (found == shared.end()) {
      shared.push_back({view.seq, more, view.depth});
    } else {
      found->rows += more;
    }
  }
  return shared;
}

std::uint32_t rows_left(const std::vector<PrefillView>& prefill) {
  std::uint64_t total = 0;
  for (const PrefillView& view : prefill) total += view.rows_left;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(total, 0x7fffffff));
}

// What these rows add to a step.
double rows_ns(const std::vector<PlannedRows>& rows, const PlanRates& rates) {
  double total = 0;
  for (const PlannedRows& each : rows) {
    total += each.rows * (rates.row_ns + (each.depth + each.rows / 2.0) * rates.row_depth_ns);
  }
  return total;
}

// Rows of whoever is deepest that fit `spare_ns`.
std::uint32_t rows_that_fit(double spare_ns, const std::vector<PrefillView>& prefill, std::uint32_t most,
                            const PlanRates& rates) {
  double depth = 0;
  for (const PrefillView& view : prefill) {
    depth = std::max(depth, view.depth + std::min(view.rows_left, most) / 2.0);
  }
  const double row_ns = std::max(1.0, rates.row_ns + depth * rates.row_depth_ns);
  return static_cast<std::uint32_t>(std::clamp(spare_ns / row_ns, 0.0, static_cast<double>(most)));
}

StepPlan range_of(const OpenChunk& chunk, bool others_decode, const PlanLimits& limits, const PlanRates& rates) {
  StepPlan plan;
  plan.prefill = chunk.rows;
  plan.layer_begin = chunk.next_layer;
  plan.layer_end = limits.n_layers;
  if (!others_decode) return plan;
  const double estimate_ns = (rates.decode_step_ns + rows_ns(chunk.rows, rates)) / limits.n_layers;
  const double layer_ns = std::max(1.0, chunk.layer_ns > 0 ? chunk.layer_ns : estimate_ns);
  const double left = limits.n_layers - chunk.next_layer;
  const auto layers = static_cast<std::uint32_t>(std::clamp(limits.step_ns / layer_ns, 1.0, left));
  plan.layer_end = chunk.next_layer + layers;
  plan.expected_ns = layers * layer_ns;
  return plan;
}

}  // namespace

StepPlan plan_step(const PlanInput& input, const PlanLimits& limits, const PlanRates& rates) {
  const bool own = !input.decode.empty();
  const bool decoding = own || input.others_decode;
  StepPlan plan;
  plan.layer_end = limits.n_layers;
  const bool range_is_due = !input.decode_only && (!own || input.decode_ran_last);
  if (input.open && range_is_due) return range_of(*input.open, decoding, limits, rates);
  plan.decode = input.decode;
  if (plan.decode.size() > limits.max_rows) plan.decode.resize(limits.max_rows);
  if (input.open || input.prefill.empty() || input.decode_only) return plan;

  const auto decode_rows = static_cast<std::uint32_t>(plan.decode.size());
  const std::uint32_t room = limits.max_rows - decode_rows;
  const std::uint32_t waiting = rows_left(input.prefill);
  if (!decoding) {
    plan.prefill = share_rows(input.prefill, std::min({waiting, room, limits.alone_rows}));
    return plan;
  }
  const std::uint32_t most = std::min({waiting, room, std::max(limits.alone_rows, kChunkRows)});
  const std::uint32_t fit = rows_that_fit(limits.step_ns - rates.decode_step_ns, input.prefill, most, rates);
  const std::uint32_t least = std::min({waiting, kChunkRows, room});
  if (fit >= least && least > 0) {
    plan.prefill = share_rows(input.prefill, fit);
    plan.expected_ns = rates.decode_step_ns + rows_ns(plan.prefill, rates);
    return plan;
  }
  if (!range_is_due) return plan;
  const std::uint32_t chunk_rows = std::min({waiting, kChunkRows, limits.max_rows});
  const double layer_long_ns = limits.step_ns * limits.n_layers - rates.decode_step_ns;
  OpenChunk chunk;
  chunk.rows = share_rows(input.prefill, std::max(1u, rows_that_fit(layer_long_ns, input.prefill, chunk_rows, rates)));
  return range_of(chunk, true, limits, rates);
}

}  // namespace larder::sched
