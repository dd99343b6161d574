// SPDX-License-Identifier: Apache-2.0
// Sampling: logits of one row in, one token out. Pure: the same logits, parameters, history and position give the same
// token whatever the batch, because randomness is Rng::at(seed, stream, position).
// Order:    repetition, frequency and presence penalty, logit bias, forbidden; then greedy (temperature under 0.001),
//           else temperature, top-k, top-p (over what top-k left), min-p, draw. Ties go to the lowest id everywhere.
// Units:    temperature and penalties dimensionless; log-probabilities natural, of the unmodified logits.
// Errors:   none here; ranges are checked by validate_params.    Owns: nothing.    Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"

namespace larder::sample {

struct SamplingParams {
  float temperature = 1.0f;  // 0: greedy, ties to the lowest id
  float top_p = 1.0f;
  float min_p = 0.0f;
  std::uint32_t top_k = 0;  // 0: off
  float repetition_penalty = 1.0f;
  std::uint32_t repetition_window = 64;
  float frequency_penalty = 0.0f;
  float presence_penalty = 0.0f;
  std::vector<std::pair<Token, float>> logit_bias;
  std::uint64_t seed = 0;
  std::uint32_t top_logprobs = 0;  // 0..20 alternatives to report
  bool logprobs = false;
};

// kInvalidArgument naming the field, its value and its range.
Status validate_params(const SamplingParams& params, std::uint32_t n_vocab);

// What one draw needs. `params` is shared by all draws of a sequence.
struct SampleState {
  std::shared_ptr<const SamplingParams> params;
  std::vector<Token> recent;        // the last repetition_window tokens before this draw, oldest first
  std::vector<Token> forced_next;   // kLogProbs: the token after each row but the last
  std::vector<Token> forbidden;     // never drawn (end tokens while ignore_eos); log-probabilities still count them
  std::uint64_t stream = 0;         // choice index of a request with n > 1
  std::uint64_t position = 0;       // index of the generated token, from 0
};

struct Alternative {
  Token token = -1;
  float logprob = 0;
};

struct Sampled {
  Token token = -1;
  float logprob = 0;              // draw: filled when params ask for logprobs or top_logprobs, else 0
  std::vector<Alternative> top;  // most likely first
};

// Requires: logits [n_vocab], n_vocab > 0, params set and valid. scratch is reused and grows to 2 n_vocab.
// Ensures:  a logit that is not a number counts as -inf, +inf as the largest float. Where every token is excluded, the
//           lowest id that is not forbidden, else 0. Tokens outside [0, n_vocab) in state are ignored.
Sampled draw(std::span<const float> logits, const SampleState& state, std::vector<float>& scratch);

// Log-probability of `token` and the top alternatives, without drawing.
Sampled score(std::span<const float> logits, Token token, std::uint32_t top_logprobs);

}  // namespace larder::sample
