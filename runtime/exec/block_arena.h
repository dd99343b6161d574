// SPDX-License-Identifier: Apache-2.0
// BlockArena: the memory of a CPU executor's KV blocks, one mapping, and the copies a step does on it. Addresses are
// set aside for more blocks than there are, so that the pool can grow in place; untouched ones cost nothing.
// Ensures:  positions past a block's valid tokens hold zeros after copy().
// Errors:   kResourceExhausted when the mapping cannot be had; kUnsupported for a KV type without kernels.
// Owns:     the memory.    Threads: disjoint blocks from any thread; grow and block_count from one.
// Source:   kernels/layout/kv_layout.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "runtime/exec/mapped_memory.h"
#include "runtime/exec/step.h"

namespace larder::exec {

class BlockArena {
 public:
  static Result<BlockArena> create(const kernels::KvLayout& layout, std::uint32_t block_count, std::uint32_t most);

  const kernels::KvLayout& layout() const { return layout_; }
  std::uint32_t block_count() const { return block_count_; }
  // More blocks from now on; fewer are no fewer.  Errors: kResourceExhausted beyond the most.
  Status grow(std::uint32_t block_count);
  // The memory of the blocks goes back to the system.  Requires: each is held, and free.
  void give_back(std::span<const BlockId> blocks) const;
  // Whether there is memory behind it.
  bool holds(BlockId block) const { return block.value < most_; }

  // Requires: holds(block).
  std::byte* block(BlockId block) const { return memory_.data() + std::size_t{block.value} * layout_.block_bytes(); }
  std::uint64_t checksum(BlockId block) const;

  // Requires: holds(copy.to); holds(copy.from) and from != to unless valid_tokens is 0; valid_tokens <= kBlockTokens.
  void copy(const BlockCopy& copy) const;

 private:
  kernels::KvLayout layout_;
  std::uint32_t block_count_ = 0;
  std::uint32_t most_ = 0;
  MappedMemory memory_;
};

}  // namespace larder::exec
