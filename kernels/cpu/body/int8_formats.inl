// SPDX-License-Identifier: Apache-2.0
// The packed weight formats of the int8 products, the same bytes in every tier. A panel is 16 weight rows: first the
// heads of all records, in whole lines of 64 bytes, then their bodies. A record is one block of each row. A body holds
// unsigned numbers u as quads: the 4 next columns of 16 rows, one row per 32-bit lane; a group of 32 columns has 8 of
// them. value = scale * (u - offset) (+ minimum), offset = 2^kOffsetShift.
// A tile reads kLanes rows of a panel, from `lane` on: quads at bodies + 4 * lane, and heads with `lane`.

struct PackedPanel {
  const std::byte* heads;
  const std::byte* bodies;
};

template <typename T>
inline void put(std::byte* at, const T& value) {
  __builtin_memcpy(at, &value, sizeof value);
}

// 4-bit numbers: quads 0..3 in the low nibbles of four lines, quads 4..7 in the high ones.
inline Ints nibble_quad(const std::byte* lines, std::uint32_t quad) {
  const Ints both = load_ints(lines + 64 * (quad % 4));
  return and_bits(quad < 4 ? both : shift_right<4>(both), set_bytes(15));
}

// The 16 bytes of a group of GGUF, column i in the low nibble and column i + 16 in the high one, as the body has them.
inline void pack_nibbles(const std::uint8_t* qs, std::uint32_t lane, std::byte* lines) {
  for (std::uint32_t quad = 0; quad < 4; ++quad) __builtin_memcpy(lines + 64 * quad + 4 * lane, qs + 4 * quad, 4);
}

struct PackedQ4_0 {
  using Block = BlockQ4_0;
  static constexpr std::uint32_t kGroups = 1;  // of a record
  static constexpr std::uint32_t kParts = 1;   // of a group, with a scale each
  static constexpr std::size_t kHeadBytes = 32;
  static constexpr std::size_t kBodyBytes = 256;
  static constexpr int kOffsetShift = 3;
  static constexpr bool kHasMinimum = false;

  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    put(head + 2 * lane, block.d);
    pack_nibbles(block.qs, lane, body);
  }
  static Floats scale(const std::byte* head, std::uint32_t, std::uint32_t, std::uint32_t lane) {
    return load_halves(head + 2 * lane);
  }
  static Ints quad(const std::byte* body, std::uint32_t, std::uint32_t quad) { return nibble_quad(body, quad); }
};

struct PackedQ4_1 {
  using Block = BlockQ4_1;
  static constexpr std::uint32_t kGroups = 1;
  static constexpr std::uint32_t kParts = 1;
  static constexpr std::size_t kHeadBytes = 64;
  static constexpr std::size_t kBodyBytes = 256;
  static constexpr int kOffsetShift = 0;
  static constexpr bool kHasMinimum = true;

  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    put(head + 2 * lane, block.d);
    put(head + 32 + 2 * lane, block.m);
    pack_nibbles(block.qs, lane, body);
  }
  static Floats scale(const std::byte* head, std::uint32_t, std::uint32_t, std::uint32_t lane) {
    return load_halves(head + 2 * lane);
  }
  static Floats minimum(const std::byte* head, std::uint32_t, std::uint32_t lane) {
    return load_halves(head + 32 + 2 * lane);
  }
  static Ints quad(const std::byte* body, std::uint32_t, std::uint32_t quad) { return nibble_quad(body, quad); }
};

struct PackedQ8_0 {
  using Block = BlockQ8_0;
  static constexpr std::uint32_t kGroups = 1;
  static constexpr std::uint32_t kParts = 1;
  static constexpr std::size_t kHeadBytes = 32;
  static constexpr std::size_t kBodyBytes = 512;
  static constexpr int kOffsetShift = 7;
  static constexpr bool kHasMinimum = false;

  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    put(head + 2 * lane, block.d);
    for (std::uint32_t quad = 0; quad < 8; ++quad) {
      std::uint32_t four;
      __builtin_memcpy(&four, block.qs + 4 * quad, 4);
      put(body + 64 * quad + 4 * lane, four ^ 0x80808080u);  // q + 128
    }
  }
  static Floats scale(const std::byte* head, std::uint32_t, std::uint32_t, std::uint32_t lane) {
    return load_halves(head + 2 * lane);
  }
  static Ints quad(const std::byte* body, std::uint32_t, std::uint32_t quad) { return load_ints(body + 64 * quad); }
};

