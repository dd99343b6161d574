// SPDX-License-Identifier: Apache-2.0
#include "storage/block_coder.h"

#include <algorithm>

#include "runtime/base/invariant.h"

namespace larder::storage {
namespace {

kernels::KvScheme scheme_of(const StoredBlock& block) { return static_cast<kernels::KvScheme>(block.scheme); }

}  // namespace

bool BlockCoder::knows(const StoredBlock& block, const kernels::KvLayout& layout) const {
  if (block.scheme == 0) return true;
  return codec_.encode != nullptr && codec_.decode != nullptr &&
         kernels::kv_scheme_fault(scheme_of(block), layout) == kernels::KvSchemeFault::kNone &&
         block.slice_count == layout.slice_count() &&
         block.slice_bytes == kernels::coded_slice_bytes(scheme_of(block), layout);
}

std::uint64_t BlockCoder::exact_bytes(const StoredBlock& block, const kernels::KvLayout& layout) {
  return block.scheme == 0 ? block.payload_bytes() : layout.block_bytes();
}

std::span<const std::byte> BlockCoder::encode(const StoredBlock& block, const kernels::KvLayout& layout,
                                              std::span<const std::byte> exact) {
  INVARIANT(block.scheme != 0 && knows(block, layout) && exact.size() == layout.block_bytes());
  coded_.resize(static_cast<std::size_t>(block.payload_bytes()));
  scratch_.resize(kernels::kv_codec_scratch_bytes(layout));
  for (std::size_t slice = 0; slice < layout.slice_count(); ++slice) {
    const std::uint32_t dropped = codec_.encode({layout, scheme_of(block), exact.data() + slice * layout.slice_bytes(),
                                                 coded_.data() + slice * block.slice_bytes, scratch_.data()});
    if (dropped > 0) return {};
  }
  return coded_;
}

// An exact slice is written no further than to the end of its own coded one, because all coded ones that follow end
// where the exact ones do and take fewer bytes; only its own is copied away first.
void BlockCoder::decode(const StoredBlock& block, const kernels::KvLayout& layout, std::span<std::byte> whole) {
  INVARIANT(block.scheme != 0 && knows(block, layout) && whole.size() == layout.block_bytes());
  coded_.resize(block.slice_bytes);
  scratch_.resize(kernels::kv_codec_scratch_bytes(layout));
  const std::byte* stored = whole.data() + (whole.size() - static_cast<std::size_t>(block.payload_bytes()));
  for (std::size_t slice = 0; slice < layout.slice_count(); ++slice) {
    std::copy_n(stored + slice * block.slice_bytes, block.slice_bytes, coded_.data());
    codec_.decode(
        {layout, scheme_of(block), coded_.data(), whole.data() + slice * layout.slice_bytes(), scratch_.data()});
  }
}

}  // namespace larder::storage
