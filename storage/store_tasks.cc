// SPDX-License-Identifier: Apache-2.0
// The half of StoreWriter that runs everything but puts.
#include <algorithm>
#include <new>
#include <span>

#include "runtime/base/out_of_memory.h"
#include "storage/store_writer.h"

namespace larder::storage {
namespace {

constexpr std::uint64_t kPurgeRows = 2'000;  // rows deleted between two looks at the queue
constexpr std::size_t kUsesAtOnce = 4'096;

// What destroys keys, and what the store asked of itself: nobody would ask again.
bool has_to_be_done(const WriteTask& task) {
  return std::holds_alternative<ShredTask>(task.work) || std::holds_alternative<PurgeTask>(task.work) ||
         std::holds_alternative<DropTask>(task.work) || std::holds_alternative<LimitsTask>(task.work);
}

}  // namespace

Status StoreWriter::in_transaction(const std::function<Status()>& changes) {
  Status done;
  try {
    done = catalog_->begin();
    if (done.ok()) done = changes();
    if (done.ok()) done = catalog_->commit();
  } catch (const std::bad_alloc&) {
    done = no_memory();
  }
  if (done.ok()) return done;
  catalog_->rollback();
  saved_scopes_.clear();  // saved again with the next commit
  MutexLock lock(state_.mutex);
  state_.failed(done.error(), &StoreCounters::failed_writes);
  return done;
}

std::shared_ptr<const ScopeKeys> StoreWriter::keys_of(const ScopeId& scope) {
  MutexLock lock(state_.mutex);
  const auto found = state_.scopes.find(scope);
  return found == state_.scopes.end() ? nullptr : found->second;
}

Status StoreWriter::save_scope(const ScopeKeys& keys) {
  if (std::find(saved_scopes_.begin(), saved_scopes_.end(), keys.id()) != saved_scopes_.end()) return {};
  RETURN_IF_ERROR(catalog_->put_scope({keys.tag(), keys.salt()}));
  saved_scopes_.push_back(keys.id());
  return {};
}

void StoreWriter::run_task(WriteTask& task) {
  StoreEvent answer;
  answer.ticket = task.ticket;
  bool tells = true;
  for (bool again = true; again;) {
    Status done = no_memory();
    static_cast<void>(had_memory([&] { done = perform(task, answer, tells); }));
    static_cast<void>(had_memory([this] { publish_counters(); }));
    if (!had_memory([&] { answer.error = done.ok() ? "" : to_string(done.error()); })) answer.error = "out of memory";
    again = has_to_be_done(task) && lacks_memory(done);
    if (again) wait_for_memory();
    MutexLock lock(state_.mutex);
    again = again && !state_.stopping;
  }
  if (!tells) return;
  MutexLock lock(state_.mutex);
  state_.tell(std::move(answer), 1);
}

Status StoreWriter::perform(WriteTask& task, StoreEvent& answer, bool& tells) {
  if (const auto* removed = std::get_if<RemoveTask>(&task.work)) return remove(*removed);
  if (const auto* pin = std::get_if<PinTask>(&task.work)) return set_pinned(*pin);
  if (const auto* record = std::get_if<RecordTask>(&task.work)) return put_record(*record);
  if (const auto* gone = std::get_if<RemoveRecordTask>(&task.work)) return remove_record(*gone);
  if (const auto* wanted = std::get_if<ListTask>(&task.work)) {
    answer.kind = StoreEvent::Kind::kListed;
    answer.listing = state_.no_listing;
    return list(*wanted, answer);
  }
  if (std::holds_alternative<FlushTask>(task.work)) {
    answer.kind = StoreEvent::Kind::kFlushed;
    return flush();
  }
  if (const auto* shredded = std::get_if<ShredTask>(&task.work)) {
    answer.kind = StoreEvent::Kind::kShredded;
    answer.scope = shredded->keys->id();
    return shred(*shredded);
  }
  if (const auto* dropped = std::get_if<DropTask>(&task.work)) {
    answer.kind = StoreEvent::Kind::kEvicted;
    answer.scope = dropped->scope;
    answer.key = dropped->key;
    return drop(*dropped);
  }
  tells = false;
  if (const auto* purged = std::get_if<PurgeTask>(&task.work)) return purge(*purged);
  if (std::holds_alternative<LimitsTask>(task.work)) return keep_limits();
  keep(std::move(std::get<KeepTask>(task.work)));
  return {};
}

std::vector<StoreIndex::Entry> StoreWriter::durable_entries(const ScopeId& scope, const std::vector<BlockKey>& keys) {
  std::vector<StoreIndex::Entry> entries;
  MutexLock lock(state_.mutex);
  for (const BlockKey& key : keys) {
    const StoreIndex::Entry* entry = state_.index.find(scope, key);
    if (entry != nullptr && entry->durable) entries.push_back(*entry);
  }
  return entries;
}

Status StoreWriter::remove(const RemoveTask& task) {
  const std::vector<StoreIndex::Entry> entries = durable_entries(task.scope, task.keys);
  const Status committed = in_transaction([&]() -> Status {
    for (const StoreIndex::Entry& entry : entries) RETURN_IF_ERROR(catalog_->remove_block(entry.at));
    return {};
  });
  RETURN_IF_ERROR(committed);
  MutexLock lock(state_.mutex);
  for (const StoreIndex::Entry& removed : entries) {
    const StoreIndex::Entry* entry = state_.index.find(task.scope, removed.key);
    if (entry == nullptr) continue;  // named twice, or a read found it damaged: its room is given back with its drop
    state_.index.erase(removed.key);
    room_->give_back(removed.at);
    ++state_.counters.removed_blocks;
  }
  return {};
}

Status StoreWriter::drop(const DropTask& task) {
  RETURN_IF_ERROR(in_transaction([&] { return catalog_->remove_block(task.at); }));
  room_->give_back(task.at);
  return {};
}

// Writes what the index knows newer than the row: use and pin.
Status StoreWriter::rewrite_row(const ScopeKeys& keys, const StoreIndex::Entry& entry) {
  ASSIGN_OR_RETURN(const std::optional<BlockRow> row, catalog_->block(entry.at));
  if (!row) return {};
  ASSIGN_OR_RETURN(StoredBlock block, open_block_row(keys, *row));
  block.last_use = entry.last_hit;
  block.pinned = entry.pinned;
  return catalog_->put_block(seal_block_row(keys, entry.at, entry.generation, block));
}

Status StoreWriter::set_pinned(const PinTask& task) {
  const std::shared_ptr<const ScopeKeys> keys = keys_of(task.scope);
  if (keys == nullptr) return Error{ErrorCode::kNotFound, "the store does not know this scope", {}};
  std::vector<StoreIndex::Entry> entries = durable_entries(task.scope, task.keys);
  std::erase_if(entries, [&](const StoreIndex::Entry& entry) { return entry.pinned == task.pinned; });
  for (StoreIndex::Entry& entry : entries) entry.pinned = task.pinned;
  const Status committed = in_transaction([&]() -> Status {
    for (const StoreIndex::Entry& entry : entries) RETURN_IF_ERROR(rewrite_row(*keys, entry));
    return {};
  });
  RETURN_IF_ERROR(committed);
  MutexLock lock(state_.mutex);
  for (const StoreIndex::Entry& changed : entries) {
    StoreIndex::Entry* entry = state_.index.find(task.scope, changed.key);
    if (entry != nullptr) state_.index.set_pinned(*entry, task.pinned);
  }
  return {};
}

Status StoreWriter::put_record(const RecordTask& task) {
  const std::shared_ptr<const ScopeKeys> keys = keys_of(task.record.scope);
  if (keys == nullptr) return Error{ErrorCode::kNotFound, "the store does not know this scope", {}};
  return in_transaction([&]() -> Status {
    RETURN_IF_ERROR(save_scope(*keys));
    return catalog_->put_record(seal_record_row(*keys, task.record));
  });
}

Status StoreWriter::remove_record(const RemoveRecordTask& task) {
  const std::shared_ptr<const ScopeKeys> keys = keys_of(task.scope);
  if (keys == nullptr) return {};
  return in_transaction([&] { return catalog_->remove_record(keys->tag(), task.kind, task.id); });
}

Status StoreWriter::list(const ListTask& task, StoreEvent& answer) {
  std::map<std::uint32_t, std::shared_ptr<const ScopeKeys>> by_segment;
  std::map<ScopeTag, std::shared_ptr<const ScopeKeys>> by_tag;
  {
    MutexLock lock(state_.mutex);
    for (const auto& [id, keys] : state_.scopes) {
      if (!task.scope || *task.scope == id) by_tag.emplace(keys->tag(), keys);
    }
  }
  for (const auto& [id, segment] : room_->segments()) {
    const auto keys = by_tag.find(segment.scope);
    if (keys != by_tag.end()) by_segment.emplace(id, keys->second);
  }
  auto listing = std::make_shared<StoreListing>();
  RETURN_IF_ERROR(catalog_->each_block([&](const BlockRow& row) {
    const auto keys = by_segment.find(row.at.segment);
    if (keys == by_segment.end()) return;
    Result<StoredBlock> block = open_block_row(*keys->second, row);
    if (!block.ok() || (task.identity && *task.identity != block->identity)) return;
    MutexLock lock(state_.mutex);
    const StoreIndex::Entry* entry = state_.index.find(block->scope, block->key);
    if (entry == nullptr || entry->generation != row.generation) return;  // a row that could not be deleted
    listing->blocks.push_back(std::move(block).value());
  }));
  RETURN_IF_ERROR(catalog_->each_record([&](const RecordRow& row) {
    const auto keys = by_tag.find(row.scope);
    if (keys == by_tag.end()) return;
    Result<StoredRecord> record = open_record_row(*keys->second, row);
    if (record.ok()) listing->records.push_back(std::move(record).value());
  }));
  MutexLock lock(state_.mutex);
  std::erase_if(listing->blocks, [this](const StoredBlock& block) REQUIRES(state_.mutex) {
    const StoreIndex::Entry* entry = state_.index.find(block.scope, block.key);
    return entry == nullptr || !entry->durable;
  });
  std::stable_sort(listing->blocks.begin(), listing->blocks.end(),
                   [](const StoredBlock& a, const StoredBlock& b) { return a.first_position < b.first_position; });
  answer.listing = std::move(listing);
  return {};
}

Status StoreWriter::flush() {
  RETURN_IF_ERROR(save_uses());
  return catalog_->checkpoint();
}

// So that after a restart the blocks leave in the order in which they were used.
Status StoreWriter::save_uses() {
  std::vector<StoreIndex::Entry> used;
  {
    MutexLock lock(state_.mutex);
    state_.index.each([&](const StoreIndex::Entry& entry) {
      if (entry.use_unsaved && entry.durable) used.push_back(entry);
    });
  }
  for (std::size_t from = 0; from < used.size(); from += kUsesAtOnce) {
    const auto some = std::span(used).subspan(from, std::min(used.size() - from, kUsesAtOnce));
    const Status committed = in_transaction([&]() -> Status {
      for (const StoreIndex::Entry& entry : some) {
        const std::shared_ptr<const ScopeKeys> keys = keys_of(entry.scope);
        if (keys != nullptr) RETURN_IF_ERROR(rewrite_row(*keys, entry));
      }
      return {};
    });
    RETURN_IF_ERROR(committed);
    MutexLock lock(state_.mutex);
    for (const StoreIndex::Entry& saved : some) {
      StoreIndex::Entry* entry = state_.index.find(saved.scope, saved.key);
      if (entry != nullptr && entry->last_use == saved.last_use) entry->use_unsaved = false;
    }
  }
  return {};
}

// Keys first, space later. The salts are what the keys are made from: when they are overwritten, not even the scope's
// secret opens what is left.
Status StoreWriter::shred(const ShredTask& task) {
  PurgeTask rest{task.keys->id(), {}};
  Status worst;
  for (auto& [id, segment] : room_->segments()) {
    if (segment.scope != task.keys->tag()) continue;
    rest.segments.push_back(id);
    const Status destroyed = segment.file->destroy_key();
    if (!destroyed.ok()) worst = destroyed;
  }
  Status committed = in_transaction([&]() -> Status {
    RETURN_IF_ERROR(catalog_->remove_scope(task.keys->tag()));
    for (const std::uint32_t id : rest.segments) RETURN_IF_ERROR(catalog_->remove_segment(id));
    return {};
  });
  if (lacks_memory(committed)) return committed;  // all of it again
  if (!committed.ok()) worst = committed;
  std::erase(saved_scopes_, task.keys->id());
  Status cleaned = catalog_->checkpoint();
  if (lacks_memory(cleaned)) return cleaned;
  if (!cleaned.ok()) worst = cleaned;
  MutexLock lock(state_.mutex);
  for (const std::uint32_t id : rest.segments) {
    state_.files.erase(id);
  }
  state_.writes.push_back({0, std::move(rest)});
  return worst;
}

Status StoreWriter::purge(PurgeTask task) {
  std::vector<BlockKey> keys;
  {
    MutexLock lock(state_.mutex);
    state_.index.each([&](const StoreIndex::Entry& entry) {
      if (entry.scope == task.scope && entry.durable && keys.size() < kPurgeRows) keys.push_back(entry.key);
    });
    for (const BlockKey& key : keys) state_.index.erase(key);
  }
  bool more = !keys.empty();
  for (const std::uint32_t id : task.segments) {
    if (room_->segments().contains(id)) static_cast<void>(room_->remove_file(id));
    std::uint64_t removed = 0;
    Status committed = in_transaction([&]() -> Status {
      ASSIGN_OR_RETURN(removed, catalog_->remove_blocks(id, kPurgeRows));
      return {};
    });
    if (lacks_memory(committed)) return committed;
    if (removed == 0) continue;
    more = true;
    break;
  }
  if (!more) return catalog_->checkpoint();
  MutexLock lock(state_.mutex);
  state_.writes.push_back({0, std::move(task)});
  return {};
}

// Before an answer is told, so that who hears it finds it counted.
void StoreWriter::publish_counters() {
  const std::uint64_t bytes = room_->real_bytes() + catalog_->allocated_bytes();
  MutexLock lock(state_.mutex);
  StoreCounters& counters = state_.counters;
  counters.bytes_on_disk = bytes;
  counters.segment_files = room_->segments().size();
  counters.write_bytes_per_s = rate_.per_s();
  counters.budget_spent = progress_.budget_spent;
  state_.writer_cpu_ns = thread_cpu_ns();
}

}  // namespace larder::storage
