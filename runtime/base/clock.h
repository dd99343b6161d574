// SPDX-License-Identifier: Apache-2.0
// Clock: where time comes from. Passed in by whoever constructs a thing, so that tests run on ManualClock.
// Units: Ticks in nanoseconds of a steady clock; WallTime in milliseconds since the Unix epoch (UTC).
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace larder {

using Ticks = std::int64_t;     // ns, steady
using WallTime = std::int64_t;  // ms since 1970-01-01 UTC

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Ticks now() const = 0;
  virtual WallTime wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  Ticks now() const override;
  WallTime wall() const override;
};

// Moves only when told; wall time starts at 1,700,000,000,000 ms and moves with it.
class ManualClock final : public Clock {
 public:
  Ticks now() const override { return now_.load(std::memory_order_relaxed); }
  WallTime wall() const override { return 1'700'000'000'000 + now() / 1'000'000; }
  void advance_ns(Ticks ns) { now_.fetch_add(ns, std::memory_order_relaxed); }

 private:
  std::atomic<Ticks> now_{0};
};

inline double ms_between(Ticks from, Ticks to) { return static_cast<double>(to - from) * 1e-6; }

}  // namespace larder
