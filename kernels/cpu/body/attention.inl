// SPDX-License-Identifier: Apache-2.0
// Attention and the KV write. A span of 256 positions is one unit: its scores, their maximum, the weights exp(s -
// maximum), their sum and the weighted sum of V, each in the lanes of the tile; spans merge in order.
// Source: softmax over parts with a running maximum, Milakov & Gimelshein 2018.

constexpr std::uint32_t kQueryBlock = 48;  // query vectors that share the conversion of a span to f32
constexpr std::uint32_t kDirectVectors = 2 * kTileM;  // so few read halves where they lie instead
constexpr std::size_t kScoreStride = kSpanTokens + 16;  // rows of scores and of V, off the 4 KiB grid

// One thread's scratch: floats, each part a whole number of 64-byte lines.
struct AttentionScratch {
  float* k;      // [token][d_pad]
  float* v;      // [d][kScoreStride]
  float* q;      // [vector][d_pad], scaled
  float* score;  // [vector][kScoreStride], then the weights
  float* part;   // [vector][d_pad], the span's weighted sum
  float* sum;    // [vector][d_pad], the merged weighted sum
  float* part_max;
  float* part_weight;
  float* max;
  float* weight;
};

inline std::size_t padded(std::uint32_t d_head) { return (std::size_t{d_head} + 15) / 16 * 16; }

std::size_t attention_scratch_bytes(const KvLayout& layout, std::uint32_t rows, std::uint32_t group) {
  const std::size_t asked = std::size_t{rows} * group;
  const std::size_t vectors = asked < kQueryBlock ? asked : kQueryBlock;
  const std::size_t d_pad = padded(layout.d_head);
  const std::size_t floats = kSpanTokens * d_pad + layout.d_head * kScoreStride +
                             vectors * (3 * d_pad + kScoreStride) + 4 * std::size_t{kQueryBlock};
  return (floats * sizeof(float) + 63) / 64 * 64;
}

inline AttentionScratch carve(std::byte* scratch, std::uint32_t d_head, std::size_t vectors) {
  const std::size_t d_pad = padded(d_head);
  float* at = reinterpret_cast<float*>(scratch);
  const auto take = [&at](std::size_t floats) {
    float* part = at;
    at += floats;
    return part;
  };
  AttentionScratch s;
  s.k = take(kSpanTokens * d_pad);
  s.v = take(d_head * kScoreStride);
  s.q = take(vectors * d_pad);
  s.score = take(vectors * kScoreStride);
  s.part = take(vectors * d_pad);
  s.sum = take(vectors * d_pad);
  s.part_max = take(kQueryBlock);
  s.part_weight = take(kQueryBlock);
  s.max = take(kQueryBlock);
  s.weight = take(kQueryBlock);
  return s;
}

// Vector i of a call is group member i % group of row i / group.
inline std::size_t query_offset(const AttentionArgs& a, std::uint32_t vector) {
  const std::uint32_t head = a.kv_head * a.group + vector % a.group;
  return vector / a.group * a.q_stride + std::size_t{head} * a.layout.d_head;
}

// What a vector sees of the span that starts at `start`, relative to it; empty when begin == end.
inline Range visible(const AttentionArgs& a, std::uint32_t vector, std::uint32_t start) {
  const std::uint32_t stop = a.first_position + vector / a.group + 1;
  const std::uint32_t from = a.window != 0 && stop > a.window ? stop - a.window : 0;
  const std::uint32_t end = stop <= start ? 0 : (stop - start < kSpanTokens ? stop - start : kSpanTokens);
  const std::uint32_t begin = from <= start ? 0 : from - start;
  return begin < end ? Range{begin, end} : Range{0, 0};
}

inline void kv_to_floats(KvType type, const std::byte* from, std::size_t n, float* out) {
  if (type == KvType::kF16) {
    halves_to_floats(reinterpret_cast<const std::uint16_t*>(from), n, out);
  } else {
    __builtin_memcpy(out, from, n * sizeof(float));
  }
}

