// SPDX-License-Identifier: Apache-2.0
// Memory that runs out on purpose: a test program that links this has operator new of its own, which counts the
// allocations of the armed thread and fails those that it was told to.
// Use:      arm_memory(n), disarm_memory() around one call; the n-th allocation in it throws std::bad_alloc. A test
//           that makes a library allocate through its own functions asks library_memory_runs_out() there.
//           each_allocation runs a call once for every allocation in it, n = 1, 2 and so on, until it passes.
// Ensures:  what other threads allocate, or this one while it is paused, neither counts nor fails.
// Threads:  one at a time arms; the armed one may be another, by its name (base/thread_name.h).
#pragma once

#include <cstdint>
#include <new>

namespace larder::test {

// What counts and fails: operator new, or what goes through library_memory_runs_out.
enum class MemoryKind : std::uint8_t { kOurs, kLibrary };

// The n-th allocation from now on fails, and the `burst` - 1 that follow it.  nth 0: they are only counted.
void arm_memory(std::uint64_t nth, std::uint64_t burst = 1, MemoryKind kind = MemoryKind::kOurs);
// The same for every thread of that name.
void arm_memory_of(const char* thread_name, std::uint64_t nth, std::uint64_t burst = 1,
                   MemoryKind kind = MemoryKind::kOurs);
bool library_memory_runs_out();
// And so on, each `again` allocations later.  again 0: not so.
void arm_memory_again_of(const char* thread_name, std::uint64_t nth, std::uint64_t burst, std::uint64_t again);
// How many there were since, and how many of them failed.
struct MemorySeen {
  std::uint64_t allocations = 0;
  std::uint64_t failed = 0;
};
MemorySeen memory_seen();
MemorySeen disarm_memory();

// What a test does itself in the middle of an armed call.
class MemoryPause {
 public:
  MemoryPause();
  ~MemoryPause();
  MemoryPause(const MemoryPause&) = delete;
  MemoryPause& operator=(const MemoryPause&) = delete;
};

// And what is watched inside of that.
class MemoryResume {
 public:
  MemoryResume();
  ~MemoryResume();
  MemoryResume(const MemoryResume&) = delete;
  MemoryResume& operator=(const MemoryResume&) = delete;

 private:
  const int paused_;
};

// Runs `call` until no allocation of it failed, or it came to its end in spite of that; `after_failure` each time it
// was broken off. Answers how often that was.
template <typename Call, typename Check>
std::uint64_t each_allocation(Call call, Check after_failure, std::uint64_t burst = 1) {
  for (std::uint64_t nth = 1;; ++nth) {
    arm_memory(nth, burst);
    try {
      call();
      disarm_memory();
      return nth - 1;
    } catch (const std::bad_alloc&) {
      disarm_memory();
    }
    after_failure();
  }
}

}  // namespace larder::test
