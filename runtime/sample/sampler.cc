// SPDX-License-Identifier: Apache-2.0
#include "runtime/sample/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "runtime/base/rng.h"
#include "runtime/sample/logprob.h"

namespace larder::sample {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr float kGreedyBelow = 0.001f;
constexpr std::size_t kMaxBias = 1024;
constexpr std::uint32_t kMaxWindow = 32768;
constexpr std::uint32_t kMaxTopLogprobs = 20;

// A filter looks at the tokens that weigh at least this much first, and at lighter ones only where those do not settle
// it: of 50,000 tokens a few hundred mostly do.
constexpr std::array<float, 4> kWeights = {1e-2f, 1e-4f, 1e-7f, 0.0f};

// The row being drawn from: adjusted logits, and weights exp((logit - largest) / temperature), 0 once filtered out.
struct Row {
  std::span<float> logits;
  std::span<float> weights;

  bool before(std::uint32_t a, std::uint32_t b) const {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  }
};

bool in_vocabulary(Token token, std::size_t n_vocab) {
  return token >= 0 && static_cast<std::size_t>(token) < n_vocab;
}

void penalise(std::span<float> logits, const SampleState& state) {
  const SamplingParams& params = *state.params;
  const bool repetition = params.repetition_penalty != 1.0f;
  if (!repetition && params.frequency_penalty == 0.0f && params.presence_penalty == 0.0f) return;
  const std::size_t length = std::min<std::size_t>(state.recent.size(), params.repetition_window);
  std::vector<Token> window(state.recent.end() - static_cast<std::ptrdiff_t>(length), state.recent.end());
  std::sort(window.begin(), window.end());
  for (std::size_t begin = 0; begin < window.size();) {
    const Token token = window[begin];
    std::size_t end = begin;
    while (end < window.size() && window[end] == token) ++end;
    const float count = static_cast<float>(end - begin);
    begin = end;
    if (!in_vocabulary(token, logits.size())) continue;
    float& logit = logits[static_cast<std::size_t>(token)];
    if (repetition) logit = logit > 0 ? logit / params.repetition_penalty : logit * params.repetition_penalty;
    logit = sane_logit(logit - count * params.frequency_penalty - params.presence_penalty);
  }
}

void adjust(std::span<float> logits, const SampleState& state) {
  penalise(logits, state);
  for (const auto& [token, bias] : state.params->logit_bias) {
    if (!in_vocabulary(token, logits.size())) continue;
    float& logit = logits[static_cast<std::size_t>(token)];
    logit = sane_logit(logit + bias);
  }
  for (Token token : state.forbidden) {
    if (in_vocabulary(token, logits.size())) logits[static_cast<std::size_t>(token)] = kNever;
  }
}

std::size_t lowest_allowed(std::size_t n_vocab, const std::vector<Token>& forbidden) {
  for (std::size_t id = 0; id < n_vocab; ++id) {
    if (std::find(forbidden.begin(), forbidden.end(), static_cast<Token>(id)) == forbidden.end()) return id;
  }
  return 0;
}

std::span<const float> block_of(std::span<const float> weights, std::size_t begin) {
  return weights.subspan(begin, std::min(kBlock, weights.size() - begin));
}

double row_sum(std::span<const float> weights) {
  double total = 0;
  for (std::size_t begin = 0; begin < weights.size(); begin += kBlock) total += sum_in_lanes(block_of(weights, begin));
  return total;
}

// Tokens still in that weigh at least `weight`, by id: a beginning of the row's order.
std::vector<std::uint32_t> heavy_tokens(const Row& row, float weight) {
  std::vector<std::uint32_t> ids;
  for (std::size_t id = 0; id < row.weights.size(); ++id) {
    if (row.weights[id] >= weight && row.weights[id] > 0) ids.push_back(static_cast<std::uint32_t>(id));
  }
  return ids;
}

// Filters out everything behind `last` in the order of the row.
void cut_behind(Row& row, std::uint32_t last) {
  const float lowest = row.logits[last];
  float* const weights = row.weights.data();
  const float* const logits = row.logits.data();
  const std::uint32_t size = static_cast<std::uint32_t>(row.weights.size());
  for (std::uint32_t id = 0; id <= last; ++id) weights[id] = logits[id] >= lowest ? weights[id] : 0.0f;
  for (std::uint32_t id = last + 1; id < size; ++id) weights[id] = logits[id] > lowest ? weights[id] : 0.0f;
}

void keep_top_k(Row& row, std::uint32_t k) {
  if (k == 0 || k >= row.logits.size()) return;
  for (float weight : kWeights) {
    std::vector<std::uint32_t> ids = heavy_tokens(row, weight);
    if (ids.size() < k) continue;
    const auto last = ids.begin() + static_cast<std::ptrdiff_t>(k - 1);
    const auto before = [&row](std::uint32_t a, std::uint32_t b) { return row.before(a, b); };
    std::nth_element(ids.begin(), last, ids.end(), before);
    cut_behind(row, *last);
    return;
  }
}

double mass_of(const Row& row, std::span<const std::uint32_t> ids) {
  double mass = 0;
  for (std::uint32_t id : ids) mass += static_cast<double>(row.weights[id]);
  return mass;
}

// The token of `ids` at which the mass, summed in the row's order, reaches `wanted`: halves are put in order, not all.
std::uint32_t token_at_mass(const Row& row, std::span<std::uint32_t> ids, double wanted) {
  const auto before = [&row](std::uint32_t a, std::uint32_t b) { return row.before(a, b); };
  while (ids.size() > 1) {
    const std::size_t middle = (ids.size() - 1) / 2;
    std::nth_element(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(middle), ids.end(), before);
    const std::span<std::uint32_t> front = ids.first(middle + 1);
    const double mass = mass_of(row, front);
    if (mass >= wanted) {
      ids = front;
    } else {
      wanted -= mass;
      ids = ids.subspan(middle + 1);
    }
  }
  return ids[0];
}

void keep_top_p(Row& row, float top_p) {
  if (top_p >= 1.0f) return;
  const double wanted = row_sum(row.weights) * static_cast<double>(top_p);
  for (float weight : kWeights) {
    std::vector<std::uint32_t> ids = heavy_tokens(row, weight);
    if (weight > 0 && mass_of(row, ids) < wanted) continue;
    cut_behind(row, token_at_mass(row, ids, wanted));
    return;
  }
}

void keep_min_p(Row& row, float min_p) {
  if (min_p <= 0.0f) return;
  for (float& weight : row.weights) weight = weight >= min_p ? weight : 0.0f;  // the best token weighs exactly 1
}

std::size_t pick(const Row& row, double unit) {
  const double target = unit * row_sum(row.weights);
  double before = 0;
  std::size_t last_block = 0;
  for (std::size_t begin = 0; begin < row.weights.size(); begin += kBlock) {
    const std::span<const float> block = block_of(row.weights, begin);
    const double mass = sum_in_lanes(block);
    if (mass <= 0) continue;
    last_block = begin;
    if (before + mass > target) break;
    before += mass;
  }
  const std::span<const float> block = block_of(row.weights, last_block);
  std::size_t last = last_block;
  for (std::size_t id = 0; id < block.size() && before <= target; ++id) {
    if (block[id] <= 0) continue;
    last = last_block + id;
    before += static_cast<double>(block[id]);
  }
  return last;
}

std::size_t first_place_of(std::span<const float> logits, float largest) {
  return static_cast<std::size_t>(std::find(logits.begin(), logits.end(), largest) - logits.begin());
}

std::size_t choose(std::span<float> logits, std::span<float> weights, const SampleState& state) {
  const SamplingParams& params = *state.params;
  const float largest = largest_of(logits);
  if (largest == kNever) return lowest_allowed(logits.size(), state.forbidden);
  if (params.temperature < kGreedyBelow) return first_place_of(logits, largest);
  const float inverse_temperature = 1.0f / params.temperature;
  Row row{logits, weights};
  for (std::size_t id = 0; id < logits.size(); ++id) {
    weights[id] = exp_of_negative((logits[id] - largest) * inverse_temperature);
  }
  keep_top_k(row, params.top_k);
  keep_top_p(row, params.top_p);
  keep_min_p(row, params.min_p);
  const std::uint64_t bits = Rng::at(params.seed, state.stream, state.position);
  return pick(row, static_cast<double>(bits >> 11) * 0x1.0p-53);
}

Status check_range(const char* field, double value, double low, double high) {
  if (value >= low && value <= high) return {};  // false for not-a-number
  return Error{ErrorCode::kInvalidArgument,
               std::string(field) + " is " + std::to_string(value) + "; it must lie between " + std::to_string(low) +
                   " and " + std::to_string(high),
               field};
}

}  // namespace