// Converts the blocks of a span that hold positions [begin, end) of it.
inline void load_span(const AttentionArgs& a, const AttentionScratch& s, std::uint32_t start, Range seen) {
  const std::size_t d = a.layout.d_head;
  const std::size_t d_pad = padded(a.layout.d_head);
  const std::size_t element = kv_element_bytes(a.layout.type);
  for (std::uint32_t at = seen.begin / kBlockTokens * kBlockTokens; at < seen.end; at += kBlockTokens) {
    const std::byte* slice = a.blocks[(start + at) / kBlockTokens] + a.layout.slice_offset(a.layer, a.kv_head);
    for (std::uint32_t t = 0; t < kBlockTokens; ++t) {
      kv_to_floats(a.layout.type, slice + t * d * element, d, s.k + (at + t) * d_pad);
    }
    const std::byte* v = slice + a.layout.v_offset_in_slice();
    for (std::size_t i = 0; i < d; ++i) {
      kv_to_floats(a.layout.type, v + i * kBlockTokens * element, kBlockTokens, s.v + i * kScoreStride + at);
    }
  }
}

// Turns visible scores into exp(score - maximum); keeps the maximum and the sum of the weights.
inline void weigh(const AttentionScratch& s, std::size_t vector, Range seen) {
  float* score = s.score + vector * kScoreStride;
  const std::uint32_t first = seen.begin & ~15u;
  Reg top[kParts];
  Reg sum[kParts];
  for (std::size_t p = 0; p < kParts; ++p) {
    top[p] = set1(-__builtin_inff());
    sum[p] = zero();
  }
  for (std::uint32_t k = first; k < seen.end; k += 16) {
    const int begin = seen.begin > k ? static_cast<int>(seen.begin - k) : 0;
    const int end = seen.end - k < 16 ? static_cast<int>(seen.end - k) : 16;
    const LaneMask mask = make_mask(begin, end);
    for (std::size_t p = 0; p < kParts; ++p) {
      top[p] = max(select(p, mask, load(score + k + p * kRegLanes), set1(-__builtin_inff())), top[p]);
    }
  }
  const float maximum = join_max(top);
  for (std::uint32_t k = first; k < seen.end; k += 16) {
    const int begin = seen.begin > k ? static_cast<int>(seen.begin - k) : 0;
    const int end = seen.end - k < 16 ? static_cast<int>(seen.end - k) : 16;
    const LaneMask mask = make_mask(begin, end);
    for (std::size_t p = 0; p < kParts; ++p) {
      float* at = score + k + p * kRegLanes;
      const Reg weight = select(p, mask, exp(sub(load(at), set1(maximum))), zero());
      sum[p] = add(sum[p], weight);
      store(at, weight);
    }
  }
  s.part_max[vector] = maximum;
  s.part_weight[vector] = join(sum);
}

// The shared merge step: the state of `vector` takes in the span just computed.
inline void merge_span(const AttentionScratch& s, std::size_t vector, std::size_t d_pad) {
  const float before = s.max[vector];
  const float part = s.part_max[vector];
  const float top = before > part ? before : part;
  const float keep = exp(before - top);
  const float take = exp(part - top);
  s.max[vector] = top;
  s.weight[vector] = fma(s.weight[vector], keep, s.part_weight[vector] * take);
  float* sum = s.sum + vector * d_pad;
  const float* from = s.part + vector * d_pad;
  for (std::size_t i = 0; i < d_pad; i += kRegLanes) {
    store(sum + i, fma(load(sum + i), set1(keep), mul(load(from + i), set1(take))));
  }
}

inline bool same(Range a, Range b) { return a.begin == b.begin && a.end == b.end; }

// Vectors from `first` on, at most a strip, that see the same part of the span.
inline std::uint32_t alike(const AttentionArgs& a, std::uint32_t first, std::uint32_t stop, std::uint32_t start) {
  std::uint32_t count = 1;
  const Range seen = visible(a, first, start);
  while (count < kTileM && first + count < stop && same(visible(a, first + count, start), seen)) ++count;
  return count;
}

