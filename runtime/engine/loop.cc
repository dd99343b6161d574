// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/loop.h"

#include <algorithm>
#include <exception>

#include "runtime/base/log.h"
#include "runtime/base/out_of_memory.h"
#include "runtime/base/thread_name.h"
#include "runtime/engine/answered.h"

namespace larder::engine {
namespace {

constexpr int kTasksPerTurn = 256;
constexpr Ticks kSnapshotEveryNs = 100'000'000;
constexpr Ticks kPinSweepEveryNs = 1'000'000'000;
constexpr Ticks kAskAgainNs = 10'000'000;
constexpr Ticks kLostEveryNs = 1'000'000'000;  // a log line about it
constexpr Ticks kLongestDrainNs = 3'000'000'000;
constexpr auto kLongestWait = std::chrono::milliseconds(500);

using settings::Key;

}  // namespace

EngineLoop::EngineLoop(Services& services)
    : services_(services),
      requests_(services.clock, static_cast<std::size_t>(services.settings.integer(Key::kEngineRequestHistory)),
                services.waiting, [this](const Ended& ended) { note_ended(ended); }),
      disk_(services),
      models_(services, disk_, entries_, requests_,
              {[this](ResidentModel& model, const Status& status) { end_all_of(model, status); },
               [this](ModelId model) { return !requests_.active_of(model).empty(); },
               [this](ResidentModel& model) { model_ready(model); }, [this](ModelId model) { model_gone(model); }}),
      tiers_(services, models_, disk_, jobs_, promises_, job_hooks()),
      history_(services.clock.wall()),
      snapshots_(services, services.clock.wall()),
      verbs_(*this, services) {
  requests_.set_record_texts(services.settings.flag(Key::kEngineRecordTexts));
  publish_if_due();
}

EngineLoop::~EngineLoop() { stop(); }

void EngineLoop::start() {
  disk_.open();
  thread_ = std::thread([this] { run(); });
}

void EngineLoop::stop() {
  if (!thread_.joinable()) return;
  stopping_.store(true);
  services_.inbox->push_reserved([](EngineLoop&) {});
  thread_.join();
}

void EngineLoop::run() {
  name_thread("engine");
  while (!stopping_.load()) {
    if (!had_memory([this] { turn(); })) lost_memory();
  }
  close();
}

// A turn was broken off. Whose work it was ends with that; everything else is as it was, and the next turn goes on.
void EngineLoop::lost_memory() noexcept {
  if (const Ticks now = services_.clock.now(); now - last_lost_ >= kLostEveryNs) {
    last_lost_ = now;
    static_cast<void>(had_memory([] { log::error("engine", "out of memory: what needed it was ended or waits"); }));
  }
  const Work work = std::exchange(at_work_, {});
  if (work.verb != nullptr) work.verb->refuse_memory();
  if (work.comes_in) {
    services_.waiting.fetch_sub(1);
    if (work.stream != nullptr) static_cast<void>(work.stream->end(out_of_memory()));
  } else {
    requests_.cancel(work.request, out_of_memory());
  }
  requests_.settle();
}

void EngineLoop::close() {
  closing_ = true;
  const Error closing{ErrorCode::kUnavailable, "the engine is closing", ""};
  end_all(closing);
  for (const auto& model : models_.all()) model->abort_running();
  drain_to_disk();
  models_.close();
  disk_.close();
  // What no scheduler will end any more: its step never came back.
  requests_.end_rest(closing);
  services_.inbox->close();
  // Requests that were still on their way get their last event; verbs answer as they are dropped.
  while (std::optional<LoopTask> task = services_.inbox->try_pop()) run_task(*task);
}

// What is sealed and not yet on disk, pins and small things included, has this long to get there.
void EngineLoop::drain_to_disk() {
  const Ticks until = services_.clock.now() + kLongestDrainNs;
  while (device_busy() || !disk_.drained()) {
    if (services_.clock.now() >= until) return;
    disk_.tick();
    if (std::optional<LoopTask> task = services_.inbox->pop_for(std::chrono::milliseconds(5))) run_task(*task);
  }
}

void EngineLoop::turn() {
  hand_over_failed_ = false;
  run_tasks();
  models_.tick();
  disk_.tick();
  end_overdue();
  run_step();
  tiers_.turn();
  publish_if_due();
  if (services_.inbox->size() > 0 || stopping_.load() || disk_.busy()) return;
  if (std::optional<LoopTask> task = services_.inbox->pop_for(longest_wait())) run_task(*task);
}

void EngineLoop::run_task(LoopTask& task) {
  task(*this);
  at_work_ = {};
  requests_.settle();
}

void EngineLoop::run_tasks() {
  for (int i = 0; i < kTasksPerTurn; ++i) {
    std::optional<LoopTask> task = services_.inbox->try_pop();
    if (!task) return;
    run_task(*task);
  }
}

bool EngineLoop::device_busy() const {
  return std::any_of(models_.all().begin(), models_.all().end(),
                     [](const auto& model) { return model->scheduler().running_step() != 0; });
}

void EngineLoop::run_step() {
  cancel_orphans();
  if (device_busy()) return;
  const std::vector<PoolShare> shares = models_.share_pools();
  std::vector<sched::Contender> contenders;
  bool any_runs = models_.pools_busy() || disk_.waiting();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const ResidentModel& model = *models_.all()[i];
    if (model.draining()) continue;
    contenders.push_back({model.id(), model.scheduler().demand(), shares[i].waiting <= shares[i].limit});
    any_runs = any_runs || shares[i].running > 0;
  }
  if (try_step(contenders) || any_runs) return;
  // Nobody will give room any more: who waits for it starts, and is told what it lacks.
  for (sched::Contender& each : contenders) each.admits = true;
  static_cast<void>(try_step(contenders));
}

