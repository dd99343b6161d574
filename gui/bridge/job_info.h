// SPDX-License-Identifier: GPL-3.0-or-later
// JobInfo: a job of the engine in Qt values; the meaning of each member stands in runtime/engine/job_info.h.
// Threads: values.
#pragma once

#include <QString>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"

namespace larder::gui {

struct TierTally {
  std::uint64_t written = 0, read_up = 0, left_pool = 0, left_disk = 0, computed = 0, already = 0;
  std::uint64_t pinned = 0, in_use = 0, growing = 0, below = 0, refused = 0, no_room = 0, gone = 0;
  std::uint64_t good = 0, damaged = 0, missing = 0, unread = 0;
  QString refusal;
  bool operator==(const TierTally&) const = default;
};

// Of compress and decompress.
struct CodecFigures {
  std::uint64_t bytes_before = 0, bytes_after = 0;
  double error = 0;
  std::uint32_t compute_tokens = 0;
  double compute_ms = 0;
  bool operator==(const CodecFigures&) const = default;
};

struct JobInfo {
  enum class State : std::uint8_t { kQueued, kRunning, kDone, kFailed, kCancelled };
  JobId id{};
  QString verb;
  double progress = 0;
  bool done = false;
  QString error;
  State state = State::kRunning;
  NodeId node{};  // 0: no verb over tiers
  QString to;
  bool dry_run = false;
  std::uint64_t blocks_done = 0, blocks_total = 0, bytes_moved = 0;
  TierTally tally;
  CodecFigures codec;
  QString warning;
  WallTime started = 0, ended = 0;
  bool operator==(const JobInfo&) const = default;
};

}  // namespace larder::gui