// A fifth bit beside nibbles: one line, in which bit `quad` of a byte belongs to that quad.
inline Ints fifth_bits(const std::byte* line, std::uint32_t quad) {
  const Ints bits = load_ints(line);
  Ints placed = bits;
  switch (quad) {
    case 0: placed = shift_left<4>(bits); break;
    case 1: placed = shift_left<3>(bits); break;
    case 2: placed = shift_left<2>(bits); break;
    case 3: placed = shift_left<1>(bits); break;
    case 4: break;
    case 5: placed = shift_right<1>(bits); break;
    case 6: placed = shift_right<2>(bits); break;
    default: placed = shift_right<3>(bits); break;
  }
  return and_bits(placed, set_bytes(16));
}

// Bit i of `bits` is the fifth of column i.
inline void pack_fifth_bits(std::uint32_t bits, std::uint32_t lane, std::byte* line) {
  for (std::uint32_t b = 0; b < 4; ++b) {
    std::uint32_t byte = 0;
    for (std::uint32_t quad = 0; quad < 8; ++quad) byte |= ((bits >> (4 * quad + b)) & 1u) << quad;
    put(line + 4 * lane + b, static_cast<std::uint8_t>(byte));
  }
}

struct PackedQ5_0 {
  using Block = BlockQ5_0;
  static constexpr std::uint32_t kGroups = 1;
  static constexpr std::uint32_t kParts = 1;
  static constexpr std::size_t kHeadBytes = 32;
  static constexpr std::size_t kBodyBytes = 256 + 64;
  static constexpr int kOffsetShift = 4;
  static constexpr bool kHasMinimum = false;

  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    put(head + 2 * lane, block.d);
    pack_nibbles(block.qs, lane, body);
    std::uint32_t bits;
    __builtin_memcpy(&bits, block.qh, sizeof bits);
    pack_fifth_bits(bits, lane, body + 256);
  }
  static Floats scale(const std::byte* head, std::uint32_t, std::uint32_t, std::uint32_t lane) {
    return load_halves(head + 2 * lane);
  }
  static Ints quad(const std::byte* body, std::uint32_t, std::uint32_t quad) {
    return or_bits(nibble_quad(body, quad), fifth_bits(body + 256, quad));
  }
};

struct PackedQ5_1 {
  using Block = BlockQ5_1;
  static constexpr std::uint32_t kGroups = 1;
  static constexpr std::uint32_t kParts = 1;
  static constexpr std::size_t kHeadBytes = 64;
  static constexpr std::size_t kBodyBytes = 256 + 64;
  static constexpr int kOffsetShift = 0;
  static constexpr bool kHasMinimum = true;

  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    put(head + 2 * lane, block.d);
    put(head + 32 + 2 * lane, block.m);
    pack_nibbles(block.qs, lane, body);
    std::uint32_t bits;
    __builtin_memcpy(&bits, block.qh, sizeof bits);
    pack_fifth_bits(bits, lane, body + 256);
  }
  static Floats scale(const std::byte* head, std::uint32_t, std::uint32_t, std::uint32_t lane) {
    return load_halves(head + 2 * lane);
  }
  static Floats minimum(const std::byte* head, std::uint32_t, std::uint32_t lane) {
    return load_halves(head + 32 + 2 * lane);
  }
  static Ints quad(const std::byte* body, std::uint32_t, std::uint32_t quad) {
    return or_bits(nibble_quad(body, quad), fifth_bits(body + 256, quad));
  }
};

inline Ints iq4_quad(const std::byte* lines, std::uint32_t quad) {  // value + 128
  const __m128i table = _mm_setr_epi8(1, 24, 45, 63, 79, 93, 106, 118, -127, -115, -103, -90, -75, -59, -39, -15);
  return look_up(nibble_quad(lines, quad), table);
}

