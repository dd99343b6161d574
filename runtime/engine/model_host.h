// SPDX-License-Identifier: Apache-2.0
// ModelHost: which models are here, and how they come and go. Loading happens on the loader thread with progress and
// cancel; what comes and goes is exchanged here, between steps.
// Way:      load: open and check the file (all go on answering) -> those that have to make room go (model_room.h: idle
//           ones, or the one of the same file): their requests end, their steps end, what can be durable is -> a new
//           executor is made -> its cold tree comes -> ready -> the digest of the weights, where the cache has none:
//           the hasher thread computes it while the model answers under a load id; when the model goes, it ends within
//           a MiB. A file that is refused, or finds no room, leaves everything as it was.
// Errors:   a verb's answer: as load_parts and room_for; kConflict, kNotFound, kUnavailable, kCancelled.
// Threads:  engine thread.    Bounds: engine.max_models models, one load at a time; a second load is kConflict.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/engine/model_room.h"
#include "runtime/engine/resident_model.h"

namespace larder::engine {

class ModelHost {
 public:
  struct Hooks {
    std::function<void(ResidentModel&, const Status&)> end_requests;  // ends its active requests; called before it goes
    std::function<bool(ModelId)> busy;                                // has it active requests?
    std::function<void(ResidentModel&)> ready;                        // it answers from now on
    std::function<void(ModelId)> gone;
  };
  ModelHost(Services& services, DiskTier& disk, entry::EntryBook& entries, sched::SequenceSink& sink, Hooks hooks);
  ~ModelHost();

  void load(const std::string& path, VerbDone done);
  void unload(ModelId model, VerbDone done);
  // Goes on with what waits for the running step. Called at each turn.
  void tick();
  // Shares the KV budget anew among the models, by what each has to do now: what each needs, and the limit it has got,
  // in the order of all().
  std::vector<PoolShare> share_pools();
  // Whether pool.bytes could have this value now.  Errors: kResourceExhausted, kConflict (pins), with the arithmetic.
  Status may_be(std::uint64_t pool_bytes) const;
  std::uint64_t kv_bytes() const { return models_.empty() ? 0 : kv_bytes_; }
  std::uint64_t pin_budget_bytes() const;  // of all
  bool pools_busy() const;  // the next turn has something to take back
  // What pins of this model may take beside those of the others; before a pin is made.
  void bound_pins(ResidentModel& model) const;
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
  // What models did that are gone.
  struct Past {
    std::uint64_t prefill_rows = 0;
    std::uint64_t decode_rows = 0;
    std::uint64_t steps = 0;
    std::uint64_t evicted_blocks = 0;
  };
  const Past& past() const { return past_; }

  std::vector<ModelInfo> infos() const;
  void set_files(std::vector<ModelInfo> files) { files_ = std::move(files); }
  void apply_settings();

 private:
  struct Loading {
    ModelId id{};
    std::string path;
    double progress = 0;
    std::shared_ptr<std::atomic<bool>> cancel;
    std::optional<LoadedParts> parts;  // checked, waiting for those that go
    bool making = false;               // its executor is
    VerbDone done;
  };

  void parts_ready(ModelId id, Result<LoadedParts> parts);
  std::vector<ResidentFacts> facts() const;
  void name_apart(LoadedParts& parts) const;
  void make_executor_if_free();
  using MadeExecutor = std::shared_ptr<Result<std::unique_ptr<exec::Executor>>>;
  void executor_ready(ModelId id, std::uint64_t generation, const MadeExecutor& made);
  void load_failed(const Error& error);
  void answers_now(ResidentModel& model);
  void begin_drain(ResidentModel& model, const char* why);
  void drop(ResidentModel& model);
  void publish();
  std::uint64_t pin_budget(std::uint64_t kv_bytes, std::uint64_t longest_bytes) const;
  void follow_budget();
  bool any_drains() const;

  Services& services_;
  const Hooks hooks_;
  kv::ReuseHistory history_;
  kv::IdSource ids_;
  const ResidentModel::Shared shared_;
  std::vector<std::unique_ptr<ResidentModel>> models_;
  std::unique_ptr<Loading> loading_;
  std::optional<ModelInfo> failed_;
  std::vector<ModelInfo> files_;
  std::unordered_map<ModelId, VerbDone> unloads_;
  std::uint64_t kv_bytes_ = 0;  // that the models here may hold
  std::uint64_t default_kv_bytes_ = 0;  // what pool.bytes = 0 stands for
  Past past_;
  std::uint32_t next_model_ = 1;
  std::uint64_t next_generation_ = 1;
};

}  // namespace larder::engine
