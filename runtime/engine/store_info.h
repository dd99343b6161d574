// SPDX-License-Identifier: Apache-2.0
// StoreInfo: the disk tier in a snapshot. Totals count from the start of the engine.
// Units:    bytes, blocks, ms.    Threads: value.
#pragma once

#include <cstdint>
#include <string>

namespace larder::engine {

struct StoreInfo {
  bool used = false;
  std::string reason;  // why it is not
  std::string mode;    // setting store.mode
  std::uint64_t blocks = 0;
  std::uint64_t bytes_on_disk = 0;  // as the file system counts
  std::uint64_t cap_bytes = 0;
  std::uint64_t keep_free_bytes = 0;
  std::uint64_t pinned_blocks = 0;
  std::uint64_t queued_blocks = 0;
  std::uint64_t queued_bytes = 0;
  double lag_ms = 0;  // age of the oldest block that is on its way down
  std::uint64_t stored_blocks = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t read_blocks = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t evicted_blocks = 0;
  std::uint64_t refused_blocks = 0;
  std::uint64_t missed_reads = 0;
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;
  std::uint64_t budget_bytes = 0;  // a day
  std::uint64_t budget_spent = 0;
  std::uint64_t damaged_blocks = 0;
  std::uint64_t failed_io = 0;
  std::string last_failure;
  std::string io_path;
  std::string cipher;
  std::string codec;        // the form in which blocks go down now: "exact", "int8", "int4"
  std::string codec_note;   // why not in the one that store.codec asks for
  double codec_error = 0;   // mean relative error of sampled blocks
  std::uint64_t rounded_blocks = 0;  // of blocks
  std::uint64_t rounded_bytes = 0;
  std::uint64_t restored_blocks = 0;
  std::uint64_t restored_tokens = 0;
  double restore_ms = 0;  // that requests waited for them, in all
  std::uint64_t declined_slower = 0;  // requests that computed what lay on disk, by reason
  std::uint64_t declined_room = 0;
  std::uint64_t declined_late = 0;
  std::uint64_t declined_damaged = 0;
  std::uint64_t declined_stalled = 0;
  std::uint64_t unlisted_blocks = 0;  // on disk beyond what the tree may know of it (store.tree_blocks)
  std::uint64_t ram_blocks = 0;       // of blocks, those with a copy in memory
  std::uint64_t ram_bytes = 0;
  std::uint64_t ram_cap_bytes = 0;
  std::uint64_t ram_reads = 0;        // of read_blocks
  std::uint64_t ram_damaged = 0;      // copies in memory that did not hold; the disk answered
  double ram_bytes_per_s = 0;
  std::uint64_t mixed_restores = 0;  // requests that computed a start while the rest was read
};

}  // namespace larder::engine
