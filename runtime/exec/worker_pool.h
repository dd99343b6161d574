// SPDX-License-Identifier: Apache-2.0
// WorkerPool: fork-join inside a step. for_each(n, work) runs work(item, worker) for items 0..n-1; workers take items
// from one counter, so a worker that is late or asleep takes none and nobody waits for it.
// What it is not: a queue; one for_each at a time, from one thread, not nested.
// Ensures:  for_each returns when every item is done. Which worker runs an item is open, so work must not depend on it
//           but for scratch memory.
// Owns:     threads - 1 threads; the calling thread is worker 0. Idle workers spin for some microseconds, then sleep.
// Threads:  for_each from the thread that owns the pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace larder::exec {

class WorkerPool {
 public:
  explicit WorkerPool(std::uint32_t threads);  // at least 1
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  std::uint32_t threads() const { return static_cast<std::uint32_t>(workers_.size()) + 1; }

  // Work: void(std::uint32_t item, std::uint32_t worker). Called inline where there is one item or one thread.
  // Requires: items < 2^20.
  template <typename Work>
  void for_each(std::uint32_t items, Work&& work) {
    if (items <= 1 || workers_.empty()) {
      for (std::uint32_t item = 0; item < items; ++item) work(item, 0);
      return;
    }
    using Plain = std::remove_reference_t<Work>;
    run(items, [](void* context, std::uint32_t item, std::uint32_t worker) {
      (*static_cast<Plain*>(context))(item, worker);
    }, const_cast<void*>(static_cast<const void*>(&work)));
  }

 private:
  using Function = void (*)(void* context, std::uint32_t item, std::uint32_t worker);

  void run(std::uint32_t items, Function function, void* context);
  void wait_until_done(std::uint32_t items);
  void take_items(std::uint32_t worker);
  void worker_loop(std::uint32_t worker);
  // Waits until the round differs from `seen` or the pool closes; answers whether it is open.
  bool wait_for_round(std::uint32_t seen);

  // Round (24 bits), its number of items (20) and the next item (20) in one word, so that one exchange decides: a round
  // that is used up stays so while the next one's function and context are being written.
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<std::uint32_t> done_{0};
  std::atomic<bool> caller_sleeps_{false};            // on done_
  alignas(64) std::atomic<std::uint32_t> round_{0};  // the same round, 32 bits, to sleep on
  std::atomic<std::uint32_t> sleepers_{0};            // on round_
  std::atomic<Function> function_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<bool> closing_{false};
  std::vector<std::thread> workers_;
};

}  // namespace larder::exec
