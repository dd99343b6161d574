// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/worker_pool.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <numeric>

namespace larder::exec {
namespace {

TEST(WorkerPool, EveryItemRunsExactlyOnceInThousandsOfRounds) {
  WorkerPool pool(3);
  std::vector<std::uint32_t> runs(97, 0);
  for (std::uint32_t round = 1; round <= 3000; ++round) {
    const std::uint32_t items = round % 97 + 1;
    pool.for_each(items, [&](std::uint32_t item, std::uint32_t) { ++runs[item]; });
    const std::uint32_t sum = std::accumulate(runs.begin(), runs.begin() + items, 0u);
    ASSERT_EQ(sum, items);
    std::fill(runs.begin(), runs.end(), 0u);
  }
}

TEST(WorkerPool, NoItemsMeansNoCall) {
  WorkerPool pool(2);
  pool.for_each(0, [](std::uint32_t, std::uint32_t) { FAIL(); });
}

TEST(WorkerPool, OneThreadRunsInOrderOnTheCaller) {
  WorkerPool pool(1);
  EXPECT_EQ(pool.threads(), 1u);
  std::vector<std::uint32_t> order;
  pool.for_each(5, [&](std::uint32_t item, std::uint32_t worker) {
    EXPECT_EQ(worker, 0u);
    order.push_back(item);
  });
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
}

TEST(WorkerPool, AWorkerThatHoldsAnItemDoesNotStopTheOthersButTheReturn) {
  WorkerPool pool(2);
  for (int round = 0; round < 20; ++round) {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint32_t finished = 0;
    bool holds = false;
    bool let_go = false;
    // The worker keeps its first item until the caller has done all others, and only then.
    pool.for_each(16, [&](std::uint32_t, std::uint32_t worker) {
      std::unique_lock<std::mutex> lock(mutex);
      if (worker == 1) {
        holds = true;
        changed.notify_all();
        changed.wait(lock, [&] { return finished == 15; });
        let_go = true;
      } else {
        changed.wait(lock, [&] { return holds; });
        ++finished;
        changed.notify_all();
      }
    });
    const std::unique_lock<std::mutex> lock(mutex);
    ASSERT_EQ(finished, 15u);
    ASSERT_TRUE(let_go) << "returned before the last item was done, round " << round;
  }
}

TEST(WorkerPool, WorkersWakeAfterTheyFellAsleep) {
  WorkerPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint32_t arrived = 0;
    // Two items that wait for each other need two awake workers.
    pool.for_each(2, [&](std::uint32_t, std::uint32_t) {
      std::unique_lock<std::mutex> lock(mutex);
      ++arrived;
      changed.notify_all();
      changed.wait(lock, [&] { return arrived == 2; });
    });
    EXPECT_EQ(arrived, 2u);
    // Long past the spin of an idle worker.
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
}

TEST(WorkerPool, ManyPoolsComeAndGo) {
  for (int i = 0; i < 200; ++i) {
    WorkerPool pool(4);
    std::atomic<std::uint32_t> sum{0};
    pool.for_each(8, [&](std::uint32_t item, std::uint32_t) { sum += item; });
    ASSERT_EQ(sum.load(), 28u);
  }
}

}  // namespace
}  // namespace larder::exec
