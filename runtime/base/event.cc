// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/event.h"

namespace larder {

void EventRing::write(const Event& event) {
  MutexLock lock(mutex_);
  slots_[written_ % slots_.size()] = event;
  ++written_;
  if (written_ - read_ > slots_.size()) {
    ++read_;
    ++dropped_;
  }
}

void EventRing::drain(std::vector<Event>& out) {
  MutexLock lock(mutex_);
  for (; read_ < written_; ++read_) out.push_back(slots_[read_ % slots_.size()]);
}

std::uint64_t EventRing::dropped() const {
  MutexLock lock(mutex_);
  return dropped_;
}

}  // namespace larder