bool EngineLoop::try_step(const std::vector<sched::Contender>& contenders) {
  bool found = false;
  for (const auto& [id, turn] : turns_.order(contenders)) {
    ResidentModel& model = *models_.of(id);
    std::optional<exec::Step> step = model.scheduler().next_step(turn);
    if (!step) continue;
    found = true;
    const auto hand_over = [&, of = id] {
      turns_.ran(of, model.scheduler().running_rows());
      model.submit(std::move(*step));
    };
    hand_over_failed_ = !had_memory(hand_over);
    if (hand_over_failed_) model.scheduler().take_back_step();
    break;
  }
  requests_.settle();
  return found;
}

// Whichever model runs them.
void EngineLoop::cancel_orphans() {
  requests_.for_orphans([this](SeqId seq, Status status) {
    for (const auto& model : models_.all()) {
      if (!model->scheduler().holds(seq)) continue;
      if (model->scheduler().cancel(seq, std::move(status))) model->abort_running();
      return;
    }
  });
  requests_.settle();
}

void EngineLoop::end_overdue() {
  const Ticks now = services_.clock.now();
  for (const RequestId id : requests_.past_deadline(now)) {
    cancel(id, Error{ErrorCode::kDeadlineExceeded, "the request's deadline passed before it was done", ""});
  }
  if (now - last_pin_sweep_ >= kPinSweepEveryNs) {
    last_pin_sweep_ = now;
    for (const auto& model : models_.all()) model->cache().expire_pins();
    disk_.sync_pins();
  }
}

std::chrono::nanoseconds EngineLoop::longest_wait() const {
  const Ticks now = services_.clock.now();
  Ticks wait = std::chrono::duration_cast<std::chrono::nanoseconds>(kLongestWait).count();
  if (const std::optional<Ticks> deadline = requests_.next_deadline()) wait = std::min(wait, *deadline - now);
  if (const std::optional<Ticks> wake = tiers_.wake()) wait = std::min(wait, *wake - now);
  if (hand_over_failed_ || disk_.waiting() || models_.pools_busy()) wait = std::min(wait, kAskAgainNs);
  if (snapshot_wanted_) wait = std::min(wait, last_snapshot_ + kSnapshotEveryNs - now);
  return std::chrono::nanoseconds(std::max<Ticks>(wait, 0));
}

void EngineLoop::publish_if_due() {
  const Ticks now = services_.clock.now();
  const bool first = services_.snapshots.get() == nullptr;
  if (!first && (!snapshot_wanted_ || now - last_snapshot_ < kSnapshotEveryNs)) return;
  services_.snapshots.set(
      snapshots_.build({models_, disk_, requests_, packs_, entries_, history_, jobs_, promises_}));
  snapshot_wanted_ = false;
  last_snapshot_ = now;
}

