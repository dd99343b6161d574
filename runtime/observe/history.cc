// SPDX-License-Identifier: Apache-2.0
#include "runtime/observe/history.h"

#include <algorithm>
#include <cmath>

namespace larder::observe {

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return -1;
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const auto index = static_cast<std::ptrdiff_t>(std::clamp(rank, 1.0, static_cast<double>(values.size()))) - 1;
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

History::History(WallTime now) { current_.begin = now - now % kIntervalMs; }

void History::fill_quantiles(IntervalSums& sums, const Times& warm, const Times& cold) {
  sums.warm_p50_ms = quantile(warm.sample, 0.5);
  sums.warm_p99_ms = quantile(warm.sample, 0.99);
  sums.cold_p50_ms = quantile(cold.sample, 0.5);
  sums.cold_p99_ms = quantile(cold.sample, 0.99);
}

void History::roll(WallTime now) {
  const WallTime begin = now - now % kIntervalMs;
  if (begin <= current_.begin) return;
  // After a long silence only what fits is made up: empty intervals at the last levels.
  WallTime next = current_.begin + kIntervalMs;
  fill_quantiles(current_, warm_, cold_);
  closed_.push_back(current_);
  warm_ = {};
  cold_ = {};
  next = std::max(next, begin - static_cast<WallTime>(kMaxIntervals) * kIntervalMs);
  for (; next < begin; next += kIntervalMs) {
    IntervalSums silent;
    silent.begin = next;
    silent.blocks_used = current_.blocks_used;
    silent.blocks_pinned = current_.blocks_pinned;
    closed_.push_back(silent);
  }
  while (closed_.size() >= kMaxIntervals) closed_.pop_front();
  IntervalSums fresh;
  fresh.begin = begin;
  fresh.blocks_used = current_.blocks_used;
  fresh.blocks_pinned = current_.blocks_pinned;
  current_ = fresh;
}

void History::add_time(Times& times, double ms) {
  ++times.seen;
  if (times.sample.size() < kMaxSamples) {
    times.sample.push_back(ms);
  } else if (const std::uint64_t at = rng_.below(times.seen); at < kMaxSamples) {
    times.sample[at] = ms;
  }
}

void History::add_request(WallTime now, const RequestFacts& facts) {
  roll(now);
  ++current_.requests;
  current_.full_prefix += facts.full_prefix ? 1 : 0;
  current_.prompt_tokens += facts.prompt_tokens;
  current_.cached_tokens += facts.cached_tokens;
  current_.completion_tokens += facts.completion_tokens;
  current_.saved_ms += facts.saved_ms;
  if (facts.first_token_ms >= 0) add_time(facts.warm ? warm_ : cold_, facts.first_token_ms);
}

void History::set_levels(WallTime now, std::uint32_t blocks_used, std::uint32_t blocks_pinned,
                         std::uint64_t evicted_total) {
  roll(now);
  current_.blocks_used = blocks_used;
  current_.blocks_pinned = blocks_pinned;
  // A new pool counts from zero again.
  current_.evicted_blocks += evicted_total >= evicted_total_ ? evicted_total - evicted_total_ : evicted_total;
  evicted_total_ = evicted_total;
}

std::vector<IntervalSums> History::intervals(WallTime now) {
  roll(now);
  std::vector<IntervalSums> all(closed_.begin(), closed_.end());
  all.push_back(current_);
  fill_quantiles(all.back(), warm_, cold_);
  return all;
}

}  // namespace larder::observe
