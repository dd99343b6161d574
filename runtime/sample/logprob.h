// SPDX-License-Identifier: Apache-2.0
// Log-probabilities of one row of logits, and the k most likely tokens. Not part of drawing: they are of the logits as
// the model gave them.
// Units:   natural logarithm.    Errors: none; not-a-number counts as -inf, +inf as the largest float.    Threads: any.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "runtime/sample/sampler.h"

namespace larder::sample {

inline float sane_logit(float logit) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float bounded = logit < kLargest ? logit : kLargest;  // not-a-number is not below anything
  return logit == logit ? bounded : -std::numeric_limits<float>::infinity();
}

// exp(x) for x <= 0, 0 below -87; within 3e-7 relative. Not the C library's: that one differs between processors, and a
// seed must give the same answer on each.
// Source: range reduction by ln 2 in two parts (Cody & Waite 1980), Taylor polynomial of degree 7 on [-ln2/2, ln2/2].
inline float exp_of_negative(float x) {
  const float bounded = x < -87.0f ? -87.0f : x;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding and taking it away rounds to a whole number
  const float whole = (bounded * 1.44269504f + kRound) - kRound;
  const float rest = (bounded - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float sum = 1.0f / 5040.0f;
  sum = sum * rest + 1.0f / 720.0f;
  sum = sum * rest + 1.0f / 120.0f;
  sum = sum * rest + 1.0f / 24.0f;
  sum = sum * rest + 1.0f / 6.0f;
  sum = sum * rest + 0.5f;
  sum = sum * rest + 1.0f;
  sum = sum * rest + 1.0f;
  const std::int32_t exponent = (static_cast<std::int32_t>(whole) + 127) << 23;
  return x < -87.0f ? 0.0f : sum * std::bit_cast<float>(exponent);
}

inline constexpr std::size_t kBlock = 1024;  // weights summed at a time

// Both go through the row in 8 interleaved parts, always the same way, so that they are quick and never depend on how
// the loop was vectorised. largest_of: of sane logits; -inf for none.
float largest_of(std::span<const float> logits);
double sum_in_lanes(std::span<const float> weights);

// log(sum(exp(logit))), in double; 0 where every logit is -inf.
double log_sum_exp(std::span<const float> logits);

// The `count` largest logits, most likely first, ties to the lowest id.
std::vector<Alternative> top_alternatives(std::span<const float> logits, std::uint32_t count, double log_sum);

}  // namespace larder::sample