void EngineLoop::model_gone(ModelId model) {
  turns_.forget(model);
  packs_.forget(model);
  promises_.forget(model);
  entries_.sweep([this](NodeId node) { return models_.of(node) != nullptr; });
  snapshot_wanted_ = true;
}

// Packs are counted with the model's own template and vocabulary.
void EngineLoop::model_ready(ResidentModel& ready) {
  snapshot_wanted_ = true;
  const std::shared_ptr<const LoadedModel> model = ready.loaded();
  if (model->chat == nullptr) return;
  for (const entry::Pack& pack : packs_.packs()) {
    // A full queue leaves a pack uncounted until it is warmed.
    static_cast<void>(services_.preparation.post([id = pack.id, prompt = pack_prompt(pack), model,
                                                  inbox = services_.inbox, now = services_.clock.wall()] {
      const Result<PreparedPrompt> prefix = prepare_prefix(*model, prompt, now);
      if (!prefix.ok()) return;
      inbox->push_reserved([id, model, tokens = static_cast<std::uint32_t>(prefix->tokens.size())](EngineLoop& loop) {
        if (loop.models().of(model->id) == nullptr) return;
        loop.packs().set_tokens(model->id, id, tokens);
        loop.want_snapshot();
      });
    }));
  }
}

RequestId EngineLoop::next_request_id() { return RequestId{services_.next_request.fetch_add(1)}; }

void EngineLoop::begin(Incoming incoming) {
  const RequestId id = incoming.id;
  at_work_ = {id, true, incoming.stream, nullptr};
  ResidentModel* resident = models_.of(incoming.model->id);
  if (resident != nullptr) resident->used();
  const bool gone = closing_ || resident == nullptr || !resident->answers();
  const auto model = incoming.model;
  auto prompt = std::make_shared<Prompt>(std::move(incoming.request.prompt));
  const Result<tenant::ScopeChain> scopes = services_.registry.scopes(incoming.who.tenant);
  requests_.begin(incoming);
  at_work_.comes_in = false;
  if (gone) {
    prepared(id, Error{ErrorCode::kUnavailable, "the model was unloaded: load it, or name another one", ""});
    return;
  }
  if (!scopes.ok()) {
    prepared(id, scopes.error());
    return;
  }
  const bool posted = post_answered<Prepared>(
      services_.preparation, services_.inbox,
      [model, prompt, scope = scopes->back(), &clock = services_.clock] {
        return prepare(*model, *prompt, scope, clock);
      },
      [id, of = model->id](EngineLoop& loop, const Result<Prepared>& ready) {
        loop.at_work_.request = id;
        if (ready.ok()) loop.promises().prompted(id, of, *ready->keys);
        loop.prepared(id, ready);
      });
  if (!posted) {
    prepared(id, Error{ErrorCode::kResourceExhausted, "too many prompts wait for preparation: try again later", ""});
  }
}

void EngineLoop::begin_prepared(Incoming incoming, Prepared prompt) {
  const RequestId id = incoming.id;
  at_work_.request = id;
  at_work_.comes_in = true;
  requests_.begin(incoming);
  at_work_.comes_in = false;
  prepared(id, std::move(prompt));
}

TierJobs::Hooks EngineLoop::job_hooks() {
  return {[this](const ResidentModel& model, const kv::RunPrompt& run) {
            RequestId id{};
            if (!had_memory([&] { id = compute_exactly(model, run); })) lost_memory();
            at_work_ = {};
            return id;
          },
          [this](RequestId request) { cancel(request, {}); },
          [this](NodeId gone, NodeId instead) {
            entries_.follow(gone, instead);
            packs_.follow(gone, instead);
          }};
}

