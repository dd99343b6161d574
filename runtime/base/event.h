// SPDX-License-Identifier: Apache-2.0
// Event and EventRing: fixed-size facts written by the engine thread and read by observers. A full ring drops the
// oldest and counts it, so nothing waits for a screen, and totals never depend on events.
// Threads: one writer, one reader, both under the ring's short lock. Holds numbers only: never text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace larder {

enum class EventKind : std::uint8_t { kRequestQueued, kFirstToken, kRequestDone, kBlocksEvicted, kPinned, kUnpinned,
                                      kDeleted, kModelLoaded, kModelUnloaded };

struct Event {
  WallTime at = 0;
  EventKind kind = EventKind::kRequestQueued;
  std::uint32_t tenant = 0;
  std::uint64_t subject = 0;  // request, node or model id
  std::uint64_t count = 0;    // blocks or tokens
  double value = 0;           // ms or bytes, by kind
};

class EventRing {
 public:
  explicit EventRing(std::size_t capacity) : slots_(capacity) {}

  void write(const Event& event) EXCLUDES(mutex_);
  // Appends all unread events to `out`, oldest first.
  void drain(std::vector<Event>& out) EXCLUDES(mutex_);
  std::uint64_t dropped() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::vector<Event> slots_ GUARDED_BY(mutex_);
  std::uint64_t written_ GUARDED_BY(mutex_) = 0;
  std::uint64_t read_ GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;
};

}  // namespace larder
