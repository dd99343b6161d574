// SPDX-License-Identifier: Apache-2.0
// Engine::Core: the parts of one engine in the order in which they may go: the engine thread first, then the pools
// whose tasks post to it, then what both use. It decides nothing. Threads: as Engine.
#pragma once

#include <atomic>
#include <memory>

#include "runtime/engine/engine.h"
#include "runtime/engine/loop.h"
#include "runtime/engine/services.h"
#include "storage/data_dir.h"

namespace larder::engine {

inline constexpr std::size_t kInboxCapacity = 8192;
inline constexpr std::size_t kPrepareCapacity = 4096;
inline constexpr std::size_t kClerkCapacity = 256;

class Engine::Core {
 public:
  struct Opened {
    std::unique_ptr<storage::DataDir> dir;
    std::unique_ptr<settings::Settings> settings;
    std::unique_ptr<tenant::Registry> registry;
  };
  Core(EngineOptions options, Opened opened, std::unique_ptr<Clock> own_clock);
  ~Core();

  storage::DataDir& dir() { return *opened_.dir; }
  const Clock& clock() const { return *clock_; }
  settings::Settings& settings() { return *opened_.settings; }
  tenant::Registry& registry() { return *opened_.registry; }
  observe::Metrics& metrics() { return metrics_; }
  LoopInbox& inbox() { return *inbox_; }
  LoadedModels& models() { return models_; }
  SnapshotSlot& snapshots() { return snapshots_; }
  std::atomic<std::uint32_t>& waiting() { return waiting_; }
  RequestId next_request_id() { return RequestId{next_request_.fetch_add(1)}; }
  std::shared_ptr<LoopInbox> shared_inbox() { return inbox_; }

  // Asks for a fresh snapshot, and now and then for a look into the models folder.
  void want_snapshot();
  void scan_models();

 private:
  const EngineOptions options_;
  std::unique_ptr<Clock> own_clock_;
  const Clock* clock_;
  Opened opened_;
  observe::Metrics metrics_;
  LoadedModels models_;
  SnapshotSlot snapshots_;
  std::shared_ptr<LoopInbox> inbox_;
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uint64_t> next_request_{1};
  std::atomic<bool> snapshot_asked_{false};
  std::atomic<Ticks> last_scan_{0};
  WorkPool preparation_;
  WorkPool loader_;
  WorkPool clerk_;
  WorkPool hasher_;
  Services services_;
  std::unique_ptr<EngineLoop> loop_;
};

}  // namespace larder::engine
