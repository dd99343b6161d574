// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/reference.h"

#include <cmath>
#include <cstring>

#include "kernels/layout/half.h"
#include "kernels/layout/quant_blocks.h"

namespace larder::kernels::reference {
namespace {

template <typename T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double weight_q4_0(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockQ4_0>(row + col / 32 * sizeof(BlockQ4_0));
  const std::uint32_t i = col % 32;
  const int quant = i < 16 ? block.qs[i] & 15 : block.qs[i - 16] >> 4;
  return double{f16_to_f32(block.d)} * (quant - 8);
}

double weight_q4_1(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockQ4_1>(row + col / 32 * sizeof(BlockQ4_1));
  const std::uint32_t i = col % 32;
  const int quant = i < 16 ? block.qs[i] & 15 : block.qs[i - 16] >> 4;
  return double{f16_to_f32(block.d)} * quant + double{f16_to_f32(block.m)};
}

double weight_q8_0(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockQ8_0>(row + col / 32 * sizeof(BlockQ8_0));
  return double{f16_to_f32(block.d)} * block.qs[col % 32];
}

double weight_q6_k(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockQ6_K>(row + col / 256 * sizeof(BlockQ6_K));
  const std::uint32_t i = col % 256;
  const std::uint32_t half = i / 128;
  const std::uint32_t j = i % 128 / 32;
  const std::uint32_t l = i % 32;
  const int low_byte = block.ql[64 * half + 32 * (j % 2) + l];
  const int low = j < 2 ? low_byte & 15 : low_byte >> 4;
  const int high = (block.qh[32 * half + l] >> (2 * j)) & 3;
  return double{f16_to_f32(block.d)} * block.scales[i / 16] * ((low | (high << 4)) - 32);
}

double kv_value(KvType type, const std::byte* at, std::size_t index) {
  if (type == KvType::kF16) return f16_to_f32(read<std::uint16_t>(at + 2 * index));
  return read<float>(at + 4 * index);
}

void kv_store(KvType type, std::byte* at, std::size_t index, float value) {
  if (type == KvType::kF16) {
    const std::uint16_t half = f32_to_f16(value);
    std::memcpy(at + 2 * index, &half, sizeof half);
  } else {
    std::memcpy(at + 4 * index, &value, sizeof value);
  }
}

void matmul(const MatmulArgs& a) {
  for (std::uint32_t n = a.n_begin; n < a.n_end; ++n) {
    for (std::uint32_t m = 0; m < a.rows; ++m) {
      const float* x = a.x + m * a.x_stride;
      float& out = a.out[m * a.out_stride + n];
      double sum = a.accumulate ? double{out} : 0.0;
      for (std::uint32_t k = 0; k < a.w.cols; ++k) sum += double{x[k]} * weight(a.w, n, k);
      out = static_cast<float>(sum);
    }
  }
}

void dequantise_row(const WeightView& w, std::uint32_t row, float* out) {
  for (std::uint32_t k = 0; k < w.cols; ++k) out[k] = static_cast<float>(weight(w, row, k));
}

void rms_norm(const float* x, const float* scale, float* out, std::uint32_t n, float eps) {
  double squares = 0;
  for (std::uint32_t i = 0; i < n; ++i) squares += double{x[i]} * double{x[i]};
  const double root = std::sqrt(squares / n + double{eps});
  for (std::uint32_t i = 0; i < n; ++i) out[i] = static_cast<float>(double{x[i]} * double{scale[i]} / root);
}

void rope(const RopeArgs& a) {
  const std::uint32_t pairs = a.n_rot / 2;
  for (std::uint32_t row = 0; row < a.rows; ++row) {
    for (std::uint32_t head = 0; head < a.n_heads; ++head) {
      float* x = a.x + row * a.stride + std::size_t{head} * a.d_head;
      for (std::uint32_t i = 0; i < pairs; ++i) {
        float& first = a.interleaved ? x[2 * i] : x[i];
        float& second = a.interleaved ? x[2 * i + 1] : x[i + pairs];
        const double c = double{a.cos_sin[std::size_t{row} * a.n_rot + 2 * i]};
        const double s = double{a.cos_sin[std::size_t{row} * a.n_rot + 2 * i + 1]};
        const double x0 = double{first};
        const double x1 = double{second};
        first = static_cast<float>(x0 * c - x1 * s);
        second = static_cast<float>(x0 * s + x1 * c);
      }
    }
  }
}

void silu_mul(const float* gate, const float* up, float* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double g = double{gate[i]};
    out[i] = static_cast<float>(g / (1.0 + std::exp(-g)) * double{up[i]});
  }
}

void add(float* inout, const float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) inout[i] = static_cast<float>(double{inout[i]} + double{x[i]});
}