struct PackedIQ4_NL {
  using Block = BlockIQ4_NL;
  static constexpr std::uint32_t kGroups = 1;
  static constexpr std::uint32_t kParts = 1;
  static constexpr std::size_t kHeadBytes = 32;
  static constexpr std::size_t kBodyBytes = 256;
  static constexpr int kOffsetShift = 7;
  static constexpr bool kHasMinimum = false;

  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    put(head + 2 * lane, block.d);
    pack_nibbles(block.qs, lane, body);
  }
  static Floats scale(const std::byte* head, std::uint32_t, std::uint32_t, std::uint32_t lane) {
    return load_halves(head + 2 * lane);
  }
  static Ints quad(const std::byte* body, std::uint32_t, std::uint32_t quad) { return iq4_quad(body, quad); }
};

// Head: the exponents.
struct PackedMXFP4 {
  using Block = BlockMXFP4;
  static constexpr std::uint32_t kGroups = 1;
  static constexpr std::uint32_t kParts = 1;
  static constexpr std::size_t kHeadBytes = 16;
  static constexpr std::size_t kBodyBytes = 256;
  static constexpr int kOffsetShift = 4;
  static constexpr bool kHasMinimum = false;

  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    put(head + lane, block.e);
    pack_nibbles(block.qs, lane, body);
  }
  // mxfp4_scale_bits of the exponents.
  static Floats scale(const std::byte* head, std::uint32_t, std::uint32_t, std::uint32_t lane) {
    const Ints e = load_unsigned_bytes(head + lane);
    const Ints normal = shift_left<23>(subtract(e, set_ints(1)));
    return floats_of_bits(shifted_where_small(e, set_ints(0x00200000), normal));
  }
  static Ints quad(const std::byte* body, std::uint32_t, std::uint32_t quad) {  // value + 16
    const __m128i table = _mm_setr_epi8(16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4);
    return look_up(nibble_quad(body, quad), table);
  }
};

// What the formats with blocks of 256 share: `number(i)` is u of column i of a group.
template <typename Number>
inline void pack_numbers_low(Number number, std::uint32_t lane, std::byte* lines) {
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint32_t both = (number(i) & 15u) | (number(16 + i) & 15u) << 4;
    put(lines + 64 * (i / 4) + 4 * lane + i % 4, static_cast<std::uint8_t>(both));
  }
}

// Small integers times halves: exact.
inline Floats scales_of(const std::byte* halves, const std::byte* integers, std::uint32_t lane) {
  return multiply(load_halves(halves + 2 * lane), load_signed_bytes(integers + lane));
}

// Head of Q4_K and Q5_K: d, dmin, then for each group 16 scales and 16 minimums.
inline void pack_k_head(std::uint16_t d, std::uint16_t dmin, const std::uint8_t* scales, std::uint32_t lane,
                        std::byte* head) {
  put(head + 2 * lane, d);
  put(head + 32 + 2 * lane, dmin);
  for (std::uint32_t group = 0; group < 8; ++group) {
    const KScale k = k_scale(scales, group);
    put(head + 64 + 32 * group + lane, k.scale);
    put(head + 64 + 32 * group + 16 + lane, k.minimum);
  }
}
inline Floats k_head_scale(const std::byte* head, std::uint32_t group, std::uint32_t lane) {
  return scales_of(head, head + 64 + 32 * group, lane);
}
inline Floats k_head_minimum(const std::byte* head, std::uint32_t group, std::uint32_t lane) {
  return negate(scales_of(head + 32, head + 64 + 32 * group + 16, lane));
}

