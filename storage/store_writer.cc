// SPDX-License-Identifier: Apache-2.0
#include "storage/store_writer.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <set>
#include <unordered_set>
#include <utility>

#include "kernels/layout/checksum.h"
#include "runtime/base/invariant.h"
#include "runtime/base/out_of_memory.h"
#include "runtime/base/thread_name.h"
#include "storage/sealed_block.h"

namespace larder::storage {
namespace {

constexpr auto kMemoryWait = std::chrono::milliseconds(10);

// Of the calling thread: behind whatever else wants the processor or the disk.
void lower_priority() {
  constexpr int kNice = 10;
  constexpr int kIoBestEffortLast = 2 << 13 | 7;
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  static_cast<void>(::setpriority(PRIO_PROCESS, thread, kNice));
  static_cast<void>(::syscall(SYS_ioprio_set, 1, 0, kIoBestEffortLast));
}

StoreEvent event_of(StoreEvent::Kind kind, const PutBlock& put, std::uint64_t ticket) {
  StoreEvent event;
  event.kind = kind;
  event.ticket = ticket;
  event.scope = put.block.scope;
  event.key = put.block.key;
  event.scheme = put.block.scheme;
  return event;
}

}  // namespace

StoreWriter::StoreWriter(StoreState& state, std::unique_ptr<Catalog> catalog, std::unique_ptr<StoreRoom> room,
                         std::string folder, const StoreProgress& progress)
    : state_(state), catalog_(std::move(catalog)), room_(std::move(room)), folder_(std::move(folder)),
      progress_(progress), coder_(state.codec), queue_(state.disk.make_queue(kWritePieces)) {
  for (std::size_t i = 0; i < queue_->pieces(); ++i) free_pieces_.push_back(i);
  batch_.reserve(kBatchBlocks);
  publish_counters();
}

void StoreWriter::run() {
  name_thread("larder-writer");
  lower_priority();
  for (bool kept = false;;) {
    try {
      if (!kept) kept = !lacks_memory(keep_limits());
      kept ? turn() : wait_for_memory();
    } catch (const std::bad_alloc&) {  // before anything was taken
      wait_for_memory();
    }
    MutexLock lock(state_.mutex);
    if (state_.stopping) break;
  }
  MutexLock lock(state_.mutex);
  for (const WriteTask& task : state_.writes) {
    const auto* put = std::get_if<PutTask>(&task.work);
    if (put == nullptr) continue;
    StoreEvent event = event_of(StoreEvent::Kind::kRefused, put->put, put->put.ticket);
    event.refusal = Refusal::kStopping;
    state_.tell(std::move(event), 2);
  }
}

void StoreWriter::wait_for_memory() {
  MutexLock lock(state_.mutex);
  if (!state_.stopping) state_.write_wanted.wait_until(state_.mutex, deadline_after(kMemoryWait));
}

void StoreWriter::turn() {
  batch_.clear();
  batch_ram_bytes_ = 0;
  std::optional<WriteTask> task;
  {
    MutexLock lock(state_.mutex);
    while (state_.writes.empty() && !state_.stopping) state_.write_wanted.wait(state_.mutex);
    if (state_.stopping) return;
    take_batch();
    if (batch_.empty()) {
      task = std::move(state_.writes.front());
      state_.writes.pop_front();
    }
  }
  if (task) run_task(*task);
  if (!batch_.empty()) write(batch_);
  drop_ram();
  state_.wake();
}

void StoreWriter::take_batch() {
  std::uint64_t bytes = 0;
  while (!state_.writes.empty() && batch_.size() < kBatchBlocks && bytes < kBatchBytes) {
    auto* put = std::get_if<PutTask>(&state_.writes.front().work);
    if (put == nullptr) break;
    Pending& one = batch_.emplace_back();  // there is room
    one.ticket = put->put.ticket;
    one.task = *put;
    bytes += one.task.put.bytes.size();
    if (batch_.size() == 1) state_.oldest_in_work = one.task.asked;
    state_.writes.pop_front();
    --state_.queued_puts;
  }
  state_.queued_put_bytes -= bytes;
}

void StoreWriter::write(std::vector<Pending>& batch) {
  const Ticks began = state_.clock.now();
  try {
    store(batch);
  } catch (const std::bad_alloc&) {  // nothing of it was committed
    for (Pending& one : batch) {
      if (one.refusal == Refusal::kNone) one.refusal = Refusal::kWriteFailed;
    }
    while (in_flight_ > 0) wait_for_piece(batch);
  }
  std::uint64_t bytes = 0;
  for (const Pending& one : batch) bytes += one.refusal == Refusal::kNone ? one.bytes : 0;
  if (bytes > 0) rate_.add(bytes, state_.clock.now() - began);
  tell(batch);
}

void StoreWriter::store(std::vector<Pending>& batch) {
  {
    MutexLock lock(state_.mutex);
    for (Pending& one : batch) one.refusal = admit(one);
  }
  find_room(batch);
  copy(batch);
  sync(batch);
  commit(batch);
}

Refusal StoreWriter::admit(Pending& one) {
  StoredBlock& block = one.task.put.block;
  if (state_.mode == StoreMode::kFrozen) return Refusal::kFrozen;
  if (state_.mode == StoreMode::kBypassed) return Refusal::kBypassed;
  if (!shape_is_possible(block)) return Refusal::kBadShape;
  if (!coder_.knows(block, one.task.put.layout)) return Refusal::kNoCodec;
  if (one.task.put.bytes.size() != BlockCoder::exact_bytes(block, one.task.put.layout)) return Refusal::kBadShape;
  const auto scope = state_.scopes.find(block.scope);
  if (scope == state_.scopes.end()) {
    return state_.shredded.contains(block.scope) ? Refusal::kScopeGone : Refusal::kUnknownScope;
  }
  one.keys = scope->second;
  if (state_.index.has(block.key)) return Refusal::kAlreadyThere;
  if (block.first_position > 0 && state_.index.find(block.scope, block.parent) == nullptr) {
    return Refusal::kParentMissing;
  }
  one.bytes = extent_bytes(block.slice_count, block.slice_bytes);
  spend(0);  // a new day begins with a new budget
  const std::uint64_t after = progress_.budget_spent + one.bytes;
  if (after > state_.limits.write_budget_bytes) return Refusal::kWriteBudget;
  if (!one.task.put.earned && !block.pinned && after > state_.limits.write_budget_bytes / 2) {
    return Refusal::kNotEarned;
  }
  if (block.created == 0) block.created = state_.clock.wall();
  if (block.last_use == 0) block.last_use = state_.clock.wall();
  std::fill(block.tokens.begin() + block.valid_tokens, block.tokens.end(), 0);
  one.generation = progress_.next_generation++;
  // From here on its parent is no leaf, so that making room for the child does not take the parent.
  state_.index.insert(block, {}, one.generation, one.bytes);
  one.in_index = true;
  spend(one.bytes);
  return Refusal::kNone;
}

void StoreWriter::find_room(std::vector<Pending>& batch) {
  for (Pending& one : batch) {
    if (one.refusal == Refusal::kNone) one.refusal = find_extent(one);
  }
  refuse_orphans(batch);
}

Refusal StoreWriter::find_extent(Pending& one) {
  for (;;) {
    const Limits limits = room_left();
    Result<std::optional<StoreRoom::Taken>> taken = room_->take(*one.keys, one.bytes, limits.allowance);
    if (!taken.ok()) {
      MutexLock lock(state_.mutex);
      state_.failed(taken.error(), &StoreCounters::failed_writes);
      return taken.error().code == ErrorCode::kResourceExhausted ? Refusal::kDiskFull : Refusal::kWriteFailed;
    }
    if (taken->has_value()) {
      one.file = (*taken)->file;
      one.at = {one.file->id(), (*taken)->extent};
      MutexLock lock(state_.mutex);
      StoreIndex::Entry* entry = state_.index.find(one.task.put.block.scope, one.task.put.block.key);
      INVARIANT(entry != nullptr);
      entry->at = one.at;
      state_.files.emplace(one.file->id(), one.file);
      return Refusal::kNone;
    }
    Refusal refusal = limits.floor_binds ? Refusal::kKeepFree : Refusal::kOverCap;
    if (!make_room(one.keys->tag(), one.bytes, one.task.put.block.last_use, refusal)) return refusal;
  }
}

void StoreWriter::copy(std::vector<Pending>& batch) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].refusal == Refusal::kNone) copy_one(batch[i], i, batch);
  }
  while (in_flight_ > 0) wait_for_piece(batch);
}

