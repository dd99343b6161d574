// SPDX-License-Identifier: Apache-2.0
// The 16 lanes of the arithmetic in plain C++: four vectors of four floats, which any compiler maps to what it has.
// Products and sums are rounded apart, because a fused multiply-add in software costs fifty times as much.
// Included inside the anonymous namespace of isa_portable.cc; the names are those every lanes_*.inl gives.

typedef float Reg __attribute__((vector_size(16)));
typedef std::int32_t RegInt __attribute__((vector_size(16)));

constexpr std::size_t kRegLanes = 4;
constexpr std::uint32_t kTileM = 2;  // x rows of a register tile

// Weight rows of a register tile of M x rows.
template <std::size_t M>
constexpr std::size_t kTileN = M == 1 ? 2 : 1;

struct LaneMask {
  int begin;
  int end;
};

inline LaneMask make_mask(int begin, int end) { return {begin, end}; }

inline Reg zero() { return Reg{0, 0, 0, 0}; }
inline Reg set1(float x) { return Reg{x, x, x, x}; }
inline Reg load(const float* p) {
  Reg r;
  __builtin_memcpy(&r, p, sizeof r);
  return r;
}
inline void store(float* p, Reg r) { __builtin_memcpy(p, &r, sizeof r); }

// Lanes of part `part` of a chunk of 16 that the mask names; zero elsewhere, and nothing is read there.
inline Reg load_masked(const float* p, std::size_t part, LaneMask mask) {
  Reg r = zero();
  for (int i = 0; i < 4; ++i) {
    const int lane = static_cast<int>(part) * 4 + i;
    if (lane >= mask.begin && lane < mask.end) r[i] = p[i];
  }
  return r;
}
inline void store_masked(float* p, std::size_t part, LaneMask mask, Reg r) {
  for (int i = 0; i < 4; ++i) {
    const int lane = static_cast<int>(part) * 4 + i;
    if (lane >= mask.begin && lane < mask.end) p[i] = r[i];
  }
}
inline Reg select(std::size_t part, LaneMask mask, Reg inside, Reg outside) {
  for (int i = 0; i < 4; ++i) {
    const int lane = static_cast<int>(part) * 4 + i;
    if (lane >= mask.begin && lane < mask.end) outside[i] = inside[i];
  }
  return outside;
}

inline Reg fma(Reg a, Reg b, Reg c) { return a * b + c; }
inline float fma(float a, float b, float c) { return a * b + c; }
inline Reg add(Reg a, Reg b) { return a + b; }
inline Reg sub(Reg a, Reg b) { return a - b; }
inline Reg mul(Reg a, Reg b) { return a * b; }
inline Reg div(Reg a, Reg b) { return a / b; }
inline Reg max(Reg a, Reg b) { return a > b ? a : b; }
inline Reg min(Reg a, Reg b) { return a < b ? a : b; }
inline Reg zero_below(Reg x, Reg limit, Reg value) { return x < limit ? zero() : value; }

// Pairs (x0, x1) turned by angles (cos, sin): fma(x0, cos, -(x1 sin)) and fma(x1, cos, x0 sin).
inline Reg rotate_pairs(Reg x, Reg angle) {
  const Reg cosine = {angle[0], angle[0], angle[2], angle[2]};
  const Reg sine = {-angle[1], angle[1], -angle[3], angle[3]};
  const Reg partner = {x[1], x[0], x[3], x[2]};
  return x * cosine + partner * sine;
}

// p * 2^n where n stands in the last bits of t, for results that are normal numbers.
inline Reg scale_by_power(Reg p, Reg t) {
  return __builtin_bit_cast(Reg, __builtin_bit_cast(RegInt, p) + (__builtin_bit_cast(RegInt, t) << 23));
}