Status validate_params(const SamplingParams& params, std::uint32_t n_vocab) {
  RETURN_IF_ERROR(check_range("temperature", static_cast<double>(params.temperature), 0, 10));
  RETURN_IF_ERROR(check_range("top_p", static_cast<double>(params.top_p), 0, 1));
  RETURN_IF_ERROR(check_range("min_p", static_cast<double>(params.min_p), 0, 1));
  RETURN_IF_ERROR(check_range("repetition_penalty", static_cast<double>(params.repetition_penalty), 0.01, 10));
  RETURN_IF_ERROR(check_range("repetition_window", params.repetition_window, 0, kMaxWindow));
  RETURN_IF_ERROR(check_range("frequency_penalty", static_cast<double>(params.frequency_penalty), -2, 2));
  RETURN_IF_ERROR(check_range("presence_penalty", static_cast<double>(params.presence_penalty), -2, 2));
  RETURN_IF_ERROR(check_range("top_logprobs", params.top_logprobs, 0, kMaxTopLogprobs));
  RETURN_IF_ERROR(check_range("logit_bias entries", static_cast<double>(params.logit_bias.size()), 0, kMaxBias));
  for (const auto& [token, bias] : params.logit_bias) {
    RETURN_IF_ERROR(check_range("logit_bias token", token, 0, static_cast<double>(n_vocab) - 1));
    RETURN_IF_ERROR(check_range("logit_bias", static_cast<double>(bias), -100, 100));
  }
  return {};
}

