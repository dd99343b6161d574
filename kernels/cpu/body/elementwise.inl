// SPDX-License-Identifier: Apache-2.0
// exp and the elementwise kernels: the same operations in each lane of every tier.

constexpr float kExpLowest = -87.0f;  // below, the answer is 0: the last normal results are 1.6e-38
constexpr float kExpHighest = 88.0f;  // above, the answer stays 1.65e38

// e^x as 2^n e^f with n the integer nearest x / ln 2 and |f| <= 0.3466.
// Source: the Taylor series of e^f to f^7, whose remainder is below 5.3e-9; ln 2 split so that n * kLn2High is exact.
inline Reg exp(Reg x) {
  constexpr float kShift = 0x1.8p23f;  // adding it rounds to an integer that stands in the last bits
  constexpr float kLn2High = 0x1.62e4p-1f;
  constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  const Reg y = max(min(set1(kExpHighest), x), set1(kExpLowest));
  const Reg shifted = fma(y, set1(0x1.715476p+0f), set1(kShift));
  const Reg n = sub(shifted, set1(kShift));
  const Reg f = fma(n, set1(-kLn2Low), fma(n, set1(-kLn2High), y));
  Reg p = set1(1.0f / 5040);
  p = fma(p, f, set1(1.0f / 720));
  p = fma(p, f, set1(1.0f / 120));
  p = fma(p, f, set1(1.0f / 24));
  p = fma(p, f, set1(1.0f / 6));
  p = fma(p, f, set1(0.5f));
  p = fma(p, f, set1(1.0f));
  p = fma(p, f, set1(1.0f));
  return zero_below(x, set1(kExpLowest), scale_by_power(p, shifted));
}

inline float first_lane(Reg r) {
  float lanes[kRegLanes];
  store(lanes, r);
  return lanes[0];
}

inline float exp(float x) { return first_lane(exp(set1(x))); }

// Calls body(index, load, store) for registers that cover n elements, the last one masked.
template <typename Body>
inline void for_each_register(std::size_t n, Body body) {
  std::size_t i = 0;
  for (; i + kRegLanes <= n; i += kRegLanes) {
    body(i, [](const float* p) { return load(p); }, [](float* p, Reg r) { store(p, r); });
  }
  if (i < n) {
    const LaneMask rest = make_mask(0, static_cast<int>(n - i));
    body(i, [&rest](const float* p) { return load_masked(p, 0, rest); },
         [&rest](float* p, Reg r) { store_masked(p, 0, rest, r); });
  }
}

void add_rows(float* inout, const float* x, std::size_t n) {
  for_each_register(n, [=](std::size_t i, auto read, auto write) {
    write(inout + i, add(read(inout + i), read(x + i)));
  });
}

void silu_mul(const float* gate, const float* up, float* out, std::size_t n) {
  for_each_register(n, [=](std::size_t i, auto read, auto write) {
    const Reg g = read(gate + i);
    const Reg sigmoid_inverse = add(set1(1.0f), exp(sub(zero(), g)));
    write(out + i, mul(div(g, sigmoid_inverse), read(up + i)));
  });
}

void scale_row(float* inout, float factor, std::size_t n) {
  for_each_register(n, [=](std::size_t i, auto read, auto write) {
    write(inout + i, mul(read(inout + i), set1(factor)));
  });
}

// gelu(g) = g / 2 (1 + tanh(u)) with u = sqrt(2 / pi) (g + 0.044715 g^3), which is g / (1 + exp(-2 u)).
// Source: Hendrycks & Gimpel 2016.
void gelu_mul(const float* gate, const float* up, float* out, std::size_t n) {
  constexpr float kCubic = 0.044715f;
  constexpr float kMinusTwice = -1.5957691216057308f;  // -2 sqrt(2 / pi)
  for_each_register(n, [=](std::size_t i, auto read, auto write) {
    const Reg g = read(gate + i);
    const Reg inner = mul(g, fma(mul(g, g), set1(kCubic), set1(1.0f)));
    const Reg sigmoid_inverse = add(set1(1.0f), exp(mul(inner, set1(kMinusTwice))));
    write(out + i, mul(div(g, sigmoid_inverse), read(up + i)));
  });
}

void rms_norm(const float* x, const float* weight, float* out, std::uint32_t n, float eps) {
  Reg sum[kParts];
  for (Reg& part : sum) part = zero();
  std::uint32_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (std::size_t p = 0; p < kParts; ++p) {
      const Reg value = load(x + i + p * kRegLanes);
      sum[p] = fma(value, value, sum[p]);
    }
  }
  if (i < n) {
    const LaneMask rest = make_mask(0, static_cast<int>(n - i));
    for (std::size_t p = 0; p < kParts; ++p) {
      const Reg value = load_masked(x + i + p * kRegLanes, p, rest);
      sum[p] = fma(value, value, sum[p]);
    }
  }
  const float scale = 1.0f / __builtin_sqrtf(join(sum) / static_cast<float>(n) + eps);
  for_each_register(n, [=](std::size_t at, auto read, auto write) {
    write(out + at, mul(mul(read(x + at), set1(scale)), read(weight + at)));
  });
}

// Turns pairs (x[step i], x[step i + partner]) for i in [begin, end).
inline void rotate_each(float* x, const float* angle, std::uint32_t step, std::uint32_t partner, std::uint32_t begin,
                        std::uint32_t end) {
  for (std::uint32_t i = begin; i < end; ++i) {
    const float c = angle[2 * i];
    const float s = angle[2 * i + 1];
    const float x0 = x[step * i];
    const float x1 = x[step * i + partner];
    x[step * i] = fma(x0, c, -(x1 * s));
    x[step * i + partner] = fma(x1, c, x0 * s);
  }
}

void rope(const RopeArgs& a) {
  const std::uint32_t pairs = a.n_rot / 2;
  for (std::uint32_t row = 0; row < a.rows; ++row) {
    const float* angle = a.cos_sin + std::size_t{row} * a.n_rot;
    for (std::uint32_t head = 0; head < a.n_heads; ++head) {
      float* x = a.x + row * a.stride + std::size_t{head} * a.d_head;
      if (!a.interleaved) {
        rotate_each(x, angle, 1, pairs, 0, pairs);
        continue;
      }
      std::uint32_t i = 0;
      for (; i + kRegLanes <= 2 * pairs; i += kRegLanes) store(x + i, rotate_pairs(load(x + i), load(angle + i)));
      rotate_each(x, angle, 2, 1, i / 2, pairs);
    }
  }
}
