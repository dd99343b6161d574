// SPDX-License-Identifier: Apache-2.0
// The 16 lanes of the arithmetic as one AVX-512 register (F, BW, VL, DQ).
// Included inside the anonymous namespace of isa_avx512.cc; the names are those every lanes_*.inl gives.

using Reg = __m512;

constexpr std::size_t kRegLanes = 16;
constexpr std::uint32_t kTileM = 6;  // x rows of a register tile: 24 sums, 4 weights and one x fit into 32 registers

// Weight rows of a register tile of M x rows.
template <std::size_t M>
constexpr std::size_t kTileN = M <= 3 ? 8 : 4;

struct LaneMask {
  __mmask16 bits;
};

inline LaneMask make_mask(int begin, int end) {
  return {static_cast<__mmask16>(((1u << end) - 1u) & ~((1u << begin) - 1u))};
}

inline Reg zero() { return _mm512_setzero_ps(); }
inline Reg set1(float x) { return _mm512_set1_ps(x); }
inline Reg load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Reg r) { _mm512_storeu_ps(p, r); }

// Lanes that the mask names; zero elsewhere, and nothing is read there.
inline Reg load_masked(const float* p, std::size_t, LaneMask mask) { return _mm512_maskz_loadu_ps(mask.bits, p); }
inline void store_masked(float* p, std::size_t, LaneMask mask, Reg r) { _mm512_mask_storeu_ps(p, mask.bits, r); }
inline Reg select(std::size_t, LaneMask mask, Reg inside, Reg outside) {
  return _mm512_mask_blend_ps(mask.bits, outside, inside);
}

inline Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
inline Reg sub(Reg a, Reg b) { return _mm512_sub_ps(a, b); }
inline Reg mul(Reg a, Reg b) { return _mm512_mul_ps(a, b); }
inline Reg div(Reg a, Reg b) { return _mm512_div_ps(a, b); }
inline Reg max(Reg a, Reg b) { return _mm512_max_ps(a, b); }
inline Reg min(Reg a, Reg b) { return _mm512_min_ps(a, b); }
inline Reg zero_below(Reg x, Reg limit, Reg value) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), value);
}

// Pairs (x0, x1) turned by angles (cos, sin): fma(x0, cos, -(x1 sin)) and fma(x1, cos, x0 sin).
inline Reg rotate_pairs(Reg x, Reg angle) {
  const Reg crossed = _mm512_mul_ps(_mm512_permute_ps(x, 0xb1), _mm512_movehdup_ps(angle));
  return _mm512_fmaddsub_ps(x, _mm512_moveldup_ps(angle), crossed);
}

// p * 2^n where n stands in the last bits of t, for results that are normal numbers.
inline Reg scale_by_power(Reg p, Reg t) {
  return _mm512_castsi512_ps(
      _mm512_add_epi32(_mm512_castps_si512(p), _mm512_slli_epi32(_mm512_castps_si512(t), 23)));
}

// One level of the joining tree for two registers at once, as [low half of a + high half of a | the same of b]. A blend
// and one shuffle instead of two shuffles, because shuffles have one port.
inline Reg fold_halves(Reg a, Reg b) {
  return _mm512_add_ps(_mm512_mask_blend_ps(0xff00, a, b), _mm512_shuffle_f32x4(a, b, 0x4e));
}

// Four sums of 16 lanes each: lane i + (i + 8), then + 4, + 2, + 1.
inline void join4(float* out, const Reg (&a)[1], const Reg (&b)[1], const Reg (&c)[1], const Reg (&d)[1]) {
  const Reg ab = fold_halves(a[0], b[0]);
  const Reg cd = fold_halves(c[0], d[0]);
  const Reg four = _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
  const Reg two = _mm512_add_ps(four, _mm512_permute_ps(four, 0x4e));
  const Reg one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xb1));
  _mm_storeu_ps(out, _mm512_castps512_ps128(_mm512_maskz_compress_ps(0x1111, one)));
}

inline float join(const Reg (&r)[1]) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(r[0]), _mm512_extractf32x8_ps(r[0], 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline float join_max(const Reg (&r)[1]) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(r[0]), _mm512_extractf32x8_ps(r[0], 1));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline Reg load_halves(const std::uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline Reg load_halves_masked(const std::uint16_t* p, std::size_t, LaneMask mask) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask.bits, p));
}

inline void halves_to_floats(const std::uint16_t* in, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i))));
  }
  if (i < n) {
    const __mmask16 rest = static_cast<__mmask16>((1u << (n - i)) - 1u);
    _mm512_mask_storeu_ps(out + i, rest, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(rest, in + i)));
  }
}

