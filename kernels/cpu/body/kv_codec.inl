// SPDX-License-Identifier: Apache-2.0
// Coding of KV slices (kernels/layout/kv_codec.h). Only products, sums and quotients that are rounded apart, in one
// order: the tiers give equal bits.

constexpr float kLargestHalf = 65504.0f;

inline Reg read_value(const std::uint16_t* p) { return load_halves(p); }
inline Reg read_value(const float* p) { return load(p); }
// A coded largest half may come back a little above it, and may not become infinite.
inline void write_value(std::uint16_t* p, Reg r) {
  store_halves(p, max(min(r, set1(kLargestHalf)), set1(-kLargestHalf)));
}
inline void write_value(float* p, Reg r) { store(p, r); }

template <typename Value>
inline Reg read_kept(const Value* p) {
  return keep_within(read_value(p), set1(kKvCodecLargest));
}
template <typename Value>
inline Reg read_counted(const Value* p, Reg& dropped) {
  const Reg x = read_value(p);
  dropped = add(dropped, one_outside(x, set1(kKvCodecLargest)));
  return keep_within(x, set1(kKvCodecLargest));
}

inline std::uint32_t count_of(Reg ones) {
  float lane[kRegLanes];
  store(lane, ones);
  float sum = 0;
  for (const float one : lane) sum += one;
  return static_cast<std::uint32_t>(sum);
}

// 16 values at p, of which `left` are there: those past them are zeros in a copy.
template <typename Value>
inline const Value* sixteen(const Value* p, std::size_t left, Value (&copy)[16]) {
  if (left >= 16) return p;
  for (std::size_t i = 0; i < 16; ++i) copy[i] = i < left ? p[i] : Value{};
  return copy;
}

template <typename Value>
inline std::uint32_t encode_k_int8(const Value* k, std::size_t d, std::int8_t* codes, float* scales) {
  Reg dropped = zero();
  for (std::size_t t = 0; t < kBlockTokens; ++t, k += d, codes += d) {
    Value copy[16];
    Reg top[kParts];
    for (Reg& part : top) part = zero();
    for (std::size_t i = 0; i < d; i += 16) {
      const Value* at = sixteen(k + i, d - i, copy);
      for (std::size_t p = 0; p < kParts; ++p) top[p] = max(top[p], abs(read_counted(at + p * kRegLanes, dropped)));
    }
    const float largest = join_max(top);
    const bool some = largest >= kKvCodecSmallest;
    scales[t] = some ? largest / 127.0f : 0.0f;
    const Reg inverse = set1(some ? 127.0f / largest : 0.0f);
    for (std::size_t i = 0; i < d; i += 16) {
      const Value* at = sixteen(k + i, d - i, copy);
      Reg q[kParts];
      for (std::size_t p = 0; p < kParts; ++p) q[p] = mul(read_kept(at + p * kRegLanes), inverse);
      if (d - i >= 16) {
        store_bytes(codes + i, q);
        continue;
      }
      std::int8_t rest[16];
      store_bytes(rest, q);
      __builtin_memcpy(codes + i, rest, d - i);
    }
  }
  return count_of(dropped);
}

template <typename Value>
inline std::uint32_t encode_v_int8(const Value* v, std::size_t d, std::int8_t* codes, float* scales) {
  Reg dropped = zero();
  for (std::size_t half = 0; half < kBlockTokens; half += 16) {
    Reg inverse[kParts];
    for (std::size_t p = 0; p < kParts; ++p) {
      const std::size_t token = half + p * kRegLanes;
      Reg top = zero();
      for (std::size_t i = 0; i < d; ++i) top = max(top, abs(read_counted(v + i * kBlockTokens + token, dropped)));
      const Reg smallest = set1(kKvCodecSmallest);
      store(scales + token, zero_below(top, smallest, div(top, set1(127.0f))));
      inverse[p] = zero_below(top, smallest, div(set1(127.0f), top));
    }
    for (std::size_t i = 0; i < d; ++i) {
      const std::size_t row = i * kBlockTokens + half;
      Reg q[kParts];
      for (std::size_t p = 0; p < kParts; ++p) q[p] = mul(read_kept(v + row + p * kRegLanes), inverse[p]);
      store_bytes(codes + row, q);
    }
  }
  return count_of(dropped);
}

