// SPDX-License-Identifier: Apache-2.0
// BlockCoder: between the pool's bytes of a block and those that are stored in its scheme. Pure: memory in, memory out.
// Requires: what `knows` says, and sizes as exact_bytes says.
// Owns:     scratch, and the coded bytes of one block.    Threads: an object has one owner.    Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/layout/kv_codec.h"
#include "storage/stored_block.h"

namespace larder::storage {

class BlockCoder {
 public:
  explicit BlockCoder(const kernels::KvCodecKernels& codec) : codec_(codec) {}

  // Exact blocks always. Else: are there codecs, is the scheme offered for the layout, and has the block its shape?
  bool knows(const StoredBlock& block, const kernels::KvLayout& layout) const;
  // Of the block in the pool.
  static std::uint64_t exact_bytes(const StoredBlock& block, const kernels::KvLayout& layout);

  // The coded block, until the next call; empty where a value is not finite.    Requires: another scheme than exact.
  std::span<const std::byte> encode(const StoredBlock& block, const kernels::KvLayout& layout,
                                    std::span<const std::byte> exact);
  // The coded block lies at the end of `whole` and becomes the exact one, which fills it.
  void decode(const StoredBlock& block, const kernels::KvLayout& layout, std::span<std::byte> whole);

 private:
  const kernels::KvCodecKernels codec_;
  std::vector<std::byte> coded_;
  std::vector<std::byte> scratch_;
};

}  // namespace larder::storage
