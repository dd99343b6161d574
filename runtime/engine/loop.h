// SPDX-License-Identifier: Apache-2.0
// EngineLoop: the engine thread. It owns the model host (tree, pool, scheduler, executor), the requests, packs, entries
// and history; everything else reaches them through its inbox. One turn: take tasks, start the next step, publish a
// snapshot when somebody asked.
// Bounds:   kTasksPerTurn tasks between two looks at the device.
// Errors:   where memory runs out, the request it was needed for ends with kResourceExhausted, and the next turn goes
//           on with everything else.
// Threads:  start and stop from the owner; the rest on its own thread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "runtime/engine/model_host.h"
#include "runtime/engine/pack_shelf.h"
#include "runtime/engine/request_table.h"
#include "runtime/engine/reuse_promises.h"
#include "runtime/engine/services.h"
#include "runtime/engine/snapshot_builder.h"
#include "runtime/engine/tier_jobs.h"
#include "runtime/engine/verb_runner.h"
#include "runtime/entry/entry_book.h"
#include "runtime/observe/history.h"

namespace larder::engine {

class EngineLoop {
 public:
  explicit EngineLoop(Services& services);
  ~EngineLoop();  // stop()

  void start();
  void stop();

  // On the engine thread only:
  void begin(Incoming incoming);
  // An internal request whose tokens are known: its prompt is computed and kept, nothing is drawn.
  void begin_prepared(Incoming incoming, Prepared prepared);
  void prepared(RequestId id, const Result<Prepared>& prepared);
  void cancel(RequestId id, const Status& status);
  void end_all(const Status& status);
  void end_all_of(ResidentModel& model, const Status& status);
  bool closing() const { return closing_; }
  void want_snapshot() { snapshot_wanted_ = true; }
  // Who is to be told if memory runs out for the task that runs now.
  void works_for(VerbDone verb) { at_work_.verb = std::move(verb); }

  ModelHost& models() { return models_; }
  DiskTier& disk() { return disk_; }
  RequestTable& requests() { return requests_; }
  PackShelf& packs() { return packs_; }
  entry::EntryBook& entries() { return entries_; }
  VerbRunner& verbs() { return verbs_; }
  JobList& jobs() { return jobs_; }
  TierJobs& tiers() { return tiers_; }
  ReusePromises& promises() { return promises_; }
  Services& services() { return services_; }
  RequestId next_request_id();

 private:
  // What the engine thread is doing for a request just now.
  struct Work {
    RequestId request{};
    bool comes_in = false;                // it is counted as waiting, and not in the table yet
    std::shared_ptr<TokenStream> stream;  // of one that comes in; null: internal
    VerbDone verb;
  };

  void run();
  void close();
  void drain_to_disk();
  void turn();
  void run_tasks();
  void run_task(LoopTask& task);
  void run_step();
  bool try_step(const std::vector<sched::Contender>& contenders);
  bool device_busy() const;
  void cancel_orphans();
  void lost_memory() noexcept;
  void end_overdue();
  void model_ready(ResidentModel& ready);
  void model_gone(ModelId model);
  void note_ended(const Ended& ended);
  void check_promises(const Ended& ended);
  TierJobs::Hooks job_hooks();
  RequestId compute_exactly(const ResidentModel& model, const kv::RunPrompt& run);
  void publish_if_due();
  std::chrono::nanoseconds longest_wait() const;

  Services& services_;
  RequestTable requests_;
  entry::EntryBook entries_;
  DiskTier disk_;
  ModelHost models_;
  JobList jobs_;
  ReusePromises promises_;
  TierJobs tiers_;
  sched::Turns turns_;
  PackShelf packs_;
  observe::History history_;
  SnapshotBuilder snapshots_;
  VerbRunner verbs_;
  Work at_work_;
  bool closing_ = false;
  bool snapshot_wanted_ = true;
  bool hand_over_failed_ = false;  // for want of memory: the step is tried again soon
  Ticks last_snapshot_ = 0;
  Ticks last_pin_sweep_ = 0;
  Ticks last_lost_ = 0;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace larder::engine