template <typename Value>
inline void decode_k_int8(const std::int8_t* codes, const float* scales, std::size_t d, Value* k) {
  for (std::size_t t = 0; t < kBlockTokens; ++t, k += d, codes += d) {
    const Reg scale = set1(scales[t]);
    std::int8_t copy[16];
    for (std::size_t i = 0; i < d; i += 16) {
      Reg q[kParts];
      load_bytes(sixteen(codes + i, d - i, copy), q);
      Value rest[16];
      Value* to = d - i >= 16 ? k + i : rest;
      for (std::size_t p = 0; p < kParts; ++p) write_value(to + p * kRegLanes, mul(q[p], scale));
      if (d - i < 16) __builtin_memcpy(k + i, rest, (d - i) * sizeof(Value));
    }
  }
}

template <typename Value>
inline void decode_v_int8(const std::int8_t* codes, const float* scales, std::size_t d, Value* v) {
  for (std::size_t i = 0; i < d * kBlockTokens; i += 16) {
    const float* scale = scales + i % kBlockTokens;
    Reg q[kParts];
    load_bytes(codes + i, q);
    for (std::size_t p = 0; p < kParts; ++p) {
      write_value(v + i + p * kRegLanes, mul(q[p], load(scale + p * kRegLanes)));
    }
  }
}

// One step of the Walsh-Hadamard transform for `count` pairs, whole registers of them.
inline void rotate_step(float* a, float* b, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kRegLanes) {
    const Reg first = load(a + i);
    const Reg second = load(b + i);
    store(a + i, add(first, second));
    store(b + i, sub(first, second));
  }
}

// The steps of stride 16 and on along one vector, whose lanes are rotated already.
inline void rotate_vector(float* x, std::size_t d) {
  for (std::size_t stride = 16; stride < d; stride *= 2) {
    for (std::size_t i = 0; i < d; i += 2 * stride) rotate_step(x + i, x + i + stride, stride);
  }
}

// Two steps at once, for four runs of `count` values that lie `count` apart: each value is loaded and stored once.
inline void rotate_two_steps(float* x, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kRegLanes) {
    const Reg a = load(x + i);
    const Reg b = load(x + count + i);
    const Reg c = load(x + 2 * count + i);
    const Reg d = load(x + 3 * count + i);
    const Reg ab = add(a, b);
    const Reg a_b = sub(a, b);
    const Reg cd = add(c, d);
    const Reg c_d = sub(c, d);
    store(x + i, add(ab, cd));
    store(x + count + i, add(a_b, c_d));
    store(x + 2 * count + i, sub(ab, cd));
    store(x + 3 * count + i, sub(a_b, c_d));
  }
}

// All steps across the rows of [d][kBlockTokens].
inline void rotate_rows(float* x, std::size_t d) {
  std::size_t stride = 1;
  for (; 4 * stride <= d; stride *= 4) {
    for (std::size_t i = 0; i < d; i += 4 * stride) rotate_two_steps(x + i * kBlockTokens, stride * kBlockTokens);
  }
  if (stride < d) rotate_step(x, x + stride * kBlockTokens, stride * kBlockTokens);
}

constexpr float kInt4Zero = 8.0f;  // the code of zero

// The scale of a group from its highest value and the negative of its lowest, as bf16 rounded away from zero; the
// inverse is that of the rounded scale.
inline std::uint16_t int4_scale(float highest, float depth, float& inverse) {
  const float largest = highest >= depth ? highest : depth;
  if (!(largest >= kKvCodecSmallest)) {
    inverse = 0;
    return 0;
  }
  const std::uint32_t sign = highest >= depth ? 0x8000u : 0u;
  const auto scale = static_cast<std::uint16_t>(sign | ((bits_of(largest / kInt4Zero) + 0xffffu) >> 16));
  inverse = 1.0f / bf16_to_f32(scale);
  return scale;
}

