// SPDX-License-Identifier: Apache-2.0
// StoreReader: one of kReaders, the reading half of a BlockStore: takes read tasks in order, keeps the disk busy with
// pieces of several blocks, and opens each block into the caller's memory as its pieces arrive.
// Ensures:  kRead only after every check passed and the scope was still alive; a damaged block is out of the index
//           before its answer is told (without memory for that it is a failed read, and stays).
// Errors:   memory that runs out for a block is its miss, told like any other.
// Bounds:   kReadPieces of staging in flight.    Owns: its queue.    Threads: run() is one thread; else none.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "storage/block_coder.h"
#include "storage/sealed_block.h"
#include "storage/store_state.h"

namespace larder::storage {

inline constexpr std::size_t kReadPieces = 7;  // of all readers, with kWritePieces: 4 MiB of staging

class StoreReader {
 public:
  // number: from 0, see kReaders.
  StoreReader(StoreState& state, std::size_t number);
  ~StoreReader();
  StoreReader(const StoreReader&) = delete;
  StoreReader& operator=(const StoreReader&) = delete;

  void run();

 private:
  struct Reading;

  // The next task, opened; null when there is none. Waits for one when `may_wait`; answers misses on the way.
  std::unique_ptr<Reading> next(bool may_wait);
  bool finds_work() const REQUIRES(state_.mutex);
  void want_help(bool wanted) REQUIRES(state_.mutex);
  Miss look_up(Reading& reading) REQUIRES(state_.mutex);
  Miss find(Reading& reading) REQUIRES(state_.mutex);
  void turn();
  void submit();
  bool answer_from_ram(Reading& reading);
  bool read_disk_instead(Reading& reading);
  bool submit_piece(Reading& reading);
  void arrived(DiskDone done);
  void feed(Reading& reading);
  void complete(Reading& reading);
  Miss prove(Reading& reading);
  void answer(Reading& reading, Miss miss);
  Miss settle(Reading& reading, Miss miss) REQUIRES(state_.mutex);
  void drop_damaged(const Reading& reading) REQUIRES(state_.mutex);

  StoreState& state_;
  const std::size_t number_;
  BlockCoder coder_;
  std::unique_ptr<DiskQueue> queue_;
  std::vector<std::size_t> free_pieces_;
  std::vector<std::unique_ptr<Reading>> readings_;  // oldest first
  std::size_t in_flight_ = 0;
  bool stopped_ = false;
  bool wants_help_ = false;
  Ticks cpu_told_ns_ = 0;
};

}  // namespace larder::storage
