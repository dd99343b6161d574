// SPDX-License-Identifier: Apache-2.0
// RequestTable: every request between submission and its last event, and the records of those that ended. It turns what
// the scheduler says of sequences (SequenceSink) into stream events, and keeps what the request list shows.
// What it is not: it decides nothing about order or room.
// Bounds:   records: `history` ended ones, oldest first out; active ones by the engine's queue limit.
// Errors:   a failed preparation or sequence is its stream's last event. Where memory runs out for a request, that is
//           its last event, and what is told of it elsewhere (records, metrics, entries) may be missing; every request
//           can be ended without memory. begin and prepared throw std::bad_alloc and have changed nothing then.
// Ensures:  each stream gets exactly one last event.
// Threads:  engine thread.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/engine/answer.h"
#include "runtime/engine/loaded_model.h"
#include "runtime/engine/prepare.h"
#include "runtime/engine/request.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/token_stream.h"
#include "runtime/sched/sequence.h"

namespace larder::engine {

// A request as it came in; moved to the engine thread. The prompt is handed on to preparation.
struct Incoming {
  RequestId id{};
  Principal who;
  Request request;
  std::shared_ptr<const LoadedModel> model;
  std::shared_ptr<TokenStream> stream;  // null: internal, `report` is told instead
  std::function<void(const sched::SequenceReport&)> report;
  bool exact = false;  // as SequenceSpec::exact
  Ticks submitted = 0;
};

struct TenantTotals {
  std::uint64_t requests = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint32_t running = 0;
  std::uint32_t queued = 0;
};

// Told when a request has had its last event.
struct Ended {
  RequestId id{};
  Principal who;
  RequestRecord record;
  sched::SequenceReport report;  // of the first choice
  std::string label;
  bool internal = false;
};

class RequestTable final : public sched::SequenceSink {
 public:
  // `waiting` counts requests from submission to their start; who submits counts up, this table counts down.
  RequestTable(const Clock& clock, std::size_t history, std::atomic<std::uint32_t>& waiting,
               std::function<void(const Ended&)> on_ended);

  void begin(Incoming& incoming);  // moved from once nothing can fail any more
  // Sequences to add to the scheduler; none when the request is gone or preparation failed (the stream was told).
  std::vector<sched::SequenceSpec> prepared(RequestId id, const Result<Prepared>& prepared);
  // Ends a request; its sequences in the scheduler are to be cancelled, see for_orphans. `status` ok: as the reader's
  // cancel.
  void cancel(RequestId id, Status status) noexcept;
  // Ends every active request at once, whatever the scheduler still holds; for closing only.
  void end_rest(const Status& status) noexcept;
  // Calls cancel(seq, status) once for each sequence that runs on though its request ends.
  template <typename Cancel>
  void for_orphans(Cancel cancel);
  // Tells the readers what ended since. Called between two things that the engine thread does.
  void settle() noexcept;

  const RequestRecord* find(RequestId id) const;
  bool active(RequestId id) const { return active_.count(id) != 0; }
  std::vector<RequestId> active_ids() const;
  std::vector<RequestId> active_of(TenantId tenant) const;
  std::vector<RequestId> active_of(ModelId model) const;
  // Of an active request.
  ModelId model_of(RequestId id) const { return active_.at(id)->in.model->id; }
  // The earliest deadline, and the requests that are past theirs.
  std::optional<Ticks> next_deadline() const;
  std::vector<RequestId> past_deadline(Ticks now) const;
  std::uint32_t queued() const;   // not started
  std::uint32_t running() const;  // started
  const std::map<TenantId, TenantTotals>& totals() const { return totals_; }
  void forget_tenant(TenantId tenant);

  // Records as immutable values, oldest first; those that changed since the last call get `epoch`.
  std::vector<std::shared_ptr<const RequestRecord>> publish(std::uint64_t epoch);
  void set_record_texts(bool on) { record_texts_ = on; }

  // SequenceSink
  bool writable(SeqId seq) const override;
  void started(SeqId seq, const kv::Verdict& verdict, double match_ms) override;
  bool token(SeqId seq, const exec::SequenceOutput& output) override;
  void scored(SeqId seq, const std::vector<sample::Sampled>& scores) override;
  void ended(SeqId seq, sched::SequenceReport report) noexcept override;

 private:
  struct Slot {
    RequestRecord record;
    std::shared_ptr<const RequestRecord> published;  // null: changed since
  };
  struct Choice {
    SeqId seq{};
    std::unique_ptr<Answer> answer;
    bool stopped = false;
    bool cancelled = false;  // the scheduler was told
    std::optional<sched::SequenceReport> ended;
  };
  struct Active {
    Incoming in;
    std::shared_ptr<Slot> slot;
    std::vector<Choice> choices;  // empty until prepared
    std::uint32_t open_choices = 0;  // whose end was not told
    bool started = false;
    std::vector<TokenText> prompt_logprobs;
    std::optional<sched::SequenceReport> first_report;
    Status failure;
    bool cancelled = false;  // by its reader, or with `failure`
    Ticks prepared_at = 0;
    Ticks started_at = 0;
    Ticks first_token_at = 0;
    std::uint32_t drawn = 0;
  };

  RequestRecord& touch(Active& active);
  void write(Active& active, StreamEvent event);
  void fill_divergence(Active& active, RequestRecord& record) const;
  void tell_end(Active& active, std::uint32_t index);
  StreamEvent last_event(Active& active);
  void finish(RequestId id) noexcept;
  void tell_others(Active& active, RequestRecord& record) noexcept;
  sched::SequenceSpec spec_of(const Active& active, const Prepared& prepared, std::uint32_t choice,
                              const std::shared_ptr<const sample::SamplingParams>& sampling);
  Active& at(RequestId id);
  Active& at(SeqId seq);
  const Active& at(SeqId seq) const;

  const Clock& clock_;
  const std::size_t history_;
  std::atomic<std::uint32_t>& waiting_;
  const std::function<void(const Ended&)> on_ended_;
  bool record_texts_ = true;
  using BySeq = std::map<SeqId, std::pair<RequestId, std::uint32_t>>;
  using ById = std::map<RequestId, std::unique_ptr<Active>>;

  ById active_;
  BySeq by_seq_;
  std::vector<std::pair<RequestId, std::uint32_t>> endings_;  // to be told; with room for all of by_seq_
  std::vector<std::shared_ptr<TokenStream>> asleep_;  // their readers do not know yet; with room for all
  std::deque<std::shared_ptr<Slot>> slots_;
  std::map<TenantId, TenantTotals> totals_;
  bool orphans_ = false;  // there may be some
  std::uint64_t next_seq_ = 1;
};

template <typename Cancel>
void RequestTable::for_orphans(Cancel cancel) {
  if (!orphans_) return;
  for (auto& [id, active] : active_) {
    if (!active->cancelled && active->failure.ok()) continue;
    for (Choice& choice : active->choices) {
      if (choice.ended || choice.cancelled) continue;
      Status status = active->failure;
      choice.cancelled = true;
      cancel(choice.seq, std::move(status));
    }
  }
  orphans_ = false;
}

}  // namespace larder::engine
