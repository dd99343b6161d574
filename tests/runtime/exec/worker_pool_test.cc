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

TEST(WorkerPool, AWorkerThatHoldsAnItemDoesNotStopTheOthers) {
  WorkerPool pool(2);
  std::mutex mutex;
  std::condition_variable changed;
  std::uint32_t finished = 0;
  // The holder of item 0 goes on only when all other items are done, so somebody else must have done them.
  pool.for_each(16, [&](std::uint32_t item, std::uint32_t) {
    std::unique_lock<std::mutex> lock(mutex);
    if (item == 0) {
      changed.wait(lock, [&] { return finished == 15; });
    } else {
      ++finished;
      changed.notify_all();
    }
  });
  EXPECT_EQ(finished, 15u);
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
