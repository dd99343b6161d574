// SPDX-License-Identifier: Apache-2.0
// ModelHost: which models are here, and how they come and go. Loading happens on the loader thread with progress and
// cancel; only the exchange happens here, when no step runs.
// Way:      load: open and check the file (the old model still answers) -> the old one's requests end, its step ends ->
//           a new executor is made -> ready -> the digest of the weights, where the cache has none: the hasher thread
//           computes it while the model answers under a load id; when the model goes, it ends within a MiB.
//           A file that is refused leaves the old model as it was.
// Errors:   a verb's answer: as load_parts; kConflict, kNotFound, kUnavailable, kCancelled.
// Threads:  engine thread.    Bounds: one model, one load at a time; a second load is kConflict.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/resident_model.h"

namespace larder::engine {

class ModelHost {
 public:
  struct Hooks {
    std::function<void(ResidentModel&, const Status&)> end_requests;  // ends its active requests; called before it goes
    std::function<void()> changed;                                    // a model became ready, or one is gone
  };
  ModelHost(Services& services, DiskTier& disk, entry::EntryBook& entries, sched::SequenceSink& sink, Hooks hooks);
  ~ModelHost();

  void load(const std::string& path, VerbDone done);
  void unload(ModelId model, VerbDone done);
  // Goes on with what waits for the running step. Called at each turn.
  void tick();
  // Ends everything, waiting for the running step.
  void close();

  // In the order in which they were loaded, those included that are coming or going.
  const std::vector<std::unique_ptr<ResidentModel>>& all() const { return models_; }
  // Null when there is none: the one loaded last that answers; the one of this id, this generation; the one whose tree
  // has the node.
  ResidentModel* newest() const;
  ResidentModel* of(ModelId id) const;
  ResidentModel* of_generation(std::uint64_t generation) const;
  ResidentModel* of(NodeId node) const;
  kv::ReuseHistory& history() { return history_; }

  std::vector<ModelInfo> infos() const;
  void set_files(std::vector<ModelInfo> files) { files_ = std::move(files); }
  void apply_settings();

 private:
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
  void load_failed(const Error& error);
  void begin_drain(ResidentModel& model, VerbDone done, const char* why);
  void drop(ResidentModel& model);
  void publish();
  bool any_drains() const;

  Services& services_;
  const Hooks hooks_;
  kv::ReuseHistory history_;
  const ResidentModel::Shared shared_;
  std::vector<std::unique_ptr<ResidentModel>> models_;
  std::unique_ptr<Loading> loading_;
  std::optional<ModelInfo> failed_;
  std::vector<ModelInfo> files_;
  VerbDone unload_done_;
  std::uint32_t next_model_ = 1;
  std::uint64_t next_generation_ = 1;
};

}  // namespace larder::engine