// What is sealed: the put's own bytes, or what a codec makes of them. Empty where the block is refused.
std::span<const std::byte> StoreWriter::stored_bytes(Pending& one) {
  const PutBlock& put = one.task.put;
  if (put.block.scheme == 0) return put.bytes;
  if (put.checksum != 0 && kernels::block_checksum(put.layout, put.bytes.data()) != put.checksum) {
    one.refusal = Refusal::kSourceCorrupt;
    return {};
  }
  const std::span<const std::byte> coded = coder_.encode(put.block, put.layout, put.bytes);
  if (coded.empty()) one.refusal = Refusal::kNotFinite;
  return coded;
}

void StoreWriter::copy_one(Pending& one, std::size_t index, std::vector<Pending>& batch) {
  const PutBlock& put = one.task.put;
  const std::span<const std::byte> bytes_to_store = stored_bytes(one);
  if (bytes_to_store.empty()) return;
  const ExtentPlace place{put.block.scope, one.file->version(), one.at.extent, one.generation};
  BlockSealer sealer(one.file->key(), place, put.block, bytes_to_store);
  if (!sealer.ok()) {
    one.refusal = Refusal::kWriteFailed;
    return;
  }
  if (put.block.scheme == 0 && put.checksum != 0 && sealer.checksum() != put.checksum) {
    one.refusal = Refusal::kSourceCorrupt;
    return;
  }
  one.ram = ram_copy(one.bytes);
  const std::uint64_t begin = one.file->offset_of(one.at.extent);
  std::uint64_t offset = begin;
  for (;;) {
    while (free_pieces_.empty()) wait_for_piece(batch);
    const std::size_t piece = free_pieces_.back();
    const std::size_t bytes = sealer.fill(queue_->piece(piece));
    if (bytes == 0) break;
    if (one.ram != nullptr) std::memcpy(one.ram->bytes().data() + (offset - begin), queue_->piece(piece).data(), bytes);
    queue_->submit({DiskOp::Kind::kWrite, &one.file->file(), offset, piece, bytes, std::uint64_t{index} << 32 | piece});
    free_pieces_.pop_back();
    ++in_flight_;
    offset += bytes;
  }
  one.copied = true;
  {
    MutexLock lock(state_.mutex);
    state_.tell(event_of(StoreEvent::Kind::kCopied, put, one.ticket), 1);
  }
  state_.wake();
}