// Scores of `count` vectors from `at` on against the tokens [from, to) of a span, from the floats in scratch or
// straight from the halves in the blocks. Both read the same numbers in the same order.
inline void score_tokens(const AttentionArgs& a, const AttentionScratch& s, std::uint32_t start, std::uint32_t from,
                         std::uint32_t to, std::size_t at, std::uint32_t count, bool direct) {
  const std::size_t d_pad = padded(a.layout.d_head);
  const float* q = s.q + at * d_pad;
  float* score = s.score + at * kScoreStride;
  const Range d{0, a.layout.d_head};
  if (!direct) {
    const FloatRows k{s.k + from * d_pad, d_pad};
    strip_of<FloatRows>(count, {k, q, d_pad, score + from, kScoreStride, d}, to - from);
    return;
  }
  for (std::uint32_t t = from; t < to;) {
    const std::byte* slice = a.blocks[(start + t) / kBlockTokens] + a.layout.slice_offset(a.layer, a.kv_head);
    const std::uint32_t in_block = t % kBlockTokens;
    const std::uint32_t tokens = smaller(to - t, kBlockTokens - in_block);
    const std::uint16_t* row = reinterpret_cast<const std::uint16_t*>(slice) + in_block * a.layout.d_head;
    strip_of<HalfRows>(count, {{row, a.layout.d_head}, q, d_pad, score + t, kScoreStride, d}, tokens);
    t += tokens;
  }
}

// The weighted sums of V of `count` vectors from `at` on over the tokens `seen` of a span.
inline void sum_values(const AttentionArgs& a, const AttentionScratch& s, std::uint32_t start, Range seen,
                       std::size_t at, std::uint32_t count, bool direct) {
  const std::size_t d_pad = padded(a.layout.d_head);
  const float* weight = s.score + at * kScoreStride;
  float* part = s.part + at * d_pad;
  if (direct) {
    const std::size_t offset = a.layout.slice_offset(a.layer, a.kv_head) + a.layout.v_offset_in_slice();
    const PagedHalfRows v{a.blocks + start / kBlockTokens, offset};
    strip_of<PagedHalfRows>(count, {v, weight, kScoreStride, part, d_pad, seen}, a.layout.d_head);
  } else {
    const FloatRows v{s.v, kScoreStride};
    strip_of<FloatRows>(count, {v, weight, kScoreStride, part, d_pad, seen}, a.layout.d_head);
  }
}

// Vectors [first, stop) over one span.
inline void attend_span(const AttentionArgs& a, const AttentionScratch& s, std::uint32_t first, std::uint32_t stop,
                        std::uint32_t start, bool direct) {
  const std::size_t d_pad = padded(a.layout.d_head);
  for (std::uint32_t i = first; i < stop;) {
    const std::uint32_t count = alike(a, i, stop, start);
    const Range seen = visible(a, i, start);
    const std::size_t at = i - first;
    i += count;
    if (seen.begin == seen.end) continue;
    score_tokens(a, s, start, seen.begin & ~15u, (seen.end + 15u) & ~15u, at, count, direct);
    for (std::uint32_t j = 0; j < count; ++j) weigh(s, at + j, seen);
    sum_values(a, s, start, seen, at, count, direct);
    for (std::uint32_t j = 0; j < count; ++j) merge_span(s, at + j, d_pad);
  }
}

// Starts the state of vectors [first, stop).
inline void begin_queries(const AttentionArgs& a, const AttentionScratch& s, std::uint32_t first, std::uint32_t stop) {
  const std::size_t d = a.layout.d_head;
  const std::size_t d_pad = padded(a.layout.d_head);
  for (std::uint32_t i = first; i < stop; ++i) {
    const float* q = a.q + query_offset(a, i);
    float* scaled = s.q + (i - first) * d_pad;
    float* sum = s.sum + (i - first) * d_pad;
    float* part = s.part + (i - first) * d_pad;
    for (std::size_t j = 0; j < d; ++j) scaled[j] = q[j] * a.scale;
    for (std::size_t j = 0; j < d_pad; ++j) sum[j] = part[j] = 0.0f;
    s.max[i - first] = -__builtin_inff();
    s.weight[i - first] = 0.0f;
  }
}

