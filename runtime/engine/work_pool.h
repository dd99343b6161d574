// SPDX-License-Identifier: Apache-2.0
// WorkPool: a few threads with one bounded queue, for what must not happen on the engine thread: preparation, loading,
// changes of files.
// Bounds:   `capacity` waiting tasks; post answers false when full.
// Ensures:  the destructor runs no further task; those waiting are dropped. A task that throws ends the task only.
// Threads:  post from any.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/inbox.h"

namespace larder::engine {

class WorkPool {
 public:
  WorkPool(std::string name, unsigned threads, std::size_t capacity);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  [[nodiscard]] bool post(std::function<void()> task);
  std::size_t waiting() const { return tasks_.size(); }

 private:
  void run();

  const std::string name_;
  Inbox<std::function<void()>> tasks_;
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

}  // namespace larder::engine
