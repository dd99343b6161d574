// SPDX-License-Identifier: Apache-2.0
// Writing down, dropping, adopting. What comes up stands in restore.cc.
#include "runtime/engine/cold_tier.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/invariant.h"
#include "runtime/base/log.h"
#include "runtime/engine/block_mover.h"
#include "runtime/engine/listed_tree.h"
#include "runtime/engine/loop.h"
#include "runtime/engine/stored_entries.h"
#include "runtime/engine/stored_identities.h"

namespace larder::engine {
namespace {

using storage::StoreEvent;

constexpr std::size_t kAdoptedPerTurn = 2000;
constexpr std::size_t kCooledPerTurn = 64;

std::uint64_t record_id(const BlockKey& key) {
  std::uint64_t id = 0;
  std::memcpy(&id, key.data(), sizeof id);
  return id;
}

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

void ColdTier::begin(std::function<void()> ready) {
  ready_ = std::move(ready);
  if (!identity_->weights_known) return ready_now();
  identity_known();
}

void ColdTier::store_opened() {
  if (disk_.store() != nullptr) requests_.emplace(*disk_.store(), next_ticket_);
  if (identity_->weights_known) list_next();
}

void ColdTier::identity_known() {
  lineages_.attach(identity_, executor_.layout(), exec::kv_codec());
  to_list_.clear();
  choose_lineage();
  to_list_.push_back(identity_);
  if (!disk_.opening()) list_next();
}

// What lies on disk for the next of these lineages is asked for, and at first of other identities too; until it was
// adopted nothing is written down.
void ColdTier::list_next() {
  list_ticket_ = next_ticket_++;
  const bool asked =
      !to_list_.empty() && disk_.serves() && disk_.store()->list(std::nullopt, std::nullopt, list_ticket_);
  if (asked) return;
  to_list_.clear();
  list_ticket_ = 0;
  all_adopted();
  ready_now();
}

void ColdTier::ready_now() {
  if (const auto ready = std::exchange(ready_, nullptr)) ready();
}

// Its keys are made again on the loader: two hashes a block.
void ColdTier::on_listed(const StoreEvent& event) {
  if (event.ticket != list_ticket_) return;
  records_ = event.listing;
  const bool posted = services_.loader.post(
      [ticket = event.ticket, listing = event.listing, identity = *to_list_.front(), inbox = services_.inbox,
       scopes = services_.registry.all_scopes(), most = max_cold_nodes(services_.settings)] {
        auto tree = std::make_shared<ListedTree>(listed_tree(*listing, scopes, identity, most));
        inbox->push_reserved([ticket, tree](EngineLoop& loop) { loop.disk().listed(ticket, std::move(*tree)); });
      });
  if (posted) return;
  log::warning("store", "the loader was busy: what lies on disk is found after the next load");
  to_list_.clear();
  list_ticket_ = 0;
  all_adopted();
  ready_now();
}

void ColdTier::chained(std::uint64_t ticket, ListedTree tree) {
  if (ticket != list_ticket_) return;
  lost_.insert(lost_.end(), tree.lost.begin(), tree.lost.end());
  left_out_ += tree.left_out;
  if (to_list_.front() == identity_) {
    cache_.note_others(tree.others);
    // Another model that is here may have named its identity and have no block there just now.
    std::erase_if(tree.stale_identities, [this](const auto& each) { return disk_.has_named(each.second); });
    identities_->drop(tree.stale_identities, *requests_);
    for (const auto& named : lineages_.readable()) {
      const auto& there = tree.by_name;
      const bool lies_there = std::find(there.begin(), there.end(), named->lineage) != there.end();
      if (named->by_name && lies_there) to_list_.push_back(named);
    }
    foreign_found_ = std::move(tree.foreign);
    choose_foreign();
  }
  listing_ = std::move(tree.blocks);
  adopted_ = 0;
  adopt_slice();
}

void ColdTier::adopt_slice() {
  if (list_ticket_ == 0 || adopted_ > listing_.size()) return;
  const std::size_t count = std::min(kAdoptedPerTurn, listing_.size() - adopted_);
  cache_.adopt(std::span(listing_).subspan(adopted_, count), to_list_.front());
  adopted_ += count;
  if (adopted_ < listing_.size()) return;
  listing_.clear();
  adopted_ = kNotAdopting;
  list_ticket_ = 0;
  const auto records = std::exchange(records_, nullptr);
  const bool exact = to_list_.front() == identity_;
  to_list_.erase(to_list_.begin());
  if (exact) exact_records_ = records;
  if (!to_list_.empty()) return list_next();
  all_adopted();
}

// Pins and entries may end at blocks of any lineage.
void ColdTier::all_adopted() {
  const auto records = std::exchange(exact_records_, nullptr);
  if (records == nullptr) return;
  pins_.bring_back(records->records, cache_, *requests_, services_.clock.wall());
  ready_now();  // begins with an empty book
  entry_records_->bring_back(records->records, cache_, entries_, *requests_,
                             [this](TenantId tenant) { return services_.registry.scopes(tenant).ok(); });
}

bool ColdTier::has_named(std::uint64_t identity_record) const { return identities_->wrote(identity_record); }

bool ColdTier::storing() const {
  return requests_ && disk_.stores() && list_ticket_ == 0 && identity_->weights_known;
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

void ColdTier::write_down() {
  const std::size_t bytes = executor_.layout().block_bytes();
  while (storing() && writing_.size() < kUndurable && disk_.has_buffer(bytes)) {
    const std::optional<kv::UnstoredBlock> next = cache_.next_unstored();
    if (!next) return;
    if (goes_down(next->node) || put(*next, Form::kAsSet) != Taken::kLater) continue;
    cache_.store_later(next->node);
    return;
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
  for (const kv::StoredName& name : cache_.take_lost()) lost_.push_back(name);
  while (!lost_.empty()) {
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
  write_down();
  keep_cooled();
  drop_lost();
  issue_reads();
  cut_stalled();
}

void ColdTier::sync_pins() {
  if (storing()) pins_.sync(cache_, *requests_);
  if (storing()) entry_records_->sync(entries_, cache_, *requests_, services_.clock.wall(), false);
}

bool ColdTier::busy() const { return adopted_ < listing_.size(); }

bool ColdTier::waiting() const {
  return std::any_of(restores_.begin(), restores_.end(), [](const auto& each) { return !each.second.done; });
}

void ColdTier::on_event(const StoreEvent& event) {
  switch (event.kind) {
    case StoreEvent::Kind::kCopied:
      if (const auto found = writing_.find(event.ticket); found != writing_.end()) {
        disk_.give_buffer(std::move(found->second.buffer));
      }
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

void ColdTier::on_durable(const StoreEvent& event) {
  const auto found = writing_.find(event.ticket);
  if (found == writing_.end()) return;
  Writing done = std::move(found->second);
  writing_.erase(found);
  disk_.give_buffer(std::move(done.buffer));
  const bool known = known_below(done);
  tell_mover(done, storage::Refusal::kNone);
  if (!known) {
    lost_.push_back(done.name);
    return;
  }
  identities_->note(done.name.scope, *done.lineage, lineages_.digest_of(*done.lineage), *requests_);
  if (done.label.empty()) return;
  storage::StoredRecord record{done.name.scope, kLabelRecord, record_id(done.name.key), {}};
  record.bytes.assign(done.name.key.begin(), done.name.key.end());
  record.bytes.insert(record.bytes.end(), done.label.begin(), done.label.end());
  // A label that finds no room is missing after a restart, nothing else is.
  static_cast<void>(requests_->put_record(std::move(record)));
}

void ColdTier::on_refused(const StoreEvent& event) {
  const auto found = writing_.find(event.ticket);
  if (found == writing_.end()) return;
  Writing done = std::move(found->second);
  writing_.erase(found);
  disk_.give_buffer(std::move(done.buffer));
  const bool there = event.refusal == storage::Refusal::kAlreadyThere;
  if (there) known_below(done);
  tell_mover(done, there ? storage::Refusal::kNone : event.refusal);
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

void ColdTier::apply_settings() {
  choose_lineage();
  choose_foreign();
  if (!to_list_.empty() && list_ticket_ == 0 && !disk_.opening()) list_next();
}

}  // namespace larder::engine