inline void finish_queries(const AttentionArgs& a, const AttentionScratch& s, std::uint32_t first, std::uint32_t stop) {
  const std::size_t d = a.layout.d_head;
  for (std::uint32_t i = first; i < stop; ++i) {
    float* out = a.out + query_offset(a, i);
    const float* sum = s.sum + (i - first) * padded(a.layout.d_head);
    const float weight = s.weight[i - first];
    for (std::size_t j = 0; j < d; ++j) out[j] = sum[j] / weight;
  }
}

void attention(const AttentionArgs& a) {
  const std::uint32_t vectors = a.rows * a.group;
  const bool direct = a.layout.type == KvType::kF16 && vectors <= kDirectVectors;
  const AttentionScratch s = carve(a.scratch, a.layout.d_head, vectors < kQueryBlock ? vectors : kQueryBlock);
  for (std::uint32_t first = 0; first < vectors; first += kQueryBlock) {
    const std::uint32_t stop = vectors - first < kQueryBlock ? vectors : first + kQueryBlock;
    begin_queries(a, s, first, stop);
    const std::uint32_t end = a.first_position + (stop - 1) / a.group + 1;
    for (std::uint32_t start = 0; start < end; start += kSpanTokens) {
      // The first vector sees furthest back, the last one furthest on.
      const Range oldest = visible(a, first, start);
      const Range newest = visible(a, stop - 1, start);
      if (newest.begin == newest.end && oldest.begin == oldest.end) continue;
      const std::uint32_t from = oldest.begin == oldest.end ? 0 : oldest.begin;
      const std::uint32_t to = newest.begin == newest.end ? oldest.end : newest.end;
      if (!direct) load_span(a, s, start, {from, to});
      attend_span(a, s, first, stop, start, direct);
    }
    finish_queries(a, s, first, stop);
  }
}

// One token's K and V into a slice, as halves: K as it is, V down a column.
inline void write_halves(const float* k, const float* v, std::size_t d, std::uint16_t* to_k, std::uint16_t* to_v) {
  constexpr std::size_t kAtOnce = 64;
  floats_to_halves(k, d, to_k);
  for (std::size_t begin = 0; begin < d; begin += kAtOnce) {
    const std::size_t count = d - begin < kAtOnce ? d - begin : kAtOnce;
    std::uint16_t half[kAtOnce];
    floats_to_halves(v + begin, count, half);
    for (std::size_t i = 0; i < count; ++i) to_v[(begin + i) * kBlockTokens] = half[i];
  }
}

inline void write_floats(const float* k, const float* v, std::size_t d, float* to_k, float* to_v) {
  __builtin_memcpy(to_k, k, d * sizeof(float));
  for (std::size_t i = 0; i < d; ++i) to_v[i * kBlockTokens] = v[i];
}

void kv_write(const KvWriteArgs& a) {
  const std::size_t d = a.layout.d_head;
  for (std::uint32_t row = 0; row < a.rows; ++row) {
    const std::uint32_t position = a.first_position + row;
    const std::uint32_t token = position % kBlockTokens;
    std::byte* to_k = a.blocks[position / kBlockTokens] + a.layout.slice_offset(a.layer, a.kv_head);
    std::byte* to_v = to_k + a.layout.v_offset_in_slice();
    const float* k = a.k + row * a.stride + a.kv_head * d;
    const float* v = a.v + row * a.stride + a.kv_head * d;
    if (a.layout.type == KvType::kF16) {
      write_halves(k, v, d, reinterpret_cast<std::uint16_t*>(to_k) + token * d,
                   reinterpret_cast<std::uint16_t*>(to_v) + token);
    } else {
      write_floats(k, v, d, reinterpret_cast<float*>(to_k) + token * d, reinterpret_cast<float*>(to_v) + token);
    }
  }
}
