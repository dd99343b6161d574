// SPDX-License-Identifier: Apache-2.0
// Speed of the kernels, one thread: matrices of the shapes of SmolLM2-135M, int8 products of packed weights of 2048 x
// 2048, attention at two depths. Weights cycle through more copies than a core's own cache holds, as a model's layers
// do.
#include <benchmark/benchmark.h>

#include <string>

#include "kernels/cpu/int8_set.h"
#include "tests/kernels/cases.h"

namespace larder::kernels {
namespace {

constexpr std::uint32_t kCopies = 16;
constexpr std::uint32_t kInt8Copies = 2;

void run_matmul(benchmark::State& state, const KernelSet& kernels, WeightType type, std::uint32_t n, std::uint32_t cols,
                std::uint32_t rows) {
  Rng rng(1);
  const testing::RandomWeights weights(rng, type, n * kCopies, cols);
  const std::vector<float> x = testing::random_floats(rng, std::size_t{rows} * cols);
  std::vector<float> out(std::size_t{rows} * n);
  const testing::AlignedBytes scratch(kernels.matmul_scratch_bytes(cols));
  MatmulArgs a;
  a.w = weights.view();
  a.w.rows = n;
  a.x = x.data();
  a.x_stride = cols;
  a.out = out.data();
  a.out_stride = n;
  a.rows = rows;
  a.n_end = n;
  a.scratch = scratch.data();
  const std::size_t bytes = n * a.w.row_bytes();
  std::uint32_t copy = 0;
  for (auto step : state) {
    static_cast<void>(step);
    a.w.data = weights.view().data + copy * bytes;
    copy = (copy + 1) % kCopies;
    kernels.matmul(a);
    benchmark::DoNotOptimize(out.data());
  }
  const auto runs = static_cast<double>(state.iterations());
  state.counters["flops"] = benchmark::Counter(2.0 * n * cols * rows * runs, benchmark::Counter::kIsRate);
  state.counters["weight_bytes"] = benchmark::Counter(static_cast<double>(bytes) * runs, benchmark::Counter::kIsRate);
}

void run_int8(benchmark::State& state, const Int8Kernels& kernels, WeightType type, std::uint32_t rows) {
  constexpr std::uint32_t kSize = 2048;
  Rng rng(3);
  const testing::RandomWeights weights(rng, type, kSize * kInt8Copies, kSize);
  WeightView w = weights.view();
  w.rows = kSize;
  const std::size_t bytes = kernels.packed_bytes(w);
  const testing::AlignedBytes packed(bytes * kInt8Copies);
  for (std::uint32_t i = 0; i < kInt8Copies; ++i) {
    w.data = weights.view().data + i * kSize * w.row_bytes();
    kernels.pack(w, 0, kSize / kPanelWeightRows, packed.data() + i * bytes);
  }
  const std::vector<float> x = testing::random_floats(rng, std::size_t{rows} * kSize);
  std::vector<std::int8_t> q(x.size());
  std::vector<Int8Group> groups(x.size() / kInt8Group);
  for (std::uint32_t row = 0; row < rows; row += int8_strip_rows(rows - row)) {
    kernels.round_strip(x.data() + std::size_t{row} * kSize, kSize, int8_strip_rows(rows - row), kSize,
                        q.data() + std::size_t{row} * kSize, groups.data() + std::size_t{row} * (kSize / kInt8Group));
  }
  std::vector<float> out(std::size_t{rows} * kSize);
  Int8MatmulArgs a;
  a.w = w;
  a.x = {q.data(), groups.data()};
  a.out = out.data();
  a.out_stride = kSize;
  a.rows = rows;
  a.n_end = kSize;
  std::uint32_t copy = 0;
  for (auto step : state) {
    static_cast<void>(step);
    a.packed = packed.data() + copy * bytes;
    copy = (copy + 1) % kInt8Copies;
    kernels.matmul(a);
    benchmark::DoNotOptimize(out.data());
  }
  const auto runs = static_cast<double>(state.iterations());
  state.counters["ops"] = benchmark::Counter(2.0 * kSize * kSize * rows * runs, benchmark::Counter::kIsRate);
  state.counters["weight_bytes"] = benchmark::Counter(static_cast<double>(bytes) * runs, benchmark::Counter::kIsRate);
}

void register_int8() {
  for (const IsaRequest request : {IsaRequest::kAvx2, IsaRequest::kAuto}) {
    const Int8Kernels* const kernels = select_int8_kernels(request);
    if (kernels == nullptr) continue;
    for (const WeightType type : testing::weight_types()) {
      if (!kernels->takes(type)) continue;
      for (const std::uint32_t rows : {1u, 4u, 12u, 64u, 512u}) {
        const std::string name = std::string(kernels->name) + "/int8/" + weight_type_info(type).name +
                                 "/rows:" + std::to_string(rows);
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=](benchmark::State& state) { run_int8(state, *kernels, type, rows); });
      }
    }
  }
}

