// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/worker_pool.h"

#include <chrono>

#include "runtime/base/invariant.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace larder::exec {
namespace {

// A sleeping worker costs a system call to wake; a phase of a decode step is shorter than that.
constexpr auto kSpin = std::chrono::microseconds(30);
constexpr int kPausesPerLook = 8;

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Spins until `ready()` or kSpin has passed; answers what ready() said last.
template <typename Ready>
bool spin_until(Ready ready) {
  const auto deadline = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (ready()) return true;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

}  // namespace

WorkerPool::WorkerPool(std::uint32_t threads) {
  INVARIANT(threads >= 1);
  workers_.reserve(threads - 1);
  for (std::uint32_t worker = 1; worker < threads; ++worker) {
    workers_.emplace_back([this, worker] { worker_loop(worker); });
  }
}

WorkerPool::~WorkerPool() {
  closing_.store(true, std::memory_order_release);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : workers_) thread.join();
}

void WorkerPool::run(std::uint32_t items, Function function, void* context) {
  const std::uint64_t round = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
  done_.store(0, std::memory_order_relaxed);
  items_.store(items, std::memory_order_relaxed);
  function_.store(function, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  ticket_.store(round << 32, std::memory_order_release);
  round_.store(static_cast<std::uint32_t>(round), std::memory_order_release);
  round_.notify_all();
  take_items(0);
  if (spin_until([&] { return done_.load(std::memory_order_acquire) == items; })) return;
  for (std::uint32_t done = done_.load(std::memory_order_acquire); done != items;
       done = done_.load(std::memory_order_acquire)) {
    done_.wait(done, std::memory_order_acquire);
  }
}

void WorkerPool::take_items(std::uint32_t worker) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (true) {
    const std::uint32_t items = items_.load(std::memory_order_relaxed);
    const Function function = function_.load(std::memory_order_relaxed);
    void* const context = context_.load(std::memory_order_relaxed);
    const auto item = static_cast<std::uint32_t>(ticket);
    if (item >= items) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      continue;
    }
    function(context, item, worker);
    if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == items) done_.notify_all();
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

bool WorkerPool::wait_for_round(std::uint32_t seen) {
  if (!spin_until([&] { return round_.load(std::memory_order_acquire) != seen; })) {
    round_.wait(seen, std::memory_order_acquire);
  }
  return !closing_.load(std::memory_order_acquire);
}

void WorkerPool::worker_loop(std::uint32_t worker) {
  std::uint32_t seen = 0;
  while (wait_for_round(seen)) {
    seen = round_.load(std::memory_order_acquire);
    take_items(worker);
  }
}

}  // namespace larder::exec
