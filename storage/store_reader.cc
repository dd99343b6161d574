// SPDX-License-Identifier: Apache-2.0
#include "storage/store_reader.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <utility>

#include "kernels/layout/checksum.h"
#include "runtime/base/invariant.h"
#include "runtime/base/thread_name.h"

namespace larder::storage {
namespace {

constexpr auto kMemoryWait = std::chrono::milliseconds(10);

// A coded block is read into the end of the caller's memory and decoded from there.
std::span<std::byte> target(const GetBlock& get) {
  return get.into.last(static_cast<std::size_t>(get.block.payload_bytes()));
}

}  // namespace

struct StoreReader::Reading {
  struct Piece {
    std::size_t staging = 0;
    std::size_t bytes = 0;
    bool here = false;
  };

  ReadTask task;
  std::shared_ptr<SegmentFile> file;  // held open for as long as it is read
  ExtentPlace place;
  std::unique_ptr<BlockOpener> opener;
  RamTier::Copy ram;          // null: it comes from disk
  std::vector<Piece> pieces;  // submitted so far
  std::size_t taken = 0;      // pieces the opener has
  std::size_t in_flight = 0;
  std::uint64_t submitted_bytes = 0;
  std::uint32_t scheme = 0;    // in which it lies there, once that is known
  std::uint64_t checksum = 0;  // of the bytes in the caller's memory, once they are proved
  bool proved = false;
  Miss miss = Miss::kNone;
  Status read;  // of its pieces

