// SPDX-License-Identifier: GPL-3.0-or-later
// StoreInfo: the disk tier as the window sees it. Members bear the names of runtime/engine/store_info.h, where their
// meaning is stated.
// Units:   bytes, blocks, ms.    Threads: value.
#pragma once

#include <QString>
#include <cstdint>

namespace larder::gui {

struct StoreInfo {
  bool used = false;
  QString reason, mode;
  std::uint64_t blocks = 0, bytes_on_disk = 0, cap_bytes = 0, keep_free_bytes = 0, pinned_blocks = 0;
  std::uint64_t queued_blocks = 0, queued_bytes = 0;
  double lag_ms = 0;
  std::uint64_t stored_blocks = 0, written_bytes = 0, read_blocks = 0, read_bytes = 0;
  std::uint64_t evicted_blocks = 0, refused_blocks = 0, missed_reads = 0;
  double read_bytes_per_s = 0, write_bytes_per_s = 0;
  std::uint64_t budget_bytes = 0, budget_spent = 0;
  std::uint64_t damaged_blocks = 0, failed_io = 0;
  QString last_failure, io_path, cipher;
  QString codec, codec_note;
  double codec_error = 0;
  std::uint64_t rounded_blocks = 0, rounded_bytes = 0;
  std::uint64_t restored_blocks = 0, restored_tokens = 0;
  double restore_ms = 0;
  std::uint64_t declined_slower = 0, declined_room = 0, declined_late = 0, declined_damaged = 0;
  std::uint64_t declined_stalled = 0, mixed_restores = 0, unlisted_blocks = 0;
  std::uint64_t ram_blocks = 0, ram_bytes = 0, ram_cap_bytes = 0, ram_reads = 0, ram_damaged = 0;
  double ram_bytes_per_s = 0;
  bool operator==(const StoreInfo&) const = default;
};

}  // namespace larder::gui
