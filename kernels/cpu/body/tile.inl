// SPDX-License-Identifier: Apache-2.0
// The register tile: N x M dot products at once, each in its own lanes. The only place where products are summed, so
// that every path (many rows or one, prefill or decode, weights or KV) gives an output the same bits.

// Elements [begin, end) of a dot product; element k goes to lane k % 16 whatever begin is.
struct Range {
  std::uint32_t begin;
  std::uint32_t end;
};

// Where a tile reads its weights: element (row n, k), 16 at a time. Rows that lie apart by a stride, as floats or as
// halves.
struct FloatRows {
  const float* at;
  std::size_t stride;

  Reg read(std::size_t n, std::size_t k) const { return load(at + n * stride + k); }
  Reg read_masked(std::size_t n, std::size_t k, std::size_t part, const LaneMask& mask) const {
    return load_masked(at + n * stride + k, part, mask);
  }
  void skip(std::size_t n) { at += n * stride; }
};

struct HalfRows {
  const std::uint16_t* at;
  std::size_t stride;

  Reg read(std::size_t n, std::size_t k) const { return load_halves(at + n * stride + k); }
  Reg read_masked(std::size_t n, std::size_t k, std::size_t part, const LaneMask& mask) const {
    return load_halves_masked(at + n * stride + k, part, mask);
  }
  void skip(std::size_t n) { at += n * stride; }
};

// Rows over tokens that lie in blocks: row n of a block begins n * kBlockTokens halves after `offset` bytes.
struct PagedHalfRows {
  const std::byte* const* blocks;
  std::size_t offset;

  const std::uint16_t* find(std::size_t n, std::size_t k) const {
    const std::byte* row = blocks[k / kBlockTokens] + offset;
    return reinterpret_cast<const std::uint16_t*>(row) + n * kBlockTokens + k % kBlockTokens;
  }
  Reg read(std::size_t n, std::size_t k) const { return load_halves(find(n, k)); }
  Reg read_masked(std::size_t n, std::size_t k, std::size_t part, const LaneMask& mask) const {
    return load_halves_masked(find(n, k), part, mask);
  }
  void skip(std::size_t n) { offset += n * kBlockTokens * sizeof(std::uint16_t); }
};

// Row m of x at x + m * x_stride, likewise out; out[m][n]. A long sum may be made in pieces, in order: all but the
// first start from the lanes that the one before left in `state`.
template <typename Weights>
struct TileArgs {
  Weights w;
  const float* x;
  std::size_t x_stride;
  float* out;
  std::size_t out_stride;
  Range k;
  bool accumulate = false;
  float* state = nullptr;  // 16 floats per output
  bool first = true;
  bool last = true;
};

template <std::size_t N, std::size_t M>
struct Sums {
  Reg at[N][M][kParts];
};

// Calls body(register, where its lanes lie in the state).
template <std::size_t N, std::size_t M, typename Body>
[[gnu::always_inline]] inline void for_each_sum(Sums<N, M>& sums, Body body) {
#pragma GCC unroll 8
  for (std::size_t n = 0; n < N; ++n) {
#pragma GCC unroll 8
    for (std::size_t m = 0; m < M; ++m) {
#pragma GCC unroll 4
      for (std::size_t p = 0; p < kParts; ++p) body(sums.at[n][m][p], 16 * (n * M + m) + p * kRegLanes);
    }
  }
}

// Adds the 16 products from k on to each sum; with kMasked only the lanes of the mask, and nothing else is read.
template <std::size_t N, std::size_t M, bool kMasked, typename Weights>
[[gnu::always_inline]] inline void add_products(Sums<N, M>& sums, const TileArgs<Weights>& a, std::size_t k,
                                                const LaneMask& mask) {
#pragma GCC unroll 4
  for (std::size_t p = 0; p < kParts; ++p) {
    const std::size_t at = k + p * kRegLanes;
    const float* x = a.x + at;
    Reg weight[N];
#pragma GCC unroll 8
    for (std::size_t n = 0; n < N; ++n) {
      weight[n] = kMasked ? a.w.read_masked(n, at, p, mask) : a.w.read(n, at);
    }
#pragma GCC unroll 8
    for (std::size_t m = 0; m < M; ++m) {
      const Reg value = kMasked ? load_masked(x + m * a.x_stride, p, mask) : load(x + m * a.x_stride);
#pragma GCC unroll 8
      for (std::size_t n = 0; n < N; ++n) sums.at[n][m][p] = fma(weight[n], value, sums.at[n][m][p]);
    }
  }
}