  bool all_submitted() const { return miss != Miss::kNone || submitted_bytes == opener->stored_bytes(); }
  bool over() const {
    return in_flight == 0 && (miss != Miss::kNone || taken * kStagingPiece >= opener->stored_bytes());
  }
};

StoreReader::StoreReader(StoreState& state, std::size_t number)
    : state_(state), number_(number), coder_(state.codec), queue_(state.disk.make_queue(kReadPieces)) {
  for (std::size_t i = 0; i < queue_->pieces(); ++i) free_pieces_.push_back(i);
}

StoreReader::~StoreReader() = default;

void StoreReader::run() {
  name_thread("larder-reader");
  while (!stopped_ || !readings_.empty()) {
    try {
      turn();
    } catch (const std::bad_alloc&) {  // before anything was taken
      MutexLock lock(state_.mutex);
      if (!state_.stopping) state_.read_wanted[number_].wait_until(state_.mutex, deadline_after(kMemoryWait));
    }
  }
}

void StoreReader::turn() {
  submit();
  if (in_flight_ > 0) arrived(queue_->wait());
  while (!readings_.empty()) {
    const auto over = std::find_if(readings_.begin(), readings_.end(), [](const auto& one) { return one->over(); });
    if (over == readings_.end()) return;
    complete(**over);
    readings_.erase(over);
  }
}

void StoreReader::submit() {
  while (!free_pieces_.empty()) {
    auto at = std::find_if(readings_.begin(), readings_.end(), [](const auto& one) { return !one->all_submitted(); });
    if (at == readings_.end()) {
      readings_.reserve(readings_.size() + 1);  // no more memory is needed once the task was taken
      std::unique_ptr<Reading> opened = next(in_flight_ == 0 && readings_.empty());
      if (opened == nullptr) return;
      if (opened->ram != nullptr && answer_from_ram(*opened)) continue;
      readings_.push_back(std::move(opened));
      at = readings_.end() - 1;
    }
    if (!submit_piece(**at)) return;
  }
  if (wants_help_ || number_ > 0) return;
  MutexLock lock(state_.mutex);
  want_help(true);
}

// False: its copy does not hold and is dropped, and the block is to be read from disk.
bool StoreReader::answer_from_ram(Reading& reading) {
  const std::span<const std::byte> bytes = reading.ram->bytes();
  {
    MutexLock lock(state_.mutex);
    want_help(true);
    state_.ram_rate.begin(state_.clock.now());
  }
  try {
    for (std::size_t at = 0; at < bytes.size() && reading.miss == Miss::kNone; at += kStagingPiece) {
      reading.miss = reading.opener->take(bytes.subspan(at, std::min(kStagingPiece, bytes.size() - at)));
    }
  } catch (const std::bad_alloc&) {
    reading.miss = Miss::kReadFailed;
  }
  Miss miss = prove(reading);
  {
    MutexLock lock(state_.mutex);
    state_.ram_rate.add(is_damage(miss) ? 0 : bytes.size(), state_.clock.now());
    state_.ram_rate.end(state_.clock.now());
  }
  if (is_damage(miss)) {
    if (read_disk_instead(reading)) return false;
    miss = Miss::kReadFailed;
  }
  answer(reading, miss);
  return true;
}

// False when there was no memory for it.
bool StoreReader::read_disk_instead(Reading& reading) {
  const StoredBlock& wanted = reading.task.get.block;
  {
    MutexLock lock(state_.mutex);
    ++state_.counters.ram_damaged;
    state_.index.ram().erase(wanted.key);
  }
  reading.ram = nullptr;
  reading.miss = Miss::kNone;
  try {
    reading.opener =
        std::make_unique<BlockOpener>(reading.file->key(), reading.place, wanted, target(reading.task.get));
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

// False when there was no memory for it: the block is missed then.
bool StoreReader::submit_piece(Reading& reading) {
  const std::size_t staging = free_pieces_.back();
  const auto bytes = static_cast<std::size_t>(
      std::min<std::uint64_t>(kStagingPiece, reading.opener->stored_bytes() - reading.submitted_bytes));
  const std::uint64_t tag = reading.pieces.size() << 32 | staging;
  try {
    queue_->submit({DiskOp::Kind::kRead, &reading.file->file(),
                    reading.file->offset_of(reading.place.extent) + reading.submitted_bytes, staging, bytes, tag});
  } catch (const std::bad_alloc&) {
    reading.miss = Miss::kReadFailed;
    return false;
  }
  free_pieces_.pop_back();
  reading.pieces.push_back({staging, bytes, false});  // there is room: see find
  if (in_flight_ == 0) {
    MutexLock lock(state_.mutex);
    state_.disk_rate.begin(state_.clock.now());
  }
  reading.submitted_bytes += bytes;
  ++reading.in_flight;
  ++in_flight_;
  return true;
}

// At the end nothing may be left waiting.
bool StoreReader::finds_work() const {
  return !state_.reads.empty() && (number_ == 0 || state_.help_wanted || state_.stopping);
}

// Whether the first reader can take more now.
void StoreReader::want_help(bool wanted) {
  if (number_ > 0) return;
  wants_help_ = wanted;
  state_.help_wanted = wanted;
  if (wanted && !state_.reads.empty()) state_.read_wanted[1].notify_one();
}

std::unique_ptr<StoreReader::Reading> StoreReader::next(bool may_wait) {
  bool told = false;
  std::unique_ptr<Reading> found;
  for (;;) {
    MutexLock lock(state_.mutex);
    if (state_.reads.empty()) want_help(false);
    while (may_wait && !told && !finds_work() && !state_.stopping) state_.read_wanted[number_].wait(state_.mutex);
    stopped_ = state_.stopping;
    if (!finds_work()) break;
    auto reading = std::make_unique<Reading>();
    reading->task = state_.reads.front();
    state_.reads.pop_front();
    const Miss miss = look_up(*reading);
    if (miss == Miss::kNone) {
      found = std::move(reading);
      break;
    }
    StoreEvent event;
    event.kind = StoreEvent::Kind::kMissed;
    event.miss = miss;
    event.ticket = reading->task.get.ticket;
    event.scope = reading->task.get.block.scope;
    event.key = reading->task.get.block.key;
    event.scheme = reading->scheme;
    event.took = state_.clock.now() - reading->task.asked;
    state_.tell(std::move(event), 1);
    told = true;
  }
  if (told) state_.wake();
  return found;
}

Miss StoreReader::look_up(Reading& reading) {
  try {
    return find(reading);
  } catch (const std::bad_alloc&) {
    return Miss::kReadFailed;
  }
}

Miss StoreReader::find(Reading& reading) {
  const StoredBlock& wanted = reading.task.get.block;
  if (state_.stopping) return Miss::kStopping;
  if (state_.mode == StoreMode::kBypassed) return Miss::kBypassed;
  const std::span<std::byte> into = reading.task.get.into;
  if (!shape_is_possible(wanted)) return Miss::kBadShape;
  if (!coder_.knows(wanted, reading.task.get.layout)) return Miss::kNoCodec;
  if (into.size() != BlockCoder::exact_bytes(wanted, reading.task.get.layout)) return Miss::kBadShape;
  if (!state_.scopes.contains(wanted.scope)) {
    return state_.shredded.contains(wanted.scope) ? Miss::kScopeGone : Miss::kUnknownScope;
  }
  StoreIndex::Entry* entry = state_.index.find(wanted.scope, wanted.key);
  if (entry == nullptr || !entry->durable || entry->leaving) return Miss::kNotStored;
  reading.scheme = entry->scheme;
  if (entry->scheme != wanted.scheme) return Miss::kWrongScheme;
  if (entry->slice_count != wanted.slice_count || entry->slice_bytes != wanted.slice_bytes) return Miss::kWrongShape;
  const auto file = state_.files.find(entry->at.segment);
  if (file == state_.files.end()) return Miss::kNotStored;  // shredded a moment ago
  reading.file = file->second;
  reading.place = {wanted.scope, reading.file->version(), entry->at.extent, entry->generation};
  reading.opener = std::make_unique<BlockOpener>(reading.file->key(), reading.place, wanted, target(reading.task.get));
  if (!reading.task.get.from_disk) reading.ram = state_.index.ram().find(wanted.key);
  reading.pieces.reserve(reading.opener->stored_bytes() / kStagingPiece + 1);
  state_.index.begin_read(*entry);
  ++state_.reads_in_work;
  return Miss::kNone;
}

void StoreReader::arrived(DiskDone done) {
  const auto staging = static_cast<std::size_t>(done.tag & 0xffffffffu);
  const auto number = static_cast<std::size_t>(done.tag >> 32);
  const auto at = std::find_if(readings_.begin(), readings_.end(), [&](const auto& one) {
    return number < one->pieces.size() && one->pieces[number].staging == staging && !one->pieces[number].here;
  });
  INVARIANT(at != readings_.end());
  Reading& reading = **at;
  Reading::Piece& piece = reading.pieces[number];
  piece.here = true;
  --reading.in_flight;
  --in_flight_;
  if (!done.status.ok()) {
    reading.miss = Miss::kReadFailed;
    reading.read = std::move(done.status);
  } else if (done.bytes < piece.bytes && reading.miss == Miss::kNone) {
    reading.miss = Miss::kTruncated;
  }
  feed(reading);
  MutexLock lock(state_.mutex);
  state_.disk_rate.add(done.bytes, state_.clock.now());
  if (in_flight_ == 0) state_.disk_rate.end(state_.clock.now());
}

void StoreReader::feed(Reading& reading) {
  while (reading.taken < reading.pieces.size() && reading.pieces[reading.taken].here) {
    const Reading::Piece& piece = reading.pieces[reading.taken];
    try {
      if (reading.miss == Miss::kNone) {
        reading.miss = reading.opener->take(queue_->piece(piece.staging).first(piece.bytes));
      }
    } catch (const std::bad_alloc&) {
      reading.miss = Miss::kReadFailed;
    }
    free_pieces_.push_back(piece.staging);
    ++reading.taken;
  }
}

void StoreReader::complete(Reading& reading) { answer(reading, prove(reading)); }

// All pieces were taken: do they hold? Decodes them then.
Miss StoreReader::prove(Reading& reading) {
  if (reading.miss != Miss::kNone) return reading.miss;
  try {
    const Miss miss = reading.opener->finish();
    if (miss != Miss::kNone) return miss;
    reading.proved = true;
    reading.checksum = reading.opener->checksum();
    if (reading.scheme == 0) return miss;
    const GetBlock& get = reading.task.get;
    coder_.decode(get.block, get.layout, get.into);
    reading.checksum = kernels::block_checksum(get.layout, get.into.data());
    return miss;
  } catch (const std::bad_alloc&) {
    return Miss::kReadFailed;
  }
}

void StoreReader::answer(Reading& reading, Miss miss) {
  StoreEvent event;
  event.ticket = reading.task.get.ticket;
  event.scope = reading.task.get.block.scope;
  event.key = reading.task.get.block.key;
  event.bytes = reading.submitted_bytes;
  event.scheme = reading.scheme;
  event.checksum = reading.checksum;
  event.from_ram = reading.ram != nullptr;
  try {
    MutexLock lock(state_.mutex);
    miss = settle(reading, miss);
  } catch (const std::bad_alloc&) {
    miss = Miss::kReadFailed;
  }
  // Its scope went while it was read, or memory ran out after it was proved: what is in the caller's memory goes too,
  // before anybody is told.
  if (reading.proved && miss != Miss::kNone) {
    std::fill(reading.task.get.into.begin(), reading.task.get.into.end(), std::byte{0});
  }
  reading.opener.reset();  // zeros what was not proved
  event.kind = miss == Miss::kNone ? StoreEvent::Kind::kRead : StoreEvent::Kind::kMissed;
  event.miss = miss;
  event.took = state_.clock.now() - reading.task.asked;
  {
    const Ticks cpu_ns = thread_cpu_ns();
    MutexLock lock(state_.mutex);
    state_.reader_cpu_ns += cpu_ns - std::exchange(cpu_told_ns_, cpu_ns);
    state_.tell(std::move(event), 1);
  }
  state_.wake();
}

Miss StoreReader::settle(Reading& reading, Miss miss) {
  const StoredBlock& block = reading.task.get.block;
  --state_.reads_in_work;
  StoreIndex::Entry* entry = state_.index.find(block.scope, block.key);
  const bool same = entry != nullptr && entry->at == ExtentId{reading.file->id(), reading.place.extent} &&
                    entry->generation == reading.place.generation;
  if (same) state_.index.end_read(*entry);
  if (!state_.scopes.contains(block.scope)) return Miss::kScopeGone;
  if (miss == Miss::kNone) {
    if (same) state_.index.touch(*entry, state_.clock.wall());
    if (same && reading.ram != nullptr) state_.index.ram().read(block.key);
    return miss;
  }
  if (!reading.read.ok()) state_.failed(reading.read.error(), &StoreCounters::failed_reads);
  // Removed while it was read: its extent may have been written again.
  if (!same) return is_damage(miss) ? Miss::kNotStored : miss;
  if (is_damage(miss)) drop_damaged(reading);
  return miss;
}

// Where there is no memory to have its row deleted it stays, and the next read finds the damage again.
void StoreReader::drop_damaged(const Reading& reading) {
  const StoredBlock& block = reading.task.get.block;
  state_.ask({0, DropTask{block.scope, block.key, {reading.file->id(), reading.place.extent}}}, 1);
  ++state_.counters.damaged_blocks;
  state_.index.erase(block.key);
  state_.write_wanted.notify_one();
}

}  // namespace larder::storage
