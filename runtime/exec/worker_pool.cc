// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/worker_pool.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <climits>

#include "runtime/base/invariant.h"
#include "runtime/exec/pause.h"

namespace larder::exec {
namespace {

// A sleeping worker costs a system call to wake; a phase of a decode step is shorter than that.
constexpr auto kSpin = std::chrono::microseconds(30);
constexpr int kPausesPerLook = 8;

constexpr std::uint32_t kItemBits = 20;
constexpr std::uint32_t kItemMask = (1u << kItemBits) - 1;

constexpr std::uint64_t first_ticket(std::uint32_t round, std::uint32_t items) {
  return (std::uint64_t{round} << (2 * kItemBits)) | (std::uint64_t{items} << kItemBits);
}
constexpr std::uint32_t next_of(std::uint64_t ticket) { return static_cast<std::uint32_t>(ticket) & kItemMask; }
constexpr std::uint32_t items_of(std::uint64_t ticket) {
  return static_cast<std::uint32_t>(ticket >> kItemBits) & kItemMask;
}

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// Sleeps while `word` is `value`; may wake early. Plain futexes, because with std::atomic::wait of libstdc++ 12 waiters
// slept on after their wake-up.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
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
  round_.fetch_add(1);
  wake_all(round_);
  for (std::thread& thread : workers_) thread.join();
}

void WorkerPool::run(std::uint32_t items, Function function, void* context) {
  INVARIANT(items <= kItemMask);
  const std::uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  done_.store(0, std::memory_order_relaxed);
  function_.store(function, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  ticket_.store(first_ticket(round, items), std::memory_order_release);
  // In one total order with a worker's count of itself: either it sees this round or we see that it sleeps.
  round_.store(round);
  if (sleepers_.load() != 0) wake_all(round_);
  take_items(0);
  wait_until_done(items);
}

void WorkerPool::wait_until_done(std::uint32_t items) {
  if (spin_until([&] { return done_.load(std::memory_order_acquire) == items; })) return;
  caller_sleeps_.store(true);
  for (std::uint32_t done = done_.load(); done != items; done = done_.load()) sleep_on(done_, done);
  caller_sleeps_.store(false);
}

void WorkerPool::take_items(std::uint32_t worker) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (true) {
    const std::uint32_t items = items_of(ticket);
    const Function function = function_.load(std::memory_order_relaxed);
    void* const context = context_.load(std::memory_order_relaxed);
    const std::uint32_t item = next_of(ticket);
    if (item >= items) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      continue;
    }
    function(context, item, worker);
    if (done_.fetch_add(1) + 1 == items && caller_sleeps_.load()) wake_all(done_);
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

bool WorkerPool::wait_for_round(std::uint32_t seen) {
  if (!spin_until([&] { return round_.load(std::memory_order_acquire) != seen; })) {
    sleepers_.fetch_add(1);
    while (round_.load() == seen) sleep_on(round_, seen);
    sleepers_.fetch_sub(1);
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
