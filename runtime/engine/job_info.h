// SPDX-License-Identifier: Apache-2.0
// JobInfo: a verb that takes its time, as a snapshot shows it: how far it is, and what it did.
// Units:    blocks, bytes; progress 0..1.    Threads: values.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"

namespace larder::engine {

// What a verb over tiers did with the blocks it was given. A block of a move is counted where it is copied and again
// where it leaves; a block of a verify once for each copy of it.
struct TierTally {
  std::uint64_t written = 0;  // copies made on disk
  std::uint64_t read_up = 0;  // copies made in the pool
  std::uint64_t left_pool = 0;
  std::uint64_t left_disk = 0;
  std::uint64_t computed = 0;  // computed again, exactly
  std::uint64_t already = 0;   // nothing was to be done
  // They stay where they were:
  std::uint64_t pinned = 0;
  std::uint64_t in_use = 0;
  std::uint64_t growing = 0;
  std::uint64_t below = 0;    // what hangs on them, or what they hang on, stays
  std::uint64_t refused = 0;  // the disk tier took no copy; `refusal`: the last reason
  std::uint64_t no_room = 0;  // the pool has none for them
  std::uint64_t gone = 0;     // deleted or evicted meanwhile
  // Of copies that were read:
  std::uint64_t good = 0;
  std::uint64_t damaged = 0;  // dropped
  std::uint64_t missing = 0;  // on disk: the tree named it, the store has none
  std::uint64_t unread = 0;   // it could not be told
  std::string refusal;        // storage::refusal_name

  friend bool operator==(const TierTally&, const TierTally&) = default;
};

// Of compress and decompress: the blocks' bytes on all tiers, with their rounded copies, before it began and after;
// what the codec loses on this model; what has to be computed again.
struct CodecFigures {
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  double error = 0;  // root mean square of sampled blocks, relative; 0: none was sampled yet
  std::uint32_t compute_tokens = 0;
  double compute_ms = 0;  // at the measured rate; 0: not measured yet

  friend bool operator==(const CodecFigures&, const CodecFigures&) = default;
};

struct JobInfo {
  enum class State : std::uint8_t { kQueued, kRunning, kDone, kFailed, kCancelled };
  JobId id{};        // 0: a dry run, which is no job
  std::string verb;  // "copy", "move", "verify", "compress", "decompress"; "load NAME", "unload", "warm PACK"
  State state = State::kRunning;
  double progress = 0;
  bool done = false;  // it ended, well or not
  std::string error;  // kFailed: why, to_string of it
  // Of verbs over tiers:
  NodeId node{};
  std::string to;  // "disk", "host", "device"; of compress and decompress "int8", "int4", "exact"
  bool dry_run = false;
  std::uint64_t blocks_done = 0;
  std::uint64_t blocks_total = 0;
  std::uint64_t bytes_moved = 0;  // copied or read
  TierTally tally;
  CodecFigures codec;
  std::string detail;   // the arithmetic of the result in words
  std::string warning;  // what it promised to the next request and that one did not reuse
  WallTime started = 0;
  WallTime ended = 0;
};

}  // namespace larder::engine
