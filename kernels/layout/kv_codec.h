// SPDX-License-Identifier: Apache-2.0
// The coded forms of a KV slice: what a cold block may hold instead of the pool's own bytes. A scheme's number stands
// in files: its bytes never change, another coding is another number. Shapes:   a coded block is its coded slices, in
// the order of the exact ones; every one a multiple of 64 bytes.
//   kExact  the slice as it is.
//   kInt8   the slice of the same layout with type kI8: K [token][d] and V [d][token] as i8 in -127..127, then one f32
//           scale per token for K and for V. value = q * scale, scale = largest magnitude of the token / 127.
//   kInt4   K is centred first: the mean over the slice's tokens that are not zeros is taken away, as d bf16 values
//           rounded to nearest even. Then vectors of K and V over d are rotated: u = H x / d, with H the Walsh-Hadamard
//           matrix of order d (natural order), whose inverse is x = H u; H over the root of d is orthonormal. 4-bit
//           codes, u = (q - 8) * scale, with one bf16 scale per token and group of kInt4Group coefficients: the group's
//           value of largest magnitude / -8 (the positive one of two), rounded away from zero. Zero is a code, so few
//           large coefficients do not shift the others. K codes [token][d/2], V codes [d][16]: in each 16 bytes, byte j
//           has code j in its low and code j + 16 in its high half. Then scales of K [token][group], of V
//           [group][token], then the mean. A token of K that is zeros has scales of kInt4ZeroToken and codes of 8.
// Ensures:  encoding rounds to nearest even. A position of zeros is zeros again, bit for bit. A token (kInt4: a
//           group of coefficients) whose largest magnitude is below kKvCodecSmallest becomes zeros. Every tier gives
//           equal bits.
//           What is not finite, or above kKvCodecLargest, is coded as a zero and counted, and harms no other value.
// Requires: layout.type kF16 or kF32; kInt4 needs a head dimension that is a power of two of at least 32.
// Units:    offsets and sizes in bytes.
// Threads:  constexpr values, always inlined so that an ISA object never exports one.
// Source:   rotation before quantising: Ashkboos et al. 2024 (QuaRot).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/layout/kv_layout.h"