void StoreWriter::wait_for_piece(std::vector<Pending>& batch) {
  const DiskDone done = queue_->wait();
  --in_flight_;
  free_pieces_.push_back(static_cast<std::size_t>(done.tag & 0xffffffffu));
  MutexLock lock(state_.mutex);
  state_.counters.written_bytes += done.bytes;
  if (done.status.ok()) return;
  state_.failed(done.status.error(), &StoreCounters::failed_writes);
  const bool full = done.status.error().code == ErrorCode::kResourceExhausted;
  batch[static_cast<std::size_t>(done.tag >> 32)].refusal = full ? Refusal::kDiskFull : Refusal::kWriteFailed;
}

// After a failed sync the pages count as clean and what they held may be lost: the blocks are dropped, and nothing more
// is written into that file.
void StoreWriter::sync(std::vector<Pending>& batch) {
  std::set<SegmentFile*> files;
  for (const Pending& one : batch) {
    if (one.refusal == Refusal::kNone) files.insert(one.file.get());
  }
  for (SegmentFile* file : files) {
    const Status synced = file->file().sync();
    room_->remeasure(file->id());
    if (synced.ok()) continue;
    room_->close(file->id());
    for (Pending& one : batch) {
      if (one.file.get() == file && one.refusal == Refusal::kNone) one.refusal = Refusal::kSyncFailed;
    }
    MutexLock lock(state_.mutex);
    state_.failed(synced.error(), &StoreCounters::failed_writes);
  }
  refuse_orphans(batch);
}

