// SPDX-License-Identifier: Apache-2.0
// ColdTier, upwards: the decision to restore or to compute, reading, and what a request is told of it.
#include <algorithm>

#include "runtime/engine/cold_tier.h"

namespace larder::engine {
namespace {

constexpr double kFirstByteMs = 1.0;
constexpr double kAheadMs = 25;  // of reading in flight: a newcomer waits no longer than that
constexpr std::size_t kLeastReadBytes = 1u << 20;
constexpr double kLongestIdleMs = 10'000;  // of a read, where estimates are not to decide

}  // namespace

bool copy_is_gone(storage::Miss miss) {
  switch (miss) {
    case storage::Miss::kStopping:
    case storage::Miss::kBypassed:
    case storage::Miss::kBadShape:
    case storage::Miss::kNoCodec:
    case storage::Miss::kWrongScheme:
    case storage::Miss::kReadFailed:
      return false;
    default:
      return true;
  }
}

void ColdTier::decline(Restore& restore, const char* why, std::uint64_t& count) {
  restore.note.declined = why;
  restore.done = true;
  restore.names = {};
  ++count;
}

// How many of these have a copy in memory.
std::uint32_t ColdTier::in_ram(const ScopeId& scope, const kv::ColdNames& names) const {
  const std::vector<bool> there = disk_.store()->in_ram(scope, names.keys);
  return static_cast<std::uint32_t>(std::count(there.begin(), there.end(), true));
}

// The disk is shared block by block: of each other restore as many blocks come between these, at most.
ReadRate ColdTier::read_rate(std::uint32_t blocks, std::uint32_t of_ram, kernels::KvScheme lineage) const {
  ReadRate read;
  const std::uint32_t of_disk = blocks - std::min(blocks, of_ram);
  read.first_ms = of_disk > 0 ? kFirstByteMs : 0;
  const auto bytes = static_cast<double>(kernels::coded_block_bytes(lineage, executor_.layout()));
  const double all_s = bytes * (of_disk / disk_.read_bytes_per_s() + (blocks - of_disk) / disk_.ram_bytes_per_s());
  read.block_ms = all_s * 1e3 / std::max(blocks, 1u);
  std::size_t ahead = reading_.size();
  for (const auto& [id, other] : restores_) {
    if (!other.arrival.open()) continue;
    ahead += std::min<std::size_t>(blocks, other.arrival.blocks().size() - other.issued);
  }
  read.blocks_ahead = static_cast<double>(ahead);
  return read;
}

// Both estimates, from measured rates, and what follows from them.
ColdTier::Restore ColdTier::planned(const kv::Outlook& outlook, const sched::PrefillCost& cost,
                                    const sched::SequenceSpec& spec) const {
  Restore restore;
  restore.asked = services_.clock.now();
  restore.cost = cost;
  restore.run = {outlook.cached_tokens / kernels::kBlockTokens * kernels::kBlockTokens, 0};
  restore.run.tokens = outlook.known_tokens - restore.run.position;
  std::uint32_t of_ram = 0;
  if (disk_.keeps_in_ram()) {
    restore.names = cache_.cold_names(*spec.prompt, *spec.keys);
    of_ram = in_ram(spec.keys->scope->id(), restore.names);
  }
  const ReadRate rate = read_rate(restore.run.blocks(), of_ram, spec.keys->identity->lineage);
  restore.plan = plan_restore(restore.run, rate, cost, disk_.always_restores());
  restore.note.tier = "disk";
  restore.note.estimate_ms = restore.plan.estimate_ms;
  restore.note.compute_ms = restore.plan.compute_ms;
  restore.note.declined_tokens = outlook.known_tokens - outlook.cached_tokens;
  return restore;
}

sched::GateAnswer ColdTier::ask(const sched::SequenceSpec& spec, const kv::Outlook& outlook,
                                const sched::PrefillCost& cost) {
  if (!disk_.serves()) return {};
  if (!spec.read || spec.score_prompt) return {};
  const bool worth = outlook.known_tokens >= outlook.cached_tokens + kWorthTokens;
  const auto known = restores_.find(spec.seq.value);
  if (known == restores_.end()) {
    if (!worth) return {};
    Restore restore = planned(outlook, cost, spec);
    if (!restore.plan.read) {
      restore.note.declined_read_ms = restore.plan.read_ms;
      restore.note.declined_compute_ms = restore.plan.compute_ms;
      decline(restore, "slower", disk_.totals().declined_slower);
    }
    return begin(restores_.emplace(spec.seq.value, std::move(restore)).first->second, spec);
  }
  Restore& restore = known->second;
  if (restore.arrival.open()) return go_on(restore, outlook);
  if (!restore.done && !worth) {  // another request brought it up
    restore.done = true;
    restore.note.declined_tokens = 0;
  }
  return begin(restore, spec);
}

// Room for the blocks, and the first reads. An empty answer: the sequence starts without them.
sched::GateAnswer ColdTier::begin(Restore& restore, const sched::SequenceSpec& spec) {
  if (restore.done) return {};
  const auto whole = static_cast<std::uint32_t>(spec.prompt->tokens.size()) / kernels::kBlockTokens + 1;
  const std::uint32_t above = restore.run.position / kernels::kBlockTokens;
  // Head and arrival take their room side by side; where that is short, nothing is computed meanwhile.
  if (restore.plan.head_blocks > 0 && cache_.available_blocks() < whole - above + 1) {
    restore.plan.head_blocks = 0;
    restore.plan.mixed_ms = 0;
    restore.note.estimate_ms = restore.plan.read_ms;
  }
  if (restore.names.keys.empty()) restore.names = cache_.cold_names(*spec.prompt, *spec.keys);
  Result<kv::Arrival> arrival = kv::Arrival();  // nothing to bring: somebody else does
  if (!restore.names.keys.empty()) {
    arrival = cache_.begin_arrival(*spec.prompt, *spec.keys, spec.request, spec.tenant,
                                   {restore.plan.head_blocks, ~std::size_t{0}, &restore.names});
  }
  if (arrival.ok() && arrival->open()) {
    restore.arrival = std::move(arrival).value();
    restore.names = {};
    restore.note.promised = restore.run.tokens - restore.plan.head_blocks * kernels::kBlockTokens;
    restore.last_came = services_.clock.now();
    if (restore.plan.head_blocks == 0) return {true, 0};
    restore.head_end = restore.run.position + restore.plan.head_blocks * kernels::kBlockTokens;
    ++disk_.totals().mixed_restores;
    return {false, restore.head_end};
  }
  // No room now, or another request is bringing the same blocks up. Computing needs the room as well.
  const double waited_ms = ms_between(restore.asked, services_.clock.now());
  const bool computes_sooner = arrival.ok() && !disk_.always_restores() && restore.plan.compute_ms > 0;
  const double longest_ms = computes_sooner ? std::min(kLongestWaitMs, restore.plan.compute_ms) : kLongestWaitMs;
  if (waited_ms < longest_ms) return {true, 0};
  if (arrival.ok()) {
    decline(restore, "late", disk_.totals().declined_late);
  } else {
    decline(restore, "no_room", disk_.totals().declined_room);
  }
  return {};
}

// Its blocks are on their way, or came.
sched::GateAnswer ColdTier::go_on(Restore& restore, const kv::Outlook& outlook) {
  if (restore.done) return {};
  if (outlook.cached_tokens < restore.head_end) return {false, restore.head_end};
  restore.head_end = 0;
  restore.arrival.look_again();
  settle(restore);
  return {!restore.done, 0};
}

// One block of each in turn, so that a long run does not keep a short one waiting.
void ColdTier::issue_reads() {
  if (disk_.store() == nullptr || restores_.empty()) return;
  const double ahead = disk_.read_bytes_per_s() * kAheadMs * 1e-3;
  const auto most = static_cast<std::size_t>(std::clamp(ahead, double{kLeastReadBytes}, double{kReadBytes}));
  const std::size_t block_bytes = executor_.layout().block_bytes();
  for (std::size_t passed = 0; passed < restores_.size();) {
    if (!reading_.empty() && (reading_.size() + 1) * block_bytes > most) return;
    auto next = restores_.upper_bound(last_issued_);
    if (next == restores_.end()) next = restores_.begin();
    last_issued_ = next->first;
    Restore& restore = next->second;
    const bool wants = restore.arrival.open() && restore.issued < restore.arrival.blocks().size();
    if (wants && !issue(next->first, restore)) return;
    passed = wants ? 0 : passed + 1;
  }
}

// False when no more may be in flight.
bool ColdTier::issue(std::uint64_t id, Restore& restore) {
  const kv::ArrivingBlock& block = restore.arrival.blocks()[restore.issued];
  Reading reading{id, restore.issued, {}};
  storage::GetBlock get;
  get.block = stored(block.cold);
  get.layout = executor_.layout();
  get.into = executor_.host_memory(block.to);
  if (get.into.empty()) {
    reading.buffer = disk_.buffers().take(executor_.layout().block_bytes());
    if (reading.buffer == nullptr) return false;
    get.into = *reading.buffer;
  }
  get.ticket = next_ticket_++;
  const bool taken =
      reading_.ask(get.ticket, std::move(reading), [&] { return disk_.store()->get({&get, 1}) == 1; });
  if (taken) ++restore.issued;
  return taken;
}

void ColdTier::on_read(const storage::StoreEvent& event) {
  const Reading* const reading = reading_.find(event.ticket);
  if (reading == nullptr) return;
  const std::uint64_t id = reading->restore;
  const std::size_t index = reading->index;
  Restore& restore = restores_.at(id);  // it stays until its last read was answered
  const kv::ArrivingBlock& block = restore.arrival.blocks()[index];
  bool good = event.kind == storage::StoreEvent::Kind::kRead;
  if (good && reading->buffer != nullptr) {
    good = executor_.write_block(block.to, *reading->buffer).ok();
  } else if (!good && copy_is_gone(event.miss)) {
    forget_gone(block.cold.key);
  }
  // From here on nothing needs memory.
  reading_.erase(event.ticket);
  ++restore.answered;
  restore.last_came = services_.clock.now();
  if (good) {
    restore.arrival.arrived(index, event.checksum);
    ++restore.came;
    ++disk_.totals().restored_blocks;
    if (event.from_ram) ++restore.from_ram;
  } else {
    restore.arrival.missed(index, false);
    if (!restore.done) restore.note.declined = "damaged";
    give_up_rest(restore);
  }
  if (restore.head_end == 0) settle(restore);
  drop_if_over(id);
}

// What was not asked for yet will not be.
void ColdTier::give_up_rest(Restore& restore) {
  if (!restore.arrival.open()) return;
  for (; restore.issued < restore.arrival.blocks().size(); ++restore.issued, ++restore.answered) {
    restore.arrival.missed(restore.issued, false);
  }
}

// A request that reads does not wait on when computing what is left would be sooner. What is in flight still comes, and
// finds its place in the tree or is given back.
void ColdTier::cut_stalled() {
  const bool always = disk_.always_restores();
  const Ticks now = services_.clock.now();
  for (auto& [id, restore] : restores_) {
    if (restore.done || restore.forgotten || restore.head_end > 0 || !restore.arrival.open()) continue;
    const auto& blocks = restore.arrival.blocks();
    ReadState state;
    state.asked_ms = ms_between(restore.asked, now);
    state.idle_ms = ms_between(restore.last_came, now);
    state.estimate_ms = restore.plan.mixed_ms > 0 ? restore.plan.mixed_ms : restore.plan.read_ms;
    state.blocks = static_cast<std::uint32_t>(blocks.size());
    state.blocks_left = state.blocks - static_cast<std::uint32_t>(restore.answered);
    const std::uint32_t here = blocks.front().cold.first_position + restore.arrival.warmed_tokens();
    const double compute_left_ms = restore.cost.ms(here, restore.run.position + restore.run.tokens);
    const bool patient = always || restore.cost.known();
    const bool stands_still = state.idle_ms > (patient ? kLongestIdleMs : kLongestWaitMs);
    if (!stands_still && (always || !overdue(state, compute_left_ms))) continue;
    restore.note.declined = "stalled";
    restore.note.declined_read_ms = read_left_ms(state);
    restore.note.declined_compute_ms = compute_left_ms;
    give_up_rest(restore);
    restore.done = true;
    settle(restore);
  }
}

// What the request is told, once nothing is waited for any more.
void ColdTier::settle(Restore& restore) {
  const bool all_answered = restore.answered == restore.arrival.blocks().size();
  if (restore.told || !(restore.done || all_answered)) return;
  restore.done = true;
  restore.told = true;
  kv::Restored& note = restore.note;
  const std::uint32_t begin = restore.arrival.blocks().front().cold.first_position;
  note.tokens = std::min(restore.arrival.warmed_tokens(), restore.run.position + restore.run.tokens - begin);
  note.declined_tokens -= std::min(note.declined_tokens, note.tokens);
  note.ms = ms_between(restore.asked, restore.last_came);
  if (restore.came > 0 && restore.from_ram == restore.came) note.tier = "ram";
  note.compute_ms = restore.cost.ms(begin, begin + note.tokens);
  if (!note.declined.empty()) {
    ++(note.declined == "stalled" ? disk_.totals().declined_stalled : disk_.totals().declined_damaged);
  } else if (restore.plan.mixed_ms > 0) {
    note.declined = "mixed";
    note.declined_read_ms = restore.plan.read_ms;
    note.declined_compute_ms = restore.plan.mixed_ms;
  } else {
    note.declined_tokens = 0;
  }
  disk_.totals().restored_tokens += note.tokens;
  disk_.totals().restore_ms += note.ms;
}

void ColdTier::drop_if_over(std::uint64_t id) {
  const auto found = restores_.find(id);
  if (found == restores_.end() || !found->second.forgotten) return;
  const Restore& restore = found->second;
  if (!restore.arrival.open() || restore.answered == restore.arrival.blocks().size()) restores_.erase(found);
}

kv::Restored ColdTier::opened(SeqId seq) {
  const auto found = restores_.find(seq.value);
  if (found == restores_.end()) return {};
  kv::Restored note = found->second.note;
  forget(seq);
  return note;
}

void ColdTier::forget(SeqId seq) noexcept {
  const auto found = restores_.find(seq.value);
  if (found == restores_.end()) return;
  found->second.forgotten = true;
  found->second.done = true;
  found->second.told = true;
  found->second.head_end = 0;
  give_up_rest(found->second);
  drop_if_over(seq.value);
}

bool ColdTier::holds_room() const {
  return std::any_of(restores_.begin(), restores_.end(), [](const auto& each) { return each.second.arrival.open(); });
}

}  // namespace larder::engine
