// SPDX-License-Identifier: Apache-2.0
// StoreCounters: the disk tier in numbers, as a snapshot shows it. Every total can be recounted from events or files.
// Units:   bytes; blocks; ms. Totals count from open.    Threads: value.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/layout/kv_codec.h"
#include "storage/stored_block.h"

namespace larder::storage {

// Blocks in one scheme, durable and readable.
struct SchemeCount {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;  // their extents
};

struct StoreCounters {
  // What is there.
  std::uint64_t blocks = 0;           // durable and readable
  std::uint64_t block_bytes = 0;      // their extents
  std::array<SchemeCount, kernels::kKvSchemes + 1> by_scheme{};  // by kernels::KvScheme; the last: of newer programs
  std::uint64_t bytes_on_disk = 0;    // allocated bytes of segment files and catalog, as the file system counts
  std::uint64_t cap_bytes = 0;
  std::uint64_t keep_free_bytes = 0;
  std::uint64_t segment_files = 0;
  std::uint64_t pinned_blocks = 0;
  std::uint64_t ram_blocks = 0;       // of them, also in memory
  std::uint64_t ram_bytes = 0;
  std::uint64_t ram_cap_bytes = 0;

  // What is on the way.
  std::uint64_t queued_puts = 0;
  std::uint64_t queued_put_bytes = 0;
  std::uint64_t queued_gets = 0;
  double lag_ms = 0;                  // age of the oldest put that is not durable yet

  // What was done.
  std::uint64_t stored_blocks = 0;
  std::uint64_t written_bytes = 0;    // to segment files
  std::uint64_t read_blocks = 0;
  std::uint64_t read_bytes = 0;       // from disk
  std::uint64_t ram_reads = 0;        // of read_blocks, those from memory
  std::uint64_t ram_damaged = 0;      // copies in memory that did not hold
  std::uint64_t evicted_blocks = 0;
  std::uint64_t removed_blocks = 0;
  std::array<std::uint64_t, kRefusalKinds> refused{};  // by Refusal
  std::array<std::uint64_t, kMissKinds> missed{};      // by Miss
  double read_bytes_per_s = 0;        // while reads were in flight, over the last ones; 0: none yet
  double ram_bytes_per_s = 0;         // proving and decoding what lies in memory; 0: none yet
  double write_bytes_per_s = 0;       // while writing, syncs and commits included

  std::int64_t cpu_ns = 0;            // that the store's threads used, without their waits

  std::uint64_t budget_bytes = 0;     // a day
  std::uint64_t budget_spent = 0;     // today

  // Health.
  std::uint64_t failed_writes = 0;    // writes, syncs and commits
  std::uint64_t failed_reads = 0;
  std::uint64_t damaged_blocks = 0;   // dropped because a check failed, at open or at a read
  std::uint64_t reclaimed_extents = 0;  // at open: data without a row
  std::string last_failure;           // empty: none. Names the operation and the system's reason
  std::string io_path;                // "io_uring" or "threads", and why when it is the second
  std::string cipher;                 // of new files
};

}  // namespace larder::storage