// A block whose parent was refused cannot be found: it is refused too. Parents come before children.
void StoreWriter::refuse_orphans(std::vector<Pending>& batch) {
  std::unordered_set<BlockKey, DigestHash> lost;
  for (Pending& one : batch) {
    const StoredBlock& block = one.task.put.block;
    if (one.refusal == Refusal::kNone && block.first_position > 0 && lost.contains(block.parent)) {
      one.refusal = Refusal::kParentMissing;
    }
    if (one.refusal != Refusal::kNone && one.in_index) lost.insert(block.key);
  }
}

void StoreWriter::commit(std::vector<Pending>& batch) {
  const auto stored = [](const Pending& one) { return one.refusal == Refusal::kNone; };
  if (!std::any_of(batch.begin(), batch.end(), stored)) return;
  const Status committed = in_transaction([&] { return commit_rows(batch); });
  if (committed.ok()) return;
  for (Pending& one : batch) {
    if (stored(one)) one.refusal = Refusal::kCommitFailed;
  }
}

Status StoreWriter::commit_rows(std::vector<Pending>& batch) {
  std::set<std::uint32_t> segments;
  for (const Pending& one : batch) {
    if (one.refusal != Refusal::kNone) continue;
    RETURN_IF_ERROR(save_scope(*one.keys));
    RETURN_IF_ERROR(catalog_->put_block(seal_block_row(*one.keys, one.at, one.generation, one.task.put.block)));
    segments.insert(one.at.segment);
  }
  for (const std::uint32_t id : segments) {
    StoreRoom::Segment& segment = room_->segments().at(id);
    RETURN_IF_ERROR(catalog_->put_segment({id, segment.scope, segment.file->extent_bytes(), segment.writes}));
  }
  RETURN_IF_ERROR(catalog_->set_number(CatalogNumber::kNextGeneration, progress_.next_generation));
  RETURN_IF_ERROR(catalog_->set_number(CatalogNumber::kNextSegment, room_->next_segment()));
  RETURN_IF_ERROR(catalog_->set_number(CatalogNumber::kBudgetDay, progress_.budget_day));
  return catalog_->set_number(CatalogNumber::kBudgetBytes, progress_.budget_spent);
}

void StoreWriter::tell(std::vector<Pending>& batch) {
  const Ticks now = state_.clock.now();
  for (Pending& one : batch) {
    if (one.refusal != Refusal::kNone && one.file != nullptr) room_->give_back(one.at);
  }
  static_cast<void>(had_memory([this] { publish_counters(); }));
  MutexLock lock(state_.mutex);
  for (Pending& one : batch) {
    const bool stored = one.refusal == Refusal::kNone;
    StoreEvent event =
        event_of(stored ? StoreEvent::Kind::kDurable : StoreEvent::Kind::kRefused, one.task.put, one.ticket);
    event.refusal = one.refusal;
    event.bytes = one.bytes;
    event.took = now - one.task.asked;
    settle(one);
    state_.tell(std::move(event), one.copied ? 1 : 2);
  }
  state_.oldest_in_work.reset();
}

void StoreWriter::settle(Pending& one) {
  if (!one.in_index) return;
  StoreIndex::Entry* entry = state_.index.find(one.task.put.block.scope, one.task.put.block.key);
  INVARIANT(entry != nullptr);
  if (one.refusal == Refusal::kNone) {
    state_.index.set_durable(*entry);
    if (one.ram != nullptr) {  // where there is no memory for it, it is on disk only
      RamTier& copies = state_.index.ram();
      static_cast<void>(had_memory(
          [&] { copies.keep(one.task.put.block.key, std::move(one.ram), RamTier::Because::kWritten); }));
    }
  } else {
    state_.index.erase(one.task.put.block.key);
  }
}

}  // namespace larder::storage
