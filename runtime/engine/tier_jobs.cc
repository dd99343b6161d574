// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/tier_jobs.h"

#include <algorithm>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/base/log.h"
#include "runtime/engine/compress_job.h"
#include "runtime/engine/decompress_job.h"
#include "runtime/engine/model_host.h"
#include "runtime/engine/reuse_promises.h"
#include "runtime/engine/tier_job.h"
#include "runtime/engine/tier_words.h"

namespace larder::engine {
namespace {

constexpr Ticks kAskAgainNs = 10'000'000;

std::optional<kernels::KvScheme> rounded_scheme(const std::string& word) {
  for (const kernels::KvScheme scheme : {kernels::KvScheme::kInt8, kernels::KvScheme::kInt4}) {
    if (word == kernels::kv_scheme_name(scheme)) return scheme;
  }
  return std::nullopt;
}

std::string destination(const TierOrder& order, const std::string& pool) {
  switch (order.verb) {
    case TierVerb::kCopy:
    case TierVerb::kMove:
      return order.down ? "disk" : pool;
    case TierVerb::kVerify:
      return {};
    case TierVerb::kCompress:
    case TierVerb::kDecompress:
      return kernels::kv_scheme_name(order.scheme);
  }
  return {};
}

Error no_model() { return {ErrorCode::kUnavailable, "no model is loaded: load one first", ""}; }

}  // namespace

TierJobs::TierJobs(Services& services, ModelHost& models, DiskTier& disk, JobList& jobs, ReusePromises& promises,
                   Hooks hooks)
    : services_(services), models_(models), disk_(disk), jobs_(jobs), promises_(promises), hooks_(std::move(hooks)) {
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
  if (verb == TierVerb::kCopy || verb == TierVerb::kMove) {
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
  if (verb == TierVerb::kCompress || verb == TierVerb::kDecompress) RETURN_IF_ERROR(check_codec(model, order, to));
  return order;
}

// Is there such a scheme, and are these blocks what the verb is for?
Status TierJobs::check_codec(const ResidentModel& model, TierOrder& order, const std::string& scheme) {
  const bool rounds = order.verb == TierVerb::kCompress;
  if (rounds) {
    const auto known = rounded_scheme(scheme);
    if (!known) {
      return Error{ErrorCode::kInvalidArgument,
                   "scheme: blocks are rounded to int8 or int4, not to \"" + scheme.substr(0, 32) + "\"", "scheme"};
    }
    order.scheme = *known;
    ASSIGN_OR_RETURN(const auto lineage, model.cold().lineages().named(order.scheme));
    static_cast<void>(lineage);
  }
  const kv::BlockFacts block = model.cache().facts(order.range.node);
  if (block.node.value == 0) return {};  // said by who selects the blocks
  const std::string run = "run " + std::to_string(order.range.node.value) + " is ";
  if (block.foreign) {
    return Error{ErrorCode::kConflict,
                 run + "of another device or instruction set, and stays as it is: delete it, or have it computed here",
                 "node"};
  }
  const bool exact = block.lineage == kernels::KvScheme::kExact;
  if (exact == rounds) return {};
  return Error{ErrorCode::kConflict,
               rounds ? run + "rounded to " + kernels::kv_scheme_name(block.lineage) + " already: decompress it first"
                      : run + "exact: there is nothing to decompress",
               "node"};
}

Result<TierJobs::Foreseen> TierJobs::foreseen(ResidentModel& model, const TierOrder& order,
                                              const std::vector<NodeId>& nodes) {
  const kv::PrefixCache& cache = model.cache();
  const LoadedModel& loaded = *model.loaded();
  const bool storing = model.cold().storing();
  if (order.verb == TierVerb::kCompress) {
    model.cold().sample_rounding(nodes, order.scheme);
    ASSIGN_OR_RETURN(const auto lineage, model.cold().lineages().named(order.scheme));
    CompressPlan plan = plan_compress(nodes, cache, lineage, loaded.layout, storing);
    plan.figures.error = model.cold().lineages().sampled_error(order.scheme);
    return Foreseen{plan.tally, plan.figures};
  }
  if (order.verb != TierVerb::kDecompress) return Foreseen{foresee(order, nodes, cache, storing), {}};
  DecompressPlan plan = plan_decompress(nodes, cache, loaded.identity, loaded.layout, storing);
  const sched::PrefillCost cost = model.scheduler().rates().prefill_cost();
  for (const auto& [begin, end] : plan.missing) plan.figures.compute_ms += cost.ms(begin, end);
  return Foreseen{plan.tally, plan.figures};
}

std::unique_ptr<TierWork> TierJobs::make_work(const ResidentModel& model, const TierOrder& order,
                                              std::vector<NodeId> nodes, const ScopeId& scope) {
  const LoadedModel& loaded = *model.loaded();
  if (order.verb == TierVerb::kDecompress) {
    return std::make_unique<DecompressJob>(order, std::move(nodes), scope, loaded.identity, loaded.layout);
  }
  if (order.verb != TierVerb::kCompress) return std::make_unique<TierJob>(order, std::move(nodes), scope);
  const Result<std::shared_ptr<const kv::Identity>> lineage = model.cold().lineages().named(order.scheme);
  if (!lineage.ok()) return nullptr;
  return std::make_unique<CompressJob>(order, std::move(nodes), scope, *lineage, loaded.layout);
}

JobInfo TierJobs::describe(const ResidentModel& model, const TierOrder& order, const Foreseen& what,
                           std::uint64_t blocks, bool dry_run) {
  JobInfo job;
  job.verb = tier_verb_name(order.verb);
  job.node = order.range.node;
  const std::string pool = model.pool_tier();
  job.to = destination(order, pool);
  job.dry_run = dry_run;
  job.blocks_total = blocks;
  job.tally = what.tally;
  job.codec = what.codec;
  job.detail = tier_words(order, what.tally, what.codec, blocks, model.block_bytes(), pool, dry_run);
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
  ASSIGN_OR_RETURN(const Foreseen ahead, foreseen(*model, order, nodes));
  JobInfo planned = describe(*model, order, ahead, nodes.size(), true);
  if (dry_run) {
    planned.state = JobInfo::State::kDone;
    planned.done = true;
    return planned;
  }
  if (waiting_.size() >= kMaxWaiting) {
    return Error{ErrorCode::kResourceExhausted,
                 std::to_string(kMaxWaiting) + " jobs wait already: wait for one, or cancel one", ""};
  }
  planned.dry_run = false;
  planned.tally = {};
  planned.codec = {};
  planned.detail.clear();
  planned.state = JobInfo::State::kQueued;
  planned.started = services_.clock.wall();
  planned.id = jobs_.next_id();
  JobInfo record = planned;
  waiting_.push_back({planned.id, model->generation(), order, *cache.scope_of(range.node)});
  if (!had_memory([&] { jobs_.add(planned.verb) = std::move(record); })) {
    waiting_.pop_back();
    return out_of_memory();
  }
  return planned;
}

Status TierJobs::cancel(JobId id) {
  if (active_ && active_->id == id) {
    active_->cancelled = true;
    stop_active();
    finish_if_over(TierWork::Step::kWaits);
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

void TierJobs::end_waiting(JobId id, JobInfo::State state, std::string error) {
  std::erase_if(waiting_, [id](const Waiting& each) { return each.id == id; });
  JobInfo* job = jobs_.find(id);
  if (job == nullptr) return;
  job->state = state;
  job->done = true;
  job->error = std::move(error);
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
  std::unique_ptr<TierWork> work = make_work(model, next.order, std::move(nodes).value(), next.scope);
  if (work == nullptr) {
    const Error refused = model.cold().lineages().named(next.order.scheme).error();
    return end_waiting(next.id, JobInfo::State::kFailed, to_string(refused));
  }
  active_ = std::make_unique<Active>(
      Active{next.id, next.generation, std::move(work), RequestId{}, false, std::nullopt});
  waiting_.pop_front();
  store_cpu_ns_ = disk_.store_cpu_ns();
  if (JobInfo* job = jobs_.find(next.id)) {
    job->state = JobInfo::State::kRunning;
    job->blocks_total = active_->work->blocks();
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
  TierWork::Step step = TierWork::Step::kMore;
  while (step == TierWork::Step::kMore) {
    step = active_->work->step(model.cache(), model.cold());
    if (services_.clock.now() - begin >= kSliceNs) break;
  }
  waits_ = step == TierWork::Step::kWaits;
  throttle_.spent(begin, services_.clock.now() - begin);
  note();
  if (const auto run = active_->work->take_prompt()) {
    active_->computing = hooks_.compute(model, *run);
    if (active_->computing.value == 0) active_->work->computed(model.cache(), out_of_memory());
  }
  if (active_->work->failure() && !active_->why) return end_active(*active_->work->failure());
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
  TierWork& work = *active_->work;
  const std::uint64_t block_bytes = active_model().block_bytes();
  job->progress = work.progress();
  job->blocks_done = work.blocks_done();
  job->bytes_moved = work.blocks_moved() * block_bytes;
  job->tally = work.tally();
  job->codec = work.figures();
  for (const auto& [gone, instead] : work.take_replaced()) hooks_.replaced(gone, instead);
}

void TierJobs::finish_if_over(TierWork::Step step) {
  const bool ended = active_->cancelled || active_->why;
  if (!(ended ? active_->work->idle() : step == TierWork::Step::kDone)) return;
  note();
  // What is said of it comes first.
  const ResidentModel& model = active_model();
  const TierWork& work = *active_->work;
  std::string words = describe(model, work.order(), {work.tally(), work.figures()}, work.blocks(), false).detail;
  std::string error = active_->why ? to_string(*active_->why) : std::string();
  static_cast<void>(had_memory([&] { say_ended(*active_, words); }));
  const std::unique_ptr<Active> over = std::move(active_);
  JobInfo* const job = jobs_.find(over->id);
  if (job == nullptr) return;
  job->state = over->why         ? JobInfo::State::kFailed
               : over->cancelled ? JobInfo::State::kCancelled
                                 : JobInfo::State::kDone;
  job->error = std::move(error);
  if (job->state == JobInfo::State::kDone) job->progress = 1;
  job->done = true;
  job->detail = std::move(words);
  job->ended = services_.clock.wall();
}

void TierJobs::say_ended(const Active& over, const std::string& words) const {
  const std::string name = job_name(over.id, over.work->order());
  log::info("engine", name + ": " + words + (over.why ? "; ended early: " + over.why->message : ""));
  if (over.work->tally().damaged > 0) log::warning("engine", name + " found damage: " + words);
  if (over.why) return;
  promises_.promise_blocks(over.id, active_model().id(), name, over.work->brought_up());
}

void TierJobs::end_active(const Status& why) {
  if (!active_->why) active_->why = why.ok() ? Error{ErrorCode::kCancelled, "it was ended", ""} : why.error();
  stop_active();
  finish_if_over(TierWork::Step::kWaits);
}

// What computes for it ends too; nobody waits for its answer.
void TierJobs::stop_active() {
  active_->work->stop(active_model().cache());
  const RequestId computing = std::exchange(active_->computing, RequestId{});
  if (computing.value != 0) hooks_.cancel(computing);
}

void TierJobs::computed(RequestId request, const Status& how) {
  if (!active_ || active_->computing != request) return;
  active_->computing = RequestId{};
  active_->work->computed(active_model().cache(), how);
  waits_ = false;
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
  if (active_ && active_->work->scope() == scope) end_active(why);
}

void TierJobs::end_waiting_where(const std::function<bool(const Waiting&)>& which, const Status& why) {
  std::vector<JobId> gone;
  for (const Waiting& each : waiting_) {
    if (which(each)) gone.push_back(each.id);
  }
  for (const JobId id : gone) end_waiting(id, JobInfo::State::kFailed, why.ok() ? "" : to_string(why.error()));
}

void TierJobs::nodes_deleted() {
  if (!active_ || active_model().cache().facts(active_->work->anchor()).node.value != 0) return;
  end_active(Error{ErrorCode::kConflict, "the run was deleted meanwhile", ""});
}

void TierJobs::written(NodeId node, storage::Refusal refusal) {
  if (!active_) return;
  active_->work->written(node, refusal);
  waits_ = false;
}

void TierJobs::read(std::uint64_t tag, storage::Miss miss, std::uint64_t checksum) {
  if (!active_) return;
  const Ticks begin = services_.clock.now();
  active_->work->read(active_model().cache(), tag, miss, checksum);
  throttle_.spent(begin, services_.clock.now() - begin);
  waits_ = false;
  if (active_->why || active_->cancelled) finish_if_over(TierWork::Step::kWaits);
}

void TierJobs::rounded(const Rounded& what) {
  if (!active_) return;
  active_->work->rounded(active_model().cache(), what);
  waits_ = false;
  if (active_->why || active_->cancelled) finish_if_over(TierWork::Step::kWaits);
}

void TierJobs::store_closed() {
  if (!active_) return;
  active_->work->store_closed(active_model().cache());
  end_active(Error{ErrorCode::kUnavailable, "the disk tier was closed", ""});
}

}  // namespace larder::engine