inline Reg int4_code(const float* x, Reg inverse) {
  return max(min(add(mul(load(x), inverse), set1(kInt4Zero)), set1(15.0f)), zero());
}
inline Reg int4_value(Reg code, Reg scale) { return mul(sub(code, set1(kInt4Zero)), scale); }

// The mean of the tokens that are not zeros, as bf16 and as the floats these stand for; says which tokens those are.
template <typename Value>
inline std::uint32_t centre_of(const Value* k, std::size_t d, bool (&some)[kBlockTokens], float* mean,
                               std::uint16_t* rounded) {
  Reg dropped = zero();
  float used = 0;
  for (std::size_t i = 0; i < d; i += kRegLanes) store(mean + i, zero());
  for (std::size_t t = 0; t < kBlockTokens; ++t, k += d) {
    Reg top[kParts];
    for (Reg& part : top) part = zero();
    for (std::size_t i = 0; i < d; i += 16) {
      for (std::size_t p = 0; p < kParts; ++p) {
        const Reg x = read_counted(k + i + p * kRegLanes, dropped);
        top[p] = max(top[p], abs(x));
      }
    }
    some[t] = join_max(top) >= kKvCodecSmallest;
    if (!some[t]) continue;
    used += 1;
    for (std::size_t i = 0; i < d; i += kRegLanes) store(mean + i, add(load(mean + i), read_kept(k + i)));
  }
  const float share = used > 0 ? 1.0f / used : 0.0f;
  for (std::size_t i = 0; i < d; ++i) {
    rounded[i] = f32_to_bf16(mean[i] * share);
    mean[i] = bf16_to_f32(rounded[i]);
  }
  return count_of(dropped);
}

// The codes of one group along a vector; answers its scale.
inline std::uint16_t encode_group(const float* rotated, std::uint8_t* codes) {
  Reg top[kParts];
  Reg depth[kParts];
  for (std::size_t p = 0; p < kParts; ++p) {
    const Reg first = load(rotated + p * kRegLanes);
    const Reg second = load(rotated + 16 + p * kRegLanes);
    top[p] = max(first, second);
    depth[p] = max(sub(zero(), first), sub(zero(), second));
  }
  float inverse;
  const std::uint16_t scale = int4_scale(join_max(top), join_max(depth), inverse);
  Reg low[kParts];
  Reg high[kParts];
  for (std::size_t p = 0; p < kParts; ++p) {
    low[p] = int4_code(rotated + p * kRegLanes, set1(inverse));
    high[p] = int4_code(rotated + 16 + p * kRegLanes, set1(inverse));
  }
  store_nibbles(codes, low, high);
  return scale;
}

// Scratch: one rotated vector, then the mean.
template <typename Value>
inline std::uint32_t encode_k_int4(const Value* k, std::size_t d, std::byte* coded, float* scratch) {
  const Int4Slice slice = int4_slice(static_cast<std::uint32_t>(d));
  std::uint8_t* codes = reinterpret_cast<std::uint8_t*>(coded);
  std::uint16_t* scales = reinterpret_cast<std::uint16_t*>(coded + slice.k_scales);
  float* mean = scratch + d;
  bool some[kBlockTokens];
  const std::uint32_t dropped =
      centre_of(k, d, some, mean, reinterpret_cast<std::uint16_t*>(coded + slice.k_mean));
  const Reg share = set1(1.0f / static_cast<float>(d));
  for (std::size_t t = 0; t < kBlockTokens; ++t, k += d, codes += d / 2, scales += slice.groups) {
    if (!some[t]) {
      for (std::size_t g = 0; g < slice.groups; ++g) scales[g] = kInt4ZeroToken;
      __builtin_memset(codes, 0x88, d / 2);
      continue;
    }
    for (std::size_t i = 0; i < d; i += 16) {
      Reg x[kParts];
      for (std::size_t p = 0; p < kParts; ++p) {
        const std::size_t at = i + p * kRegLanes;
        x[p] = mul(sub(read_kept(k + at), load(mean + at)), share);
      }
      rotate_lanes(x);
      for (std::size_t p = 0; p < kParts; ++p) store(scratch + i + p * kRegLanes, x[p]);
    }
    rotate_vector(scratch, d);
    for (std::size_t g = 0; g < slice.groups; ++g) {
      scales[g] = encode_group(scratch + g * kInt4Group, codes + g * kInt4Group / 2);
    }
  }
  return dropped;
}

