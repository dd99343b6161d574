// SPDX-License-Identifier: Apache-2.0
// Throttle: gives work a share of one core. Whoever works says what it took, and may go on when that was paid for with
// time: a slice of 1 ms at a share of 0.2 is followed by a pause of 4 ms.
// Ensures:  over any span, work done is at most share * span and one slice.
// Units:    ns.    Threads: one.
#pragma once

#include <algorithm>

#include "runtime/base/clock.h"

namespace larder::engine {

class Throttle {
 public:
  explicit Throttle(double share) : share_(share) {}

  // Work that began at `begin`, or was heard of then, took `cost`.
  void spent(Ticks begin, Ticks cost) {
    free_at_ = std::max(free_at_, begin) + static_cast<Ticks>(static_cast<double>(cost) / share_);
    total_ += cost;
  }
  bool free(Ticks now) const { return now >= free_at_; }
  Ticks free_at() const { return free_at_; }
  Ticks total() const { return total_; }

 private:
  const double share_;
  Ticks free_at_ = 0;
  Ticks total_ = 0;
};

}  // namespace larder::engine