// Sum of the 16 lanes: lane i + (i + 8), then + 4, + 2, + 1.
inline float join(const Reg (&r)[4]) {
  const Reg four = (r[0] + r[2]) + (r[1] + r[3]);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

inline void join4(float* out, const Reg (&a)[4], const Reg (&b)[4], const Reg (&c)[4], const Reg (&d)[4]) {
  out[0] = join(a);
  out[1] = join(b);
  out[2] = join(c);
  out[3] = join(d);
}

inline float join_max(const Reg (&r)[4]) {
  const Reg four = max(max(r[0], r[2]), max(r[1], r[3]));
  const float a = four[0] > four[2] ? four[0] : four[2];
  const float b = four[1] > four[3] ? four[1] : four[3];
  return a > b ? a : b;
}

inline Reg load_halves(const std::uint16_t* p) {
  Reg r;
  for (int i = 0; i < 4; ++i) r[i] = f16_to_f32(p[i]);
  return r;
}
inline Reg load_halves_masked(const std::uint16_t* p, std::size_t part, LaneMask mask) {
  Reg r = zero();
  for (int i = 0; i < 4; ++i) {
    const int lane = static_cast<int>(part) * 4 + i;
    if (lane >= mask.begin && lane < mask.end) r[i] = f16_to_f32(p[i]);
  }
  return r;
}

inline void halves_to_floats(const std::uint16_t* in, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = f16_to_f32(in[i]);
}

inline void floats_to_halves(const float* in, std::size_t n, std::uint16_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = f32_to_f16(in[i]);
}

// The first two halves of `count` (1..16) blocks that lie `stride` bytes apart, as floats.
inline void load_scales(const std::byte* blocks, std::size_t stride, std::size_t count, float* out) {
  std::uint16_t half[32];
  for (std::size_t i = 0; i < count; ++i) __builtin_memcpy(half + 2 * i, blocks + i * stride, 4);
  halves_to_floats(half, 2 * count, out);
}

// out[i] = q[i] * d + m for the 32 nibbles of one block: low nibbles first.
inline void expand_nibbles(const std::uint8_t* qs, float d, float m, float* out) {
  for (int i = 0; i < 16; ++i) out[i] = static_cast<float>(qs[i] & 15) * d + m;
  for (int i = 0; i < 16; ++i) out[i + 16] = static_cast<float>(qs[i] >> 4) * d + m;
}

// out[i] = q[i] * d for 16 signed bytes.
inline void expand_bytes(const std::int8_t* q, float d, float* out) {
  for (int i = 0; i < 16; ++i) out[i] = static_cast<float>(q[i]) * d;
}

// What kv_codec.inl is made of.
inline Reg abs(Reg x) {
  constexpr std::int32_t kAll = 0x7fffffff;
  return __builtin_bit_cast(Reg, __builtin_bit_cast(RegInt, x) & RegInt{kAll, kAll, kAll, kAll});
}
// x where |x| <= limit, else 0; NaN is 0. And 1 where x was dropped so.
inline Reg keep_within(Reg x, Reg limit) { return abs(x) <= limit ? x : zero(); }
inline Reg one_outside(Reg x, Reg limit) { return abs(x) <= limit ? zero() : set1(1.0f); }

inline void store_halves(std::uint16_t* p, Reg r) {
  for (int i = 0; i < 4; ++i) p[i] = f32_to_f16(r[i]);
}

// Nearest even: adding 1.5 * 2^23 leaves no bits behind the point, for what is below 2^22.
inline Reg nearest(Reg x) {
  const Reg shift = set1(0x1.8p23f);
  return (x + shift) - shift;
}

// 16 signed bytes, rounded to nearest even.
inline void store_bytes(std::int8_t* p, const Reg (&x)[4]) {
  for (int part = 0; part < 4; ++part) {
    const Reg whole = nearest(x[part]);
    for (int i = 0; i < 4; ++i) p[4 * part + i] = static_cast<std::int8_t>(whole[i]);
  }
}
inline void load_bytes(const std::int8_t* p, Reg (&x)[4]) {
  for (int i = 0; i < 16; ++i) x[i / 4][i % 4] = static_cast<float>(p[i]);
}

// 32 numbers 0..15 in 16 bytes, rounded to nearest even: the low halves of the bytes first.
inline void store_nibbles(std::uint8_t* p, const Reg (&low)[4], const Reg (&high)[4]) {
  for (int part = 0; part < 4; ++part) {
    const Reg below = nearest(low[part]);
    const Reg above = nearest(high[part]);
    for (int i = 0; i < 4; ++i) {
      p[4 * part + i] = static_cast<std::uint8_t>(static_cast<int>(below[i]) | static_cast<int>(above[i]) << 4);
    }
  }
}
inline void load_nibbles(const std::uint8_t* p, Reg (&low)[4], Reg (&high)[4]) {
  for (int i = 0; i < 16; ++i) {
    low[i / 4][i % 4] = static_cast<float>(p[i] & 15);
    high[i / 4][i % 4] = static_cast<float>(p[i] >> 4);
  }
}

inline void step_of(Reg& a, Reg& b) {
  const Reg first = a;
  a = first + b;
  b = first - b;
}

// The steps of strides 1, 2, 4 and 8 of the Walsh-Hadamard transform over 16 lanes.
inline void rotate_lanes(Reg (&x)[4]) {
  for (Reg& r : x) {
    const Reg one = {r[0] + r[1], r[0] - r[1], r[2] + r[3], r[2] - r[3]};
    r = Reg{one[0] + one[2], one[1] + one[3], one[0] - one[2], one[1] - one[3]};
  }
  step_of(x[0], x[1]);
  step_of(x[2], x[3]);
  step_of(x[0], x[2]);
  step_of(x[1], x[3]);
}
