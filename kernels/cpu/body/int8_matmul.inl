// SPDX-License-Identifier: Apache-2.0
// Products of packed weights with strips of int8 rows. A tile is kLanes weight rows by some rows of a strip: a quad of
// weights, unsigned, meets four signed bytes of each row. Integers are exact and the f32 operations of an output are
// the same in every tier, so all tiers give equal bits.

constexpr std::size_t kPanelsBytes = 128 * 1024;  // panels that stay in L2 while all strips pass
constexpr std::size_t kFewRowsAtOnce = 4;
constexpr std::size_t kPrefetchAhead = 2560;

// What a tile adds to or writes: lanes of out + m * stride.
struct TileOut {
  float* at;
  std::size_t stride;
  LaneBits lanes;
  bool accumulate;
};

template <typename Format>
constexpr bool kIsWide = Format::kOffsetShift == 7;  // its numbers fill a byte

// The sums of one part of a group of a row start where the offset is already taken off.
template <typename Format>
inline Ints start_of(const Int8Group& group, std::uint32_t part) {
  if constexpr (Format::kOffsetShift == 0 || (kIsWide<Format> && kWideIsSigned)) {
    return zero_ints();
  } else {
    const std::int32_t minus = Format::kParts == 1 ? group.minus_sum
                               : part == 0         ? group.minus_low_sum
                                                   : group.minus_sum - group.minus_low_sum;
    return shift_left<Format::kOffsetShift>(set_ints(minus));
  }
}

template <std::size_t M>
inline void write_tile(const Floats (&sum)[M], const TileOut& out) {
#pragma GCC unroll 12
  for (std::size_t m = 0; m < M; ++m) {
    float* at = out.at + m * out.stride;
    store_lanes(at, out.lanes, out.accumulate ? add(load_lanes(at, out.lanes), sum[m]) : sum[m]);
  }
}

// With few rows weights come from memory, faster than the processor foresees.
inline void prefetch_group(const std::byte* at, std::size_t bytes) {
#pragma GCC unroll 8
  for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(at + line);
}

// M rows of a strip of kStrip rows against kLanes weight rows; q and group point at the first of the M in the strip.
template <typename Format, std::size_t kStrip, std::size_t M>
void int8_tile(PackedPanel panel, std::uint32_t lane, std::size_t records, const std::int8_t* q, const Int8Group* group,
               const TileOut& out) {
  constexpr std::uint32_t kQuads = 8 / Format::kParts;
  constexpr std::size_t kGroupBytes = Format::kBodyBytes / Format::kGroups;
  Floats sum[M];
#pragma GCC unroll 12
  for (std::size_t m = 0; m < M; ++m) sum[m] = zero_floats();
  for (std::size_t r = 0; r < records; ++r) {
#pragma GCC unroll 1
    for (std::uint32_t g = 0; g < Format::kGroups; ++g) {
      if constexpr (M <= kFewRowsAtOnce) prefetch_group(panel.bodies + g * kGroupBytes + kPrefetchAhead, kGroupBytes);
#pragma GCC unroll 2
      for (std::uint32_t part = 0; part < Format::kParts; ++part) {
        Ints products[M];
#pragma GCC unroll 12
        for (std::size_t m = 0; m < M; ++m) products[m] = start_of<Format>(group[m], part);
#pragma GCC unroll 8
        for (std::uint32_t i = 0; i < kQuads; ++i) {
          const std::uint32_t quad = part * kQuads + i;
          const Ints weights = Format::quad(panel.bodies, g, quad);
#pragma GCC unroll 12
          for (std::size_t m = 0; m < M; ++m) {
            std::int32_t four;
            __builtin_memcpy(&four, q + 4 * (quad * kStrip + m), 4);
            products[m] = dot<kIsWide<Format>>(products[m], weights, set_ints(four));
          }
        }
        const Floats scale = Format::scale(panel.heads, g, part, lane);
#pragma GCC unroll 12
        for (std::size_t m = 0; m < M; ++m) {
          sum[m] = fused(multiply(to_floats(products[m]), scale), set_floats(group[m].scale), sum[m]);
        }
      }
      if constexpr (Format::kHasMinimum) {
        const Floats minimum = Format::minimum(panel.heads, g, lane);
#pragma GCC unroll 12
        for (std::size_t m = 0; m < M; ++m) sum[m] = fused(minimum, set_floats(group[m].scaled_sum), sum[m]);
      }
      q += kInt8Group * kStrip;
      group += kStrip;
    }
    panel.heads += Format::kHeadBytes;
    panel.bodies += Format::kBodyBytes;
  }
  write_tile(sum, out);
}

