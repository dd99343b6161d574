// SPDX-License-Identifier: Apache-2.0
// dot with AVX-VNNI.

constexpr bool kWideIsSigned = false;

template <bool kWide>
inline Ints dot(Ints sum, Ints weights, Ints four) { return _mm256_dpbusd_avx_epi32(sum, weights, four); }
