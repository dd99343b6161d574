// SPDX-License-Identifier: Apache-2.0
// History: what the last hour looked like, in intervals of 5 s: sums and levels for charts, and quantiles of the time
// to the first token, warm and cold apart. Bounds:   kMaxIntervals intervals; kMaxSamples times per interval and kind
// (a uniform sample beyond that). Units:    ms; tokens; blocks.    Threads: one owner (the engine thread); intervals()
// copies.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/rng.h"

namespace larder::observe {

inline constexpr WallTime kIntervalMs = 5000;
inline constexpr std::size_t kMaxIntervals = 720;
inline constexpr std::size_t kMaxSamples = 256;

// One request that ended well.
struct RequestFacts {
  bool full_prefix = false;
  bool warm = false;  // anything was reused
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;
  std::uint32_t completion_tokens = 0;
  double saved_ms = 0;
  double first_token_ms = -1;  // -1: it drew none
};

struct IntervalSums {
  WallTime begin = 0;
  std::uint32_t requests = 0;
  std::uint32_t full_prefix = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::uint64_t evicted_blocks = 0;
  std::uint32_t blocks_used = 0;
  std::uint32_t blocks_pinned = 0;
  double saved_ms = 0;
  double warm_p50_ms = -1, warm_p99_ms = -1;  // -1: none
  double cold_p50_ms = -1, cold_p99_ms = -1;
};

// The smallest value that at least `share` of the values do not exceed; -1 when there is none. Source: nearest rank.
double quantile(std::vector<double> values, double share);

class History {
 public:
  explicit History(WallTime now);

  void add_request(WallTime now, const RequestFacts& facts);
  // Levels of the pool now; `evicted_total` since the start.
  void set_levels(WallTime now, std::uint32_t blocks_used, std::uint32_t blocks_pinned, std::uint64_t evicted_total);
  // Oldest first; the last one still grows.
  std::vector<IntervalSums> intervals(WallTime now);

 private:
  struct Times {
    std::vector<double> sample;
    std::uint64_t seen = 0;
  };
  void roll(WallTime now);
  void add_time(Times& times, double ms);
  static void fill_quantiles(IntervalSums& sums, const Times& warm, const Times& cold);

  std::deque<IntervalSums> closed_;
  IntervalSums current_;
  Times warm_;
  Times cold_;
  std::uint64_t evicted_total_ = 0;
  Rng rng_{0x6c617264};
};

}  // namespace larder::observe
