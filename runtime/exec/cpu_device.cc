// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/cpu_device.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/invariant.h"
#include "runtime/exec/packed_weights.h"

namespace larder::exec {
namespace {

using model::Plane;

constexpr std::size_t kMinLogitRows = 16;
constexpr std::size_t kMaxLogitRows = 64;
constexpr std::size_t kLogitBytes = std::size_t{16} << 20;
constexpr std::size_t kChunksPerWorker = 4;
constexpr std::size_t kColumnGrain = 32;           // chunks of a product are whole multiples of this
constexpr std::size_t kWorkPerItem = std::size_t{1} << 14;  // operations that pay for a hand-over

std::uint32_t to_u32(std::size_t value) { return static_cast<std::uint32_t>(value); }

std::size_t round_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

// Rows at 64-byte boundaries, and not a multiple of a page apart, where every row would fall into the same cache sets.
std::uint32_t plane_stride(std::uint32_t width) {
  const std::size_t stride = round_up(width, 16);
  return to_u32(stride % 1024 == 0 ? stride + 16 : stride);
}

}  // namespace

float* CpuDevice::PlaneMemory::row(std::size_t r) const {
  return static_cast<float*>(static_cast<void*>(memory.data())) + r * stride;
}

CpuDevice::CpuDevice(const model::Model& model, const CpuArithmetic& arithmetic, std::uint32_t max_rows,
                     const BlockArena& arena, WorkerPool& pool)
    : config_(model.config()),
      kernels_(arithmetic.kernels),
      int8_(arithmetic.int8),
      packed_(arithmetic.packed),
      max_rows_(max_rows),
      arena_(arena),
      pool_(pool),
      rope_divisors_(model.weights().rope_divisors) {}

Result<std::unique_ptr<CpuDevice>> CpuDevice::create(const model::Model& model, const CpuArithmetic& arithmetic,
                                                     std::uint32_t max_rows, const BlockArena& arena,
                                                     WorkerPool& pool) {
  std::unique_ptr<CpuDevice> device(new CpuDevice(model, arithmetic, max_rows, arena, pool));
  RETURN_IF_ERROR(device->allocate());
  return device;
}

Result<CpuDevice::PlaneMemory> CpuDevice::make_plane(std::uint32_t rows, std::uint32_t width) {
  PlaneMemory plane;
  plane.stride = plane_stride(width);
  ASSIGN_OR_RETURN(plane.memory,
                   MappedMemory::map(std::size_t{rows} * plane.stride * sizeof(float), "activations of one step"));
  return plane;
}

Status CpuDevice::allocate() {
  const std::uint32_t n_query = config_.n_heads * config_.d_head;
  const std::uint32_t n_key = config_.n_kv_heads * config_.d_head;
  // In the order of Plane; kHidden lies in the hidden slots.
  const std::array<std::uint32_t, model::kPlaneCount> width = {
      0, config_.n_embd, n_query, n_key, n_key, n_query, config_.n_ff, config_.n_ff};
  for (std::size_t i = 1; i < planes_.size(); ++i) {
    ASSIGN_OR_RETURN(planes_[i], make_plane(max_rows_, width[i]));
  }
  for (PlaneMemory& slot : hidden_) {
    ASSIGN_OR_RETURN(slot, make_plane(max_rows_, config_.n_embd));
  }
  const std::size_t affordable = kLogitBytes / (std::size_t{config_.n_vocab} * sizeof(float));
  max_logit_rows_ = std::min(max_rows_, to_u32(std::clamp(affordable, kMinLogitRows, kMaxLogitRows)));
  ASSIGN_OR_RETURN(logits_, make_plane(max_logit_rows_, config_.n_vocab));
  RETURN_IF_ERROR(make_angles(config_.rope_base, config_.rope_scale, global_));
  RETURN_IF_ERROR(make_angles(config_.local_rope_base, config_.local_rope_scale, local_));

  const std::uint32_t widest = std::max({config_.n_embd, n_query, config_.n_ff});
  const std::uint32_t group = config_.n_heads / config_.n_kv_heads;
  std::size_t scratch = std::max(kernels_.matmul_scratch_bytes(widest),
                                 kernels_.attention_scratch_bytes(arena_.layout(), kernels::kBlockTokens, group));
  if (int8_ != nullptr) {
    scratch = std::max(scratch, int8_->scratch_bytes(widest));
    const std::size_t values = std::size_t{max_rows_} * widest;
    ASSIGN_OR_RETURN(int8_q_, MappedMemory::map(values, "rounded activations of one step"));
    ASSIGN_OR_RETURN(int8_groups_, MappedMemory::map(values / kernels::kInt8Group * sizeof(kernels::Int8Group),
                                                     "scales of rounded activations"));
  }
  scratch_bytes_ = round_up(scratch, 4096);
  ASSIGN_OR_RETURN(scratch_, MappedMemory::map(scratch_bytes_ * pool_.threads(), "scratch of the workers"));
  return {};
}

Status CpuDevice::make_angles(float base, float scale, Angles& angles) {
  angles.frequency.resize(config_.n_rot / 2);
  for (std::size_t pair = 0; pair < angles.frequency.size(); ++pair) {
    const double exponent = -2.0 * static_cast<double>(pair) / config_.n_rot;
    angles.frequency[pair] = std::pow(static_cast<double>(base), exponent) * scale;
    if (!rope_divisors_.empty()) angles.frequency[pair] /= rope_divisors_[pair];
  }
  ASSIGN_OR_RETURN(angles.cos_sin, make_plane(max_rows_, config_.n_rot));
  // A piece's cosines must lie row after row, as RopeArgs wants them.
  angles.cos_sin.stride = config_.n_rot;
  return {};
}

const CpuDevice::PlaneMemory& CpuDevice::plane(Plane name) const {
  return name == Plane::kHidden ? hidden_[batch_.hidden_slot] : planes_[static_cast<std::size_t>(name)];
}

std::span<const float> CpuDevice::logit_row(std::uint32_t i) const { return {logits_.row(i), config_.n_vocab}; }

template <typename Work>
void CpuDevice::for_rows(std::uint32_t rows, std::size_t work_per_row, Work work) {
  const std::size_t worthwhile = rows * work_per_row / kWorkPerItem;
  const std::size_t most = std::min<std::size_t>(rows, kChunksPerWorker * pool_.threads());
  const std::uint32_t items = to_u32(std::clamp<std::size_t>(worthwhile, 1, std::max<std::size_t>(most, 1)));
  pool_.for_each(items, [&](std::uint32_t item, std::uint32_t) {
    const auto begin = to_u32(std::size_t{rows} * item / items);
    const auto end = to_u32(std::size_t{rows} * (item + 1) / items);
    for (std::uint32_t row = begin; row < end; ++row) work(row);
  });
}

void CpuDevice::begin(const model::Batch& batch) {
  INVARIANT(batch.rows <= max_rows_ && batch.hidden_slot < kHiddenSlots);
  batch_ = batch;
  pieces_.clear();
  blocks_.clear();
  first_block_.clear();
  for (std::uint32_t s = 0; s < batch.sequences.size(); ++s) {
    const model::BatchSequence& sequence = batch.sequences[s];
    first_block_.push_back(blocks_.size());
    for (const BlockId block : sequence.block_table) blocks_.push_back(arena_.block(block));
    for (std::uint32_t row = 0; row < sequence.rows;) {
      const std::uint32_t position = sequence.first_position + row;
      const std::uint32_t rows =
          std::min(sequence.rows - row, kernels::kBlockTokens - position % kernels::kBlockTokens);
      pieces_.push_back({s, sequence.row_begin + row, rows, position});
      row += rows;
    }
  }
  const auto fill = [this](const Piece& piece) {
    fill_cos_sin(piece, global_);
    if (config_.window != 0) fill_cos_sin(piece, local_);
  };
  const bool alone = std::size_t{batch.rows} * config_.n_rot * 32 < kWorkPerItem;
  if (alone) {
    for (const Piece& piece : pieces_) fill(piece);
  } else {
    pool_.for_each(to_u32(pieces_.size()), [&](std::uint32_t item, std::uint32_t) { fill(pieces_[item]); });
  }
}

void CpuDevice::fill_cos_sin(const Piece& piece, const Angles& angles) {
  const auto magnitude = static_cast<double>(config_.rope_magnitude);
  for (std::uint32_t r = 0; r < piece.rows; ++r) {
    float* const out = angles.cos_sin.row(piece.row + r);
    for (std::size_t pair = 0; pair < angles.frequency.size(); ++pair) {
      const double angle = (piece.position + r) * angles.frequency[pair];
      out[2 * pair] = static_cast<float>(magnitude * std::cos(angle));
      out[2 * pair + 1] = static_cast<float>(magnitude * std::sin(angle));
    }
  }
}

void CpuDevice::embed(const kernels::WeightView& table) {
  for (const model::BatchSequence& sequence : batch_.sequences) {
    for_rows(sequence.rows, config_.n_embd, [&](std::uint32_t row) {
      float* const out = plane(Plane::kHidden).row(sequence.row_begin + row);
      kernels_.dequantise_row(table, static_cast<std::uint32_t>(sequence.tokens[row]), out);
      if (config_.traits.embedding_scaled) kernels_.scale(out, config_.embedding_scale, config_.n_embd);
    });
  }
}

void CpuDevice::norm(std::span<const float> weight) {
  for_rows(batch_.rows, config_.n_embd, [&](std::uint32_t row) {
    kernels_.rms_norm(plane(Plane::kHidden).row(row), weight.data(), plane(Plane::kNormed).row(row), config_.n_embd,
                      config_.rms_eps);
  });
}

void CpuDevice::add_norm(std::span<const float> weight) {
  for_rows(batch_.rows, std::size_t{2} * config_.n_embd, [&](std::uint32_t row) {
    float* const normed = plane(Plane::kNormed).row(row);
    kernels_.rms_norm(normed, weight.data(), normed, config_.n_embd, config_.rms_eps);
    kernels_.add(plane(Plane::kHidden).row(row), normed, config_.n_embd);
  });
}

void CpuDevice::project(Plane in, std::span<const model::Projection> projections, bool accumulate) {
  std::array<Product, 3> products;
  INVARIANT(projections.size() <= products.size());
  for (std::size_t i = 0; i < projections.size(); ++i) {
    products[i].weight = projections[i].weight;
    products[i].out = &plane(projections[i].out);
  }
  multiply(plane(in), std::span(products).first(projections.size()), batch_.rows, accumulate);
  for (const model::Projection& projection : projections) finish(projection);
}

void CpuDevice::finish(const model::Projection& projection) {
  const std::uint32_t width = projection.weight->rows;
  if (projection.bias.empty() && projection.head_norm.empty()) return;
  for_rows(batch_.rows, std::size_t{2} * width, [&](std::uint32_t row) {
    float* const out = plane(projection.out).row(row);
    if (!projection.bias.empty()) kernels_.add(out, projection.bias.data(), width);
    if (projection.head_norm.empty()) return;
    for (float* head = out; head < out + width; head += config_.d_head) {
      kernels_.rms_norm(head, projection.head_norm.data(), head, config_.d_head, config_.rms_eps);
    }
  });
}

bool CpuDevice::mark_int8(std::span<Product> products) const {
  if (int8_ == nullptr) return false;
  bool any = false;
  for (Product& product : products) {
    product.int8 = int8_->takes(product.weight->type);
    if (product.int8 && packed_ != nullptr) product.packed = packed_->find(*product.weight);
    any = any || product.int8;
  }
  return any;
}

void CpuDevice::round_rows(const PlaneMemory& in, std::uint32_t rows, std::uint32_t cols) {
  auto* const q = static_cast<std::int8_t*>(static_cast<void*>(int8_q_.data()));
  auto* const groups = static_cast<kernels::Int8Group*>(static_cast<void*>(int8_groups_.data()));
  const auto round_some = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t row = begin; row < end;) {
      const std::uint32_t strip = kernels::int8_strip_rows(end - row);
      int8_->round_strip(in.row(row), in.stride, strip, cols, q + std::size_t{row} * cols,
                         groups + std::size_t{row} * (cols / kernels::kInt8Group));
      row += strip;
    }
  };
  if (std::size_t{rows} * cols < kWorkPerItem) return round_some(0, rows);
  pool_.for_each((rows + kernels::kInt8StripRows - 1) / kernels::kInt8StripRows,
                 [&](std::uint32_t item, std::uint32_t) {
                   const std::uint32_t begin = item * kernels::kInt8StripRows;
                   round_some(begin, std::min(begin + kernels::kInt8StripRows, rows));
                 });
}

