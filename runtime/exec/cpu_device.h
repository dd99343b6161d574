// SPDX-License-Identifier: Apache-2.0
// CpuDevice: the Device concept on CPU kernels: planes in memory, operations split over a WorkerPool.
// Arithmetic: output columns, rows and heads are split, never a sum; so the thread count changes no bit.
// Requires: the model, pool and arena outlive it; batches of at most max_rows rows.
// Owns:     planes of max_rows rows, hidden slots, logits, scratch per worker; nothing grows with the input but the
//           block addresses of one batch.
// Errors:   kResourceExhausted at creation; none later.
// Threads:  one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/int8_set.h"
#include "kernels/cpu/kernel_set.h"
#include "runtime/exec/block_arena.h"
#include "runtime/exec/mapped_memory.h"
#include "runtime/exec/worker_pool.h"
#include "runtime/model/device.h"
#include "runtime/model/model.h"

namespace larder::exec {

class PackedWeights;

// How products are made: with activations as f32, or rounded to int8 where weights are quantised.
struct CpuArithmetic {
  const kernels::KernelSet& kernels;
  const kernels::Int8Kernels* int8 = nullptr;
  const PackedWeights* packed = nullptr;  // null: weights in the file's order
};

class CpuDevice {
 public:
  static Result<std::unique_ptr<CpuDevice>> create(const model::Model& model, const CpuArithmetic& arithmetic,
                                                   std::uint32_t max_rows, const BlockArena& arena, WorkerPool& pool);

  // The operations of model::Device; their meaning stands there.
  void begin(const model::Batch& batch);
  void embed(const kernels::WeightView& table);
  void norm(std::span<const float> weight);
  void add_norm(std::span<const float> weight);
  void project(model::Plane in, std::span<const model::Projection> projections, bool accumulate);
  void rotate_and_store(std::uint32_t layer);
  void attend(std::uint32_t layer);
  void gate();
  void logits(std::span<const float> norm, const kernels::WeightView& head, std::span<const std::uint32_t> rows);
  std::uint32_t max_logit_rows() const { return max_logit_rows_; }

  // Row i of the last logits() call, [n_vocab].
  std::span<const float> logit_row(std::uint32_t i) const;

 private:
  struct PlaneMemory {
    MappedMemory memory;
    std::uint32_t stride = 0;  // floats
    float* row(std::size_t r) const;
  };
  // Rows of one sequence inside one KV block: the grain of rotation, KV writing and attention.
  struct Piece {
    std::uint32_t sequence = 0;
    std::uint32_t row = 0;  // in the planes
    std::uint32_t rows = 0;
    std::uint32_t position = 0;
  };
  // A product to compute, and some of its output columns: the grain of matmul.
  struct Product {
    const kernels::WeightView* weight = nullptr;
    const PlaneMemory* out = nullptr;
    bool int8 = false;
    const std::byte* packed = nullptr;
  };
  struct ColumnChunk {
    Product product;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  CpuDevice(const model::Model& model, const CpuArithmetic& arithmetic, std::uint32_t max_rows,
            const BlockArena& arena, WorkerPool& pool);
  Status allocate();
  static Result<PlaneMemory> make_plane(std::uint32_t rows, std::uint32_t width);
  const PlaneMemory& plane(model::Plane name) const;
  std::byte* scratch(std::uint32_t worker) const { return scratch_.data() + worker * scratch_bytes_; }
  // Splits rows over workers when `work_per_row` (about one arithmetic operation each) makes that worth it.
  template <typename Work>
  void for_rows(std::uint32_t rows, std::size_t work_per_row, Work work);
  // By how much a kind of layers turns: frequencies, and cosines and sines of the batch's rows.
  struct Angles {
    std::vector<double> frequency;  // [n_rot / 2], radians per position
    PlaneMemory cos_sin;
  };
  Status make_angles(float base, float scale, Angles& angles);
  const Angles& angles_of(std::uint32_t layer) const { return config_.is_local(layer) ? local_ : global_; }
  void fill_cos_sin(const Piece& piece, const Angles& angles);
  void turn(const Piece& piece, const Angles& angles, model::Plane name, std::uint32_t n_heads);
  void rotate_piece(const Piece& piece, std::uint32_t layer);
  void attend_piece(const Piece& piece, std::uint32_t layer, std::uint32_t kv_head, std::byte* scratch);
  // Adds the projection's bias to its plane, and norms each head, where there is one.
  void finish(const model::Projection& projection);
  void multiply(const PlaneMemory& in, std::span<Product> products, std::uint32_t rows, bool accumulate);
  // Marks the products that int8 kernels make, and answers whether there are any.
  bool mark_int8(std::span<Product> products) const;
  // Rows [0, rows) of `in` to int8_q_ and int8_groups_.
  void round_rows(const PlaneMemory& in, std::uint32_t rows, std::uint32_t cols);
  void multiply_chunk(const PlaneMemory& in, const ColumnChunk& chunk, std::uint32_t rows, bool accumulate,
                      std::byte* scratch);

  const model::ModelConfig& config_;
  const kernels::KernelSet kernels_;
  const kernels::Int8Kernels* const int8_;
  const PackedWeights* const packed_;
  const std::uint32_t max_rows_;
  const BlockArena& arena_;
  WorkerPool& pool_;
  const std::span<const float> rope_divisors_;
  std::uint32_t max_logit_rows_ = 0;
  std::array<PlaneMemory, model::kPlaneCount> planes_;
  std::array<PlaneMemory, kHiddenSlots> hidden_;
  PlaneMemory logits_;
  Angles global_;
  Angles local_;
  MappedMemory int8_q_;       // [max_rows][widest] bytes, in strips
  MappedMemory int8_groups_;  // [max_rows][widest / 32] Int8Group, in strips
  MappedMemory scratch_;
  std::size_t scratch_bytes_ = 0;  // per worker

  // Of the current batch.
  model::Batch batch_;
  std::vector<Piece> pieces_;
  std::vector<std::byte*> blocks_;           // of all sequences, one after the other
  std::vector<std::size_t> first_block_;     // of each sequence, in blocks_
  std::vector<ColumnChunk> chunks_;          // of the current products
};

static_assert(model::Device<CpuDevice>);

}  // namespace larder::exec
