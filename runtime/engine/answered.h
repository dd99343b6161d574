// SPDX-License-Identifier: Apache-2.0
// post_answered: work on a pool, whose answer comes back to the engine thread whatever happens to the work. The way
// back is laid before the work begins, so that memory that runs out for it is its answer: kResourceExhausted.
// Errors:   false: the pool has no room, and nobody will be answered.
// Threads:  called on any; `work` runs on the pool, `then` on the engine thread. A pool that closes drops both.
#pragma once

#include <memory>
#include <utility>

#include "runtime/base/out_of_memory.h"
#include "runtime/engine/services.h"

namespace larder::engine {

// work() answers a Result<T>; then(EngineLoop&, Result<T>) takes it.
template <typename T, typename Work, typename Then>
[[nodiscard]] bool post_answered(WorkPool& pool, const std::shared_ptr<LoopInbox>& inbox, Work work, Then then) {
  const auto answer = std::make_shared<Result<T>>(out_of_memory());
  const auto way_back = std::make_shared<LoopInbox::Place>(
      LoopTask([answer, then = std::move(then)](EngineLoop& loop) { then(loop, std::move(*answer)); }));
  return pool.post([inbox, answer, way_back, work = std::move(work)] {
    static_cast<void>(had_memory([&] { *answer = work(); }));
    inbox->push_reserved(std::move(*way_back));
  });
}

}  // namespace larder::engine
