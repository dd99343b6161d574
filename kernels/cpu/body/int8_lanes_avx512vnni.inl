// SPDX-License-Identifier: Apache-2.0
// What the int8 bodies are made of, for AVX-512 with VNNI: a register holds a quad of 16 weight rows.
// Every int8_lanes_*.inl gives these names.

using Ints = __m512i;
using Floats = __m512;
using LaneBits = __mmask16;

constexpr std::uint32_t kLanes = 16;     // weight rows of a tile
constexpr std::size_t kTileRows = 12;    // most activation rows of a tile: 24 sums, weights and scale in 32 registers
constexpr bool kWideIsSigned = false;    // whether dot<true> takes the offset of 128 off by itself

inline Ints zero_ints() { return _mm512_setzero_si512(); }
inline Ints set_ints(std::int32_t x) { return _mm512_set1_epi32(x); }
inline Ints set_bytes(char x) { return _mm512_set1_epi8(x); }
inline Ints load_ints(const void* at) { return _mm512_loadu_si512(at); }
inline void store_ints(std::int32_t* at, Ints x) { _mm512_storeu_si512(at, x); }
inline Ints and_bits(Ints a, Ints b) { return _mm512_and_si512(a, b); }
inline Ints or_bits(Ints a, Ints b) { return _mm512_or_si512(a, b); }
inline Ints subtract(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
inline Ints larger(Ints a, Ints b) { return _mm512_max_epi32(a, b); }
template <int kBits>
inline Ints shift_left(Ints x) { return _mm512_slli_epi32(x, kBits); }
template <int kBits>
inline Ints shift_right(Ints x) { return _mm512_srli_epi32(x, kBits); }
// Where e is 0 or 1, `small` shifted left by e; else `normal`.
inline Ints shifted_where_small(Ints e, Ints small, Ints normal) {
  return _mm512_mask_sllv_epi32(normal, _mm512_cmplt_epi32_mask(e, set_ints(2)), small, e);
}
inline std::int32_t largest_of(Ints x) { return _mm512_reduce_max_epi32(x); }
inline std::int32_t sum_of(Ints x) { return _mm512_reduce_add_epi32(x); }

// A nibble's value of a table of 16 bytes.
inline Ints look_up(Ints nibbles, __m128i table) { return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), nibbles); }

// sum + the products of four unsigned bytes of each lane of `weights` with four signed ones. kWide: bytes above 127.
template <bool kWide>
inline Ints dot(Ints sum, Ints weights, Ints four) { return _mm512_dpbusd_epi32(sum, weights, four); }

inline Floats zero_floats() { return _mm512_setzero_ps(); }
inline Floats set_floats(float x) { return _mm512_set1_ps(x); }
inline Floats load_floats(const float* at) { return _mm512_loadu_ps(at); }
inline Floats to_floats(Ints x) { return _mm512_cvtepi32_ps(x); }
inline Ints to_ints(Floats x) { return _mm512_cvtps_epi32(x); }  // to nearest even
inline Ints bits_of_floats(Floats x) { return _mm512_castps_si512(x); }
inline Floats floats_of_bits(Ints x) { return _mm512_castsi512_ps(x); }
inline Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
inline Floats negate(Floats x) { return _mm512_sub_ps(_mm512_setzero_ps(), x); }
inline Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
inline Floats fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }

// kLanes halves, signed bytes, unsigned bytes.
inline Floats load_halves(const std::byte* at) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
inline Floats load_signed_bytes(const std::byte* at) {
  return to_floats(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}
inline Ints load_unsigned_bytes(const std::byte* at) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}

// Lanes [begin, end).
inline LaneBits lane_bits(std::uint32_t begin, std::uint32_t end) {
  return begin >= end ? LaneBits{0} : static_cast<LaneBits>(((1u << end) - 1u) & ~((1u << begin) - 1u));
}
inline Floats load_lanes(const float* at, LaneBits lanes) { return _mm512_maskz_loadu_ps(lanes, at); }
inline void store_lanes(float* at, LaneBits lanes, Floats x) { _mm512_mask_storeu_ps(at, lanes, x); }