template <std::size_t N, std::size_t M, typename Weights>
[[gnu::always_inline]] inline void write_sums(const Sums<N, M>& sums, const TileArgs<Weights>& a) {
#pragma GCC unroll 8
  for (std::size_t m = 0; m < M; ++m) {
    float* out = a.out + m * a.out_stride;
    float sum[N < 4 ? 4 : N];
    if constexpr (N % 4 == 0) {
#pragma GCC unroll 2
      for (std::size_t n = 0; n < N; n += 4) {
        join4(sum + n, sums.at[n][m], sums.at[n + 1][m], sums.at[n + 2][m], sums.at[n + 3][m]);
      }
    } else {
#pragma GCC unroll 4
      for (std::size_t n = 0; n < N; ++n) sum[n] = join(sums.at[n][m]);
    }
    if (a.accumulate) {
      for (std::size_t n = 0; n < N; ++n) out[n] += sum[n];
    } else {
      for (std::size_t n = 0; n < N; ++n) out[n] = sum[n];
    }
  }
}

// With kWhole the sum is one piece: nothing is kept in the state, and none of it costs.
template <std::size_t N, std::size_t M, bool kWhole, typename Weights>
[[gnu::always_inline]] inline void tile(const TileArgs<Weights>& a) {
  Sums<N, M> sums;
  if (kWhole || a.first) {
    for_each_sum(sums, [](Reg& sum, std::size_t) { sum = zero(); });
  } else {
    for_each_sum(sums, [&a](Reg& sum, std::size_t at) { sum = load(a.state + at); });
  }
  std::uint32_t k = a.k.begin & ~15u;
  if (k < a.k.begin) {
    const std::uint32_t stop = a.k.end - k < 16 ? a.k.end - k : 16;
    add_products<N, M, true>(sums, a, k, make_mask(static_cast<int>(a.k.begin - k), static_cast<int>(stop)));
    k += 16;
  }
  for (; k + 16 <= a.k.end; k += 16) add_products<N, M, false>(sums, a, k, LaneMask{});
  if (k < a.k.end) add_products<N, M, true>(sums, a, k, make_mask(0, static_cast<int>(a.k.end - k)));
  if (kWhole || a.last) {
    write_sums(sums, a);
  } else {
    for_each_sum(sums, [&a](Reg& sum, std::size_t at) { store(a.state + at, sum); });
  }
}

// A strip of M rows of x against `count` rows of w.
template <std::size_t M, bool kWhole, typename Weights>
void strip(TileArgs<Weights> a, std::size_t count) {
  constexpr std::size_t kN = kTileN<M>;
  const auto advance = [&a, &count](std::size_t n) {
    a.w.skip(n);
    a.out += n;
    if constexpr (!kWhole) a.state += 16 * M * n;
    count -= n;
  };
  while (count >= kN) {
    tile<kN, M, kWhole>(a);
    advance(kN);
  }
  if constexpr (kN > 4) {
    if (count >= 4) {
      tile<4, M, kWhole>(a);
      advance(4);
    }
  }
  if constexpr (kN > 2) {
    if (count >= 2) {
      tile<2, M, kWhole>(a);
      advance(2);
    }
  }
  while (count > 0) {
    tile<1, M, kWhole>(a);
    advance(1);
  }
}

template <bool kWhole, typename Weights>
inline void strip_of_rows(std::uint32_t rows, const TileArgs<Weights>& a, std::size_t count) {
  if constexpr (kTileM > 3) {
    if (rows == 6) return strip<6, kWhole>(a, count);
    if (rows == 5) return strip<5, kWhole>(a, count);
    if (rows == 4) return strip<4, kWhole>(a, count);
  }
  if constexpr (kTileM > 2) {
    if (rows == 3) return strip<3, kWhole>(a, count);
  }
  return rows == 2 ? strip<2, kWhole>(a, count) : strip<1, kWhole>(a, count);
}

// rows (1..kTileM) rows of x against `count` rows of w; the whole sums, or one piece of them.
template <typename Weights>
inline void strip_of(std::uint32_t rows, const TileArgs<Weights>& a, std::size_t count) {
  strip_of_rows<true>(rows, a, count);
}

inline void strip_piece(std::uint32_t rows, const TileArgs<FloatRows>& a, std::size_t count) {
  return a.first && a.last ? strip_of_rows<true>(rows, a, count) : strip_of_rows<false>(rows, a, count);
}
