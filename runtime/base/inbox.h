// SPDX-License-Identifier: Apache-2.0
// Inbox<T>: bounded queue with one reader and many writers; the only way into a thread that owns things.
// Bounds: `capacity` ordinary messages; push answers false when full. push_reserved is for completions whose number is
//         bounded elsewhere (one per submitted step) and is never refused.
// Errors: a push may throw for want of memory and has queued nothing then; one of a message that has its Place already
//         cannot, nor can a nudge.
// Threads: push any; pop the owner only.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <utility>

#include "runtime/base/mutex.h"

namespace larder {

template <typename T>
class Inbox {
 public:
  // A message and the memory it lies in while it is queued.
  class Place {
   public:
    Place() = default;
    explicit Place(T message) { list_.push_back(std::move(message)); }

   private:
    friend class Inbox;
    std::list<T> list_;
  };

  explicit Inbox(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] bool push(T message) EXCLUDES(mutex_) {
    Place place(std::move(message));
    {
      MutexLock lock(mutex_);
      if (closed_ || queue_.size() >= capacity_) return false;
      queue_.splice(queue_.end(), place.list_);
    }
    arrived_.notify_one();
    return true;
  }

  void push_reserved(T message) EXCLUDES(mutex_) { push_reserved(Place(std::move(message))); }

  void push_reserved(Place place) EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      queue_.splice(queue_.end(), place.list_);
    }
    arrived_.notify_one();
  }

  // Ends the owner's wait, or its next one, without a message. One is as good as many.
  void nudge() EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      nudged_ = true;
    }
    arrived_.notify_one();
  }

  std::optional<T> try_pop() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return pop_locked();
  }

  // Waits for a message, at most until `deadline`, or until the inbox is nudged or closed.
  std::optional<T> pop_until(std::chrono::steady_clock::time_point deadline) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (queue_.empty() && !closed_ && !nudged_) {
      if (!arrived_.wait_until(mutex_, deadline)) break;
    }
    nudged_ = false;
    return pop_locked();
  }

  std::optional<T> pop_for(std::chrono::nanoseconds wait) EXCLUDES(mutex_) { return pop_until(deadline_after(wait)); }

  // After this, push is refused and pop_until no longer waits; what is queued can still be popped.
  void close() EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    arrived_.notify_all();
  }

  std::size_t size() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return queue_.size();
  }

 private:
  std::optional<T> pop_locked() REQUIRES(mutex_) {
    if (queue_.empty()) return std::nullopt;
    std::optional<T> message(std::move(queue_.front()));
    queue_.pop_front();
    return message;
  }

  const std::size_t capacity_;
  mutable Mutex mutex_;
  CondVar arrived_;
  std::list<T> queue_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
  bool nudged_ GUARDED_BY(mutex_) = false;
};

}  // namespace larder
