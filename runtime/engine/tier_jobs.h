// SPDX-License-Identifier: Apache-2.0
// TierJobs: the verbs over tiers that wait and the one that works, in slices of the engine thread's turns.
// Ensures:  moving, the store's threads included, takes at most kShare of one core; a slice is at most kSliceNs and one
//           block long and begins after the turn's step was handed to the device. A model's end, a deleted tenant or
//           run and a stop end a job with that reason; what it moved till then is where it is.
// Bounds:   kMaxWaiting orders wait; one works.
// Errors:   order: kUnavailable, kConflict, kNotFound, kInvalidArgument, kResourceExhausted; later in JobInfo::error.
//           std::bad_alloc leaves all whole: turn goes on where it was.
// Threads:  engine thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/engine/block_mover.h"
#include "runtime/engine/job_list.h"
#include "runtime/engine/services.h"
#include "runtime/engine/throttle.h"
#include "runtime/engine/tier_work.h"

namespace larder::engine {

class ModelHost;
class ResidentModel;
class ReusePromises;

class TierJobs final : public BlockMover {
 public:
  static constexpr double kShare = 0.2;
  static constexpr Ticks kSliceNs = 100'000;
  static constexpr std::size_t kMaxWaiting = 8;

  struct Hooks {
    // Has a run computed as an exact request of its owner, and tells computed() how that ended. 0: memory ran out.
    std::function<RequestId(const ResidentModel&, const kv::RunPrompt&)> compute;
    std::function<void(RequestId)> cancel;
    std::function<void(NodeId gone, NodeId instead)> replaced;
  };

  TierJobs(Services& services, ModelHost& models, DiskTier& disk, JobList& jobs, ReusePromises& promises, Hooks hooks);
  ~TierJobs() override;

  // `to`: "disk", "pool", or the pool's own name; of a compress the scheme; else not looked at. A dry run answers what
  // would be done.
  Result<JobInfo> order(const Principal& who, TierVerb verb, const kv::BlockRange& range, const std::string& to,
                        bool dry_run);
  Status cancel(JobId id);  // kNotFound; kConflict (it ended, or cannot be cancelled)

  // A slice, when one may be done. wake: when the next one may; nothing while there is none to do.
  void turn();
  std::optional<Ticks> wake() const;

  void computed(RequestId request, const Status& how);

  // All of them end with this reason; those of a model; those of a scope; those whose run is gone.
  void end_all(const Status& why);
  void end_model(std::uint64_t generation, const Status& why);
  void end_scope(const ScopeId& scope, const Status& why);
  void nodes_deleted();

  // BlockMover
  void written(NodeId node, storage::Refusal refusal) override;
  void read(std::uint64_t tag, storage::Miss miss, std::uint64_t checksum) override;
  void rounded(const Rounded& what) override;
  void store_closed() override;

 private:
  struct Waiting {
    JobId id{};
    std::uint64_t generation = 0;  // of the model whose tree it is
    TierOrder order;
    ScopeId scope{};
  };
  struct Active {
    JobId id{};
    std::uint64_t generation = 0;
    std::unique_ptr<TierWork> work;
    RequestId computing{};  // 0: no run is being computed for it
    bool cancelled = false;
    std::optional<Error> why;  // it ends with this
  };

  struct Foreseen {
    TierTally tally;
    CodecFigures codec;
  };

  Result<TierOrder> checked(const ResidentModel& model, const Principal& who, TierVerb verb,
                            const kv::BlockRange& range, const std::string& to);
  static Status check_codec(const ResidentModel& model, TierOrder& order, const std::string& scheme);
  static Result<Foreseen> foreseen(ResidentModel& model, const TierOrder& order, const std::vector<NodeId>& nodes);
  static std::unique_ptr<TierWork> make_work(const ResidentModel& model, const TierOrder& order,
                                             std::vector<NodeId> nodes, const ScopeId& scope);
  static JobInfo describe(const ResidentModel& model, const TierOrder& order, const Foreseen& what,
                          std::uint64_t blocks, bool dry_run);
  ResidentModel& active_model() const;
  bool may_work() const;
  void start_next();
  void charge_store(Ticks now);
  void end_active(const Status& why);
  void stop_active();
  void end_waiting_where(const std::function<bool(const Waiting&)>& which, const Status& why);
  void end_waiting(JobId id, JobInfo::State state, std::string error);
  void say_ended(const Active& over, const std::string& words) const;
  void note();
  void finish_if_over(TierWork::Step step);

  Services& services_;
  ModelHost& models_;
  DiskTier& disk_;
  JobList& jobs_;
  ReusePromises& promises_;
  const Hooks hooks_;
  Throttle throttle_{kShare};
  Ticks store_cpu_ns_ = 0;
  bool waits_ = false;
  std::deque<Waiting> waiting_;
  std::unique_ptr<Active> active_;
};

}  // namespace larder::engine
