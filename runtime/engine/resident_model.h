// SPDX-License-Identifier: Apache-2.0
// ResidentModel: one loaded model and everything that lives and dies with it: executor, prefix cache, its part of the
// lower tier, scheduler, and the digest of its weights while that is being computed.
// Way:      made from a checked file and an executor -> begin (its cold tree comes) -> answers; the digest follows on
//           the hasher thread -> begin_drain -> drained -> retire. close instead, when the engine ends.
// Errors:   a digest that was not computed stands in info(); the model answers without it.
// Owns:     what stands above.    Threads: engine thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "runtime/engine/cold_tier.h"
#include "runtime/engine/model_files.h"
#include "runtime/engine/pool_budget.h"
#include "runtime/engine/pool_limit.h"
#include "runtime/engine/services.h"
#include "runtime/kv/id_source.h"
#include "runtime/kv/prefix_cache.h"
#include "runtime/kv/reuse_history.h"
#include "runtime/sched/scheduler.h"

namespace larder::engine {

class ResidentModel {
 public:
  // What all models of an engine share.
  struct Shared {
    Services& services;
    DiskTier& disk;
    entry::EntryBook& entries;
    sched::SequenceSink& sink;
    kv::ReuseHistory& history;
    kv::IdSource& ids;
  };
  // generation: unique in this engine and not 0; results of steps and digests come back under it.
  ResidentModel(const Shared& shared, std::uint64_t generation, LoadedParts parts,
                std::unique_ptr<exec::Executor> executor);
  ~ResidentModel();  // close

  std::uint64_t generation() const { return generation_; }
  const std::shared_ptr<const LoadedModel>& loaded() const { return loaded_; }
  ModelId id() const { return loaded_->id; }
  std::string path() const { return loaded_->model->path(); }
  std::uint32_t longest_request_blocks() const { return request_blocks(loaded_->bounds->max_request_tokens); }
  std::uint64_t block_bytes() const { return loaded_->layout.block_bytes(); }
  kv::PrefixCache& cache() { return *cache_; }
  const kv::PrefixCache& cache() const { return *cache_; }
  sched::Scheduler& scheduler() { return *scheduler_; }
  const sched::Scheduler& scheduler() const { return *scheduler_; }
  ColdTier& cold() { return *cold_; }
  const ColdTier& cold() const { return *cold_; }
  const exec::DeviceInfo& device() const { return executor_->info(); }
  // Where the pool lies: "host" or "device".
  std::string pool_tier() const { return device().device == "cuda" ? "device" : "host"; }

  // `ready` is called once its cold tree is there; from then on it answers.
  void begin(std::function<void()> ready);
  bool ready() const { return ready_; }
  bool draining() const { return draining_; }
  bool answers() const { return ready_ && !draining_; }
  // When a request came to it or ended last.
  Ticks last_use() const { return last_use_; }
  void used() { last_use_ = services_.clock.now(); }

  void submit(exec::Step step) { executor_->submit(std::move(step)); }
  void abort_running();
  void step_done(exec::StepResult result) { scheduler_->finish_step(std::move(result)); }
  // Without a digest the load id stays.
  void hashed(const Result<Digest256>& digest);

  void begin_drain();  // it takes nothing more; its requests are the caller's to end
  bool drained();      // nothing runs, and what can be durable is
  // Its nodes become ghosts. The executor, whose arena takes a while to give back.  Requires: drained.
  std::unique_ptr<exec::Executor> retire();
  // Waits for the running step; its result finds nobody any more.  Requires: the store was closed.
  void close();

  // What it needs of the pool, for share_pool; then its new limit, in blocks, which answers the one in force, and a
  // slice of what that asks for.
  PoolShare pool_share() const;
  std::uint32_t set_pool_limit(std::uint32_t blocks);
  // Whether a budget of so many bytes can be.  Errors: kResourceExhausted with the arithmetic.
  Result<PoolPlan> plan_for(std::uint64_t kv_bytes) const;
  // The budget is another one now; its pool follows with its share.  Requires: plan_for says yes.
  void follow(const PoolPlan& plan);
  void turn_pool() { pool_limit_->turn(cold_->durable()); }
  bool pool_busy() const { return pool_limit_->busy(); }
  // Pins of this model may take so many blocks now.
  void bound_pins(std::uint32_t budget_blocks);

  void apply_settings();
  PoolInfo pool_info() const;
  ModelInfo info() const;

 private:
  struct Hashing {
    std::atomic<bool> cancel{false};
    std::atomic<double> progress{0};
  };

  std::uint32_t first_blocks() const;
  void start_hashing();
  void stop_hashing();
  sched::SchedulerLimits limits() const;

  Services& services_;
  const std::uint64_t generation_;
  std::shared_ptr<const LoadedModel> loaded_;
  std::shared_ptr<kv::Identity> identity_;  // what the loaded model, its prompts and its tree go by
  std::shared_ptr<Hashing> hashing_;        // null: the digest was known at once
  std::string digest_error_;
  std::unique_ptr<exec::Executor> executor_;
  std::unique_ptr<kv::PrefixCache> cache_;
  std::unique_ptr<PoolLimit> pool_limit_;
  const std::uint32_t most_blocks_;  // that its device can have
  std::unique_ptr<ColdTier> cold_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  bool ready_ = false;
  bool draining_ = false;
  bool settled_ = false;  // its pool has had the room that a model begins with
  Ticks last_use_ = 0;
};

}  // namespace larder::engine
