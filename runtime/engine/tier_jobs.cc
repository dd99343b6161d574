// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/tier_jobs.h"

#include <algorithm>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/base/log.h"
#include "runtime/engine/model_host.h"
#include "runtime/engine/reuse_promises.h"
#include "runtime/engine/tier_words.h"

namespace larder::engine {
namespace {

constexpr Ticks kAskAgainNs = 10'000'000;

Error no_model() { return {ErrorCode::kUnavailable, "no model is loaded: load one first", ""}; }

}  // namespace

TierJobs::TierJobs(Services& services, ModelHost& models, DiskTier& disk, JobList& jobs, ReusePromises& promises)
    : services_(services), models_(models), disk_(disk), jobs_(jobs), promises_(promises) {
  disk_.set_mover(this);
}

TierJobs::~TierJobs() { disk_.set_mover(nullptr); }

ResidentModel& TierJobs::active_model() const {
  ResidentModel* const model = models_.of_generation(active_->generation);
  INVARIANT(model != nullptr);  // it waits for its jobs before it goes
  return *model;
}

// Whether the job whose turn it is may do a slice.
bool TierJobs::may_work() const {
  if (!active_ && waiting_.empty()) return false;
  return !models_.of_generation(active_ ? active_->generation : waiting_.front().generation)->draining();
}

Result<TierOrder> TierJobs::checked(const ResidentModel& model, const Principal& who, TierVerb verb,
                                    const kv::BlockRange& range, const std::string& to) {
  if (model.draining()) return no_model();
  TierOrder order{verb, true, range, who.tenant};
  if (verb != TierVerb::kVerify) {
    const std::string pool = model.pool_tier();
    order.down = to == "disk";
    if (!order.down && to != "pool" && to != pool) {
      return Error{ErrorCode::kInvalidArgument,
                   "to: blocks of this model lie in " + pool + " and on disk, not in \"" + to.substr(0, 32) +
                       "\": say disk, or pool",
                   "to"};
    }
  }
  RETURN_IF_ERROR(model.cold().usable());
  return order;
}

JobInfo TierJobs::describe(const ResidentModel& model, const TierOrder& order, const TierTally& tally,
                           std::uint64_t blocks, bool dry_run) {
  JobInfo job;
  job.verb = tier_verb_name(order.verb);
  job.node = order.range.node;
  const std::string pool = model.pool_tier();
  if (order.verb != TierVerb::kVerify) job.to = order.down ? "disk" : pool;
  job.dry_run = dry_run;
  job.blocks_total = blocks;
  job.tally = tally;
  job.detail = tier_words(order, tally, blocks, model.block_bytes(), pool, dry_run);
  return job;
}

Result<JobInfo> TierJobs::order(const Principal& who, TierVerb verb, const kv::BlockRange& range, const std::string& to,
                                bool dry_run) {
  ResidentModel* model = models_.of(range.node);
  if (model == nullptr) model = models_.newest();
  if (model == nullptr) return no_model();
  ASSIGN_OR_RETURN(const TierOrder order, checked(*model, who, verb, range, to));
  const kv::PrefixCache& cache = model->cache();
  ASSIGN_OR_RETURN(const std::vector<NodeId> nodes, cache.select(range));
  JobInfo planned = describe(*model, order, foresee(order, nodes, cache, model->cold().storing()), nodes.size(), true);
  if (dry_run) {
    planned.state = JobInfo::State::kDone;
    planned.done = true;
    return planned;
  }
  if (waiting_.size() >= kMaxWaiting) {
    return Error{ErrorCode::kResourceExhausted,
                 std::to_string(kMaxWaiting) + " jobs wait already: wait for one, or cancel one", ""};
  }
  JobInfo& job = jobs_.add(planned.verb);
  planned.id = job.id;
  planned.dry_run = false;
  planned.tally = {};
  planned.detail.clear();
  planned.state = JobInfo::State::kQueued;
  planned.started = services_.clock.wall();
  job = planned;
  waiting_.push_back({job.id, model->generation(), order, *cache.scope_of(range.node)});
  return planned;
}

Status TierJobs::cancel(JobId id) {
  if (active_ && active_->id == id) {
    active_->cancelled = true;
    active_->job.stop(active_model().cache());
    finish_if_over(TierJob::Step::kWaits);
    return {};
  }
  const bool waits = std::any_of(waiting_.begin(), waiting_.end(), [id](const Waiting& each) { return each.id == id; });
  if (waits) {
    end_waiting(id, JobInfo::State::kCancelled, {});
    return {};
  }
  const JobInfo* job = jobs_.find(id);
  if (job == nullptr) {
    return Error{ErrorCode::kNotFound, "there is no job " + std::to_string(id.value), ""};
  }
  return Error{ErrorCode::kConflict,
               "job " + std::to_string(id.value) + (job->done ? " has ended already" : " cannot be cancelled"), ""};
}

void TierJobs::end_waiting(JobId id, JobInfo::State state, const std::string& error) {
  std::erase_if(waiting_, [id](const Waiting& each) { return each.id == id; });
  JobInfo* job = jobs_.find(id);
  if (job == nullptr) return;
  job->state = state;
  job->done = true;
  job->error = error;
  job->ended = services_.clock.wall();
}

void TierJobs::start_next() {
  const Waiting next = waiting_.front();
  ResidentModel& model = *models_.of_generation(next.generation);
  Result<std::vector<NodeId>> nodes = model.cache().select(next.order.range);
  const Status usable = model.cold().usable();
  if (!nodes.ok() || !usable.ok()) {
    return end_waiting(next.id, JobInfo::State::kFailed, to_string(nodes.ok() ? usable.error() : nodes.error()));
  }
  waiting_.pop_front();
  active_ = std::make_unique<Active>(
      Active{next.id, next.generation, TierJob(next.order, std::move(nodes).value(), next.scope), false, std::nullopt});
  store_cpu_ns_ = disk_.store_cpu_ns();
  if (JobInfo* job = jobs_.find(next.id)) {
    job->state = JobInfo::State::kRunning;
    job->blocks_total = active_->job.blocks();
  }
}

// What the store's threads did for it is work too.
void TierJobs::charge_store(Ticks now) {
  const Ticks used = disk_.store_cpu_ns();
  if (used > store_cpu_ns_) throttle_.spent(now, used - store_cpu_ns_);
  store_cpu_ns_ = used;
}

void TierJobs::turn() {
  if (!may_work()) return;
  const Ticks begin = services_.clock.now();
  if (!active_) start_next();
  if (!active_) return;
  charge_store(begin);
  if (!throttle_.free(begin)) return;
  ResidentModel& model = active_model();
  TierJob::Step step = TierJob::Step::kMore;
  while (step == TierJob::Step::kMore) {
    step = active_->job.step(model.cache(), model.cold());
    if (services_.clock.now() - begin >= kSliceNs) break;
  }
  waits_ = step == TierJob::Step::kWaits;
  throttle_.spent(begin, services_.clock.now() - begin);
  note();
  finish_if_over(step);
}

std::optional<Ticks> TierJobs::wake() const {
  if (!may_work()) return std::nullopt;
  if (active_) return waits_ ? std::max(throttle_.free_at(), services_.clock.now() + kAskAgainNs) : throttle_.free_at();
  return services_.clock.now();
}

void TierJobs::note() {
  JobInfo* job = jobs_.find(active_->id);
  if (job == nullptr) return;
  const std::uint64_t block_bytes = active_model().block_bytes();
  job->progress = active_->job.progress();
  job->blocks_done = active_->job.blocks_done();
  job->bytes_moved = active_->job.blocks_moved() * block_bytes;
  job->tally = active_->job.tally();
}

void TierJobs::finish_if_over(TierJob::Step step) {
  const bool ended = active_->cancelled || active_->why;
  if (!(ended ? active_->job.idle() : step == TierJob::Step::kDone)) return;
  note();
  const ResidentModel& model = active_model();
  const std::unique_ptr<Active> over = std::move(active_);
  const TierJob& work = over->job;
  const std::string words = describe(model, work.order(), work.tally(), work.blocks(), false).detail;
  if (JobInfo* job = jobs_.find(over->id)) {
    job->state = over->why         ? JobInfo::State::kFailed
                 : over->cancelled ? JobInfo::State::kCancelled
                                   : JobInfo::State::kDone;
    if (over->why) job->error = to_string(*over->why);
    if (job->state == JobInfo::State::kDone) job->progress = 1;
    job->done = true;
    job->detail = words;
    job->ended = services_.clock.wall();
  }
  const std::string name = "job " + std::to_string(over->id.value) + " (" + tier_verb_name(work.order().verb) +
                           " of run " + std::to_string(work.order().range.node.value) + ")";
  log::info("engine", name + ": " + words + (over->why ? "; ended early: " + over->why->message : ""));
  if (work.tally().damaged > 0) log::warning("engine", name + " found damage: " + words);
  if (!over->why) promises_.promise_blocks(over->id, name, work.brought_up());
}

void TierJobs::end_active(const Status& why) {
  if (!active_->why) active_->why = why.ok() ? Error{ErrorCode::kCancelled, "it was ended", ""} : why.error();
  active_->job.stop(active_model().cache());
  finish_if_over(TierJob::Step::kWaits);
}

void TierJobs::end_all(const Status& why) {
  end_waiting_where([](const Waiting&) { return true; }, why);
  if (active_) end_active(why);
}

void TierJobs::end_model(std::uint64_t generation, const Status& why) {
  end_waiting_where([&](const Waiting& each) { return each.generation == generation; }, why);
  if (active_ && active_->generation == generation) end_active(why);
}

void TierJobs::end_scope(const ScopeId& scope, const Status& why) {
  end_waiting_where([&](const Waiting& each) { return each.scope == scope; }, why);
  if (active_ && active_->job.scope() == scope) end_active(why);
}

void TierJobs::end_waiting_where(const std::function<bool(const Waiting&)>& which, const Status& why) {
  std::vector<JobId> gone;
  for (const Waiting& each : waiting_) {
    if (which(each)) gone.push_back(each.id);
  }
  for (const JobId id : gone) end_waiting(id, JobInfo::State::kFailed, why.ok() ? "" : to_string(why.error()));
}

void TierJobs::nodes_deleted() {
  if (!active_ || active_model().cache().facts(active_->job.order().range.node).node.value != 0) return;
  end_active(Error{ErrorCode::kConflict, "the run was deleted meanwhile", ""});
}

void TierJobs::written(NodeId node, storage::Refusal refusal) {
  if (!active_) return;
  active_->job.written(node, refusal);
  waits_ = false;
}

void TierJobs::read(std::uint64_t tag, storage::Miss miss, std::uint64_t checksum) {
  if (!active_) return;
  const Ticks begin = services_.clock.now();
  active_->job.read(active_model().cache(), tag, miss, checksum);
  throttle_.spent(begin, services_.clock.now() - begin);
  waits_ = false;
  if (active_->why || active_->cancelled) finish_if_over(TierJob::Step::kWaits);
}

void TierJobs::store_closed() {
  if (!active_) return;
  active_->job.store_closed(active_model().cache());
  end_active(Error{ErrorCode::kUnavailable, "the disk tier was closed", ""});
}

}  // namespace larder::engine