RequestId EngineLoop::compute_exactly(const ResidentModel& model, const kv::RunPrompt& run) {
  Incoming incoming;
  incoming.id = next_request_id();
  incoming.who.tenant = run.owner;
  incoming.model = model.loaded();
  incoming.submitted = services_.clock.now();
  incoming.exact = true;
  const RequestId id = incoming.id;
  incoming.report = [id, inbox = services_.inbox](const sched::SequenceReport& report) {
    const Status how = report.end == sched::SequenceEnd::kCancelled && report.status.ok()
                           ? Status(Error{ErrorCode::kCancelled, "the request that computed it was cancelled", ""})
                           : report.status;
    inbox->push_reserved([id, how](EngineLoop& loop) { loop.tiers().computed(id, how); });
  };
  services_.waiting.fetch_add(1);
  begin_prepared(std::move(incoming), Prepared{run.prompt, run.keys, 0});
  return id;
}

void EngineLoop::prepared(RequestId id, const Result<Prepared>& prompt) {
  at_work_.request = id;
  if (!requests_.active(id)) return;
  ResidentModel* model = models_.of(requests_.model_of(id));
  if (prompt.ok() && (model == nullptr || model->draining())) {
    requests_.prepared(id, Error{ErrorCode::kUnavailable, "the model was unloaded", ""});
    return;
  }
  for (sched::SequenceSpec& spec : requests_.prepared(id, prompt)) {
    const SeqId seq = spec.seq;
    Status added = out_of_memory();
    if (had_memory([&] { added = model->scheduler().add(std::move(spec)); }) && added.ok()) continue;
    sched::SequenceReport report;
    report.end = sched::SequenceEnd::kFailed;
    report.status = std::move(added);
    requests_.ended(seq, std::move(report));
  }
}

void EngineLoop::cancel(RequestId id, const Status& status) {
  requests_.cancel(id, status);
  cancel_orphans();
}

void EngineLoop::end_all(const Status& status) {
  tiers_.end_all(status);
  for (const RequestId id : requests_.active_ids()) requests_.cancel(id, status);
  cancel_orphans();
}

void EngineLoop::end_all_of(ResidentModel& model, const Status& status) {
  tiers_.end_model(model.generation(), status);
  for (const RequestId id : requests_.active_of(model.id())) requests_.cancel(id, status);
  cancel_orphans();
}

void EngineLoop::check_promises(const Ended& ended) {
  for (const BrokenPromise& broken : promises_.ended(ended.id, ended.record.verdict)) {
    log::warning("engine", broken.text);
    services_.metrics.promise_broken();
    if (JobInfo* job = jobs_.find(broken.job)) job->warning = broken.text;
  }
}

void EngineLoop::note_ended(const Ended& ended) {
  const RequestRecord& record = ended.record;
  check_promises(ended);
  observe::DoneRequest done;
  done.tenant = record.tenant;
  done.verdict = kv::verdict_name(record.verdict.kind);
  done.outcome = record.state == RequestRecord::State::kDone        ? "done"
                 : record.state == RequestRecord::State::kCancelled ? "cancelled"
                                                                    : "failed";
  done.prompt_tokens = record.usage.prompt_tokens;
  done.cached_tokens = record.usage.cached_tokens;
  done.completion_tokens = record.usage.completion_tokens;
  done.saved_s = record.verdict.saved_ms * 1e-3;
  done.warm = record.usage.cached_tokens > 0;
  if (record.usage.completion_tokens > 0) done.first_token_s = record.timings.first_token_ms * 1e-3;
  services_.metrics.request_done(done);
  if (record.state == RequestRecord::State::kDone && !ended.internal) {
    history_.add_request(services_.clock.wall(),
                         {record.verdict.kind == kv::VerdictKind::kFullPrefix, done.warm, done.prompt_tokens,
                          done.cached_tokens, done.completion_tokens, record.verdict.saved_ms,
                          record.usage.completion_tokens > 0 ? record.timings.first_token_ms : -1});
  }
  if (ended.internal && ended.label.empty()) return;  // a run that has its entry
  ResidentModel* model = models_.of(ModelId{record.model});
  if (model == nullptr) return;
  model->used();
  if (ended.report.end_node.value == 0) return;
  if (const auto path = model->cache().locate(ended.report.end_node); path.ok()) {
    entries_.note({ended.who.tenant, ended.label, *path, record.sections, record.verdict.reused_tokens,
                   record.verdict.saved_ms, services_.clock.wall()});
  }
}

}  // namespace larder::engine