void CpuDevice::multiply(const PlaneMemory& in, std::span<Product> products, std::uint32_t rows, bool accumulate) {
  if (mark_int8(products)) round_rows(in, rows, products.front().weight->cols);
  std::size_t columns = 0;
  for (const Product& product : products) columns += product.weight->rows;
  const std::size_t size = round_up(columns / (kChunksPerWorker * pool_.threads()) + 1, kColumnGrain);
  chunks_.clear();
  for (const Product& product : products) {
    for (std::size_t begin = 0; begin < product.weight->rows; begin += size) {
      chunks_.push_back({product, to_u32(begin), to_u32(std::min<std::size_t>(begin + size, product.weight->rows))});
    }
  }
  pool_.for_each(to_u32(chunks_.size()), [&](std::uint32_t item, std::uint32_t worker) {
    multiply_chunk(in, chunks_[item], rows, accumulate, scratch(worker));
  });
}

void CpuDevice::multiply_chunk(const PlaneMemory& in, const ColumnChunk& chunk, std::uint32_t rows, bool accumulate,
                               std::byte* scratch) {
  const auto fill = [&](auto& args) {
    args.w = *chunk.product.weight;
    args.out = chunk.product.out->row(0);
    args.out_stride = chunk.product.out->stride;
    args.rows = rows;
    args.n_begin = chunk.begin;
    args.n_end = chunk.end;
    args.accumulate = accumulate;
    args.scratch = scratch;
  };
  if (chunk.product.int8) {
    kernels::Int8MatmulArgs args;
    fill(args);
    args.packed = chunk.product.packed;
    args.x.q = static_cast<const std::int8_t*>(static_cast<const void*>(int8_q_.data()));
    args.x.groups = static_cast<const kernels::Int8Group*>(static_cast<const void*>(int8_groups_.data()));
    int8_->matmul(args);
    return;
  }
  kernels::MatmulArgs args;
  fill(args);
  args.x = in.row(0);
  args.x_stride = in.stride;
  kernels_.matmul(args);
}