inline void floats_to_halves(const float* in, std::size_t n, std::uint16_t* out) {
  for (std::size_t i = 0; i < n; i += 16) {
    const __mmask16 rest = n - i >= 16 ? __mmask16{0xffff} : static_cast<__mmask16>((1u << (n - i)) - 1u);
    const __m256i half = _mm512_cvtps_ph(_mm512_maskz_loadu_ps(rest, in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_mask_storeu_epi16(out + i, rest, half);
  }
}

// The first two halves of `count` (1..16) blocks that lie `stride` bytes apart, as floats. A gather, because inserting
// words into a register takes the port that the permutes need.
inline void load_scales(const std::byte* blocks, std::size_t stride, std::size_t count, float* out) {
  const __m512i number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i offset = _mm512_mullo_epi32(number, _mm512_set1_epi32(static_cast<int>(stride)));
  const __mmask16 present = static_cast<__mmask16>((1u << count) - 1u);
  const __m512i pairs = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), present, offset, blocks, 1);
  _mm512_storeu_ps(out, _mm512_cvtph_ps(_mm512_castsi512_si256(pairs)));
  _mm512_storeu_ps(out + 16, _mm512_cvtph_ps(_mm512_extracti64x4_epi64(pairs, 1)));
}

// out[i] = q[i] * d + m for the 32 nibbles of one block: low nibbles first. A nibble indexes a table of its 16 values;
// the permute reads only the low four bits of an index, so low nibbles need no mask.
inline void expand_nibbles(const std::uint8_t* qs, float d, float m, float* out) {
  const __m512 numbers = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512 table = _mm512_fmadd_ps(numbers, _mm512_set1_ps(d), _mm512_set1_ps(m));
  const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(qs)));
  _mm512_storeu_ps(out, _mm512_permutexvar_ps(bytes, table));
  _mm512_storeu_ps(out + 16, _mm512_permutexvar_ps(_mm512_srli_epi32(bytes, 4), table));
}

// out[i] = q[i] * d for 16 signed bytes.
inline void expand_bytes(const std::int8_t* q, float d, float* out) {
  const __m512i wide = _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(q)));
  _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_cvtepi32_ps(wide), _mm512_set1_ps(d)));
}

// What kv_codec.inl is made of.
inline Reg abs(Reg x) { return _mm512_abs_ps(x); }
// x where |x| <= limit, else 0; NaN is 0. And 1 where x was dropped so.
inline Reg keep_within(Reg x, Reg limit) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(abs(x), limit, _CMP_LE_OQ), x);
}
inline Reg one_outside(Reg x, Reg limit) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(abs(x), limit, _CMP_NLE_UQ), set1(1.0f));
}

inline void store_halves(std::uint16_t* p, Reg r) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(r, _MM_FROUND_TO_NEAREST_INT));
}

// 16 signed bytes, rounded to nearest even.
inline void store_bytes(std::int8_t* p, const Reg (&x)[1]) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(x[0])));
}
inline void load_bytes(const std::int8_t* p, Reg (&x)[1]) {
  x[0] = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}

// 32 numbers 0..15 in 16 bytes, rounded to nearest even: the low halves of the bytes first.
inline void store_nibbles(std::uint8_t* p, const Reg (&low)[1], const Reg (&high)[1]) {
  const __m512i upper = _mm512_slli_epi32(_mm512_cvtps_epi32(high[0]), 4);
  const __m512i both = _mm512_or_si512(_mm512_cvtps_epi32(low[0]), upper);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(both));
}
inline void load_nibbles(const std::uint8_t* p, Reg (&low)[1], Reg (&high)[1]) {
  const __m512i both = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  low[0] = _mm512_cvtepi32_ps(_mm512_and_si512(both, _mm512_set1_epi32(15)));
  high[0] = _mm512_cvtepi32_ps(_mm512_srli_epi32(both, 4));
}

// a + b where the partner comes later, else b - a: one step of the Walsh-Hadamard transform.
template <int kStride>
inline Reg step_of(Reg x, Reg partner) {
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __mmask16 later = _mm512_test_epi32_mask(lane, _mm512_set1_epi32(kStride));
  return _mm512_mask_sub_ps(_mm512_add_ps(x, partner), later, partner, x);
}

// The steps of strides 1, 2, 4 and 8 over 16 lanes.
inline void rotate_lanes(Reg (&x)[1]) {
  x[0] = step_of<1>(x[0], _mm512_permute_ps(x[0], 0xb1));
  x[0] = step_of<2>(x[0], _mm512_permute_ps(x[0], 0x4e));
  x[0] = step_of<4>(x[0], _mm512_shuffle_f32x4(x[0], x[0], 0xb1));
  x[0] = step_of<8>(x[0], _mm512_shuffle_f32x4(x[0], x[0], 0x4e));
}
