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

// Tokens are sorted into buckets by their distance below the best one (after temperature), so that a filter only has to
// order the one bucket in which it ends. 2048 buckets of 1/64 reach down to exp(-32).
constexpr std::size_t kBuckets = 2048;
constexpr float kBucketsPerUnit = 64;

// The row being drawn from: adjusted logits, and weights exp((logit - largest) / temperature), 0 once filtered out.
struct Row {
  std::span<float> logits;
  std::span<float> weights;
  float largest = kNever;
  float inverse_temperature = 1;

  std::size_t bucket(std::size_t id) const {
    const float distance = (largest - logits[id]) * inverse_temperature * kBucketsPerUnit;
    constexpr float kLast = static_cast<float>(kBuckets - 1);
    return distance < kLast ? static_cast<std::size_t>(distance) : kBuckets - 1;
  }
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

// Members of one bucket that are still in, best first.
std::vector<std::uint32_t> ordered_bucket(const Row& row, std::size_t bucket) {
  std::vector<std::uint32_t> ids;
  for (std::size_t id = 0; id < row.logits.size(); ++id) {
    if (row.weights[id] > 0 && row.bucket(id) == bucket) ids.push_back(static_cast<std::uint32_t>(id));
  }
  std::sort(ids.begin(), ids.end(), [&row](std::uint32_t a, std::uint32_t b) { return row.before(a, b); });
  return ids;
}

// Filters out everything behind `last` in the order of the row.
void cut_behind(Row& row, std::uint32_t last) {
  for (std::size_t id = 0; id < row.logits.size(); ++id) {
    if (row.before(last, static_cast<std::uint32_t>(id))) row.weights[id] = 0;
  }
}

void keep_top_k(Row& row, std::uint32_t k) {
  if (k == 0 || k >= row.logits.size()) return;
  std::array<std::uint32_t, kBuckets> counts{};
  for (std::size_t id = 0; id < row.logits.size(); ++id) {
    if (row.weights[id] > 0) ++counts[row.bucket(id)];
  }
  std::size_t before = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (before + counts[bucket] >= k) {
      cut_behind(row, ordered_bucket(row, bucket)[k - before - 1]);
      return;
    }
    before += counts[bucket];
  }
}

void keep_top_p(Row& row, float top_p) {
  if (top_p >= 1.0f) return;
  std::array<double, kBuckets> masses{};
  double total = 0;
  for (std::size_t id = 0; id < row.logits.size(); ++id) {
    if (row.weights[id] > 0) masses[row.bucket(id)] += static_cast<double>(row.weights[id]);
  }
  for (double mass : masses) total += mass;
  const double wanted = total * static_cast<double>(top_p);
  double before = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (masses[bucket] > 0 && before + masses[bucket] >= wanted) {
      const std::vector<std::uint32_t> ids = ordered_bucket(row, bucket);
      std::uint32_t last = ids.back();
      double sum = before;
      for (std::uint32_t id : ids) {
        sum += static_cast<double>(row.weights[id]);
        if (sum >= wanted) {
          last = id;
          break;
        }
      }
      cut_behind(row, last);
      return;
    }
    before += masses[bucket];
  }
}

void keep_min_p(Row& row, float min_p) {
  if (min_p <= 0.0f) return;
  for (float& weight : row.weights) {
    if (weight < min_p) weight = 0;  // the best token weighs exactly 1
  }
}

std::size_t pick(const Row& row, double unit) {
  double total = 0;
  for (float weight : row.weights) total += static_cast<double>(weight);
  const double target = unit * total;
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t id = 0; id < row.weights.size(); ++id) {
    if (row.weights[id] <= 0) continue;
    last = id;
    sum += static_cast<double>(row.weights[id]);
    if (sum > target) break;
  }
  return last;
}

std::size_t choose(std::span<float> logits, std::span<float> weights, const SampleState& state) {
  const SamplingParams& params = *state.params;
  const auto best = std::max_element(logits.begin(), logits.end());  // the first of equals
  if (*best == kNever) return lowest_allowed(logits.size(), state.forbidden);
  if (params.temperature < kGreedyBelow) return static_cast<std::size_t>(best - logits.begin());
  Row row{logits, weights, *best, 1.0f / params.temperature};
  for (std::size_t id = 0; id < logits.size(); ++id) {
    weights[id] = std::exp((logits[id] - row.largest) * row.inverse_temperature);
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
