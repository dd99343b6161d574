// SPDX-License-Identifier: Apache-2.0
// BlockMover: who is told what became of single blocks that ColdTier was asked to write or read by name.
// Threads:  engine thread.
#pragma once

#include <cstdint>

#include "runtime/base/ids.h"
#include "storage/stored_block.h"

namespace larder::engine {

class BlockMover {
 public:
  virtual ~BlockMover() = default;
  // kNone: its copy is durable. Told of every block that goes down, asked for or not.
  virtual void written(NodeId node, storage::Refusal refusal) = 0;
  // kNone: every check passed, and the bytes are where they were wanted.
  virtual void read(std::uint64_t tag, storage::Miss miss, std::uint64_t checksum) = 0;
  // The store stopped: what was asked of it will not be answered.
  virtual void store_closed() = 0;
};

}  // namespace larder::engine
