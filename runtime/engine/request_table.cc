// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/request_table.h"

#include <algorithm>

#include "runtime/base/out_of_memory.h"
#include "runtime/kv/room_for.h"

namespace larder::engine {

using State = RequestRecord::State;

RequestTable::RequestTable(const Clock& clock, std::size_t history, std::atomic<std::uint32_t>& waiting,
                           std::function<void(const Ended&)> on_ended)
    : clock_(clock), history_(history), waiting_(waiting), on_ended_(std::move(on_ended)) {}

RequestRecord& RequestTable::touch(Active& active) {
  active.slot->published = nullptr;
  return active.slot->record;
}

void RequestTable::write(Active& active, StreamEvent event) {
  if (active.in.stream) active.in.stream->write(std::move(event));
}

void RequestTable::begin(Incoming& incoming) {
  auto active = std::make_unique<Active>();
  active->slot = std::make_shared<Slot>();
  RequestRecord& record = active->slot->record;
  record.id = incoming.id;
  record.state = State::kPreparing;
  record.tenant = incoming.who.tenant.value;
  record.model = incoming.model->id.value;
  record.submitted = clock_.wall();
  TenantTotals& totals = totals_[incoming.who.tenant];
  const RequestId id = incoming.id;
  ById fresh;
  Active& begun = *fresh.emplace(id, std::move(active)).first->second;
  kv::room_for(asleep_, active_.size() + 1);
  slots_.push_back(begun.slot);
  // What needs memory is done.
  begun.in = std::move(incoming);
  ++totals.requests;
  ++totals.queued;
  active_.merge(fresh);
  while (slots_.size() > history_ + active_.size()) {
    const auto ended = std::find_if(slots_.begin(), slots_.end(), [&](const std::shared_ptr<Slot>& slot) {
      return active_.count(slot->record.id) == 0;
    });
    if (ended == slots_.end()) break;
    slots_.erase(ended);
  }
}

sched::SequenceSpec RequestTable::spec_of(const Active& active, const Prepared& prepared, std::uint32_t choice,
                                          const std::shared_ptr<const sample::SamplingParams>& sampling) {
  const Request& request = active.in.request;
  sched::SequenceSpec spec;
  spec.seq = SeqId{next_seq_++};
  spec.request = active.in.id;
  spec.tenant = active.in.who.tenant;
  spec.prompt = prepared.prompt;
  spec.keys = prepared.keys;
  spec.sampling = sampling;
  spec.stream = choice;
  const auto prompt_tokens = static_cast<std::uint32_t>(prepared.prompt->tokens.size());
  const std::uint32_t longest = active.in.model->bounds->max_request_tokens;
  const std::uint32_t room = longest > prompt_tokens ? longest - prompt_tokens : 1;
  spec.max_new_tokens = request.max_tokens == 0 ? room : std::min(request.max_tokens, room);
  if (!active.in.stream) spec.max_new_tokens = 0;
  if (request.ignore_eos) {
    const std::span<const Token> ends = active.in.model->tokenizer->end_tokens();
    spec.forbidden.assign(ends.begin(), ends.end());
  }
  const bool bypass = request.cache == CachePolicy::kBypass;
  spec.read = !bypass;
  spec.keep = !bypass;
  spec.exact = active.in.exact;
  spec.score_prompt = request.echo_logprobs && choice == 0;
  return spec;
}

std::vector<sched::SequenceSpec> RequestTable::prepared(RequestId id, const Result<Prepared>& prepared) {
  const auto found = active_.find(id);
  if (found == active_.end()) return {};
  Active& active = *found->second;
  if (active.cancelled || !active.failure.ok()) return {};
  active.prepared_at = clock_.now();
  if (!prepared.ok()) {
    active.failure = prepared.error();
    finish(id);
    return {};
  }
  // Scores begin with the second token: nothing comes before the first.
  if (active.in.request.echo_logprobs && active.prompt_logprobs.empty()) {
    const sample::Sampled unscored{prepared->prompt->tokens.front(), 0, {}};
    active.prompt_logprobs.push_back(token_text(*active.in.model->tokenizer, unscored));
  }
  const auto sampling = std::make_shared<const sample::SamplingParams>(active.in.request.sampling);
  std::vector<sched::SequenceSpec> specs;
  std::vector<Choice> choices;
  BySeq fresh;
  for (std::uint32_t choice = 0; choice < std::max(1u, active.in.request.n); ++choice) {
    specs.push_back(spec_of(active, *prepared, choice, sampling));
    Choice made;
    made.seq = specs.back().seq;
    made.answer = std::make_unique<Answer>(choice, active.in.model->tokenizer, active.in.request.stop,
                                           active.in.request.ignore_eos, sampling->logprobs);
    fresh.emplace(made.seq, std::pair{id, choice});
    choices.push_back(std::move(made));
  }
  kv::room_for(endings_, by_seq_.size() + fresh.size());
  RequestRecord& record = touch(active);
  record.sections = prepared->prompt->sections;
  // What needs memory is done.
  record.state = State::kQueued;
  record.usage.prompt_tokens = static_cast<std::uint32_t>(prepared->prompt->tokens.size());
  record.timings.prepare_ms = prepared->prepare_ms;
  active.choices = std::move(choices);
  active.open_choices = static_cast<std::uint32_t>(active.choices.size());
  by_seq_.merge(fresh);
  return specs;
}

void RequestTable::cancel(RequestId id, Status status) noexcept {
  const auto found = active_.find(id);
  if (found == active_.end()) return;
  Active& active = *found->second;
  if (!status.ok() && active.failure.ok()) active.failure = std::move(status);
  active.cancelled = true;
  if (active.choices.empty()) return finish(id);
  orphans_ = true;
}

void RequestTable::end_rest(const Status& status) noexcept {
  by_seq_.clear();
  endings_.clear();
  while (!active_.empty()) {
    Active& active = *active_.begin()->second;
    if (active.failure.ok() && !had_memory([&] { active.failure = status; })) active.failure = out_of_memory();
    finish(active_.begin()->first);
  }
}

RequestTable::Active& RequestTable::at(RequestId id) { return *active_.find(id)->second; }
RequestTable::Active& RequestTable::at(SeqId seq) { return at(by_seq_.at(seq).first); }
const RequestTable::Active& RequestTable::at(SeqId seq) const { return *active_.at(by_seq_.at(seq).first); }

bool RequestTable::writable(SeqId seq) const {
  const Active& active = at(seq);
  return !active.in.stream || active.in.stream->writable();
}

void RequestTable::fill_divergence(Active& active, RequestRecord& record) const {
  if (!record_texts_ || !record.verdict.divergence) return;
  const tokenizer::Tokenizer& tokenizer = *active.in.model->tokenizer;
  const auto spell = [&](const std::vector<Token>& run, std::string& text, std::vector<std::string>& tokens) {
    text = tokenizer::to_valid_utf8(tokenizer.decode(run, true));
    for (const Token token : run) {
      tokens.push_back(tokenizer::to_valid_utf8(token_text(tokenizer, {token, 0, {}}).text));
    }
  };
  spell(record.verdict.divergence->here_run, record.diverged_here, record.here_tokens);
  spell(record.verdict.divergence->cached_run, record.diverged_cached, record.cached_tokens);
}

void RequestTable::started(SeqId seq, const kv::Verdict& verdict, double match_ms) {
  Active& active = at(seq);
  if (active.started) return;
  RequestRecord& record = touch(active);
  record.verdict = verdict;
  record.verdict.prompt_tokens = record.usage.prompt_tokens;
  fill_divergence(active, record);
  Started event;
  event.request = active.in.id;
  event.model = active.in.model->name;
  event.verdict = kv::redact(record.verdict, {active.in.who.tenant, active.in.who.admin});
  event.sections = record.sections;
  TenantTotals& totals = totals_[active.in.who.tenant];
  active.started = true;
  active.started_at = clock_.now();
  record.state = State::kPrefill;
  record.usage.cached_tokens = verdict.reused_tokens;
  record.timings.queue_ms = ms_between(active.prepared_at, active.started_at);
  record.timings.match_ms = match_ms;
  --totals.queued;
  ++totals.running;
  waiting_.fetch_sub(1);
  totals.prompt_tokens += record.usage.prompt_tokens;
  totals.cached_tokens += verdict.reused_tokens;
  write(active, std::move(event));
}

bool RequestTable::token(SeqId seq, const exec::SequenceOutput& output) {
  Active& active = at(seq);
  Choice& choice = active.choices[by_seq_.at(seq).second];
  if (active.drawn++ == 0) {
    active.first_token_at = clock_.now();
    RequestRecord& record = touch(active);
    record.state = State::kDecode;
    record.timings.prefill_ms = ms_between(active.started_at, active.first_token_at);
    record.timings.first_token_ms = ms_between(active.in.submitted, active.first_token_at);
  }
  ++touch(active).usage.completion_tokens;
  if (!choice.answer) return false;
  Answer::Out out = choice.answer->push(output.sampled);
  if (out.piece) write(active, std::move(*out.piece));
  choice.stopped = out.ended;
  return !out.ended;
}

void RequestTable::scored(SeqId seq, const std::vector<sample::Sampled>& scores) {
  Active& active = at(seq);
  for (const sample::Sampled& score : scores) {
    active.prompt_logprobs.push_back(token_text(*active.in.model->tokenizer, score));
  }
}

void RequestTable::ended(SeqId seq, sched::SequenceReport report) noexcept {
  const auto found = by_seq_.find(seq);
  const auto [id, index] = found->second;
  by_seq_.erase(found);
  at(id).choices[index].ended = std::move(report);
  endings_.emplace_back(id, index);
}

void RequestTable::settle() noexcept {
  for (std::size_t i = 0; i < endings_.size(); ++i) {  // one that ends may begin others
    const auto [id, index] = endings_[i];
    Active& active = at(id);
    if (!had_memory([&, at = index] { tell_end(active, at); }) && active.failure.ok()) active.failure = out_of_memory();
    if (!active.failure.ok()) orphans_ = true;
    if (--active.open_choices == 0) finish(id);
  }
  endings_.clear();
  std::erase_if(asleep_, [](const std::shared_ptr<TokenStream>& stream) { return stream->wake_again(); });
}

void RequestTable::tell_end(Active& active, std::uint32_t index) {
  Choice& choice = active.choices[index];
  const sched::SequenceReport& report = *choice.ended;
  if (index == 0 || !active.first_report) active.first_report = report;
  if (report.end == sched::SequenceEnd::kFailed && active.failure.ok()) active.failure = report.status;
  if (!active.failure.ok() || !active.in.stream) return;
  if (!choice.stopped && report.end != sched::SequenceEnd::kCancelled) {
    if (std::optional<Piece> rest = choice.answer->finish()) write(active, std::move(*rest));
  }
  const FinishReason reason = report.end == sched::SequenceEnd::kStopped     ? FinishReason::kStop
                              : report.end == sched::SequenceEnd::kCancelled ? FinishReason::kCancelled
                                                                             : FinishReason::kLength;
  write(active, ChoiceDone{index, reason});
}

// What its reader is told last; the record says the same.
StreamEvent RequestTable::last_event(Active& active) {
  RequestRecord& record = active.slot->record;
  if (!active.failure.ok()) {
    record.error = to_string(active.failure.error());
    return active.failure.error();
  }
  Finished event;
  event.usage = record.usage;
  event.timings = record.timings;
  event.verdict = kv::redact(record.verdict, {active.in.who.tenant, active.in.who.admin});
  event.prompt_logprobs = std::move(active.prompt_logprobs);
  return event;
}

void RequestTable::finish(RequestId id) noexcept {
  const ById::node_type taken = active_.extract(id);
  Active& active = *taken.mapped();
  RequestRecord& record = touch(active);
  const Ticks now = clock_.now();
  record.timings.total_ms = ms_between(active.in.submitted, now);
  if (active.drawn > 1 && now > active.first_token_at) {
    record.timings.decode_tokens_per_s = (active.drawn - 1) / (ms_between(active.first_token_at, now) * 1e-3);
  }
  if (active.first_report) record.verdict.computed_tokens = active.first_report->verdict.computed_tokens;
  if (const auto totals = totals_.find(active.in.who.tenant); totals != totals_.end()) {
    --(active.started ? totals->second.running : totals->second.queued);
  }
  if (!active.started) waiting_.fetch_sub(1);
  StreamEvent last;
  if (!had_memory([&] { last = last_event(active); })) {
    active.failure = out_of_memory();
    record.error = out_of_memory().message;
    last = out_of_memory();
  }
  record.state = !active.failure.ok() ? State::kFailed : active.cancelled ? State::kCancelled : State::kDone;
  if (active.in.stream && !active.in.stream->end(std::move(last))) asleep_.push_back(active.in.stream);
  tell_others(active, record);
}

// Numbers, entries and whoever asked from inside; what memory runs out for is missing there.
void RequestTable::tell_others(Active& active, RequestRecord& record) noexcept {
  sched::SequenceReport report;
  if (active.first_report) report = std::move(*active.first_report);
  if (!active.failure.ok()) report.status = std::move(active.failure);
  static_cast<void>(had_memory([&] {
    if (active.in.report) active.in.report(report);
  }));
  static_cast<void>(had_memory([&] {
    on_ended_({active.in.id, active.in.who, record, report, active.in.request.label, active.in.stream == nullptr});
  }));
}

const RequestRecord* RequestTable::find(RequestId id) const {
  const auto found = active_.find(id);
  return found == active_.end() ? nullptr : &found->second->slot->record;
}

std::vector<RequestId> RequestTable::active_ids() const {
  std::vector<RequestId> ids;
  for (const auto& [id, active] : active_) ids.push_back(id);
  return ids;
}

std::vector<RequestId> RequestTable::active_of(TenantId tenant) const {
  std::vector<RequestId> ids;
  for (const auto& [id, active] : active_) {
    if (active->in.who.tenant == tenant) ids.push_back(id);
  }
  return ids;
}

std::vector<RequestId> RequestTable::active_of(ModelId model) const {
  std::vector<RequestId> ids;
  for (const auto& [id, active] : active_) {
    if (active->in.model->id == model) ids.push_back(id);
  }
  return ids;
}

std::optional<Ticks> RequestTable::next_deadline() const {
  std::optional<Ticks> next;
  for (const auto& [id, active] : active_) {
    if (active->in.request.deadline_ms <= 0 || active->cancelled) continue;
    const Ticks at = active->in.submitted + active->in.request.deadline_ms * 1'000'000;
    if (!next || at < *next) next = at;
  }
  return next;
}

std::vector<RequestId> RequestTable::past_deadline(Ticks now) const {
  std::vector<RequestId> ids;
  for (const auto& [id, active] : active_) {
    if (active->in.request.deadline_ms <= 0 || active->cancelled) continue;
    if (active->in.submitted + active->in.request.deadline_ms * 1'000'000 <= now) ids.push_back(id);
  }
  return ids;
}

std::uint32_t RequestTable::queued() const {
  return static_cast<std::uint32_t>(
      std::count_if(active_.begin(), active_.end(), [](const auto& each) { return !each.second->started; }));
}

std::uint32_t RequestTable::running() const { return static_cast<std::uint32_t>(active_.size()) - queued(); }

void RequestTable::forget_tenant(TenantId tenant) {
  slots_.erase(std::remove_if(slots_.begin(), slots_.end(),
                              [&](const std::shared_ptr<Slot>& slot) {
                                return slot->record.tenant == tenant.value && active_.count(slot->record.id) == 0;
                              }),
               slots_.end());
  totals_.erase(tenant);
}

std::vector<std::shared_ptr<const RequestRecord>> RequestTable::publish(std::uint64_t epoch) {
  std::vector<std::shared_ptr<const RequestRecord>> records;
  records.reserve(slots_.size());
  for (const std::shared_ptr<Slot>& slot : slots_) {
    if (!slot->published) {
      slot->record.epoch = epoch;
      slot->published = std::make_shared<const RequestRecord>(slot->record);
    }
    records.push_back(slot->published);
  }
  return records;
}

}  // namespace larder::engine
