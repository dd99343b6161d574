// SPDX-License-Identifier: Apache-2.0
// Weight rows of every format to f32. One decoder per format and tier, so every path sees the same weights.

constexpr std::size_t kDecodeBlocks = 16;  // blocks whose scales are converted together

void decode_q4_0(const std::byte* row, std::size_t cols, float* out) {
  const BlockQ4_0* block = reinterpret_cast<const BlockQ4_0*>(row);
  for (std::size_t left = cols / 32; left > 0;) {
    const std::size_t count = left < kDecodeBlocks ? left : kDecodeBlocks;
    std::uint16_t half[kDecodeBlocks];
    float scale[kDecodeBlocks];
    for (std::size_t i = 0; i < count; ++i) half[i] = block[i].d;
    halves_to_floats(half, count, scale);
    for (std::size_t i = 0; i < count; ++i) expand_nibbles(block[i].qs, scale[i], -8.0f * scale[i], out + 32 * i);
    block += count;
    out += 32 * count;
    left -= count;
  }
}

void decode_q4_1(const std::byte* row, std::size_t cols, float* out) {
  const BlockQ4_1* block = reinterpret_cast<const BlockQ4_1*>(row);
  for (std::size_t left = cols / 32; left > 0;) {
    const std::size_t count = left < kDecodeBlocks ? left : kDecodeBlocks;
    std::uint16_t half[2 * kDecodeBlocks];
    float scale[2 * kDecodeBlocks];
    for (std::size_t i = 0; i < count; ++i) __builtin_memcpy(half + 2 * i, &block[i], 4);
    halves_to_floats(half, 2 * count, scale);
    for (std::size_t i = 0; i < count; ++i) expand_nibbles(block[i].qs, scale[2 * i], scale[2 * i + 1], out + 32 * i);
    block += count;
    out += 32 * count;
    left -= count;
  }
}

void decode_q8_0(const std::byte* row, std::size_t cols, float* out) {
  const BlockQ8_0* block = reinterpret_cast<const BlockQ8_0*>(row);
  for (std::size_t left = cols / 32; left > 0;) {
    const std::size_t count = left < kDecodeBlocks ? left : kDecodeBlocks;
    std::uint16_t half[kDecodeBlocks];
    float scale[kDecodeBlocks];
    for (std::size_t i = 0; i < count; ++i) half[i] = block[i].d;
    halves_to_floats(half, count, scale);
    for (std::size_t i = 0; i < count; ++i) {
      expand_bytes(block[i].qs, scale[i], out + 32 * i);
      expand_bytes(block[i].qs + 16, scale[i], out + 32 * i + 16);
    }
    block += count;
    out += 32 * count;
    left -= count;
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
      for (int l = 0; l < 64; ++l) {
        const int upper = high[l & 31] >> (l < 32 ? 0 : 2);
        q[l] = static_cast<std::int8_t>(((low[l] & 15) | ((upper & 3) << 4)) - 32);
        q[l + 64] = static_cast<std::int8_t>(((low[l] >> 4) | (((upper >> 4) & 3) << 4)) - 32);
      }
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
