// SPDX-License-Identifier: Apache-2.0
// What the int8 bodies are made of, for AVX2 (with FMA and F16C): a register holds a quad of 8 weight rows. The names
// are those of every int8_lanes_*.inl; int8_dot_*.inl brings dot and kWideIsSigned.

using Ints = __m256i;
using Floats = __m256;
using LaneBits = __m256i;  // all ones where a lane counts

constexpr std::uint32_t kLanes = 8;
constexpr std::size_t kTileRows = 4;  // 8 sums, weights, four bytes, ones and what lies between in 16 registers

inline Ints zero_ints() { return _mm256_setzero_si256(); }
inline Ints set_ints(std::int32_t x) { return _mm256_set1_epi32(x); }
inline Ints set_bytes(char x) { return _mm256_set1_epi8(x); }
inline Ints load_ints(const void* at) { return _mm256_loadu_si256(static_cast<const __m256i*>(at)); }
inline void store_ints(std::int32_t* at, Ints x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), x); }
inline Ints and_bits(Ints a, Ints b) { return _mm256_and_si256(a, b); }
inline Ints or_bits(Ints a, Ints b) { return _mm256_or_si256(a, b); }
inline Ints subtract(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
inline Ints larger(Ints a, Ints b) { return _mm256_max_epi32(a, b); }
template <int kBits>
inline Ints shift_left(Ints x) { return _mm256_slli_epi32(x, kBits); }
template <int kBits>
inline Ints shift_right(Ints x) { return _mm256_srli_epi32(x, kBits); }
inline Ints shifted_where_small(Ints e, Ints small, Ints normal) {
  return _mm256_blendv_epi8(normal, _mm256_sllv_epi32(small, e), _mm256_cmpgt_epi32(set_ints(2), e));
}
inline std::int32_t largest_of(Ints x) {
  const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}
inline std::int32_t sum_of(Ints x) {
  const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

inline Ints look_up(Ints nibbles, __m128i table) {
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), nibbles);
}

inline Floats zero_floats() { return _mm256_setzero_ps(); }
inline Floats set_floats(float x) { return _mm256_set1_ps(x); }
inline Floats load_floats(const float* at) { return _mm256_loadu_ps(at); }
inline Floats to_floats(Ints x) { return _mm256_cvtepi32_ps(x); }
inline Ints to_ints(Floats x) { return _mm256_cvtps_epi32(x); }
inline Ints bits_of_floats(Floats x) { return _mm256_castps_si256(x); }
inline Floats floats_of_bits(Ints x) { return _mm256_castsi256_ps(x); }
inline Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
inline Floats negate(Floats x) { return _mm256_sub_ps(_mm256_setzero_ps(), x); }
inline Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
inline Floats fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }

inline Floats load_halves(const std::byte* at) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}
inline Floats load_signed_bytes(const std::byte* at) {
  return to_floats(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
}
inline Ints load_unsigned_bytes(const std::byte* at) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)));
}

inline LaneBits lane_bits(std::uint32_t begin, std::uint32_t end) {
  const Ints lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const Ints from = _mm256_cmpgt_epi32(lane, set_ints(static_cast<std::int32_t>(begin) - 1));
  return and_bits(from, _mm256_cmpgt_epi32(set_ints(static_cast<std::int32_t>(end)), lane));
}
inline Floats load_lanes(const float* at, LaneBits lanes) { return _mm256_maskload_ps(at, lanes); }
inline void store_lanes(float* at, LaneBits lanes, Floats x) { _mm256_maskstore_ps(at, lanes, x); }