struct PackedQ4_K {
  using Block = BlockQ4_K;
  static constexpr std::uint32_t kGroups = 8;
  static constexpr std::uint32_t kParts = 1;
  static constexpr std::size_t kHeadBytes = 64 + 8 * 32;
  static constexpr std::size_t kGroupBytes = 256;
  static constexpr std::size_t kBodyBytes = kGroups * kGroupBytes;
  static constexpr int kOffsetShift = 0;
  static constexpr bool kHasMinimum = true;

  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    pack_k_head(block.d, block.dmin, block.scales, lane, head);
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const std::uint8_t* q = block.qs + 32 * (group / 2);
      const std::uint32_t shift = 4 * (group % 2);
      pack_numbers_low([=](std::uint32_t i) { return static_cast<std::uint32_t>(q[i]) >> shift; }, lane,
                       body + group * kGroupBytes);
    }
  }
  static Floats scale(const std::byte* head, std::uint32_t group, std::uint32_t, std::uint32_t lane) {
    return k_head_scale(head, group, lane);
  }
  static Floats minimum(const std::byte* head, std::uint32_t group, std::uint32_t lane) {
    return k_head_minimum(head, group, lane);
  }
  static Ints quad(const std::byte* body, std::uint32_t group, std::uint32_t quad) {
    return nibble_quad(body + group * kGroupBytes, quad);
  }
};

struct PackedQ5_K {
  using Block = BlockQ5_K;
  static constexpr std::uint32_t kGroups = 8;
  static constexpr std::uint32_t kParts = 1;
  static constexpr std::size_t kHeadBytes = 64 + 8 * 32;
  static constexpr std::size_t kGroupBytes = 256 + 64;
  static constexpr std::size_t kBodyBytes = kGroups * kGroupBytes;
  static constexpr int kOffsetShift = 0;
  static constexpr bool kHasMinimum = true;

  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    pack_k_head(block.d, block.dmin, block.scales, lane, head);
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const std::uint8_t* q = block.qs + 32 * (group / 2);
      const std::uint32_t shift = 4 * (group % 2);
      std::byte* lines = body + group * kGroupBytes;
      pack_numbers_low([=](std::uint32_t i) { return static_cast<std::uint32_t>(q[i]) >> shift; }, lane, lines);
      std::uint32_t bits = 0;
      for (std::uint32_t i = 0; i < 32; ++i) bits |= ((static_cast<std::uint32_t>(block.qh[i]) >> group) & 1u) << i;
      pack_fifth_bits(bits, lane, lines + 256);
    }
  }
  static Floats scale(const std::byte* head, std::uint32_t group, std::uint32_t, std::uint32_t lane) {
    return k_head_scale(head, group, lane);
  }
  static Floats minimum(const std::byte* head, std::uint32_t group, std::uint32_t lane) {
    return k_head_minimum(head, group, lane);
  }
  static Ints quad(const std::byte* body, std::uint32_t group, std::uint32_t quad) {
    const std::byte* lines = body + group * kGroupBytes;
    return or_bits(nibble_quad(lines, quad), fifth_bits(lines + 256, quad));
  }
};

// Head: d, then for each group 16 scales.
struct PackedIQ4_XS {
  using Block = BlockIQ4_XS;
  static constexpr std::uint32_t kGroups = 8;
  static constexpr std::uint32_t kParts = 1;
  static constexpr std::size_t kHeadBytes = 32 + 8 * 16;
  static constexpr std::size_t kGroupBytes = 256;
  static constexpr std::size_t kBodyBytes = kGroups * kGroupBytes;
  static constexpr int kOffsetShift = 7;
  static constexpr bool kHasMinimum = false;

  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    put(head + 2 * lane, block.d);
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const int low = (block.scales_l[group / 2] >> (4 * (group % 2))) & 15;
      const int high = (block.scales_h >> (2 * group)) & 3;
      put(head + 32 + 16 * group + lane, static_cast<std::int8_t>((low | high << 4) - 32));
      pack_nibbles(block.qs + 16 * group, lane, body + group * kGroupBytes);
    }
  }
  static Floats scale(const std::byte* head, std::uint32_t group, std::uint32_t, std::uint32_t lane) {
    return scales_of(head, head + 32 + 16 * group, lane);
  }
  static Ints quad(const std::byte* body, std::uint32_t group, std::uint32_t quad) {
    return iq4_quad(body + group * kGroupBytes, quad);
  }
};

