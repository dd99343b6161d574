// SPDX-License-Identifier: Apache-2.0
// ModelHost: the one loaded model and everything that lives and dies with it: executor, prefix cache, scheduler.
// Loading happens on the loader thread with progress and cancel; only the exchange happens here, when no step runs.
// Way:      load: open and check the file (the old model still answers) -> the old one's requests end, its step ends ->
//           a new executor is made -> ready -> the digest of the weights, where the cache has none: the hasher thread
//           computes it while the model answers under a load id; when the model goes, it ends within a MiB.
//           A file that is refused leaves the old model as it was.
// Errors:   a verb's answer: as load_parts; kConflict, kNotFound, kUnavailable, kCancelled.
// Threads:  engine thread.    Bounds: one model, one load at a time; a second load is kConflict.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/cold_tier.h"
#include "runtime/engine/model_files.h"
#include "runtime/engine/services.h"
#include "runtime/kv/prefix_cache.h"
#include "runtime/kv/reuse_history.h"
#include "runtime/sched/scheduler.h"

namespace larder::engine {

class ModelHost {
 public:
  struct Hooks {
    std::function<void(const Status&)> end_requests;  // ends every active request; called before a model goes
    std::function<void()> changed;                    // a model became ready, or the old one is gone
  };
  ModelHost(Services& services, ColdTier& cold, sched::SequenceSink& sink, Hooks hooks);
  ~ModelHost();

  void load(const std::string& path, VerbDone done);
  void unload(ModelId model, VerbDone done);
  // Goes on with what waits for the running step. Called at each turn.
  void tick();
  // Ends everything, waiting for the running step.
  void close();

  // Null without a ready model.
  std::shared_ptr<const LoadedModel> loaded() const { return current_ ? current_->loaded : nullptr; }
  kv::PrefixCache* cache() const { return current_ ? current_->cache.get() : nullptr; }
  sched::Scheduler* scheduler() const { return current_ ? current_->scheduler.get() : nullptr; }
  kv::ReuseHistory& history() { return history_; }
  const exec::DeviceInfo* device() const { return current_ ? &current_->executor->info() : nullptr; }
  bool draining() const { return draining_; }
  // Where the pool lies: "host" or "device".  Requires: a model.
  std::string pool_tier() const { return device()->device == "cuda" ? "device" : "host"; }

  void submit(exec::Step step);
  void abort_running();
  // Of executor `generation`; a step of one that is gone is ignored.
  void step_done(std::uint64_t generation, exec::StepResult result);
  // The same of the digest. Without one the load id stays.
  void hashed(std::uint64_t generation, const Result<Digest256>& digest);

  std::vector<ModelInfo> infos() const;
  void set_files(std::vector<ModelInfo> files) { files_ = std::move(files); }
  void apply_settings();

 private:
  struct Hashing {
    std::atomic<bool> cancel{false};
    std::atomic<double> progress{0};
  };
  struct Current {
    std::uint64_t generation = 0;
    bool ready = false;  // its cold tree is there
    std::shared_ptr<const LoadedModel> loaded;
    std::shared_ptr<kv::Identity> identity;  // what the loaded model, its prompts and its tree go by
    std::shared_ptr<Hashing> hashing;        // null: the digest was known at once
    std::string digest_error;
    std::unique_ptr<exec::Executor> executor;
    std::unique_ptr<kv::PrefixCache> cache;
    std::unique_ptr<sched::Scheduler> scheduler;
  };
  struct Loading {
    ModelId id{};
    std::string path;
    double progress = 0;
    std::shared_ptr<std::atomic<bool>> cancel;
    std::optional<LoadedParts> parts;
    VerbDone done;
  };

  void parts_ready(ModelId id, Result<LoadedParts> parts);
  void make_executor();
  using MadeExecutor = std::shared_ptr<Result<std::unique_ptr<exec::Executor>>>;
  void executor_ready(ModelId id, std::uint64_t generation, const MadeExecutor& made);
  void answer_now(const VerbDone& done);
  void start_hashing();
  void stop_hashing();
  void load_failed(const Error& error);
  void begin_drain(VerbDone done, const char* why);
  void drop_current();
  ModelInfo current_info() const;
  sched::SchedulerLimits limits() const;

  Services& services_;
  ColdTier& cold_;
  sched::SequenceSink& sink_;
  const Hooks hooks_;
  kv::ReuseHistory history_;
  std::unique_ptr<Current> current_;
  std::unique_ptr<Loading> loading_;
  std::optional<ModelInfo> failed_;
  std::vector<ModelInfo> files_;
  bool draining_ = false;
  VerbDone unload_done_;
  std::uint32_t next_model_ = 1;
  std::uint64_t next_generation_ = 1;
};

}  // namespace larder::engine
