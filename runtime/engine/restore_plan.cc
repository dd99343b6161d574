// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/restore_plan.h"

#include <algorithm>

#include "kernels/layout/kv_layout.h"

namespace larder::engine {
namespace {

using kernels::kBlockTokens;

constexpr std::uint32_t kLeastHeadBlocks = 4;  // shorter chunks are computed at a bad rate
constexpr double kMixedShare = 0.9;            // of the better pure way: estimates are no better than that
constexpr double kMixedGainMs = 20;            // coming back into the queue costs a few steps
constexpr double kClearly = 1.5;

}  // namespace

std::uint32_t ColdRun::blocks() const { return (tokens + kBlockTokens - 1) / kBlockTokens; }

RestorePlan plan_restore(const ColdRun& run, const ReadRate& rate, const sched::PrefillCost& cost, bool always) {
  const std::uint32_t blocks = run.blocks();
  RestorePlan plan;
  plan.read_ms = plan.estimate_ms = rate.ms(blocks);
  plan.compute_ms = cost.ms(run.position, run.position + run.tokens);
  if (always || !cost.known()) return plan;
  const double pure_ms = std::min(plan.read_ms, plan.compute_ms);
  const auto mixed_ms = [&](std::uint32_t head) {
    return std::max(cost.ms(run.position, run.position + head * kBlockTokens), rate.ms(blocks - head));
  };
  // Computing the head takes longer with each of its blocks and reading the rest shorter: they meet in one place.
  std::uint32_t low = 0;
  std::uint32_t high = blocks;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    const bool met = cost.ms(run.position, run.position + middle * kBlockTokens) >= rate.ms(blocks - middle);
    (met ? high : low) = met ? middle : middle + 1;
  }
  const std::uint32_t meeting = low > 0 && mixed_ms(low - 1) < mixed_ms(low) ? low - 1 : low;
  const std::uint32_t head = std::min(std::max(meeting, kLeastHeadBlocks), blocks);
  const double best_ms = mixed_ms(head);
  if (head < blocks && best_ms <= kMixedShare * pure_ms && pure_ms - best_ms >= kMixedGainMs) {
    plan.head_blocks = head;
    plan.estimate_ms = rate.ms(blocks - head);
    plan.mixed_ms = best_ms;
    return plan;
  }
  plan.read = plan.read_ms < plan.compute_ms;
  return plan;
}

double read_left_ms(const ReadState& state) {
  const std::uint32_t here = state.blocks - state.blocks_left;
  const double at_this_pace = here > 0 ? state.asked_ms / here * state.blocks_left : state.asked_ms;
  return std::max(at_this_pace, state.idle_ms);
}

bool overdue(const ReadState& state, double compute_left_ms) {
  if (state.blocks_left == 0 || compute_left_ms <= 0 || state.asked_ms <= state.estimate_ms) return false;
  return read_left_ms(state) > kClearly * compute_left_ms;
}

}  // namespace larder::engine
