// SPDX-License-Identifier: Apache-2.0
// Services: what the engine thread's parts share with the rest of the engine, handed to them by reference. All of it
// outlives the engine thread.
// Errors:   a verb that goes unanswered because the engine closes is kUnavailable.
// Threads:  any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/base/inbox.h"
#include "runtime/base/out_of_memory.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/loaded_model.h"
#include "runtime/engine/snapshot_state.h"
#include "runtime/engine/work_pool.h"
#include "runtime/observe/metrics.h"
#include "runtime/settings/settings.h"
#include "runtime/tenant/registry.h"

namespace larder::engine {

class EngineLoop;
// What the engine thread is asked to do; run by it alone, in order.
using LoopTask = std::function<void(EngineLoop&)>;
using LoopInbox = Inbox<LoopTask>;

struct Services {
  const Clock& clock;
  settings::Settings& settings;
  tenant::Registry& registry;
  observe::Metrics& metrics;
  WorkPool& preparation;
  WorkPool& loader;
  WorkPool& clerk;   // changes of files: tenants, keys, settings
  WorkPool& hasher;  // digests of models that answer already
  LoadedModels& models;
  SnapshotSlot& snapshots;
  std::atomic<std::uint32_t>& waiting;  // requests submitted and not started
  std::atomic<std::uint64_t>& next_request;
  std::shared_ptr<LoopInbox> inbox;
  ExecutorFactory make_executor;
  WeightsHasher hash_weights;
  DiskOpener open_disk;
  MemoryReader read_memory;
  std::string data_dir;
  std::string models_dir;
  std::string digest_cache;
  std::string packs_dir;
};

// Calls `done` exactly once: with the answer, or when it goes unanswered because the engine closes. A `done` that
// throws for want of memory was not answered, and is called again.
class OnceDone {
 public:
  explicit OnceDone(std::function<void(Result<VerbResult>)> done) : done_(std::move(done)) {}
  ~OnceDone() {
    if (!had_memory([this] { answer(Error{ErrorCode::kUnavailable, "the engine is closing", ""}); })) refuse_memory();
  }
  OnceDone(const OnceDone&) = delete;
  OnceDone& operator=(const OnceDone&) = delete;
  void answer(Result<VerbResult> result) {
    if (done_ == nullptr) return;
    done_(std::move(result));
    done_ = nullptr;
  }
  void refuse_memory() noexcept {
    static_cast<void>(had_memory([this] { answer(out_of_memory()); }));
  }

 private:
  std::function<void(Result<VerbResult>)> done_;
};
using VerbDone = std::shared_ptr<OnceDone>;

}  // namespace larder::engine