void CpuDevice::rotate_and_store(std::uint32_t layer) {
  const bool alone = std::size_t{batch_.rows} * config_.n_embd < kWorkPerItem;
  if (alone) {
    for (const Piece& piece : pieces_) rotate_piece(piece, layer);
    return;
  }
  pool_.for_each(to_u32(pieces_.size()),
                 [&](std::uint32_t item, std::uint32_t) { rotate_piece(pieces_[item], layer); });
}

void CpuDevice::turn(const Piece& piece, const Angles& angles, Plane name, std::uint32_t n_heads) {
  kernels::RopeArgs rope;
  rope.x = plane(name).row(piece.row);
  rope.stride = plane(name).stride;
  rope.rows = piece.rows;
  rope.first_position = piece.position;
  rope.n_heads = n_heads;
  rope.d_head = config_.d_head;
  rope.n_rot = config_.n_rot;
  rope.cos_sin = angles.cos_sin.row(piece.row);
  rope.interleaved = config_.traits.rope_interleaved;
  kernels_.rope(rope);
}

void CpuDevice::rotate_piece(const Piece& piece, std::uint32_t layer) {
  if (config_.has_rope(layer)) {
    turn(piece, angles_of(layer), Plane::kQuery, config_.n_heads);
    turn(piece, angles_of(layer), Plane::kKey, config_.n_kv_heads);
  }
  const PlaneMemory& key = plane(Plane::kKey);
  kernels::KvWriteArgs write;
  write.layout = arena_.layout();
  write.blocks = blocks_.data() + first_block_[piece.sequence];
  write.k = key.row(piece.row);
  write.v = plane(Plane::kValue).row(piece.row);
  write.stride = key.stride;
  write.rows = piece.rows;
  write.first_position = piece.position;
  write.layer = layer;
  for (write.kv_head = 0; write.kv_head < config_.n_kv_heads; ++write.kv_head) kernels_.kv_write(write);
}

