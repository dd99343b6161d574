// SPDX-License-Identifier: Apache-2.0
// The canonical byte layout of a KV block: the same in the pool, on disk and on the wire, on every device.
// Shapes:   a block holds kBlockTokens consecutive positions of one layer group. For each layer and KV head there is
//           one slice: K as [token][d_head], then V as [d_head][token], then room for int8 scales (K then V, one f32
//           per token each; only for int8). Slices lie layer-major, then head, each at a 64-byte boundary.
// Ensures:  positions past a block's valid tokens hold zeros. The header (key, position, valid tokens) lies apart.
// Units:    offsets and sizes in bytes.
// Threads:  constexpr values, always inlined so that an ISA object never exports one.    Source: kernels/README.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace larder::kernels {

inline constexpr std::uint32_t kBlockTokens = 32;
inline constexpr std::uint32_t kSpanTokens = 256;  // attention is a sum over spans of this many positions from 0
inline constexpr std::uint32_t kKvLayoutVersion = 1;

enum class KvType : std::uint8_t { kF32 = 0, kF16 = 1, kI8 = 2 };

[[gnu::always_inline]] constexpr std::size_t kv_element_bytes(KvType type) {
  return type == KvType::kF32 ? 4 : type == KvType::kF16 ? 2 : 1;
}

struct KvLayout {
  std::uint32_t n_layers = 0;
  std::uint32_t n_kv_heads = 0;
  std::uint32_t d_head = 0;
  KvType type = KvType::kF16;

  [[gnu::always_inline]] constexpr std::size_t k_bytes() const {
    return std::size_t{kBlockTokens} * d_head * kv_element_bytes(type);
  }
  [[gnu::always_inline]] constexpr std::size_t scale_bytes() const {
    return type == KvType::kI8 ? 2 * kBlockTokens * sizeof(float) : 0;
  }
  [[gnu::always_inline]] constexpr std::size_t slice_bytes() const {
    return (2 * k_bytes() + scale_bytes() + 63) / 64 * 64;
  }
  [[gnu::always_inline]] constexpr std::size_t slice_count() const { return std::size_t{n_layers} * n_kv_heads; }
  [[gnu::always_inline]] constexpr std::size_t block_bytes() const { return slice_count() * slice_bytes(); }

  [[gnu::always_inline]] constexpr std::size_t slice_offset(std::uint32_t layer, std::uint32_t head) const {
    return (std::size_t{layer} * n_kv_heads + head) * slice_bytes();
  }
  [[gnu::always_inline]] constexpr std::size_t v_offset_in_slice() const { return k_bytes(); }

  friend constexpr bool operator==(const KvLayout&, const KvLayout&) = default;
};

}  // namespace larder::kernels
