// SPDX-License-Identifier: Apache-2.0
// The 16 lanes of the arithmetic as two AVX2 registers (with FMA and F16C).
// Included inside the anonymous namespace of isa_avx2.cc; the names are those every lanes_*.inl gives.

using Reg = __m256;

constexpr std::size_t kRegLanes = 8;
constexpr std::uint32_t kTileM = 3;  // x rows of a register tile: 12 sums, 2 weights and one x fill 16 registers

// Weight rows of a register tile of M x rows.
template <std::size_t M>
constexpr std::size_t kTileN = M == 1 ? 4 : 2;

struct LaneMask {
  __m256i part[2];
};

inline LaneMask make_mask(int begin, int end) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  LaneMask mask;
  for (int p = 0; p < 2; ++p) {
    const __m256i from = _mm256_set1_epi32(begin - 8 * p - 1);
    const __m256i to = _mm256_set1_epi32(end - 8 * p);
    mask.part[p] = _mm256_and_si256(_mm256_cmpgt_epi32(lane, from), _mm256_cmpgt_epi32(to, lane));
  }
  return mask;
}

inline Reg zero() { return _mm256_setzero_ps(); }
inline Reg set1(float x) { return _mm256_set1_ps(x); }
inline Reg load(const float* p) { return _mm256_loadu_ps(p); }
inline void store(float* p, Reg r) { _mm256_storeu_ps(p, r); }

// Lanes of part `part` of a chunk of 16 that the mask names; zero elsewhere, and nothing is read there.
inline Reg load_masked(const float* p, std::size_t part, const LaneMask& mask) {
  return _mm256_maskload_ps(p, mask.part[part]);
}
inline void store_masked(float* p, std::size_t part, const LaneMask& mask, Reg r) {
  _mm256_maskstore_ps(p, mask.part[part], r);
}
inline Reg select(std::size_t part, const LaneMask& mask, Reg inside, Reg outside) {
  return _mm256_blendv_ps(outside, inside, _mm256_castsi256_ps(mask.part[part]));
}

inline Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
inline Reg sub(Reg a, Reg b) { return _mm256_sub_ps(a, b); }
inline Reg mul(Reg a, Reg b) { return _mm256_mul_ps(a, b); }
inline Reg div(Reg a, Reg b) { return _mm256_div_ps(a, b); }
inline Reg max(Reg a, Reg b) { return _mm256_max_ps(a, b); }
inline Reg min(Reg a, Reg b) { return _mm256_min_ps(a, b); }
inline Reg zero_below(Reg x, Reg limit, Reg value) {
  return _mm256_and_ps(_mm256_cmp_ps(x, limit, _CMP_NLT_UQ), value);
}

// Pairs (x0, x1) turned by angles (cos, sin): fma(x0, cos, -(x1 sin)) and fma(x1, cos, x0 sin).
inline Reg rotate_pairs(Reg x, Reg angle) {
  const Reg crossed = _mm256_mul_ps(_mm256_permute_ps(x, 0xb1), _mm256_movehdup_ps(angle));
  return _mm256_fmaddsub_ps(x, _mm256_moveldup_ps(angle), crossed);
}

// p * 2^n where n stands in the last bits of t, for results that are normal numbers.
inline Reg scale_by_power(Reg p, Reg t) {
  return _mm256_castsi256_ps(
      _mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(_mm256_castps_si256(t), 23)));
}

// Four sums of 16 lanes each: lane i + (i + 8), then + 4, + 2, + 1.
inline void join4(float* out, const Reg (&a)[2], const Reg (&b)[2], const Reg (&c)[2], const Reg (&d)[2]) {
  const __m256 a8 = _mm256_add_ps(a[0], a[1]);
  const __m256 b8 = _mm256_add_ps(b[0], b[1]);
  const __m256 c8 = _mm256_add_ps(c[0], c[1]);
  const __m256 d8 = _mm256_add_ps(d[0], d[1]);
  const __m256 ab = _mm256_add_ps(_mm256_blend_ps(a8, b8, 0xf0), _mm256_permute2f128_ps(a8, b8, 0x21));
  const __m256 cd = _mm256_add_ps(_mm256_blend_ps(c8, d8, 0xf0), _mm256_permute2f128_ps(c8, d8, 0x21));
  // Per 128 bits: two lanes of a (b), two lanes of c (d).
  const __m256 two = _mm256_add_ps(_mm256_blend_ps(ab, cd, 0xcc), _mm256_shuffle_ps(ab, cd, 0x4e));
  const __m256 one = _mm256_add_ps(two, _mm256_permute_ps(two, 0xb1));
  const __m128 ac = _mm256_castps256_ps128(one);
  const __m128 bd = _mm256_extractf128_ps(one, 1);
  _mm_storeu_ps(out, _mm_blend_ps(ac, bd, 0xa));
}

inline float join(const Reg (&r)[2]) {
  const __m256 eight = _mm256_add_ps(r[0], r[1]);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline float join_max(const Reg (&r)[2]) {
  const __m256 eight = _mm256_max_ps(r[0], r[1]);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline Reg load_halves(const std::uint16_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Reg load_halves_masked(const std::uint16_t* p, std::size_t part, const LaneMask& mask) {
  const int named = _mm256_movemask_ps(_mm256_castsi256_ps(mask.part[part]));
  std::uint16_t half[8] = {};
  for (int i = 0; i < 8; ++i) {
    if (((named >> i) & 1) != 0) half[i] = p[i];
  }
  return load_halves(half);
}

inline void halves_to_floats(const std::uint16_t* in, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  }
  if (i < n) {
    std::uint16_t rest[8] = {};
    __builtin_memcpy(rest, in + i, (n - i) * sizeof rest[0]);
    const __m256 wide = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rest)));
    _mm256_maskstore_ps(out + i, make_mask(0, static_cast<int>(n - i)).part[0], wide);
  }
}

