// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/work_pool.h"

#include <chrono>
#include <exception>

#include "runtime/base/log.h"

namespace larder::engine {

WorkPool::WorkPool(std::string name, unsigned threads, std::size_t capacity)
    : name_(std::move(name)), tasks_(capacity) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

WorkPool::~WorkPool() {
  stopping_.store(true);
  tasks_.close();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkPool::post(std::function<void()> task) { return tasks_.push(std::move(task)); }

void WorkPool::run() {
  while (!stopping_.load()) {
    std::optional<std::function<void()>> task = tasks_.pop_for(std::chrono::seconds(60));
    if (!task || stopping_.load()) continue;
    try {
      (*task)();
    } catch (const std::exception& failure) {
      log::error(name_, std::string("a task ended early: ") + failure.what());
    }
  }
}

}  // namespace larder::engine
