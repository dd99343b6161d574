// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/reference.h"

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>

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
  const int scale = block.scales[i / 16];
  return double{f16_to_f32(block.d)} * scale * ((low | (high << 4)) - 32);
}

int five_bits(const std::uint8_t* qs, const std::uint8_t* qh, std::uint32_t i) {
  const int low = i < 16 ? qs[i] & 15 : qs[i - 16] >> 4;
  return low | ((qh[i / 8] >> (i % 8)) & 1) << 4;
}

double weight_q5_0(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockQ5_0>(row + col / 32 * sizeof(BlockQ5_0));
  return double{f16_to_f32(block.d)} * (five_bits(block.qs, block.qh, col % 32) - 16);
}

double weight_q5_1(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockQ5_1>(row + col / 32 * sizeof(BlockQ5_1));
  return double{f16_to_f32(block.d)} * five_bits(block.qs, block.qh, col % 32) + double{f16_to_f32(block.m)};
}

unsigned nibble(const std::uint8_t* qs, std::uint32_t i) { return i < 16 ? qs[i] & 15u : qs[i - 16] >> 4u; }

double weight_iq4_nl(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockIQ4_NL>(row + col / 32 * sizeof(BlockIQ4_NL));
  return double{f16_to_f32(block.d)} * iq4_value(nibble(block.qs, col % 32));
}

double weight_iq4_xs(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockIQ4_XS>(row + col / 256 * sizeof(BlockIQ4_XS));
  const std::uint32_t run = col % 256 / 32;
  const int low = (block.scales_l[run / 2] >> (4 * (run % 2))) & 15;
  const int high = (block.scales_h >> (2 * run)) & 3;
  return double{f16_to_f32(block.d)} * ((low | high << 4) - 32) *
         iq4_value(nibble(block.qs + std::size_t{16} * run, col % 32));
}

double weight_mxfp4(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockMXFP4>(row + col / 32 * sizeof(BlockMXFP4));
  return std::ldexp(1.0, block.e - 128) * mxfp4_value(nibble(block.qs, col % 32));
}

double weight_q2_k(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockQ2_K>(row + col / 256 * sizeof(BlockQ2_K));
  const std::uint32_t i = col % 256;
  const int scale = block.scales[i / 16];
  const int quant = (block.qs[32 * (i / 128) + i % 32] >> (2 * (i % 128 / 32))) & 3;
  return double{f16_to_f32(block.d)} * (scale & 15) * quant - double{f16_to_f32(block.dmin)} * (scale >> 4);
}

double weight_q3_k(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockQ3_K>(row + col / 256 * sizeof(BlockQ3_K));
  const std::uint32_t i = col % 256;
  const std::uint32_t run = i / 16;
  const int low = run < 8 ? block.scales[run] & 15 : block.scales[run - 8] >> 4;
  const int high = (block.scales[8 + run % 4] >> (2 * (run / 4))) & 3;
  const int quant = (block.qs[32 * (i / 128) + i % 32] >> (2 * (i % 128 / 32))) & 3;
  const int third = (block.hmask[i % 32] >> (i / 32)) & 1;
  return double{f16_to_f32(block.d)} * ((low | high << 4) - 32) * ((quant | third << 2) - 4);
}

double weight_q4_k(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockQ4_K>(row + col / 256 * sizeof(BlockQ4_K));
  const std::uint32_t run = col % 256 / 32;
  const KScale k = k_scale(block.scales, run);
  const int quant = (block.qs[32 * (run / 2) + col % 32] >> (4 * (run % 2))) & 15;
  return double{f16_to_f32(block.d)} * k.scale * quant - double{f16_to_f32(block.dmin)} * k.minimum;
}