Sampled draw(std::span<const float> logits, const SampleState& state, std::vector<float>& scratch) {
  INVARIANT(!logits.empty() && state.params != nullptr);
  const std::size_t n_vocab = logits.size();
  if (scratch.size() < 2 * n_vocab) scratch.resize(2 * n_vocab);
  const std::span<float> adjusted(scratch.data(), n_vocab);
  const std::span<float> weights(scratch.data() + n_vocab, n_vocab);
  std::transform(logits.begin(), logits.end(), adjusted.begin(), sane_logit);
  adjust(adjusted, state);
  const Token token = static_cast<Token>(choose(adjusted, weights, state));
  const SamplingParams& params = *state.params;
  if (params.logprobs || params.top_logprobs > 0) return score(logits, token, params.top_logprobs);
  Sampled sampled;
  sampled.token = token;
  return sampled;
}

Sampled score(std::span<const float> logits, Token token, std::uint32_t top_logprobs) {
  Sampled sampled;
  sampled.token = token;
  const double log_sum = log_sum_exp(logits);
  sampled.logprob = in_vocabulary(token, logits.size())
                        ? static_cast<float>(static_cast<double>(sane_logit(logits[static_cast<std::size_t>(token)])) -
                                             log_sum)
                        : kNever;
  sampled.top = top_alternatives(logits, top_logprobs, log_sum);
  return sampled;
}

}  // namespace larder::sample