void kv_write(const KvWriteArgs& a) {
  const std::uint32_t d = a.layout.d_head;
  for (std::uint32_t row = 0; row < a.rows; ++row) {
    const std::uint32_t position = a.first_position + row;
    const std::uint32_t token = position % kBlockTokens;
    std::byte* k = a.blocks[position / kBlockTokens] + a.layout.slice_offset(a.layer, a.kv_head);
    std::byte* v = k + a.layout.v_offset_in_slice();
    const std::size_t source = row * a.stride + std::size_t{a.kv_head} * d;
    for (std::uint32_t i = 0; i < d; ++i) {
      kv_store(a.layout.type, k, std::size_t{token} * d + i, a.k[source + i]);
      kv_store(a.layout.type, v, std::size_t{i} * kBlockTokens + token, a.v[source + i]);
    }
  }
}

// One query's scores are computed twice, once for their maximum, because there is nowhere to keep them.
void attend(const AttentionArgs& a, std::uint32_t row, std::uint32_t member) {
  const std::uint32_t d = a.layout.d_head;
  const std::size_t offset = row * a.q_stride + (std::size_t{a.kv_head} * a.group + member) * d;
  const std::uint32_t stop = a.first_position + row + 1;
  const std::uint32_t start = a.window != 0 && stop > a.window ? stop - a.window : 0;
  const auto block = [&](std::uint32_t position) { return a.blocks[position / kBlockTokens]; };
  const auto score = [&](std::uint32_t position) {
    double sum = 0;
    for (std::uint32_t i = 0; i < d; ++i) {
      sum += double{a.q[offset + i]} *
             k_value(a.layout, block(position), a.layer, a.kv_head, position % kBlockTokens, i);
    }
    return sum * double{a.scale};
  };
  double top = -INFINITY;
  for (std::uint32_t position = start; position < stop; ++position) top = std::fmax(top, score(position));
  double total = 0;
  for (std::uint32_t position = start; position < stop; ++position) total += std::exp(score(position) - top);
  for (std::uint32_t i = 0; i < d; ++i) a.out[offset + i] = 0;
  // f64 sums need a home for d values; a chunk of them at a time keeps it on the stack.
  constexpr std::uint32_t kChunk = 64;
  for (std::uint32_t i = 0; i < d; i += kChunk) {
    double sum[kChunk] = {};
    const std::uint32_t count = d - i < kChunk ? d - i : kChunk;
    for (std::uint32_t position = start; position < stop; ++position) {
      const double p = std::exp(score(position) - top) / total;
      for (std::uint32_t j = 0; j < count; ++j) {
        sum[j] += p * v_value(a.layout, block(position), a.layer, a.kv_head, position % kBlockTokens, i + j);
      }
    }
    for (std::uint32_t j = 0; j < count; ++j) a.out[offset + i + j] = static_cast<float>(sum[j]);
  }
}

void attention(const AttentionArgs& a) {
  for (std::uint32_t row = 0; row < a.rows; ++row) {
    for (std::uint32_t member = 0; member < a.group; ++member) attend(a, row, member);
  }
}

std::size_t matmul_scratch_bytes(std::uint32_t) { return 64; }
std::size_t attention_scratch_bytes(const KvLayout&, std::uint32_t, std::uint32_t) { return 64; }

}  // namespace

double weight(const WeightView& w, std::uint32_t row, std::uint32_t col) {
  const std::byte* at = w.data + row * w.row_bytes();
  switch (w.type) {
    case WeightType::kF32: return read<float>(at + std::size_t{4} * col);
    case WeightType::kF16: return f16_to_f32(read<std::uint16_t>(at + std::size_t{2} * col));
    case WeightType::kBF16: return bf16_to_f32(read<std::uint16_t>(at + std::size_t{2} * col));
    case WeightType::kQ4_0: return weight_q4_0(at, col);
    case WeightType::kQ4_1: return weight_q4_1(at, col);
    case WeightType::kQ8_0: return weight_q8_0(at, col);
    case WeightType::kQ6_K: return weight_q6_k(at, col);
  }
  return 0;
}

double k_value(const KvLayout& layout, const std::byte* block, std::uint32_t layer, std::uint32_t head,
               std::uint32_t token, std::uint32_t i) {
  return kv_value(layout.type, block + layout.slice_offset(layer, head), std::size_t{token} * layout.d_head + i);
}

double v_value(const KvLayout& layout, const std::byte* block, std::uint32_t layer, std::uint32_t head,
               std::uint32_t token, std::uint32_t i) {
  const std::byte* v = block + layout.slice_offset(layer, head) + layout.v_offset_in_slice();
  return kv_value(layout.type, v, std::size_t{i} * kBlockTokens + token);
}

const KernelSet kReferenceKernels = {"reference", 1,    1,    &matmul,   &dequantise_row,
                                     &rms_norm,   &rope, &silu_mul, &add, &kv_write,
                                     &attention,  &matmul_scratch_bytes, &attention_scratch_bytes};

}  // namespace larder::kernels::reference