void run_attention(benchmark::State& state, const KernelSet& kernels, std::uint32_t rows, std::uint32_t first) {
  const KvLayout layout{1, 1, 64, KvType::kF16};
  const std::uint32_t count = (first + rows + kBlockTokens - 1) / kBlockTokens;
  const testing::AlignedBytes pool(layout.block_bytes() * count);
  std::memset(pool.data(), 0, pool.size());
  std::vector<const std::byte*> blocks;
  for (std::uint32_t i = 0; i < count; ++i) blocks.push_back(pool.data() + i * layout.block_bytes());
  Rng rng(2);
  AttentionArgs a;
  a.layout = layout;
  a.blocks = blocks.data();
  a.group = 3;
  a.q_stride = std::size_t{a.group} * layout.d_head;
  const std::vector<float> q = testing::random_floats(rng, rows * a.q_stride);
  std::vector<float> out(q.size());
  const testing::AlignedBytes scratch(kernels.attention_scratch_bytes(layout, rows, a.group));
  a.q = q.data();
  a.out = out.data();
  a.rows = rows;
  a.first_position = first;
  a.scale = 0.125f;
  a.scratch = scratch.data();
  for (auto step : state) {
    static_cast<void>(step);
    kernels.attention(a);
    benchmark::DoNotOptimize(out.data());
  }
  const double seen = (first + (rows + 1) / 2.0) * rows;
  state.counters["flops"] = benchmark::Counter(4.0 * layout.d_head * a.group * seen *
                                                   static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
}

void register_all() {
  for (const KernelSet* kernels : testing::tiers()) {
    for (const WeightType type : testing::weight_types()) {
      for (const auto& [n, cols] : {std::pair{1536u, 576u}, std::pair{576u, 1536u}}) {
        if (cols % weight_type_info(type).block_values != 0) continue;
        for (const std::uint32_t rows : {1u, 4u, 16u, 512u}) {
          const std::string name = std::string(kernels->name) + "/matmul/" + weight_type_info(type).name + "/" +
                                   std::to_string(n) + "x" + std::to_string(cols) + "/rows:" + std::to_string(rows);
          benchmark::RegisterBenchmark(name.c_str(), [=, n = n, cols = cols](benchmark::State& state) {
            run_matmul(state, *kernels, type, n, cols, rows);
          });
        }
      }
    }
    for (const auto& [rows, first] : {std::pair{1u, 2000u}, std::pair{512u, 0u}, std::pair{512u, 2000u}}) {
      const std::string name = std::string(kernels->name) + "/attention/rows:" + std::to_string(rows) +
                               "/after:" + std::to_string(first);
      benchmark::RegisterBenchmark(name.c_str(), [=, rows = rows, first = first](benchmark::State& state) {
        run_attention(state, *kernels, rows, first);
      });
    }
  }
}

}  // namespace
}  // namespace larder::kernels

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  larder::kernels::register_all();
  larder::kernels::register_int8();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