template <typename Value>
inline std::uint32_t encode_v_int4(const Value* v, std::size_t d, std::byte* coded, float* rotated) {
  const Int4Slice slice = int4_slice(static_cast<std::uint32_t>(d));
  std::uint8_t* codes = reinterpret_cast<std::uint8_t*>(coded + slice.v_codes);
  std::uint16_t* scales = reinterpret_cast<std::uint16_t*>(coded + slice.v_scales);
  Reg dropped = zero();
  const Reg share = set1(1.0f / static_cast<float>(d));
  for (std::size_t i = 0; i < d * kBlockTokens; i += kRegLanes) {
    store(rotated + i, mul(read_counted(v + i, dropped), share));
  }
  rotate_rows(rotated, d);
  for (std::size_t i = 0; i < d; i += kInt4Group, scales += kBlockTokens) {
    float highest[kBlockTokens];
    float depth[kBlockTokens];
    for (std::size_t token = 0; token < kBlockTokens; token += kRegLanes) {
      Reg top = zero();
      Reg bottom = zero();
      for (std::size_t j = i; j < i + kInt4Group; ++j) {
        const Reg x = load(rotated + j * kBlockTokens + token);
        top = max(top, x);
        bottom = min(bottom, x);
      }
      store(highest + token, top);
      store(depth + token, sub(zero(), bottom));
    }
    float inverse[kBlockTokens];
    for (std::size_t token = 0; token < kBlockTokens; ++token) {
      scales[token] = int4_scale(highest[token], depth[token], inverse[token]);
    }
    for (std::size_t j = i; j < i + kInt4Group; ++j, codes += kBlockTokens / 2) {
      const float* row = rotated + j * kBlockTokens;
      Reg low[kParts];
      Reg high[kParts];
      for (std::size_t p = 0; p < kParts; ++p) {
        const std::size_t token = p * kRegLanes;
        low[p] = int4_code(row + token, load(inverse + token));
        high[p] = int4_code(row + 16 + token, load(inverse + 16 + token));
      }
      store_nibbles(codes, low, high);
    }
  }
  return count_of(dropped);
}

template <typename Value>
inline void decode_k_int4(const std::byte* coded, std::size_t d, float* scratch, Value* k) {
  const Int4Slice slice = int4_slice(static_cast<std::uint32_t>(d));
  const std::uint8_t* codes = reinterpret_cast<const std::uint8_t*>(coded);
  const std::uint16_t* scales = reinterpret_cast<const std::uint16_t*>(coded + slice.k_scales);
  const std::uint16_t* rounded = reinterpret_cast<const std::uint16_t*>(coded + slice.k_mean);
  float* mean = scratch + d;
  for (std::size_t i = 0; i < d; ++i) mean[i] = bf16_to_f32(rounded[i]);
  for (std::size_t t = 0; t < kBlockTokens; ++t, k += d, codes += d / 2, scales += slice.groups) {
    if (scales[0] == kInt4ZeroToken) {
      __builtin_memset(k, 0, d * sizeof(Value));
      continue;
    }
    for (std::size_t i = 0; i < d; i += kInt4Group) {
      const Reg scale = set1(bf16_to_f32(scales[i / kInt4Group]));
      Reg low[kParts];
      Reg high[kParts];
      load_nibbles(codes + i / 2, low, high);
      for (std::size_t p = 0; p < kParts; ++p) {
        low[p] = int4_value(low[p], scale);
        high[p] = int4_value(high[p], scale);
      }
      rotate_lanes(low);
      rotate_lanes(high);
      for (std::size_t p = 0; p < kParts; ++p) {
        store(scratch + i + p * kRegLanes, low[p]);
        store(scratch + i + 16 + p * kRegLanes, high[p]);
      }
    }
    rotate_vector(scratch, d);
    for (std::size_t i = 0; i < d; i += kRegLanes) write_value(k + i, add(load(scratch + i), load(mean + i)));
  }
}