double weight_q5_k(const std::byte* row, std::uint32_t col) {
  const auto block = read<BlockQ5_K>(row + col / 256 * sizeof(BlockQ5_K));
  const std::uint32_t run = col % 256 / 32;
  const KScale k = k_scale(block.scales, run);
  const int low = (block.qs[32 * (run / 2) + col % 32] >> (4 * (run % 2))) & 15;
  const int fifth = (block.qh[col % 32] >> run) & 1;
  return double{f16_to_f32(block.d)} * k.scale * (low | fifth << 4) - double{f16_to_f32(block.dmin)} * k.minimum;
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

void gelu_mul(const float* gate, const float* up, float* out, std::size_t n) {
  constexpr double kRoot = 0.7978845608028654;  // sqrt(2 / pi)
  for (std::size_t i = 0; i < n; ++i) {
    const double g = double{gate[i]};
    const double u = kRoot * (g + 0.044715 * g * g * g);
    // As a quotient: 1 + tanh(u) would lose all digits where tanh is near -1.
    out[i] = static_cast<float>(g / (1.0 + std::exp(-2.0 * u)) * double{up[i]});
  }
}

void scale_row(float* inout, float factor, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) inout[i] = static_cast<float>(double{inout[i]} * double{factor});
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

// A kept value of a slice: element i of the vector of a token, of K or of V.
struct Vectors {
  KvType type;
  const std::byte* values;
  std::size_t token_step;
  std::size_t element_step;

  double at(std::uint32_t token, std::uint32_t i) const {
    const double x = kv_value(type, values, token * token_step + i * element_step);
    return std::abs(x) <= double{kKvCodecLargest} ? x : 0.0;
  }
};

Vectors vectors_of(const KvLayout& layout, const std::byte* slice, bool v) {
  if (v) return {layout.type, slice + layout.v_offset_in_slice(), 1, kBlockTokens};
  return {layout.type, slice, layout.d_head, 1};
}

void store_decoded(const KvLayout& layout, std::byte* slice, bool v, std::uint32_t token, std::uint32_t i, double x) {
  const double limit = layout.type == KvType::kF16 ? 65504.0 : double{std::numeric_limits<float>::max()};
  const float value = static_cast<float>(std::fmin(std::fmax(x, -limit), limit));
  if (v) {
    kv_store(layout.type, slice + layout.v_offset_in_slice(), std::size_t{i} * kBlockTokens + token, value);
  } else {
    kv_store(layout.type, slice, std::size_t{token} * layout.d_head + i, value);
  }
}

void encode_int8(const KvEncodeArgs& a, bool v) {
  const std::uint32_t d = a.layout.d_head;
  const Vectors vectors = vectors_of(a.layout, a.exact, v);
  const KvLayout coded = int8_layout(a.layout);
  std::byte* codes = a.coded + (v ? coded.v_offset_in_slice() : 0);
  std::byte* scales = a.coded + 2 * coded.k_bytes() + (v ? kBlockTokens * sizeof(float) : 0);
  for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
    double largest = 0;
    for (std::uint32_t i = 0; i < d; ++i) largest = std::fmax(largest, std::abs(vectors.at(token, i)));
    const bool some = largest >= double{kKvCodecSmallest};
    const auto scale = static_cast<float>(some ? largest / 127 : 0.0);
    std::memcpy(scales + token * sizeof scale, &scale, sizeof scale);
    for (std::uint32_t i = 0; i < d; ++i) {
      const auto code = static_cast<std::int8_t>(some ? std::nearbyint(vectors.at(token, i) * 127 / largest) : 0.0);
      codes[v ? std::size_t{i} * kBlockTokens + token : std::size_t{token} * d + i] = static_cast<std::byte>(code);
    }
  }
}

void decode_int8(const KvDecodeArgs& a, bool v) {
  const std::uint32_t d = a.layout.d_head;
  const KvLayout coded = int8_layout(a.layout);
  const std::byte* codes = a.coded + (v ? coded.v_offset_in_slice() : 0);
  const std::byte* scales = a.coded + 2 * coded.k_bytes() + (v ? kBlockTokens * sizeof(float) : 0);
  for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
    const double scale = read<float>(scales + token * sizeof(float));
    for (std::uint32_t i = 0; i < d; ++i) {
      const auto code =
          read<std::int8_t>(codes + (v ? std::size_t{i} * kBlockTokens + token : std::size_t{token} * d + i));
      store_decoded(a.layout, a.exact, v, token, i, code * scale);
    }
  }
}

