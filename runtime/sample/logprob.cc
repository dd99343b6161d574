// SPDX-License-Identifier: Apache-2.0
#include "runtime/sample/logprob.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace larder::sample {
namespace {

constexpr std::size_t kLanes = 8;

}  // namespace

float largest_of(std::span<const float> logits) {
  std::array<float, kLanes> lanes;
  lanes.fill(-std::numeric_limits<float>::infinity());
  const std::size_t whole = logits.size() - logits.size() % kLanes;
  for (std::size_t id = 0; id < whole; id += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = logits[id + lane] > lanes[lane] ? logits[id + lane] : lanes[lane];
    }
  }
  for (std::size_t id = whole; id < logits.size(); ++id) lanes[0] = std::max(lanes[0], logits[id]);
  return *std::max_element(lanes.begin(), lanes.end());
}

double sum_in_lanes(std::span<const float> weights) {
  std::array<double, kLanes> lanes{};
  const std::size_t whole = weights.size() - weights.size() % kLanes;
  for (std::size_t id = 0; id < whole; id += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<double>(weights[id + lane]);
  }
  for (std::size_t id = whole; id < weights.size(); ++id) lanes[id - whole] += static_cast<double>(weights[id]);
  double sum = 0;
  for (double lane : lanes) sum += lane;
  return sum;
}

double log_sum_exp(std::span<const float> logits) {
  std::array<float, kBlock> block;
  float largest = -std::numeric_limits<float>::infinity();
  for (std::size_t begin = 0; begin < logits.size(); begin += kBlock) {
    const std::size_t size = std::min(kBlock, logits.size() - begin);
    for (std::size_t i = 0; i < size; ++i) block[i] = sane_logit(logits[begin + i]);
    largest = std::max(largest, largest_of({block.data(), size}));
  }
  if (std::isinf(largest)) return 0;
  double sum = 0;
  for (std::size_t begin = 0; begin < logits.size(); begin += kBlock) {
    const std::size_t size = std::min(kBlock, logits.size() - begin);
    for (std::size_t i = 0; i < size; ++i) block[i] = exp_of_negative(sane_logit(logits[begin + i]) - largest);
    sum += sum_in_lanes({block.data(), size});
  }
  return static_cast<double>(largest) + std::log(sum);
}

std::vector<Alternative> top_alternatives(std::span<const float> logits, std::uint32_t count, double log_sum) {
  const std::size_t wanted = std::min<std::size_t>(count, logits.size());
  std::vector<Alternative> top;
  if (wanted == 0) return top;
  top.reserve(wanted + 1);
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const float logit = sane_logit(logits[id]);
    if (top.size() == wanted && logit <= top.back().logprob) continue;
    const auto behind = std::upper_bound(top.begin(), top.end(), logit,
                                         [](float value, const Alternative& other) { return value > other.logprob; });
    top.insert(behind, Alternative{static_cast<Token>(id), logit});
    if (top.size() > wanted) top.pop_back();
  }
  for (Alternative& one : top) one.logprob = static_cast<float>(static_cast<double>(one.logprob) - log_sum);
  return top;
}

}  // namespace larder::sample