namespace larder::kernels {

enum class KvScheme : std::uint32_t { kExact = 0, kInt8 = 1, kInt4 = 2 };
inline constexpr std::uint32_t kKvSchemes = 3;

inline constexpr std::uint32_t kInt4Group = 32;
inline constexpr std::uint16_t kInt4ZeroToken = 0x8000;
inline constexpr float kKvCodecLargest = 0x1p100f;
inline constexpr float kKvCodecSmallest = 0x1p-100f;

// "exact", "int8", "int4"; null for a number this build does not know. Stable API words.
[[gnu::always_inline]] constexpr const char* kv_scheme_name(KvScheme scheme) {
  switch (scheme) {
    case KvScheme::kExact:
      return "exact";
    case KvScheme::kInt8:
      return "int8";
    case KvScheme::kInt4:
      return "int4";
  }
  return nullptr;
}

// Why a scheme is not offered for a layout.
enum class KvSchemeFault : std::uint8_t { kNone, kUnknown, kNotFloats, kHeadNotPowerOfTwo, kNotSmaller };

[[gnu::always_inline]] constexpr const char* kv_scheme_fault_text(KvSchemeFault fault) {
  switch (fault) {
    case KvSchemeFault::kNone:
      return "none";
    case KvSchemeFault::kUnknown:
      return "this build does not know the scheme";
    case KvSchemeFault::kNotFloats:
      return "only f16 and f32 KV can be coded";
    case KvSchemeFault::kHeadNotPowerOfTwo:
      return "the head dimension is not a power of two of at least 32";
    case KvSchemeFault::kNotSmaller:
      return "the heads are so small that coded KV would not be";
  }
  return "none";
}

[[gnu::always_inline]] constexpr KvLayout int8_layout(KvLayout layout) {
  layout.type = KvType::kI8;
  return layout;
}

// Where the parts of a kInt4 slice begin.
struct Int4Slice {
  std::uint32_t groups = 0;  // per token
  std::size_t v_codes = 0;
  std::size_t k_scales = 0;
  std::size_t v_scales = 0;
  std::size_t k_mean = 0;
  std::size_t bytes = 0;
};

[[gnu::always_inline]] constexpr Int4Slice int4_slice(std::uint32_t d_head) {
  Int4Slice slice;
  slice.groups = d_head / kInt4Group;
  slice.v_codes = std::size_t{kBlockTokens} * d_head / 2;
  slice.k_scales = 2 * slice.v_codes;
  slice.v_scales = slice.k_scales + std::size_t{kBlockTokens} * slice.groups * sizeof(std::uint16_t);
  slice.k_mean = slice.v_scales + std::size_t{kBlockTokens} * slice.groups * sizeof(std::uint16_t);
  slice.bytes = slice.k_mean + d_head * sizeof(std::uint16_t);
  return slice;
}

// Requires: kv_scheme_fault says kNone.
[[gnu::always_inline]] constexpr std::size_t coded_slice_bytes(KvScheme scheme, const KvLayout& layout) {
  switch (scheme) {
    case KvScheme::kExact:
      break;
    case KvScheme::kInt8:
      return int8_layout(layout).slice_bytes();
    case KvScheme::kInt4:
      return int4_slice(layout.d_head).bytes;
  }
  return layout.slice_bytes();
}
[[gnu::always_inline]] constexpr std::size_t coded_block_bytes(KvScheme scheme, const KvLayout& layout) {
  return layout.slice_count() * coded_slice_bytes(scheme, layout);
}

[[gnu::always_inline]] constexpr KvSchemeFault kv_scheme_fault(KvScheme scheme, const KvLayout& layout) {
  if (scheme == KvScheme::kExact) return KvSchemeFault::kNone;
  if (kv_scheme_name(scheme) == nullptr) return KvSchemeFault::kUnknown;
  if (layout.type != KvType::kF16 && layout.type != KvType::kF32) return KvSchemeFault::kNotFloats;
  const bool rotates = layout.d_head >= kInt4Group && (layout.d_head & (layout.d_head - 1)) == 0;
  if (scheme == KvScheme::kInt4 && !rotates) return KvSchemeFault::kHeadNotPowerOfTwo;
  const bool smaller = coded_slice_bytes(scheme, layout) < layout.slice_bytes();
  return smaller ? KvSchemeFault::kNone : KvSchemeFault::kNotSmaller;
}

// Scratch of one thread for encode and decode: a slice's K or V as floats.
[[gnu::always_inline]] constexpr std::size_t kv_codec_scratch_bytes(const KvLayout& layout) {
  return std::size_t{kBlockTokens} * layout.d_head * sizeof(float);
}

// One slice.
// Requires: kv_scheme_fault says kNone; scratch: kv_codec_scratch_bytes, 64-byte aligned; nothing overlaps.
struct KvEncodeArgs {
  KvLayout layout;
  KvScheme scheme = KvScheme::kExact;
  const std::byte* exact = nullptr;  // slice_bytes()
  std::byte* coded = nullptr;        // coded_slice_bytes(), all of them written
  std::byte* scratch = nullptr;
};
struct KvDecodeArgs {
  KvLayout layout;
  KvScheme scheme = KvScheme::kExact;
  const std::byte* coded = nullptr;
  std::byte* exact = nullptr;  // slice_bytes(), all of them written
  std::byte* scratch = nullptr;
};

// The codecs of one ISA tier.
struct KvCodecKernels {
  // Answers how many values were not finite or above kKvCodecLargest; kExact looks at none.
  std::uint32_t (*encode)(const KvEncodeArgs&) = nullptr;
  void (*decode)(const KvDecodeArgs&) = nullptr;
};

}  // namespace larder::kernels