// Element (i, j) of the Walsh-Hadamard matrix in natural order.
double hadamard(std::uint32_t i, std::uint32_t j) { return __builtin_parity(i & j) != 0 ? -1.0 : 1.0; }

// Where code i of a token's vector lies in a kInt4 slice, and its scale.
struct Int4Place {
  std::size_t byte;
  int shift;
  std::size_t scale;
};

Int4Place int4_place(std::uint32_t d, bool v, std::uint32_t token, std::uint32_t i) {
  const Int4Slice slice = int4_slice(d);
  const std::uint32_t group = i / kInt4Group;
  if (v) {
    return {slice.v_codes + std::size_t{i} * 16 + token % 16, token < 16 ? 0 : 4,
            slice.v_scales + 2 * (std::size_t{group} * kBlockTokens + token)};
  }
  return {std::size_t{token} * d / 2 + group * 16 + i % 16, i % 32 < 16 ? 0 : 4,
          slice.k_scales + 2 * (std::size_t{token} * slice.groups + group)};
}

bool is_zeros(const Vectors& vectors, std::uint32_t d, std::uint32_t token) {
  double largest = 0;
  for (std::uint32_t i = 0; i < d; ++i) largest = std::fmax(largest, std::abs(vectors.at(token, i)));
  return largest < double{kKvCodecSmallest};
}

void write_mean(const KvEncodeArgs& a) {
  const std::uint32_t d = a.layout.d_head;
  const Vectors vectors = vectors_of(a.layout, a.exact, false);
  for (std::uint32_t i = 0; i < d; ++i) {
    double sum = 0;
    int used = 0;
    for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
      if (is_zeros(vectors, d, token)) continue;
      sum += vectors.at(token, i);
      ++used;
    }
    const std::uint16_t mean = f32_to_bf16(static_cast<float>(used > 0 ? sum / used : 0.0));
    std::memcpy(a.coded + int4_slice(d).k_mean + i * sizeof mean, &mean, sizeof mean);
  }
}

double mean_of(const std::byte* coded, std::uint32_t d, bool v, std::uint32_t i) {
  return v ? 0.0 : double{bf16_to_f32(read<std::uint16_t>(coded + int4_slice(d).k_mean + 2 * std::size_t{i}))};
}

void write_code(std::byte* coded, const Int4Place& place, int code) {
  const std::byte other = coded[place.byte] & static_cast<std::byte>(15 << (4 - place.shift));
  coded[place.byte] = other | static_cast<std::byte>(code << place.shift);
}

// One group of a token's coefficients, from `first` on.
void encode_int4_group(const KvEncodeArgs& a, const Vectors& vectors, bool v, std::uint32_t token,
                       std::uint32_t first) {
  const std::uint32_t d = a.layout.d_head;
  double u[kInt4Group] = {};
  double extreme = 0;
  for (std::uint32_t i = 0; i < kInt4Group; ++i) {
    for (std::uint32_t j = 0; j < d; ++j) {
      u[i] += hadamard(first + i, j) * (vectors.at(token, j) - mean_of(a.coded, d, v, j)) / d;
    }
    if (std::abs(u[i]) > std::abs(extreme) || (u[i] == -extreme && u[i] > 0)) extreme = u[i];
  }
  const bool some = std::abs(extreme) >= double{kKvCodecSmallest};
  const std::uint32_t bits = some ? bits_of(static_cast<float>(extreme / -8)) : 0;
  auto scale = static_cast<std::uint16_t>((bits + 0xffffu) >> 16);
  const bool zeros = !v && is_zeros(vectors, d, token);
  if (zeros) scale = kInt4ZeroToken;
  std::memcpy(a.coded + int4_place(d, v, token, first).scale, &scale, sizeof scale);
  for (std::uint32_t i = 0; i < kInt4Group; ++i) {
    const double code = some && !zeros ? std::nearbyint(u[i] / double{bf16_to_f32(scale)}) + 8 : 8.0;
    write_code(a.coded, int4_place(d, v, token, first + i), static_cast<int>(std::fmin(code, 15.0)));
  }
}

