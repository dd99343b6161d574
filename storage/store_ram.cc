// SPDX-License-Identifier: Apache-2.0
// The half of StoreWriter that keeps copies of stored blocks in memory.
#include <algorithm>
#include <cstring>
#include <new>

#include "storage/store_writer.h"

namespace larder::storage {
namespace {

constexpr std::size_t kKeptAtOnce = 8;  // between two looks at the queue

}  // namespace

// Of what is about to be written. Null: it finds no room beside what is there, or no memory, and is on disk only.
std::shared_ptr<RamCopy> StoreWriter::ram_copy(std::uint64_t bytes) {
  {
    MutexLock lock(state_.mutex);
    if (!state_.index.ram().takes(batch_ram_bytes_ + bytes, RamTier::Because::kWritten)) return nullptr;
  }
  try {
    std::shared_ptr<RamCopy> copy = RamCopy::make(bytes);
    if (copy != nullptr) batch_ram_bytes_ += bytes;
    return copy;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void StoreWriter::drop_ram() {
  RamTier::Dropped dropped;
  MutexLock lock(state_.mutex);
  dropped = state_.index.ram().take_dropped();
}

// The last ones first: they left the pool last.
void StoreWriter::keep(KeepTask task) {
  for (std::size_t i = 0; i < kKeptAtOnce && !task.keys.empty(); ++i) {
    const BlockKey key = task.keys.back();
    task.keys.pop_back();
    keep_one(task.scope, key);
    drop_ram();
  }
  if (task.keys.empty()) return;
  MutexLock lock(state_.mutex);
  state_.writes.push_back({0, std::move(task)});
}

void StoreWriter::keep_one(const ScopeId& scope, const BlockKey& key) {
  std::shared_ptr<SegmentFile> file;
  ExtentId at;
  std::uint64_t bytes = 0;
  {
    MutexLock lock(state_.mutex);
    RamTier& ram = state_.index.ram();
    StoreIndex::Entry* entry = state_.index.find(scope, key);
    if (entry == nullptr || !entry->durable || ram.left_pool(key)) return;
    if (!state_.scopes.contains(scope) || !ram.takes(entry->bytes, RamTier::Because::kLeftPool)) return;
    const auto found = state_.files.find(entry->at.segment);
    if (found == state_.files.end()) return;
    file = found->second;
    at = entry->at;
    bytes = entry->bytes;
    state_.index.begin_read(*entry);
  }
  const std::shared_ptr<const RamCopy> copy = copy_of(*file, at.extent, bytes);
  MutexLock lock(state_.mutex);
  StoreIndex::Entry* entry = state_.index.find(scope, key);
  if (entry == nullptr) return;  // a reader found it damaged
  state_.index.end_read(*entry);
  if (copy != nullptr) state_.index.ram().keep(key, copy, RamTier::Because::kLeftPool);
}

// As it lies on disk: it is proved when it is read. Null: the disk failed, or there is no memory.
std::shared_ptr<const RamCopy> StoreWriter::copy_of(const SegmentFile& file, std::uint32_t extent,
                                                    std::uint64_t bytes) {
  try {
    std::shared_ptr<RamCopy> copy = RamCopy::make(bytes);
    if (copy == nullptr) return nullptr;
    const std::size_t piece = free_pieces_.back();
    for (std::size_t at = 0; at < bytes;) {
      const std::size_t now = std::min<std::size_t>(kStagingPiece, bytes - at);
      queue_->submit({DiskOp::Kind::kRead, &file.file(), file.offset_of(extent) + at, piece, now, piece});
      const DiskDone done = queue_->wait();
      if (!done.status.ok()) {
        MutexLock lock(state_.mutex);
        state_.failed(done.status.error(), &StoreCounters::failed_reads);
      }
      if (!done.status.ok() || done.bytes != now) return nullptr;
      std::memcpy(copy->bytes().data() + at, queue_->piece(piece).data(), now);
      at += now;
    }
    return copy;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace larder::storage