// A strip of kStrip rows against a panel, of which rows [begin, end) count.
template <typename Format, std::size_t kStrip>
void int8_strip(PackedPanel panel, std::size_t records, const std::int8_t* q, const Int8Group* group, TileOut out,
                std::uint32_t begin, std::uint32_t end) {
  constexpr std::size_t kRows = kStrip < kTileRows ? kStrip : kTileRows;
  static_assert(kStrip % kRows == 0);
  for (std::uint32_t lane = 0; lane < kPanelWeightRows; lane += kLanes) {
    if (lane >= end || lane + kLanes <= begin) continue;
    out.lanes = lane_bits(begin > lane ? begin - lane : 0, end - lane < kLanes ? end - lane : kLanes);
    const PackedPanel part{panel.heads, panel.bodies + 4 * lane};
    for (std::size_t m = 0; m < kStrip; m += kRows) {
      int8_tile<Format, kStrip, kRows>(part, lane, records, q + 4 * m, group + m,
                                       {out.at + lane + m * out.stride, out.stride, out.lanes, out.accumulate});
    }
  }
}

// All strips against panels [first, first + count), which lie at `panels`.
template <typename Format>
void sweep_panels(const Int8MatmulArgs& a, const std::byte* panels, std::uint32_t first, std::uint32_t count) {
  const std::size_t records = record_count(a.w);
  const std::size_t bytes = panel_bytes<Format>(records);
  for (std::uint32_t row = 0; row < a.rows;) {
    const std::uint32_t strip = int8_strip_rows(a.rows - row);
    const std::int8_t* q = a.x.q + std::size_t{row} * a.w.cols;
    const Int8Group* group = a.x.groups + std::size_t{row} * (a.w.cols / kInt8Group);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t n = (first + i) * kPanelWeightRows;
      const std::uint32_t begin = a.n_begin > n ? a.n_begin - n : 0;
      const std::uint32_t end = a.n_end - n < kPanelWeightRows ? a.n_end - n : kPanelWeightRows;
      const PackedPanel panel = panel_at<Format>(panels + i * bytes, records);
      const TileOut out{a.out + row * a.out_stride + n, a.out_stride, LaneBits{}, a.accumulate};
      switch (strip) {
        case 12: int8_strip<Format, 12>(panel, records, q, group, out, begin, end); break;
        case 8: int8_strip<Format, 8>(panel, records, q, group, out, begin, end); break;
        case 4: int8_strip<Format, 4>(panel, records, q, group, out, begin, end); break;
        case 2: int8_strip<Format, 2>(panel, records, q, group, out, begin, end); break;
        default: int8_strip<Format, 1>(panel, records, q, group, out, begin, end); break;
      }
    }
    row += strip;
  }
}

template <typename Format>
void int8_matmul_of(const Int8MatmulArgs& a) {
  const std::size_t bytes = panel_bytes<Format>(record_count(a.w));
  const std::uint32_t end = (a.n_end + kPanelWeightRows - 1) / kPanelWeightRows;
  const std::uint32_t at_once = bytes * 2 > kPanelsBytes ? 1 : static_cast<std::uint32_t>(kPanelsBytes / bytes);
  for (std::uint32_t panel = a.n_begin / kPanelWeightRows; panel < end;) {
    const std::uint32_t count = end - panel < at_once ? end - panel : at_once;
    if (a.packed != nullptr) {
      sweep_panels<Format>(a, a.packed + panel * bytes, panel, count);
    } else {
      for (std::uint32_t i = 0; i < count; ++i) pack_panel<Format>(a.w, panel + i, a.scratch + i * bytes);
      sweep_panels<Format>(a, a.scratch, panel, count);
    }
    panel += count;
  }
}

// Calls use(format) with the packed format of a type; answers whether it has one.
template <typename Use>
inline bool with_format(WeightType type, Use use) {
  switch (type) {
    case WeightType::kQ4_0: use(PackedQ4_0{}); return true;
    case WeightType::kQ4_1: use(PackedQ4_1{}); return true;
    case WeightType::kQ5_0: use(PackedQ5_0{}); return true;
    case WeightType::kQ5_1: use(PackedQ5_1{}); return true;
    case WeightType::kQ8_0: use(PackedQ8_0{}); return true;
    case WeightType::kQ4_K: use(PackedQ4_K{}); return true;
    case WeightType::kQ5_K: use(PackedQ5_K{}); return true;
    case WeightType::kQ6_K: use(PackedQ6_K{}); return true;
    case WeightType::kIQ4_NL: use(PackedIQ4_NL{}); return true;
    case WeightType::kIQ4_XS: use(PackedIQ4_XS{}); return true;
    case WeightType::kMXFP4: use(PackedMXFP4{}); return true;
    case WeightType::kF32:
    case WeightType::kF16:
    case WeightType::kBF16:
    case WeightType::kQ2_K:
    case WeightType::kQ3_K: return false;
  }
  return false;
}

