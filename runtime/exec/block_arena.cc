// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/block_arena.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/layout/checksum.h"

namespace larder::exec {
namespace {

// Copies the first `valid` tokens of one slice and zeroes the rest.
void copy_slice(const kernels::KvLayout& layout, const std::byte* from, std::byte* to, std::uint32_t valid) {
  const std::size_t element = kernels::kv_element_bytes(layout.type);
  const std::size_t k_valid = std::size_t{valid} * layout.d_head * element;
  std::memcpy(to, from, k_valid);
  std::memset(to + k_valid, 0, layout.k_bytes() - k_valid);
  const std::size_t row = kernels::kBlockTokens * element;
  for (std::uint32_t d = 0; d < layout.d_head; ++d) {
    const std::size_t at = layout.v_offset_in_slice() + d * row;
    std::memcpy(to + at, from + at, valid * element);
    std::memset(to + at + valid * element, 0, row - valid * element);
  }
  const std::size_t used = 2 * layout.k_bytes();
  std::memset(to + used, 0, layout.slice_bytes() - used);
}

}  // namespace

Result<BlockArena> BlockArena::create(const kernels::KvLayout& layout, std::uint32_t block_count, std::uint32_t most) {
  most = std::max(most, block_count);
  if (layout.type == kernels::KvType::kI8) {
    return Error{ErrorCode::kUnsupported, "KV type int8 has no kernels in this build; use f16 or f32", ""};
  }
  const std::size_t block_bytes = layout.block_bytes();
  if (block_bytes != 0 && most > std::numeric_limits<std::size_t>::max() / 2 / block_bytes) {
    return Error{ErrorCode::kResourceExhausted, std::to_string(most) + " KV blocks of " +
                                                    std::to_string(block_bytes) + " bytes: too many", ""};
  }
  BlockArena arena;
  arena.layout_ = layout;
  arena.block_count_ = block_count;
  arena.most_ = most;
  ASSIGN_OR_RETURN(arena.memory_, MappedMemory::map(most * block_bytes, "the KV pool"));
  return arena;
}

Status BlockArena::grow(std::uint32_t block_count) {
  if (block_count > most_) {
    return Error{ErrorCode::kResourceExhausted,
                 "the KV pool was set up for at most " + std::to_string(most_) + " blocks, " +
                     std::to_string(block_count) + " are asked for: load the model again",
                 "pool.bytes"};
  }
  block_count_ = std::max(block_count_, block_count);
  return {};
}

// Neighbours go together, so that blocks smaller than a page are given back too.
void BlockArena::give_back(std::span<const BlockId> blocks) const {
  std::vector<BlockId> sorted(blocks.begin(), blocks.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].value == sorted[end - 1].value + 1) ++end;
    memory_.give_back(sorted[begin].value * layout_.block_bytes(), (end - begin) * layout_.block_bytes());
    begin = end;
  }
}

std::uint64_t BlockArena::checksum(BlockId id) const { return kernels::block_checksum(layout_, block(id)); }

void BlockArena::copy(const BlockCopy& copy) const {
  std::byte* const to = block(copy.to);
  if (copy.valid_tokens == 0) {
    std::memset(to, 0, layout_.block_bytes());
    return;
  }
  const std::byte* const from = block(copy.from);
  for (std::size_t slice = 0; slice < layout_.slice_count(); ++slice) {
    const std::size_t at = slice * layout_.slice_bytes();
    copy_slice(layout_, from + at, to + at, copy.valid_tokens);
  }
}

}  // namespace larder::exec
