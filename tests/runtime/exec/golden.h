// SPDX-License-Identifier: Apache-2.0
// Golden files: logits and tokens that other programs computed from the same weights, and how far ours are from them.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/kernel_set.h"
#include "runtime/base/ids.h"
#include "tests/runtime/exec/step_runner.h"

namespace larder::test {

struct GoldenLogits {
  std::uint32_t at = 0;    // after this position
  std::uint32_t step = 1;  // of ids 0, step, 2*step, …
  std::vector<float> values;
};

struct GoldenTop {
  std::uint32_t at = 0;
  std::vector<Token> ids;
  std::vector<float> logprobs;
};

struct GoldenPrompt {
  std::string name;
  std::vector<Token> tokens;
  std::vector<Token> greedy;  // what follows, where the file says
  std::vector<Token> top1;    // after each position
  std::vector<float> margin;  // of top1 over the second, in log-probability
  std::vector<GoldenTop> top;
  std::vector<GoldenLogits> logits;
};

// Made by llama2.c (models-tiny/README.md) and by make_smollm2.py.
std::vector<GoldenPrompt> read_stories_golden(const std::string& path);
std::vector<GoldenPrompt> read_smollm2_golden(const std::string& path);

// Norm of the difference over the norm of the centred golden logits.
double relative_error(std::span<const float> logits, const GoldenLogits& golden);

struct GoldenBound {
  double relative_error = 0;
  float margin = 0;           // top-1 must agree where the golden margin is larger
  double logprob_error = 0;   // of the golden top ids
};

// What was found; `faults` are sentences, empty when the model agrees.
struct GoldenReport {
  double worst_relative_error = 0;
  double worst_logprob_error = 0;
  std::vector<double> first_logprob_errors;  // of the golden likeliest token, one for each golden top
  std::uint32_t compared_top1 = 0;
  std::vector<std::string> faults;
};

GoldenReport compare_with_golden(StepRunner& runner, std::span<const GoldenPrompt> prompts, const GoldenBound& bound);

// The same kernels, but keys are rotated one position too far: the fault that golden tests must see. One at a time.
kernels::KernelSet with_keys_rotated_too_far(const kernels::KernelSet& kernels, std::uint32_t n_kv_heads,
                                             float rope_base);

}  // namespace larder::test