inline void floats_to_halves(const float* in, std::size_t n, std::uint16_t* out) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), half);
  }
  if (i < n) {
    const __m256 wide = _mm256_maskload_ps(in + i, make_mask(0, static_cast<int>(n - i)).part[0]);
    std::uint16_t rest[8];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), _mm256_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT));
    __builtin_memcpy(out + i, rest, (n - i) * sizeof rest[0]);
  }
}

inline void expand_eight(__m128i quants, __m256 d, __m256 m, float* out) {
  _mm256_storeu_ps(out, _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(quants)), d, m));
}

// The first two halves of `count` (1..16) blocks that lie `stride` bytes apart, as floats.
inline void load_scales(const std::byte* blocks, std::size_t stride, std::size_t count, float* out) {
  std::uint16_t half[32];
  for (std::size_t i = 0; i < count; ++i) __builtin_memcpy(half + 2 * i, blocks + i * stride, 4);
  halves_to_floats(half, 2 * count, out);
}

// out[i] = q[i] * d + m for the 32 nibbles of one block: low nibbles first.
inline void expand_nibbles(const std::uint8_t* qs, float d, float m, float* out) {
  const __m256 scale = _mm256_set1_ps(d);
  const __m256 offset = _mm256_set1_ps(m);
  const __m128i mask = _mm_set1_epi8(15);
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(qs));
  const __m128i low = _mm_and_si128(bytes, mask);
  const __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), mask);
  expand_eight(low, scale, offset, out);
  expand_eight(_mm_srli_si128(low, 8), scale, offset, out + 8);
  expand_eight(high, scale, offset, out + 16);
  expand_eight(_mm_srli_si128(high, 8), scale, offset, out + 24);
}

// out[i] = q[i] * d for 16 signed bytes.
inline void expand_bytes(const std::int8_t* q, float d, float* out) {
  const __m256 scale = _mm256_set1_ps(d);
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(q));
  _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)), scale));
  const __m128i upper = _mm_srli_si128(bytes, 8);
  _mm256_storeu_ps(out + 8, _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(upper)), scale));
}

// What kv_codec.inl is made of.
inline Reg abs(Reg x) { return _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff))); }
// x where |x| <= limit, else 0; NaN is 0. And 1 where x was dropped so.
inline Reg keep_within(Reg x, Reg limit) { return _mm256_and_ps(_mm256_cmp_ps(abs(x), limit, _CMP_LE_OQ), x); }
inline Reg one_outside(Reg x, Reg limit) {
  return _mm256_and_ps(_mm256_cmp_ps(abs(x), limit, _CMP_NLE_UQ), set1(1.0f));
}

inline void store_halves(std::uint16_t* p, Reg r) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(r, _MM_FROUND_TO_NEAREST_INT));
}

// 16 whole numbers from two registers, as words in order.
inline __m256i words_of(const Reg (&x)[2]) {
  const __m256i mixed = _mm256_packs_epi32(_mm256_cvtps_epi32(x[0]), _mm256_cvtps_epi32(x[1]));
  return _mm256_permute4x64_epi64(mixed, 0xd8);
}

// 16 signed bytes, rounded to nearest even.
inline void store_bytes(std::int8_t* p, const Reg (&x)[2]) {
  const __m256i words = words_of(x);
  const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
}
inline void load_bytes(const std::int8_t* p, Reg (&x)[2]) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  x[0] = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
  x[1] = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)));
}

// 32 numbers 0..15 in 16 bytes, rounded to nearest even: the low halves of the bytes first.
inline void store_nibbles(std::uint8_t* p, const Reg (&low)[2], const Reg (&high)[2]) {
  const __m256i words = _mm256_or_si256(words_of(low), _mm256_slli_epi16(words_of(high), 4));
  const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
}
inline void numbers_of(__m128i bytes, Reg (&x)[2]) {
  x[0] = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
  x[1] = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)));
}
inline void load_nibbles(const std::uint8_t* p, Reg (&low)[2], Reg (&high)[2]) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i mask = _mm_set1_epi8(15);
  numbers_of(_mm_and_si128(bytes, mask), low);
  numbers_of(_mm_and_si128(_mm_srli_epi16(bytes, 4), mask), high);
}

// a + b where the partner comes later, else b - a: one step of the Walsh-Hadamard transform.
template <int kLater>
inline Reg step_of(Reg x, Reg partner) {
  return _mm256_blend_ps(_mm256_add_ps(x, partner), _mm256_sub_ps(partner, x), kLater);
}

// The steps of strides 1, 2, 4 and 8 over 16 lanes.
inline void rotate_lanes(Reg (&x)[2]) {
  for (Reg& part : x) {
    part = step_of<0xaa>(part, _mm256_permute_ps(part, 0xb1));
    part = step_of<0xcc>(part, _mm256_permute_ps(part, 0x4e));
    part = step_of<0xf0>(part, _mm256_permute2f128_ps(part, part, 1));
  }
  const Reg first = x[0];
  x[0] = _mm256_add_ps(first, x[1]);
  x[1] = _mm256_sub_ps(first, x[1]);
}
