// SPDX-License-Identifier: Apache-2.0
// Who leaves the queue: the least served tenant's oldest sequence that has room and waits for nobody's prefix.
#include <algorithm>
#include <set>

#include "kernels/layout/kv_layout.h"
#include "runtime/sched/scheduler_sequence.h"

namespace larder::sched {
namespace {

constexpr std::uint32_t kMaxPassedOver = 16;   // admissions that may overtake a large request
constexpr std::size_t kLookedAtPerTenant = 8;  // matching costs up to a millisecond, so not the whole queue

std::uint32_t blocks_for(std::size_t tokens) {
  return static_cast<std::uint32_t>((tokens + kernels::kBlockTokens - 1) / kernels::kBlockTokens);
}

}  // namespace

std::uint32_t Scheduler::active_count() const {
  std::uint32_t count = 0;
  for (const auto& [order, sequence] : active_) {
    if (sink_.writable(sequence->spec.seq)) ++count;
  }
  return count;
}

std::uint32_t Scheduler::active_of(TenantId tenant) const {
  return static_cast<std::uint32_t>(std::count_if(
      active_.begin(), active_.end(), [&](const auto& each) { return each.second->spec.tenant == tenant; }));
}

std::vector<Scheduler::Sequence*> Scheduler::candidates() const {
  std::map<TenantId, std::vector<Sequence*>> by_tenant;
  for (const auto& [order, sequence] : waiting_) {
    std::vector<Sequence*>& line = by_tenant[sequence->spec.tenant];
    if (line.size() < kLookedAtPerTenant && sink_.writable(sequence->spec.seq)) line.push_back(sequence);
  }
  std::vector<std::pair<TenantId, std::vector<Sequence*>>> lines(by_tenant.begin(), by_tenant.end());
  std::stable_sort(lines.begin(), lines.end(), [&](const auto& a, const auto& b) {
    const std::uint32_t running_a = active_of(a.first);
    const std::uint32_t running_b = active_of(b.first);
    if (running_a != running_b) return running_a < running_b;
    return share_.served(a.first) < share_.served(b.first);
  });
  std::vector<Sequence*> ordered;
  for (const auto& [tenant, line] : lines) ordered.insert(ordered.end(), line.begin(), line.end());
  return ordered;
}

bool Scheduler::must_wait(const Sequence& sequence, const kv::Outlook& outlook) {
  return sequence.spec.read && outlook.leader.value != 0 && outlook.coming_tokens > outlook.cached_tokens;
}

bool Scheduler::has_room(const Sequence& sequence, const kv::Outlook& outlook) const {
  const std::uint32_t shared = sequence.spec.read ? outlook.cached_tokens / kernels::kBlockTokens : 0;
  const std::uint32_t needed = blocks_for(sequence.spec.prompt->tokens.size() + 1) - shared + 1;
  return needed <= cache_.available_blocks();
}

// A reader that does not read keeps no other answer out of the pool.
bool Scheduler::put_back_a_paused_one() {
  for (auto it = active_.rbegin(); it != active_.rend(); ++it) {
    if (sink_.writable(it->second->spec.seq) || in_open_chunk(it->second->spec.seq)) continue;
    put_back(*it->second);
    return true;
  }
  return false;
}

// When all slots are taken, a tenant that has none gets one of a tenant that has more than its share.
bool Scheduler::free_a_slot(const Sequence& sequence) {
  if (active_count() < limits_.max_batch) return true;
  if (active_of(sequence.spec.tenant) > 0) return false;
  std::set<TenantId> tenants{sequence.spec.tenant};
  for (const auto& [order, active] : active_) tenants.insert(active->spec.tenant);
  const auto fair = static_cast<std::uint32_t>((limits_.max_batch + tenants.size() - 1) / tenants.size());
  for (auto it = active_.rbegin(); it != active_.rend(); ++it) {
    Sequence& newest = *it->second;
    if (in_open_chunk(newest.spec.seq) || active_of(newest.spec.tenant) <= fair) continue;
    put_back(newest);
    return true;
  }
  return false;
}

// As if what the sequence computed itself before it came back were still to be computed.
kv::Verdict Scheduler::verdict_of(const Sequence& sequence) {
  kv::Verdict verdict = sequence.claim.verdict();
  if (!sequence.head) return verdict;
  const Head& head = *sequence.head;
  const std::uint32_t own = std::max(head.begin, std::min(head.end, verdict.reused_tokens)) - head.begin;
  const kv::Verdict& first = head.verdict;
  verdict.kind = first.kind;
  verdict.divergence = first.divergence;
  verdict.eviction = first.eviction;
  verdict.identity_part = first.identity_part;
  if (verdict.eviction) verdict.eviction->lost_tokens = own;
  verdict.reused_tokens -= own;
  if (verdict.reused_tokens == 0) verdict.tier = first.tier;
  return verdict;
}

// run_to: the sequence comes back when its prompt was computed that far; 0: it runs to its end.
void Scheduler::start(Sequence& sequence, std::uint32_t run_to) {
  kv::OpenRequest request;
  request.seq = sequence.spec.seq;
  request.request = sequence.spec.request;
  request.tenant = sequence.spec.tenant;
  request.prompt = sequence.spec.prompt;
  request.keys = sequence.spec.keys;
  request.read = sequence.spec.read;
  request.keep = sequence.spec.keep;
  request.count_hit = !sequence.started;
  if (sequence.spec.score_prompt && sequence.scored + 1 < sequence.prompt_tokens) request.max_reuse = sequence.scored;
  const Ticks begun = clock_.now();
  sequence.claim = cache_.open(std::move(request));
  const double match_ms = ms_between(begun, clock_.now());
  move_over(waiting_, active_, sequence.order);
  sequence.run_to = run_to;
  if (run_to == 0) return tell_started(sequence, match_ms);
  if (!sequence.head) sequence.head = Head{sequence.claim.verdict(), sequence.claim.committed(), run_to};
}

void Scheduler::tell_started(Sequence& sequence, double match_ms) {
  const kv::Restored restored = gate_ == nullptr ? kv::Restored() : gate_->opened(sequence.spec.seq);
  if (sequence.started) return;
  sequence.started = true;
  sequence.verdict = verdict_of(sequence);
  sequence.verdict.restored = restored;
  sequence.verdict.restored.tokens = std::min(restored.tokens, sequence.verdict.reused_tokens);
  if (restored.tokens > 0 && sequence.verdict.reused_tokens > 0) sequence.verdict.tier = restored.tier;
  sequence.verdict.prefill_tokens_per_s = rates_.prefill_tokens_per_s();
  if (rates_.prefill_tokens_per_s() > 0) {
    sequence.verdict.saved_ms = sequence.verdict.reused_tokens * rates_.prefill_row_ns() * 1e-6;
  }
  sink_.started(sequence.spec.seq, sequence.verdict, match_ms);
}

Scheduler::Admitted Scheduler::try_admit(Sequence& candidate, bool& first_is_too_large) {
  if (gate_ != nullptr && !candidate.started) candidate.spec.keys = gate_->keys_for(candidate.spec);
  const kv::Outlook outlook = cache_.outlook(*candidate.spec.prompt, *candidate.spec.keys);
  if (must_wait(candidate, outlook)) return Admitted::kNotNow;
  const GateAnswer gate = gate_ == nullptr ? GateAnswer() : gate_->ask(candidate.spec, outlook, rates_.prefill_cost());
  if (gate.waits) return Admitted::kNotNow;
  while (!has_room(candidate, outlook) && put_back_a_paused_one()) {
  }
  if (!has_room(candidate, outlook) && !active_.empty()) {
    first_is_too_large = true;
    return passed_over_ >= kMaxPassedOver ? Admitted::kNobody : Admitted::kNotNow;
  }
  if (!free_a_slot(candidate)) return Admitted::kNotNow;
  passed_over_ = first_is_too_large ? passed_over_ + 1 : 0;
  start(candidate, gate.run_to);
  return Admitted::kYes;
}

bool Scheduler::admit_one() {
  bool first_is_too_large = false;
  const bool full = active_count() >= limits_.max_batch;
  for (Sequence* candidate : candidates()) {
    if (full && active_of(candidate->spec.tenant) > 0) continue;
    Admitted admitted = Admitted::kNotNow;
    alone(candidate->spec.seq, [&] { admitted = try_admit(*candidate, first_is_too_large); });
    if (admitted != Admitted::kNotNow) return admitted == Admitted::kYes;
  }
  return false;
}

void Scheduler::admit() {
  while (!waiting_.empty() && admit_one()) {
  }
}

}  // namespace larder::sched
