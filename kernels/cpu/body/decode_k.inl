// SPDX-License-Identifier: Apache-2.0
// Weight rows of the formats with blocks of 256 values to f32; the others are in decode.inl.

// Calls expand(block, out) for every block of a row.
template <typename Block, typename Expand>
inline void for_each_k_block(const std::byte* row, std::size_t cols, float* out, Expand expand) {
  const Block* block = reinterpret_cast<const Block*>(row);
  for (std::size_t left = cols / 256; left > 0; --left, ++block, out += 256) expand(*block, out);
}

inline float half_to_float(const std::uint16_t& half) {
  float value;
  halves_to_floats(&half, 1, &value);
  return value;
}

void decode_q2_k(const std::byte* row, std::size_t cols, float* out) {
  for_each_k_block<BlockQ2_K>(row, cols, out, [](const BlockQ2_K& block, float* to) {
    const float d = half_to_float(block.d);
    const float dmin = half_to_float(block.dmin);
    for (int run = 0; run < 16; ++run) {
      const std::uint8_t* q = block.qs + 32 * (run / 8) + 16 * (run % 2);
      const int shift = 2 * (run % 8 / 2);
      const float scale = d * static_cast<float>(block.scales[run] & 15);
      const float minimum = dmin * static_cast<float>(block.scales[run] >> 4);
      for (int i = 0; i < 16; ++i) to[16 * run + i] = scale * static_cast<float>((q[i] >> shift) & 3) - minimum;
    }
  });
}

void decode_q3_k(const std::byte* row, std::size_t cols, float* out) {
  for_each_k_block<BlockQ3_K>(row, cols, out, [](const BlockQ3_K& block, float* to) {
    const float d = half_to_float(block.d);
    for (int run = 0; run < 16; ++run) {
      const int low = run < 8 ? block.scales[run] & 15 : block.scales[run - 8] >> 4;
      const int high = (block.scales[8 + run % 4] >> (2 * (run / 4))) & 3;
      const float scale = d * static_cast<float>((low | high << 4) - 32);
      const std::uint8_t* q = block.qs + 32 * (run / 8) + 16 * (run % 2);
      const std::uint8_t* third = block.hmask + 16 * (run % 2);
      const int shift = 2 * (run % 8 / 2);
      for (int i = 0; i < 16; ++i) {
        const int number = ((q[i] >> shift) & 3) | ((third[i] >> (run / 2)) & 1) << 2;
        to[16 * run + i] = scale * static_cast<float>(number - 4);
      }
    }
  });
}

void decode_q4_k(const std::byte* row, std::size_t cols, float* out) {
  for_each_k_block<BlockQ4_K>(row, cols, out, [](const BlockQ4_K& block, float* to) {
    const float d = half_to_float(block.d);
    const float dmin = half_to_float(block.dmin);
    for (std::uint32_t run = 0; run < 8; ++run) {
      const KScale k = k_scale(block.scales, run);
      const float scale = d * static_cast<float>(k.scale);
      const float minimum = dmin * static_cast<float>(k.minimum);
      const std::uint8_t* q = block.qs + 32 * (run / 2);
      const int shift = 4 * static_cast<int>(run % 2);
      float* at = to + 32 * run;
      for (int i = 0; i < 32; ++i) at[i] = scale * static_cast<float>((q[i] >> shift) & 15) - minimum;
    }
  });
}

void decode_q5_k(const std::byte* row, std::size_t cols, float* out) {
  for_each_k_block<BlockQ5_K>(row, cols, out, [](const BlockQ5_K& block, float* to) {
    const float d = half_to_float(block.d);
    const float dmin = half_to_float(block.dmin);
    for (std::uint32_t run = 0; run < 8; ++run) {
      const KScale k = k_scale(block.scales, run);
      const float scale = d * static_cast<float>(k.scale);
      const float minimum = dmin * static_cast<float>(k.minimum);
      const std::uint8_t* q = block.qs + 32 * (run / 2);
      const int shift = 4 * static_cast<int>(run % 2);
      float* at = to + 32 * run;
      for (int i = 0; i < 32; ++i) {
        const int number = ((q[i] >> shift) & 15) | ((block.qh[i] >> run) & 1) << 4;
        at[i] = scale * static_cast<float>(number) - minimum;
      }
    }
  });
}

void decode_iq4_xs(const std::byte* row, std::size_t cols, float* out) {
  for_each_k_block<BlockIQ4_XS>(row, cols, out, [](const BlockIQ4_XS& block, float* to) {
    const float d = half_to_float(block.d);
    for (unsigned run = 0; run < 8; ++run) {
      const int low = (block.scales_l[run / 2] >> (4 * (run % 2))) & 15;
      const int high = (block.scales_h >> (2 * run)) & 3;
      const float scale = d * static_cast<float>((low | high << 4) - 32);
      const std::uint8_t* q = block.qs + 16 * run;
      float* at = to + 32 * run;
      for (int i = 0; i < 16; ++i) {
        at[i] = scale * static_cast<float>(iq4_value(q[i] & 15u));
        at[i + 16] = scale * static_cast<float>(iq4_value(q[i] >> 4u));
      }
    }
  });
}

// q = (low four bits of `low` | two bits of `high` above them) - 32, for 32 values.
inline void join_six_bits(const std::uint8_t* low, int low_shift, const std::uint8_t* high, int high_shift,
                          std::int8_t* q) {
  for (int i = 0; i < 32; ++i) {
    const int below = (low[i] >> low_shift) & 15;
    const int above = (high[i] >> high_shift) & 3;
    q[i] = static_cast<std::int8_t>((below | (above << 4)) - 32);
  }
}

void decode_q6_k(const std::byte* row, std::size_t cols, float* out) {
  const BlockQ6_K* block = reinterpret_cast<const BlockQ6_K*>(row);
  for (std::size_t left = cols / 256; left > 0; --left, ++block, out += 256) {
    std::int8_t quant[256];
    for (int h = 0; h < 2; ++h) {
      const std::uint8_t* low = block->ql + 64 * h;
      const std::uint8_t* high = block->qh + 32 * h;
      std::int8_t* q = quant + 128 * h;
      join_six_bits(low, 0, high, 0, q);
      join_six_bits(low + 32, 0, high, 2, q + 32);
      join_six_bits(low, 4, high, 4, q + 64);
      join_six_bits(low + 32, 4, high, 6, q + 96);
    }
    float d;
    halves_to_floats(&block->d, 1, &d);
    for (int i = 0; i < 16; ++i) expand_bytes(quant + 16 * i, d * static_cast<float>(block->scales[i]), out + 16 * i);
  }
}
