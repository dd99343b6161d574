// SPDX-License-Identifier: Apache-2.0
// Log-probabilities of one row of logits, and the k most likely tokens. Not part of drawing: they are of the logits as
// the model gave them.
// Units:   natural logarithm.    Errors: none; not-a-number counts as -inf, +inf as the largest float.    Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/sample/sampler.h"

namespace larder::sample {

float sane_logit(float logit);

// log(sum(exp(logit))), in double, by id order; 0 where every logit is -inf.
double log_sum_exp(std::span<const float> logits);

// The `count` largest logits, most likely first, ties to the lowest id.
std::vector<Alternative> top_alternatives(std::span<const float> logits, std::uint32_t count, double log_sum);

}  // namespace larder::sample
