// SPDX-License-Identifier: Apache-2.0
// Writing down and dropping. What comes up stands in restore.cc, what is found after a start in adopting.cc.
#include "runtime/engine/cold_tier.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/invariant.h"
#include "runtime/engine/listed_tree.h"
#include "runtime/engine/stored_entries.h"
#include "runtime/engine/stored_identities.h"
#include "runtime/kv/room_for.h"

namespace larder::engine {
namespace {

using storage::StoreEvent;

constexpr std::size_t kCooledPerTurn = 64;

std::uint64_t record_id(const BlockKey& key) {
  std::uint64_t id = 0;
  std::memcpy(&id, key.data(), sizeof id);
  return id;
}

// The next block to write down; it is in the queue again unless it was taken out for good.
class NextDown {
 public:
  explicit NextDown(kv::PrefixCache& cache) : cache_(cache), block_(cache.next_unstored()) {}
  ~NextDown() {
    if (block_ && !done_) cache_.store_later(block_->node);
  }
  NextDown(const NextDown&) = delete;
  NextDown& operator=(const NextDown&) = delete;
  const std::optional<kv::UnstoredBlock>& block() const { return block_; }
  void done() { done_ = true; }

 private:
  kv::PrefixCache& cache_;
  const std::optional<kv::UnstoredBlock> block_;
  bool done_ = false;
};

}  // namespace

std::uint32_t max_cold_nodes(const settings::Settings& settings) {
  return static_cast<std::uint32_t>(settings.integer(settings::Key::kStoreTreeBlocks));
}

ColdTier::ColdTier(Services& services, DiskTier& disk, Parts parts)
    : services_(services),
      disk_(disk),
      owner_(parts.owner),
      cache_(parts.cache),
      executor_(parts.executor),
      identity_(std::move(parts.identity)),
      entries_(parts.entries),
      identities_(std::make_unique<StoredIdentities>()),
      entry_records_(std::make_unique<StoredEntries>()),
      next_ticket_(DiskTier::tickets_of(parts.owner)) {
  if (disk_.store() != nullptr) requests_.emplace(*disk_.store(), next_ticket_);
  disk_.join(*this);
}

ColdTier::~ColdTier() { end(); }

bool ColdTier::has_named(std::uint64_t identity_record) const { return identities_->wrote(identity_record); }

bool ColdTier::storing() const {
  return requests_ && disk_.stores() && !adopting_ && identity_->weights_known;
}

storage::StoredBlock ColdTier::stored(const kv::ColdBlock& cold) const {
  storage::StoredBlock block;
  lineages_.name(block, cold);
  block.scope = cold.scope;
  block.key = cold.key;
  block.parent = cold.parent;
  block.first_position = cold.first_position;
  block.valid_tokens = cold.valid;
  block.tokens = cold.tokens;
  block.owner = cold.owner;
  block.created = cold.created;
  block.last_use = services_.clock.wall();
  block.pinned = cold.pinned;
  return block;
}

// What is to be dropped goes first: it may bear the name of what comes.
void ColdTier::write_down() {
  const std::size_t bytes = executor_.layout().block_bytes();
  while (storing() && lost_.empty() && writing_.size() < kUndurable && disk_.buffers().has(bytes)) {
    NextDown next(cache_);
    if (!next.block()) return;
    if (!goes_down(next.block()->node) && put(*next.block(), Form::kAsSet) == Taken::kLater) return;
    next.done();
  }
}

// What left the pool may stay in memory as it lies on disk.
void ColdTier::keep_cooled() {
  if (!requests_ || !disk_.keeps_in_ram()) return;
  std::map<ScopeId, std::vector<BlockKey>> cooled;
  for (const kv::StoredName& name : cache_.take_cooled(kCooledPerTurn)) cooled[name.scope].push_back(name.key);
  for (auto& [scope, keys] : cooled) {
    std::reverse(keys.begin(), keys.end());
    disk_.store()->keep_in_ram(scope, std::move(keys));
  }
}

void ColdTier::drop_lost() {
  if (!requests_) return;
  for (;;) {
    if (lost_.empty()) lost_ = cache_.take_lost();
    if (lost_.empty()) return;
    const ScopeId scope = lost_.back().scope;
    std::vector<BlockKey> keys;
    for (const kv::StoredName& name : lost_) {
      if (name.scope == scope) keys.push_back(name.key);
    }
    if (!requests_->remove(scope, std::move(keys))) return;
    std::erase_if(lost_, [&](const kv::StoredName& name) { return name.scope == scope; });
  }
}

void ColdTier::tick() {
  adopt_slice();
  drop_lost();
  write_down();
  keep_cooled();
  issue_reads();
  cut_stalled();
}

void ColdTier::sync_pins() {
  if (storing()) pins_.sync(cache_, *requests_);
  if (storing()) entry_records_->sync(entries_, cache_, *requests_, services_.clock.wall(), false);
}

bool ColdTier::busy() const { return tree_ != nullptr; }

bool ColdTier::waiting() const {
  return std::any_of(restores_.begin(), restores_.end(), [](const auto& each) { return !each.second.done; });
}

void ColdTier::on_event(const StoreEvent& event) {
  switch (event.kind) {
    case StoreEvent::Kind::kCopied:
      if (Writing* const copied = writing_.find(event.ticket)) copied->buffer.reset();
      return;
    case StoreEvent::Kind::kDurable:
      return on_durable(event);
    case StoreEvent::Kind::kRefused:
      return on_refused(event);
    case StoreEvent::Kind::kRead:
    case StoreEvent::Kind::kMissed:
      if (!on_moved(event)) on_read(event);
      return;
    case StoreEvent::Kind::kListed:
      return on_listed(event);
    case StoreEvent::Kind::kDone:
      if (requests_) requests_->answered(event.ticket);
      return;
    case StoreEvent::Kind::kEvicted:
    case StoreEvent::Kind::kShredded:
    case StoreEvent::Kind::kFlushed:
      return;
  }
}

// Its entry goes last, so that all of it can be done once more.
void ColdTier::on_durable(const StoreEvent& event) {
  Writing* const done = writing_.find(event.ticket);
  if (done == nullptr) return;
  done->buffer.reset();
  kv::room_for(lost_, 1);
  const bool known = known_below(*done);
  tell_mover(*done, storage::Refusal::kNone);
  if (known) {
    note_records(*done);
  } else if (!comes_again(done->name, event.ticket)) {
    lost_.push_back(done->name);
  }
  writing_.erase(event.ticket);
}

// Asked for once more under the same name: that will find the copy, and keep it.
bool ColdTier::comes_again(const kv::StoredName& name, std::uint64_t ticket) const {
  return std::any_of(writing_.begin(), writing_.end(), [&](const auto& each) {
    return each.first != ticket && each.second.name.scope == name.scope && each.second.name.key == name.key;
  });
}

// What finds no room or no memory is missing after a restart, or noted with the next block; nothing else is lost.
void ColdTier::note_records(const Writing& done) {
  static_cast<void>(had_memory([&] {
    identities_->note(done.name.scope, *done.lineage, lineages_.digest_of(*done.lineage), *requests_);
    if (done.label.empty()) return;
    storage::StoredRecord record{done.name.scope, kLabelRecord, record_id(done.name.key), {}};
    record.bytes.assign(done.name.key.begin(), done.name.key.end());
    record.bytes.insert(record.bytes.end(), done.label.begin(), done.label.end());
    static_cast<void>(requests_->put_record(std::move(record)));
  }));
}

void ColdTier::on_refused(const StoreEvent& event) {
  Writing* const done = writing_.find(event.ticket);
  if (done == nullptr) return;
  done->buffer.reset();
  const bool there = event.refusal == storage::Refusal::kAlreadyThere;
  if (there) known_below(*done);
  tell_mover(*done, there ? storage::Refusal::kNone : event.refusal);
  writing_.erase(event.ticket);
}

bool ColdTier::drained() {
  if (!requests_) return true;
  drop_lost();
  sync_pins();
  if (storing()) entry_records_->sync(entries_, cache_, *requests_, services_.clock.wall(), true);
  return writing_.empty() && reading_.empty() && moving_.empty() && lost_.empty() && requests_->none_open() &&
         (!storing() || !cache_.has_unstored());
}

void ColdTier::end() {
  if (std::exchange(ended_, true)) return;
  INVARIANT(!requests_ || (writing_.empty() && reading_.empty() && moving_.empty()));
  for (auto& [id, restore] : restores_) give_up_rest(restore);
  restores_.clear();
  ready_ = nullptr;
  disk_.leave(*this);
}

// No more events come.
void ColdTier::store_closed() {
  requests_.reset();
  writing_.clear();
  for (const auto& [ticket, reading] : reading_) {
    const auto owner = restores_.find(reading.restore);
    if (owner != restores_.end()) owner->second.arrival.missed(reading.index, false);
  }
  reading_.clear();
  moving_.clear();
}

}  // namespace larder::engine