// The low four bits of a group as in Q4_0, then two lines with the two high bits: line h has those of quads 4h..4h+3,
// quad 4h + i at bit 2i of its byte. Head: d, then for each group 16 rows' scales of its first and of its second half.
struct PackedQ6_K {
  using Block = BlockQ6_K;
  static constexpr std::uint32_t kGroups = 8;
  static constexpr std::uint32_t kParts = 2;
  static constexpr std::size_t kHeadBytes = 32 + 8 * 32;
  static constexpr std::size_t kGroupBytes = 256 + 128;
  static constexpr std::size_t kBodyBytes = kGroups * kGroupBytes;
  static constexpr int kOffsetShift = 5;
  static constexpr bool kHasMinimum = false;

  // u of column i of the group, 0..63.
  static std::uint32_t number(const Block& block, std::uint32_t group, std::uint32_t i) {
    const std::uint32_t half = group / 4;
    const std::uint32_t run = group % 4;
    const std::uint32_t low = block.ql[64 * half + 32 * (run % 2) + i] >> (run < 2 ? 0 : 4);
    const std::uint32_t high = block.qh[32 * half + i] >> (2 * run);
    return (low & 15u) | ((high & 3u) << 4);
  }
  static void pack(const Block& block, std::uint32_t lane, std::byte* head, std::byte* body) {
    put(head + 2 * lane, block.d);
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      put(head + 32 + 32 * group + lane, block.scales[2 * group]);
      put(head + 32 + 32 * group + 16 + lane, block.scales[2 * group + 1]);
      std::byte* lines = body + group * kGroupBytes;
      pack_numbers_low([&](std::uint32_t i) { return number(block, group, i); }, lane, lines);
      for (std::uint32_t half = 0; half < 2; ++half) {
        for (std::uint32_t b = 0; b < 4; ++b) {
          std::uint32_t bits = 0;
          for (std::uint32_t i = 0; i < 4; ++i) bits |= number(block, group, 16 * half + 4 * i + b) >> 4 << (2 * i);
          put(lines + 256 + 64 * half + 4 * lane + b, static_cast<std::uint8_t>(bits));
        }
      }
    }
  }
  static Floats scale(const std::byte* head, std::uint32_t group, std::uint32_t part, std::uint32_t lane) {
    return scales_of(head, head + 32 + 32 * group + 16 * part, lane);
  }
  static Ints quad(const std::byte* body, std::uint32_t group, std::uint32_t quad) {
    const std::byte* lines = body + group * kGroupBytes;
    const Ints pairs = load_ints(lines + 256 + 64 * (quad / 4));
    const Ints high = quad % 4 == 0   ? shift_left<4>(pairs)
                      : quad % 4 == 1 ? shift_left<2>(pairs)
                      : quad % 4 == 2 ? pairs
                                      : shift_right<2>(pairs);
    return or_bits(nibble_quad(lines, quad), and_bits(high, set_bytes(0x30)));
  }
};

// Bytes of a panel's heads and of the whole panel.
template <typename Format>
inline std::size_t heads_bytes(std::size_t records) {
  return (records * Format::kHeadBytes + 63) / 64 * 64;
}
template <typename Format>
inline std::size_t panel_bytes(std::size_t records) {
  return heads_bytes<Format>(records) + records * Format::kBodyBytes;
}

template <typename Format>
inline PackedPanel panel_at(const std::byte* at, std::size_t records) {
  return {at, at + heads_bytes<Format>(records)};
}

inline std::size_t record_count(const WeightView& w) { return w.cols / weight_type_info(w.type).block_values; }

// Panel `panel` of w to `out`.
template <typename Format>
void pack_panel(const WeightView& w, std::uint32_t panel, std::byte* out) {
  using Block = typename Format::Block;
  const std::size_t records = record_count(w);
  std::byte* bodies = out + heads_bytes<Format>(records);
  for (std::uint32_t lane = 0; lane < kPanelWeightRows; ++lane) {
    const std::uint32_t row = panel * kPanelWeightRows + lane;
    static constexpr Block kZeros{};
    const Block* block = row < w.rows ? reinterpret_cast<const Block*>(w.data + row * w.row_bytes()) : nullptr;
    for (std::size_t r = 0; r < records; ++r) {
      Format::pack(block != nullptr ? block[r] : kZeros, lane, out + r * Format::kHeadBytes,
                   bodies + r * Format::kBodyBytes);
    }
  }
}
