// SPDX-License-Identifier: Apache-2.0
// KvKept: in which scheme each block of a rounded run is kept, and what that takes.
// Requires: kv_scheme_fault says kNone of the lineage.
// Units:    bytes, positions, blocks.
// Threads:  constexpr values.
// Source:   the first tokens as attention sinks: Xiao et al. 2023 (StreamingLLM); what it gives: codec_bench.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/layout/kv_codec.h"

namespace larder::kernels {

// The first tokens of a prompt are those that all others attend to, and a rounding of theirs costs most, so int4 keeps
// their block in int8.
constexpr KvScheme kept_scheme(KvScheme lineage, std::uint32_t first_position) {
  return lineage == KvScheme::kInt4 && first_position == 0 ? KvScheme::kInt8 : lineage;
}
// Bytes of `blocks` such blocks in a row, from first_position on.
constexpr std::size_t kept_bytes(KvScheme lineage, std::uint32_t first_position, std::size_t blocks,
                                 const KvLayout& layout) {
  if (blocks == 0) return 0;
  return coded_block_bytes(kept_scheme(lineage, first_position), layout) +
         (blocks - 1) * coded_block_bytes(lineage, layout);
}

}  // namespace larder::kernels