void encode_int4(const KvEncodeArgs& a, bool v) {
  const std::uint32_t d = a.layout.d_head;
  const Vectors vectors = vectors_of(a.layout, a.exact, v);
  if (!v) write_mean(a);
  for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
    for (std::uint32_t first = 0; first < d; first += kInt4Group) encode_int4_group(a, vectors, v, token, first);
  }
}

void decode_int4(const KvDecodeArgs& a, bool v) {
  const std::uint32_t d = a.layout.d_head;
  for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
    const bool zeros =
        !v && read<std::uint16_t>(a.coded + int4_place(d, v, token, 0).scale) == kInt4ZeroToken;
    for (std::uint32_t i = 0; i < d; ++i) {
      double x = zeros ? 0.0 : mean_of(a.coded, d, v, i);
      for (std::uint32_t j = 0; !zeros && j < d; ++j) {
        const Int4Place place = int4_place(d, v, token, j);
        const int code = (std::to_integer<int>(a.coded[place.byte]) >> place.shift) & 15;
        x += hadamard(i, j) * (code - 8) * double{bf16_to_f32(read<std::uint16_t>(a.coded + place.scale))};
      }
      store_decoded(a.layout, a.exact, v, token, i, x);
    }
  }
}

std::uint32_t encode(const KvEncodeArgs& a) {
  if (a.scheme == KvScheme::kExact) {
    std::memcpy(a.coded, a.exact, a.layout.slice_bytes());
    return 0;
  }
  std::uint32_t dropped = 0;
  for (std::size_t i = 0; i < std::size_t{2} * kBlockTokens * a.layout.d_head; ++i) {
    if (!(std::abs(kv_value(a.layout.type, a.exact, i)) <= double{kKvCodecLargest})) ++dropped;
  }
  for (const bool v : {false, true}) a.scheme == KvScheme::kInt8 ? encode_int8(a, v) : encode_int4(a, v);
  return dropped;
}

void decode(const KvDecodeArgs& a) {
  if (a.scheme == KvScheme::kExact) {
    std::memcpy(a.exact, a.coded, a.layout.slice_bytes());
    return;
  }
  for (const bool v : {false, true}) a.scheme == KvScheme::kInt8 ? decode_int8(a, v) : decode_int4(a, v);
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
    case WeightType::kQ5_0: return weight_q5_0(at, col);
    case WeightType::kQ5_1: return weight_q5_1(at, col);
    case WeightType::kQ8_0: return weight_q8_0(at, col);
    case WeightType::kQ2_K: return weight_q2_k(at, col);
    case WeightType::kQ3_K: return weight_q3_k(at, col);
    case WeightType::kQ4_K: return weight_q4_k(at, col);
    case WeightType::kQ5_K: return weight_q5_k(at, col);
    case WeightType::kQ6_K: return weight_q6_k(at, col);
    case WeightType::kIQ4_NL: return weight_iq4_nl(at, col);
    case WeightType::kIQ4_XS: return weight_iq4_xs(at, col);
    case WeightType::kMXFP4: return weight_mxfp4(at, col);
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

const KernelSet kReferenceKernels = {"reference", 1,          1,         &matmul, &dequantise_row, &rms_norm,
                                     &rope,       &silu_mul,  &gelu_mul, &add,    &scale_row,        &kv_write,
                                     &attention,  &matmul_scratch_bytes, &attention_scratch_bytes,
                                     {&encode, &decode}};

}  // namespace larder::kernels::reference
