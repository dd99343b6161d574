// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/clock.h"

#include <chrono>

#include "runtime/base/mutex.h"

namespace larder {

Ticks SystemClock::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

WallTime SystemClock::wall() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::chrono::steady_clock::time_point deadline_after(std::chrono::nanoseconds wait) {
  return std::chrono::steady_clock::now() + wait;
}

}  // namespace larder
