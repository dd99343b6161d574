// SPDX-License-Identifier: Apache-2.0
// plan_restore: what to do with the blocks of a prompt that lie on disk only: read them, compute them, or compute the
// first ones while the rest is read. A pure function of measured rates.
// Why so:   blocks are read at an even pace and a row costs more the deeper it stands, so reading a start and computing
//           its end is never faster than the better of reading all and computing all. The other way round is: the disk
//           needs nothing of the model, so both work at once, and the deep, dear rows are those that are read. Where
//           reading falls behind while it runs, overdue() says so, and then the end is computed after all.
// Units:    ms, tokens, blocks.    Threads: pure.
#pragma once

#include <cstdint>

#include "runtime/sched/prefill_cost.h"

namespace larder::engine {

struct ColdRun {
  std::uint32_t position = 0;  // of its first token, at a block's border
  std::uint32_t tokens = 0;
  std::uint32_t blocks() const;
};

struct ReadRate {
  double first_ms = 0;
  double block_ms = 0;
  double blocks_ahead = 0;  // of others, read before or between these
  double ms(double blocks) const { return first_ms + (blocks_ahead + blocks) * block_ms; }
};

struct RestorePlan {
  bool read = true;               // false: compute all
  std::uint32_t head_blocks = 0;  // computed while the rest is read
  double estimate_ms = 0;         // of reading what is read
  double read_ms = 0;             // of reading all
  double compute_ms = 0;          // of all rows; 0: not measured yet
  double mixed_ms = 0;            // of the head and the rest at once; 0: no head
};

// always: whatever the estimates say, all is read.
RestorePlan plan_restore(const ColdRun& run, const ReadRate& rate, const sched::PrefillCost& cost, bool always);

// How a restore stands.
struct ReadState {
  double asked_ms = 0;  // since it began
  double idle_ms = 0;   // since its last block came
  double estimate_ms = 0;
  std::uint32_t blocks = 0;
  std::uint32_t blocks_left = 0;
};

// What reading the rest will take at the pace so far: a read that has stood still for a while is expected to stand
// still as long again. So a request hardly ever waits longer than half as long again as computing would take.
double read_left_ms(const ReadState& state);
// Is what is left computed clearly sooner than it is read?
bool overdue(const ReadState& state, double compute_left_ms);

}  // namespace larder::engine
