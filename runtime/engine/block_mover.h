// SPDX-License-Identifier: Apache-2.0
// BlockMover: who is told what became of single blocks that ColdTier was asked to write or read by name.
// Threads:  engine thread.
#pragma once

#include <cstdint>

#include "runtime/base/ids.h"
#include "storage/stored_block.h"

namespace larder::engine {

// What became of a block that was to be rounded by name. All at their defaults: its rounded copy is durable.
struct Rounded {
  NodeId node{};
  storage::Refusal refusal = storage::Refusal::kNone;
  storage::Miss miss = storage::Miss::kNone;  // its exact copy could not be read
  bool again = false;                         // nothing was done: ask once more
};

class BlockMover {
 public:
  virtual ~BlockMover() = default;
  // kNone: its copy is durable. Told of every block that goes down, asked for or not.
  virtual void written(NodeId node, storage::Refusal refusal) = 0;
  // kNone: every check passed, and the bytes are where they were wanted.
  virtual void read(std::uint64_t tag, storage::Miss miss, std::uint64_t checksum) = 0;
  virtual void rounded(const Rounded& what) = 0;
  // The store stopped: what was asked of it will not be answered.
  virtual void store_closed() = 0;
};

}  // namespace larder::engine