template <typename Value>
inline void decode_v_int4(const std::byte* coded, std::size_t d, float* rotated, Value* v) {
  const Int4Slice slice = int4_slice(static_cast<std::uint32_t>(d));
  const std::uint8_t* codes = reinterpret_cast<const std::uint8_t*>(coded + slice.v_codes);
  const std::uint16_t* scales = reinterpret_cast<const std::uint16_t*>(coded + slice.v_scales);
  for (std::size_t i = 0; i < d; i += kInt4Group, scales += kBlockTokens) {
    float scale[kBlockTokens];
    for (std::size_t token = 0; token < kBlockTokens; ++token) scale[token] = bf16_to_f32(scales[token]);
    for (std::size_t j = i; j < i + kInt4Group; ++j, codes += kBlockTokens / 2) {
      float* row = rotated + j * kBlockTokens;
      Reg low[kParts];
      Reg high[kParts];
      load_nibbles(codes, low, high);
      for (std::size_t p = 0; p < kParts; ++p) {
        const std::size_t token = p * kRegLanes;
        store(row + token, int4_value(low[p], load(scale + token)));
        store(row + 16 + token, int4_value(high[p], load(scale + 16 + token)));
      }
    }
  }
  rotate_rows(rotated, d);
  for (std::size_t i = 0; i < d * kBlockTokens; i += kRegLanes) write_value(v + i, load(rotated + i));
}

template <typename Value>
inline std::uint32_t encode_slice(const KvEncodeArgs& a) {
  const std::size_t d = a.layout.d_head;
  const Value* k = reinterpret_cast<const Value*>(a.exact);
  const Value* v = k + kBlockTokens * d;
  float* scratch = reinterpret_cast<float*>(a.scratch);
  if (a.scheme == KvScheme::kInt8) {
    std::int8_t* codes = reinterpret_cast<std::int8_t*>(a.coded);
    float* scales = reinterpret_cast<float*>(a.coded + 2 * kBlockTokens * d);
    return encode_k_int8(k, d, codes, scales) + encode_v_int8(v, d, codes + kBlockTokens * d, scales + kBlockTokens);
  }
  return encode_k_int4(k, d, a.coded, scratch) + encode_v_int4(v, d, a.coded, scratch);
}

template <typename Value>
inline void decode_slice(const KvDecodeArgs& a) {
  const std::size_t d = a.layout.d_head;
  Value* k = reinterpret_cast<Value*>(a.exact);
  Value* v = k + kBlockTokens * d;
  float* scratch = reinterpret_cast<float*>(a.scratch);
  if (a.scheme == KvScheme::kInt8) {
    const std::int8_t* codes = reinterpret_cast<const std::int8_t*>(a.coded);
    const float* scales = reinterpret_cast<const float*>(a.coded + 2 * kBlockTokens * d);
    decode_k_int8(codes, scales, d, k);
    decode_v_int8(codes + kBlockTokens * d, scales + kBlockTokens, d, v);
    return;
  }
  decode_k_int4(a.coded, d, scratch, k);
  decode_v_int4(a.coded, d, scratch, v);
}

std::uint32_t kv_encode(const KvEncodeArgs& a) {
  if (a.scheme == KvScheme::kExact) {
    __builtin_memcpy(a.coded, a.exact, a.layout.slice_bytes());
    return 0;
  }
  return a.layout.type == KvType::kF16 ? encode_slice<std::uint16_t>(a) : encode_slice<float>(a);
}

void kv_decode(const KvDecodeArgs& a) {
  if (a.scheme == KvScheme::kExact) {
    __builtin_memcpy(a.exact, a.coded, a.layout.slice_bytes());
    return;
  }
  if (a.layout.type == KvType::kF16) {
    decode_slice<std::uint16_t>(a);
  } else {
    decode_slice<float>(a);
  }
}
