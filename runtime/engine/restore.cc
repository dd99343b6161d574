// SPDX-License-Identifier: Apache-2.0
// ColdTier, upwards: the decision to restore or to compute, reading, and what a request is told of it.
#include <algorithm>

#include "runtime/engine/cold_tier.h"

namespace larder::engine {
namespace {

constexpr std::uint32_t kWorthTokens = 16;       // fewer are computed along with the rest
constexpr double kAssumedBytesPerS = 400e6;      // until the first reads were measured
constexpr double kFirstByteMs = 1.0;

// Is the copy itself to blame, so that it is not to be asked for again?
bool copy_is_gone(storage::Miss miss) {
  switch (miss) {
    case storage::Miss::kStopping:
    case storage::Miss::kBypassed:
    case storage::Miss::kBadShape:
    case storage::Miss::kReadFailed: return false;
    default: return true;
  }
}

}  // namespace

void ColdTier::decline(Restore& restore, const char* why, std::uint64_t& count) {
  restore.note.declined = why;
  restore.done = true;
  ++count;
}

// Both estimates, from measured rates.
void ColdTier::plan(Restore& restore, const kv::Outlook& outlook, double prefill_row_ns) const {
  const std::uint32_t tokens = outlook.known_tokens - outlook.cached_tokens;
  const double blocks = static_cast<double>(tokens + kernels::kBlockTokens - 1) / kernels::kBlockTokens;
  const storage::StoreCounters counters = store_->counters();
  const double rate = counters.read_bytes_per_s > 0 ? counters.read_bytes_per_s : kAssumedBytesPerS;
  const double bytes = blocks * static_cast<double>(executor_->layout().block_bytes());
  const double ahead = static_cast<double>(reading_.size()) * static_cast<double>(executor_->layout().block_bytes());
  restore.note.tier = "disk";
  restore.note.estimate_ms = kFirstByteMs + (bytes + ahead) / rate * 1e3;
  restore.note.compute_ms = tokens * prefill_row_ns * 1e-6;
  restore.note.declined_tokens = tokens;
}

bool ColdTier::holds_back(const sched::SequenceSpec& spec, const kv::Outlook& outlook, double prefill_row_ns) {
  if (store_ == nullptr || cache_ == nullptr || mode_ == storage::StoreMode::kBypassed) return false;
  if (!spec.read || spec.score_prompt) return false;
  const auto known = restores_.find(spec.seq.value);
  if (known == restores_.end()) {
    if (outlook.known_tokens < outlook.cached_tokens + kWorthTokens) return false;
    Restore restore;
    restore.asked = services_.clock.now();
    plan(restore, outlook, prefill_row_ns);
    const bool slower = !always_ && restore.note.compute_ms > 0 && restore.note.estimate_ms >= restore.note.compute_ms;
    if (slower) decline(restore, "slower", totals_.declined_slower);
    const bool waits = !slower && begin(restore, spec);
    restores_.emplace(spec.seq.value, std::move(restore));
    return waits;
  }
  Restore& restore = known->second;
  if (restore.done) return false;
  if (restore.arrival.open()) return true;
  if (outlook.known_tokens < outlook.cached_tokens + kWorthTokens) {  // another request brought it up
    restore.done = true;
    restore.note.declined_tokens = 0;
    return false;
  }
  return begin(restore, spec);
}

// Room for the blocks, and the first reads. False: the sequence starts without them.
bool ColdTier::begin(Restore& restore, const sched::SequenceSpec& spec) {
  Result<kv::Arrival> arrival = cache_->begin_arrival(*spec.prompt, *spec.keys, spec.request, spec.tenant);
  if (arrival.ok() && arrival->open()) {
    restore.arrival = std::move(arrival).value();
    return true;
  }
  // No room now, or another request is bringing the same blocks up.
  if (ms_between(restore.asked, services_.clock.now()) < kLongestWaitMs) return true;
  if (arrival.ok()) {
    decline(restore, "late", totals_.declined_late);
  } else {
    decline(restore, "no_room", totals_.declined_room);
  }
  return false;
}

void ColdTier::issue_reads() {
  if (store_ == nullptr || executor_ == nullptr) return;
  for (auto& [id, restore] : restores_) {
    if (!issue(id, restore)) return;
  }
}

// False when no more may be in flight.
bool ColdTier::issue(std::uint64_t id, Restore& restore) {
  if (!restore.arrival.open() || restore.done) return true;
  const std::size_t block_bytes = executor_->layout().block_bytes();
  while (restore.issued < restore.arrival.blocks().size()) {
    if (!reading_.empty() && (reading_.size() + 1) * block_bytes > kReadBytes) return false;
    const kv::ArrivingBlock& block = restore.arrival.blocks()[restore.issued];
    Reading reading{id, restore.issued, nullptr};
    storage::GetBlock get;
    get.block = stored(block.cold);
    get.into = executor_->host_memory(block.to);
    if (get.into.empty()) {
      reading.buffer = take_buffer();
      if (reading.buffer == nullptr) return false;
      get.into = *reading.buffer;
    }
    get.ticket = next_ticket_++;
    if (store_->get({&get, 1}) == 0) {
      give_buffer(std::move(reading.buffer));
      return false;
    }
    reading_.emplace(get.ticket, std::move(reading));
    ++restore.issued;
  }
  return true;
}

void ColdTier::on_read(const storage::StoreEvent& event) {
  const auto found = reading_.find(event.ticket);
  if (found == reading_.end()) return;
  Reading reading = std::move(found->second);
  reading_.erase(found);
  const auto owner = restores_.find(reading.restore);
  if (owner == restores_.end()) {
    give_buffer(std::move(reading.buffer));
    return;
  }
  Restore& restore = owner->second;
  bool good = event.kind == storage::StoreEvent::Kind::kRead;
  if (good && reading.buffer != nullptr) {
    good = executor_->write_block(restore.arrival.blocks()[reading.index].to, *reading.buffer).ok();
  }
  give_buffer(std::move(reading.buffer));
  ++restore.answered;
  if (good) {
    restore.arrival.arrived(reading.index, event.checksum);
    ++totals_.restored_blocks;
  } else {
    restore.arrival.missed(reading.index, copy_is_gone(event.miss));
    restore.note.declined = "damaged";
    give_up_rest(restore);
  }
  settle(owner->first);
  issue_reads();
}

// What was not asked for yet will not be.
void ColdTier::give_up_rest(Restore& restore) {
  if (!restore.arrival.open()) return;
  for (; restore.issued < restore.arrival.blocks().size(); ++restore.issued, ++restore.answered) {
    restore.arrival.missed(restore.issued, false);
  }
}

void ColdTier::settle(std::uint64_t id) {
  Restore& restore = restores_.at(id);
  if (!restore.arrival.open() || restore.answered < restore.arrival.blocks().size()) return;
  restore.done = true;
  restore.note.tokens = restore.arrival.warmed_tokens();
  restore.note.declined_tokens -= std::min(restore.note.declined_tokens, restore.note.tokens);
  restore.note.ms = ms_between(restore.asked, services_.clock.now());
  if (restore.note.declined.empty()) {
    restore.note.declined_tokens = 0;
  } else {
    ++totals_.declined_damaged;
  }
  totals_.restored_tokens += restore.note.tokens;
  totals_.restore_ms += restore.note.ms;
  if (restore.forgotten) restores_.erase(id);
}

kv::Restored ColdTier::opened(SeqId seq) {
  const auto found = restores_.find(seq.value);
  if (found == restores_.end()) return {};
  const kv::Restored note = found->second.note;
  restores_.erase(found);
  return note;
}

void ColdTier::forget(SeqId seq) {
  const auto found = restores_.find(seq.value);
  if (found == restores_.end()) return;
  Restore& restore = found->second;
  restore.forgotten = true;
  give_up_rest(restore);
  if (!restore.arrival.open() || restore.done) {
    restores_.erase(found);
  } else {
    settle(found->first);
  }
}

}  // namespace larder::engine
