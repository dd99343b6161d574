// SPDX-License-Identifier: Apache-2.0
// Weight rows of every format to f32. One decoder per format and tier, so every path sees the same weights. Products of
// scales and numbers are exact in f32 but for Q6_K's, and what a minimum is added to is rounded once: so every tier
// gives the same weights.

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

// q = four bits of qs and one of qh, for 32 values.
inline void join_five_bits(const std::uint8_t* qs, const std::uint8_t* qh, std::uint8_t* q) {
  std::uint32_t high;
  __builtin_memcpy(&high, qh, sizeof high);
  for (unsigned i = 0; i < 16; ++i) {
    q[i] = static_cast<std::uint8_t>((qs[i] & 15u) | ((high >> i) & 1u) << 4);
    q[i + 16] = static_cast<std::uint8_t>((qs[i] >> 4u) | ((high >> (i + 16)) & 1u) << 4);
  }
}

void decode_q5_0(const std::byte* row, std::size_t cols, float* out) {
  for_each_block<BlockQ5_0>(row, cols, out, [](const BlockQ5_0& block, float d, float, float* to) {
    std::uint8_t q[32];
    join_five_bits(block.qs, block.qh, q);
    for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(q[i] - 16);
  });
}

void decode_q5_1(const std::byte* row, std::size_t cols, float* out) {
  for_each_block<BlockQ5_1>(row, cols, out, [](const BlockQ5_1& block, float d, float m, float* to) {
    std::uint8_t q[32];
    join_five_bits(block.qs, block.qh, q);
    for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(q[i]) + m;
  });
}

// out[i] = table[q[i]] for the 32 nibbles of one block.
inline void look_up_nibbles(const std::uint8_t* qs, const float* table, float* out) {
  for (int i = 0; i < 16; ++i) {
    out[i] = table[qs[i] & 15];
    out[i + 16] = table[qs[i] >> 4];
  }
}

void decode_iq4_nl(const std::byte* row, std::size_t cols, float* out) {
  for_each_block<BlockIQ4_NL>(row, cols, out, [](const BlockIQ4_NL& block, float d, float, float* to) {
    float table[16];
    for (unsigned q = 0; q < 16; ++q) table[q] = d * static_cast<float>(iq4_value(q));
    look_up_nibbles(block.qs, table, to);
  });
}

void decode_mxfp4(const std::byte* row, std::size_t cols, float* out) {
  const BlockMXFP4* block = reinterpret_cast<const BlockMXFP4*>(row);
  for (std::size_t left = cols / 32; left > 0; --left, ++block, out += 32) {
    const float d = float_from_bits(mxfp4_scale_bits(block->e));
    float table[16];
    for (unsigned q = 0; q < 16; ++q) table[q] = d * static_cast<float>(mxfp4_value(q));
    look_up_nibbles(block->qs, table, out);
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
    case WeightType::kQ5_0: decode_q5_0(row, cols, out); return;
    case WeightType::kQ5_1: decode_q5_1(row, cols, out); return;
    case WeightType::kQ8_0: decode_q8_0(row, cols, out); return;
    case WeightType::kQ2_K: decode_q2_k(row, cols, out); return;
    case WeightType::kQ3_K: decode_q3_k(row, cols, out); return;
    case WeightType::kQ4_K: decode_q4_k(row, cols, out); return;
    case WeightType::kQ5_K: decode_q5_k(row, cols, out); return;
    case WeightType::kQ6_K: decode_q6_k(row, cols, out); return;
    case WeightType::kIQ4_NL: decode_iq4_nl(row, cols, out); return;
    case WeightType::kIQ4_XS: decode_iq4_xs(row, cols, out); return;
    case WeightType::kMXFP4: decode_mxfp4(row, cols, out); return;
  }
}

void dequantise_row(const WeightView& w, std::uint32_t row, float* out) {
  decode_row(w.type, w.data + row * w.row_bytes(), w.cols, out);
}