void CpuDevice::attend(std::uint32_t layer) {
  const std::uint32_t n_kv_heads = config_.n_kv_heads;
  const std::uint32_t items = to_u32(pieces_.size()) * n_kv_heads;
  // Later pieces see more keys; taken first, they do not keep one worker busy at the end.
  pool_.for_each(items, [&](std::uint32_t item, std::uint32_t worker) {
    const std::uint32_t from_end = items - 1 - item;
    attend_piece(pieces_[from_end / n_kv_heads], layer, from_end % n_kv_heads, scratch(worker));
  });
}

void CpuDevice::attend_piece(const Piece& piece, std::uint32_t layer, std::uint32_t kv_head, std::byte* scratch) {
  const PlaneMemory& query = plane(Plane::kQuery);
  kernels::AttentionArgs args;
  args.layout = arena_.layout();
  args.blocks = blocks_.data() + first_block_[piece.sequence];
  args.q = query.row(piece.row);
  args.out = plane(Plane::kMixed).row(piece.row);
  args.q_stride = query.stride;
  args.rows = piece.rows;
  args.first_position = piece.position;
  args.layer = layer;
  args.kv_head = kv_head;
  args.group = config_.n_heads / config_.n_kv_heads;
  args.window = config_.is_local(layer) ? config_.window : 0;
  args.scale = config_.attention_scale;
  args.scratch = scratch;
  kernels_.attention(args);
}

void CpuDevice::gate() {
  const bool gelu = config_.traits.activation == model::Activation::kGelu;
  const auto kernel = gelu ? kernels_.gelu_mul : kernels_.silu_mul;
  for_rows(batch_.rows, std::size_t{8} * config_.n_ff, [&](std::uint32_t row) {
    float* const gate = plane(Plane::kGate).row(row);
    kernel(gate, plane(Plane::kUp).row(row), gate, config_.n_ff);
  });
}

void CpuDevice::logits(std::span<const float> norm, const kernels::WeightView& head,
                       std::span<const std::uint32_t> rows) {
  INVARIANT(rows.size() <= max_logit_rows_);
  const PlaneMemory& normed = plane(Plane::kNormed);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    kernels_.rms_norm(plane(Plane::kHidden).row(rows[i]), norm.data(), normed.row(i), config_.n_embd, config_.rms_eps);
  }
  std::array<Product, 1> products;
  products[0].weight = &head;
  products[0].out = &logits_;
  multiply(normed, products, to_u32(rows.size()), false);
}

}  // namespace larder::exec
