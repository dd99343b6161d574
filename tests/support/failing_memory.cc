// SPDX-License-Identifier: Apache-2.0
#include "tests/support/failing_memory.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace larder::test {
namespace {

std::atomic<std::uint64_t> armed{0};  // 0: not; else it changes with every arming
std::atomic<std::uint64_t> seen{0};
std::atomic<std::uint64_t> failed{0};
std::uint64_t first_failing = 0;
std::uint64_t failing_count = 0;
MemoryKind failing_kind = MemoryKind::kOurs;
std::uint64_t fails_again = 0;
pthread_t armed_thread{};
char armed_name[16] = {};  // empty: armed_thread alone
std::uint64_t armings = 0;

struct Here {
  std::uint64_t asked = 0;  // arming that `counts` answers for
  bool counts = false;
  int paused = 0;
};
thread_local Here here;

bool counts_here(std::uint64_t arming) {
  if (here.asked != arming) {
    here.asked = arming;
    char name[16] = {};
    if (armed_name[0] == '\0') {
      here.counts = pthread_equal(pthread_self(), armed_thread) != 0;
    } else {
      here.counts = pthread_getname_np(pthread_self(), name, sizeof name) == 0 && std::strcmp(name, armed_name) == 0;
    }
  }
  return here.counts && here.paused == 0;
}

bool runs_out(MemoryKind kind = MemoryKind::kOurs) {
  const std::uint64_t arming = armed.load(std::memory_order_acquire);
  if (arming == 0 || kind != failing_kind || !counts_here(arming)) return false;
  const std::uint64_t nth = seen.fetch_add(1) + 1;
  if (first_failing == 0 || nth < first_failing) return false;
  const std::uint64_t since = nth - first_failing;
  if ((fails_again == 0 ? since : since % fails_again) >= failing_count) return false;
  failed.fetch_add(1);
  return true;
}

void arm(const char* name, std::uint64_t nth, std::uint64_t burst, MemoryKind kind, std::uint64_t again = 0) {
  armed.store(0, std::memory_order_release);
  seen.store(0);
  failed.store(0);
  first_failing = nth;
  failing_count = burst;
  failing_kind = kind;
  fails_again = again;
  armed_thread = pthread_self();
  std::memset(armed_name, 0, sizeof armed_name);
  std::strncpy(armed_name, name, sizeof armed_name - 1);
  armed.store(++armings, std::memory_order_release);
}

}  // namespace

void arm_memory(std::uint64_t nth, std::uint64_t burst, MemoryKind kind) { arm("", nth, burst, kind); }
void arm_memory_of(const char* thread_name, std::uint64_t nth, std::uint64_t burst, MemoryKind kind) {
  arm(thread_name, nth, burst, kind);
}
bool library_memory_runs_out() { return runs_out(MemoryKind::kLibrary); }
void arm_memory_again_of(const char* thread_name, std::uint64_t nth, std::uint64_t burst, std::uint64_t again) {
  arm(thread_name, nth, burst, MemoryKind::kOurs, again);
}
MemorySeen memory_seen() { return {seen.load(), failed.load()}; }

MemorySeen disarm_memory() {
  armed.store(0, std::memory_order_release);
  return memory_seen();
}

MemoryPause::MemoryPause() { ++here.paused; }
MemoryPause::~MemoryPause() { --here.paused; }
MemoryResume::MemoryResume() : paused_(here.paused) { here.paused = 0; }
MemoryResume::~MemoryResume() { here.paused = paused_; }

namespace {

void* take(std::size_t bytes) { return runs_out() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes); }

void* take(std::size_t bytes, std::align_val_t align) {
  const auto border = static_cast<std::size_t>(align);
  return runs_out() ? nullptr : std::aligned_alloc(border, (bytes + border - 1) / border * border);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace larder::test

using larder::test::or_throw;
using larder::test::take;

void* operator new(std::size_t bytes) { return or_throw(take(bytes)); }
void* operator new[](std::size_t bytes) { return or_throw(take(bytes)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes); }
void* operator new(std::size_t bytes, std::align_val_t align) { return or_throw(take(bytes, align)); }
void* operator new[](std::size_t bytes, std::align_val_t align) { return or_throw(take(bytes, align)); }
void* operator new(std::size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept {
  return take(bytes, align);
}
void* operator new[](std::size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept {
  return take(bytes, align);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
