// SPDX-License-Identifier: Apache-2.0
// dot without VNNI. Pairs of products are added in 16 bits, which saturate: up to 63 * 127 * 2 fits. Weights of a whole
// byte go by their sign: at most 128 * 127 * 2 = 32512.

constexpr bool kWideIsSigned = true;

template <bool kWide>
inline Ints dot(Ints sum, Ints weights, Ints four) {
  if constexpr (kWide) {
    const Ints centred = _mm256_xor_si256(weights, set_bytes(static_cast<char>(-128)));
    four = _mm256_sign_epi8(four, centred);
    weights = _mm256_abs_epi8(centred);
  }
  const Ints pairs = _mm256_maddubs_epi16(weights, four);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