bool int8_takes(WeightType type) {
  return with_format(type, [](auto) {});
}

void int8_matmul(const Int8MatmulArgs& a) {
  if (a.rows == 0 || a.n_begin >= a.n_end) return;
  with_format(a.w.type, [&a](auto format) { int8_matmul_of<decltype(format)>(a); });
}

// A panel of the widest format, Q8_0, or several.
std::size_t int8_scratch_bytes(std::uint32_t max_cols) {
  const std::size_t least = panel_bytes<PackedQ8_0>(max_cols / 32 + 1);
  return least > kPanelsBytes ? least : kPanelsBytes;
}

std::size_t int8_packed_bytes(const WeightView& w) {
  const std::size_t panels = (std::size_t{w.rows} + kPanelWeightRows - 1) / kPanelWeightRows;
  std::size_t bytes = 0;
  with_format(w.type, [&](auto format) { bytes = panels * panel_bytes<decltype(format)>(record_count(w)); });
  return bytes;
}

void int8_pack(const WeightView& w, std::uint32_t begin, std::uint32_t end, std::byte* packed) {
  with_format(w.type, [&](auto format) {
    using Format = decltype(format);
    const std::size_t bytes = panel_bytes<Format>(record_count(w));
    for (std::uint32_t panel = begin; panel < end; ++panel) pack_panel<Format>(w, panel, packed + panel * bytes);
  });
}

// One group of one row: its numbers, and what stands beside them.
inline void round_group(const float* x, std::int32_t* q, Int8Group& group) {
  constexpr std::uint32_t kRegisters = kInt8Group / kLanes;
  const Ints all_but_sign = set_ints(0x7fffffff);
  // The bits of magnitudes are ordered as the magnitudes are, and what is no number comes last.
  Ints magnitude = zero_ints();
  for (std::uint32_t i = 0; i < kRegisters; ++i) {
    magnitude = larger(magnitude, and_bits(bits_of_floats(load_floats(x + i * kLanes)), all_but_sign));
  }
  const std::int32_t largest = largest_of(magnitude);
  constexpr std::int32_t kInfinity = 0x7f800000;
  constexpr std::int32_t kLeast = 0x0d800000;  // kLeastGroupMax
  if (largest >= kInfinity || largest < kLeast) {
    const float scale = largest >= kInfinity ? __builtin_nanf("") : 0.0f;
    group = {scale, scale, 0, 0};
    for (std::uint32_t i = 0; i < kRegisters; ++i) store_ints(q + i * kLanes, zero_ints());
    return;
  }
  float most;
  __builtin_memcpy(&most, &largest, sizeof most);
  const Floats inverse = set_floats(127.0f / most);
  std::int32_t half_sum[2] = {0, 0};
  for (std::uint32_t i = 0; i < kRegisters; ++i) {
    const Ints rounded = to_ints(multiply(load_floats(x + i * kLanes), inverse));
    half_sum[2 * i / kRegisters] += sum_of(rounded);
    store_ints(q + i * kLanes, rounded);
  }
  group.scale = most / 127.0f;
  group.scaled_sum = group.scale * static_cast<float>(half_sum[0] + half_sum[1]);
  group.minus_sum = -(half_sum[0] + half_sum[1]);
  group.minus_low_sum = -half_sum[0];
}

void int8_round_strip(const float* x, std::size_t x_stride, std::uint32_t rows, std::uint32_t cols, std::int8_t* q,
                      Int8Group* groups) {
  for (std::uint32_t m = 0; m < rows; ++m) {
    for (std::uint32_t g = 0; g < cols / kInt8Group; ++g) {
      std::int32_t number[kInt8Group];
      round_group(x + m * x_stride + g * kInt8Group, number, groups[g * rows + m]);
      std::int8_t byte[kInt8Group];
      for (std::uint32_t i = 0; i < kInt8Group; ++i) byte[i] = static_cast<std::int8_t>(number[i]);
      for (std::uint32_t i = 0; i < 8; ++i) {
        __builtin_memcpy(q + 4 * (std::size_t{g * 8 + i} * rows + m), byte + 4 * i, 4);
      }
    }
  }
}

constexpr Int8Kernels make_int8_kernels(const char* name) {
  return {name,         kInt8Version,        &int8_takes,         &int8_round_strip,
          &int8_matmul, &int8_scratch_bytes, &int8_packed_bytes, &int8_pack};
}
