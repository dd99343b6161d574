// SPDX-License-Identifier: Apache-2.0
// Mutex, MutexLock and CondVar with clang's thread-safety annotations, so that `clang -Wthread-safety` proves who holds
// what. Threads: any; used only where two threads meet (inbox, streams, snapshot slot, key table, worker pool, HTTP).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define LARDER_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define LARDER_THREAD_ATTRIBUTE(x)
#endif

#define CAPABILITY(x) LARDER_THREAD_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY LARDER_THREAD_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) LARDER_THREAD_ATTRIBUTE(guarded_by(x))
#define REQUIRES(...) LARDER_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) LARDER_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) LARDER_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define EXCLUDES(...) LARDER_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS LARDER_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace larder {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// The moment a wait that begins now gives up. Waits are real time even where a test's Clock stands still.
std::chrono::steady_clock::time_point deadline_after(std::chrono::nanoseconds wait);

class CondVar {
 public:
  void wait(Mutex& mutex) REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
    condition_.wait(held);
    held.release();
  }
  // Answers false when the time ran out first.
  bool wait_until(Mutex& mutex, std::chrono::steady_clock::time_point deadline) REQUIRES(mutex)
      NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
    const bool woken = condition_.wait_until(held, deadline) == std::cv_status::no_timeout;
    held.release();
    return woken;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace larder
