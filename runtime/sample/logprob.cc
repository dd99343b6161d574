// SPDX-License-Identifier: Apache-2.0
#include "runtime/sample/logprob.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace larder::sample {

float sane_logit(float logit) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (logit <= kLargest) return logit;  // also -inf
  return std::isnan(logit) ? -std::numeric_limits<float>::infinity() : kLargest;
}

double log_sum_exp(std::span<const float> logits) {
  float largest = -std::numeric_limits<float>::infinity();
  for (float logit : logits) largest = std::max(largest, sane_logit(logit));
  if (std::isinf(largest)) return 0;
  double sum = 0;
  for (float logit : logits) sum += static_cast<double>(std::exp(sane_logit(logit) - largest));
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
