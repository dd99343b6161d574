// SPDX-License-Identifier: Apache-2.0
// Weight rows of every format to f32. One decoder per format and tier, so every path sees the same weights.

constexpr std::size_t kDecodeBlocks = 16;  // blocks whose scales are converted together

// Calls expand(block, first, second, out) for every block of a row: first and second are the two halves the block
// begins with, as floats. Where a format has only one, the second is its quants misread, and unused.
template <typename Block, typename Expand>
inline void for_each_block(const std::byte* row, std::size_t cols, float* out, Expand expand) {
  for (std::size_t left = cols / 32; left > 0;) {
    const std::size_t count = left < kDecodeBlocks ? left : kDecodeBlocks;
    float scale[2 * kDecodeBlocks];
    load_scales(row, sizeof(Block), count, scale);
    const Block* block = reinterpret_cast<const Block*>(row);
#pragma GCC unroll 2
    for (std::size_t i = 0; i < count; ++i) expand(block[i], scale[2 * i], scale[2 * i + 1], out + 32 * i);
    row += count * sizeof(Block);
    out += 32 * count;
    left -= count;
  }
}

void decode_q4_0(const std::byte* row, std::size_t cols, float* out) {
  for_each_block<BlockQ4_0>(row, cols, out, [](const BlockQ4_0& block, float d, float, float* to) {
    expand_nibbles(block.qs, d, -8.0f * d, to);
  });
}

void decode_q4_1(const std::byte* row, std::size_t cols, float* out) {
  for_each_block<BlockQ4_1>(row, cols, out, [](const BlockQ4_1& block, float d, float m, float* to) {
    expand_nibbles(block.qs, d, m, to);
  });
}

void decode_q8_0(const std::byte* row, std::size_t cols, float* out) {
  for_each_block<BlockQ8_0>(row, cols, out, [](const BlockQ8_0& block, float d, float, float* to) {
    expand_bytes(block.qs, d, to);
    expand_bytes(block.qs + 16, d, to + 16);
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

void decode_bf16(const std::byte* row, std::size_t cols, float* out) {
  const std::uint16_t* value = reinterpret_cast<const std::uint16_t*>(row);
  for (std::size_t i = 0; i < cols; ++i) out[i] = bf16_to_f32(value[i]);
}

void decode_row(WeightType type, const std::byte* row, std::size_t cols, float* out) {
  switch (type) {
    case WeightType::kF32: __builtin_memcpy(out, row, cols * sizeof(float)); return;
    case WeightType::kF16: halves_to_floats(reinterpret_cast<const std::uint16_t*>(row), cols, out); return;
    case WeightType::kBF16: decode_bf16(row, cols, out); return;
    case WeightType::kQ4_0: decode_q4_0(row, cols, out); return;
    case WeightType::kQ4_1: decode_q4_1(row, cols, out); return;
    case WeightType::kQ8_0: decode_q8_0(row, cols, out); return;
    case WeightType::kQ6_K: decode_q6_k(row, cols, out); return;
  }
}

void dequantise_row(const WeightView& w, std::uint32_t row, float* out) {
  decode_row(w.type, w.data + row * w.row_bytes(), w.cols, out);
}
