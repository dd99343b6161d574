// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "kernels/reference/reference.h"
#include "tests/kernels/cases.h"

namespace larder::kernels {
namespace {

using reference::kReferenceKernels;
using testing::AlignedBytes;
using testing::same_bits;
using testing::tiers;

// A pool of blocks for one sequence, in a shuffled order. What no position was written to holds NaN, so that a masked
// value that is multiplied shows.
class Pool {
 public:
  Pool(Rng& rng, KvLayout layout, std::uint32_t positions, std::uint64_t order_seed)
      : layout_(layout), bytes_(layout.block_bytes() * block_count(positions)) {
    const std::uint32_t count = block_count(positions);
    for (std::uint32_t i = 0; i < count; ++i) write_.push_back(bytes_.data() + i * layout.block_bytes());
    Rng order(order_seed);
    for (std::size_t i = count; i > 1; --i) std::swap(write_[i - 1], write_[order.below(i)]);
    read_.assign(write_.begin(), write_.end());
    const std::size_t width = std::size_t{layout.n_kv_heads} * layout.d_head;
    k_ = testing::random_floats(rng, positions * width);
    v_ = testing::random_floats(rng, positions * width);
  }

  void write(const KernelSet& kernels, std::uint32_t positions, std::uint32_t layer) {
    for (std::uint32_t head = 0; head < layout_.n_kv_heads; ++head) {
      KvWriteArgs a;
      a.layout = layout_;
      a.blocks = write_.data();
      a.k = k_.data();
      a.v = v_.data();
      a.stride = std::size_t{layout_.n_kv_heads} * layout_.d_head;
      a.rows = positions;
      a.layer = layer;
      a.kv_head = head;
      kernels.kv_write(a);
    }
  }

  // Every value of V at a position, by its span; before write.
  void set_v_by_span(std::span<const float> values) {
    const std::size_t width = std::size_t{layout_.n_kv_heads} * layout_.d_head;
    for (std::size_t i = 0; i < v_.size(); ++i) v_[i] = values[i / width / kSpanTokens];
  }

  const std::byte* const* blocks() const { return read_.data(); }
  const KvLayout& layout() const { return layout_; }
  const AlignedBytes& bytes() const { return bytes_; }
  const std::vector<float>& k() const { return k_; }
  const std::vector<float>& v() const { return v_; }

 private:
  static std::uint32_t block_count(std::uint32_t positions) { return (positions + kBlockTokens - 1) / kBlockTokens; }
  KvLayout layout_;
  AlignedBytes bytes_;
  std::vector<std::byte*> write_;
  std::vector<const std::byte*> read_;
  std::vector<float> k_;
  std::vector<float> v_;
};

struct Shape {
  std::uint32_t d_head;
  std::uint32_t n_kv_heads;
  std::uint32_t group;
  KvType type;
  std::uint32_t first;
  std::uint32_t rows;
  std::uint32_t window;
};

constexpr std::uint32_t kLayers = 2;
constexpr std::uint32_t kLayer = 1;

struct Queries {
  Queries(Rng& rng, const Shape& shape_in)
      : shape(shape_in), stride(std::size_t{shape.n_kv_heads} * shape.group * shape.d_head + 3),
        q(testing::random_floats(rng, shape.rows * stride, 3.0f)) {}

  AttentionArgs args(const Pool& pool) const {
    AttentionArgs a;
    a.layout = pool.layout();
    a.blocks = pool.blocks();
    a.q_stride = stride;
    a.layer = kLayer;
    a.kv_head = shape.n_kv_heads - 1;
    a.group = shape.group;
    a.window = shape.window;
    a.scale = 1.0f / std::sqrt(static_cast<float>(shape.d_head));
    return a;
  }

  // In chunks of `chunk` rows; the scratch is as small as allowed.
  std::vector<float> run(const KernelSet& kernels, const Pool& pool, std::uint32_t chunk) const {
    std::vector<float> out(q.size(), 9.0f);
    AttentionArgs a = args(pool);
    for (std::uint32_t row = 0; row < shape.rows; row += chunk) {
      a.rows = std::min(chunk, shape.rows - row);
      const AlignedBytes scratch(kernels.attention_scratch_bytes(pool.layout(), a.rows, shape.group));
      a.scratch = scratch.data();
      a.q = q.data() + row * stride;
      a.out = out.data() + row * stride;
      a.first_position = shape.first + row;
      kernels.attention(a);
    }
    return out;
  }

  Shape shape;
  std::size_t stride;
  std::vector<float> q;
};

Pool make_pool(Rng& rng, const Shape& shape, std::uint64_t order_seed) {
  const std::uint32_t positions = shape.first + shape.rows;
  Pool pool(rng, {kLayers, shape.n_kv_heads, shape.d_head, shape.type}, positions, order_seed);
  pool.write(kReferenceKernels, positions, kLayer);
  return pool;
}

// With s_t the scores, p_t the softmax and e = gamma(ceil(d / 16) + 7) max_t scale sum |q| |k_t| the error of a score
// (the scaled query is rounded once, a product twice, the tree adds four times), an error e in every score changes each
// p_t by a factor within exp(2 e). Subtracting the maximum rounds once, by at most 2^-24 D with D the range of the
// scores, and so does each of the S merges, in numerator and denominator. exp is within 6 roundings
// (elementwise_test.cc). A lane of a span sums 16 weights or products in at most 17 roundings and the tree adds 4; each
// merge adds one exp, two products and a sum; then the quotient and the reference. Weights below exp(-87) count as
// zero.
double relative_bound(double score_error, double range, double spans) {
  const double roundings = 2 * (6 + 17 + 4 + spans * (6 + 3)) + 2;
  return std::expm1(2 * score_error + 2 * (1 + spans) * testing::kUnit * range + testing::gamma(roundings));
}

void expect_within_bound(const Queries& run, const Pool& pool, const std::vector<float>& got,
                         const std::vector<float>& want, const char* name) {
  const AttentionArgs a = run.args(pool);
  const Shape& s = run.shape;
  for (std::uint32_t row = 0; row < s.rows; row += s.rows > 8 ? 7 : 1) {
    for (std::uint32_t member = 0; member < s.group; ++member) {
      const std::size_t at = row * run.stride + (std::size_t{a.kv_head} * s.group + member) * s.d_head;
      const std::uint32_t stop = s.first + row + 1;
      const std::uint32_t start = s.window != 0 && stop > s.window ? stop - s.window : 0;
      std::vector<double> score;
      double largest = 0;
      for (std::uint32_t t = start; t < stop; ++t) {
        double sum = 0;
        double size = 0;
        for (std::uint32_t i = 0; i < s.d_head; ++i) {
          const double product = double{run.q[at + i]} * double{a.scale} *
              reference::k_value(a.layout, a.blocks[t / kBlockTokens], kLayer, a.kv_head, t % kBlockTokens, i);
          sum += product;
          size += std::abs(product);
        }
        score.push_back(sum);
        largest = std::max(largest, size);
      }
      const auto [low, high] = std::minmax_element(score.begin(), score.end());
      const double error = testing::gamma(std::ceil(s.d_head / 16.0) + 7) * largest;
      const double bound = relative_bound(error, *high - *low, std::ceil(stop / double{kSpanTokens}));
      double total = 0;
      for (const double value : score) total += std::exp(value - *high);
      for (std::uint32_t i = 0; i < s.d_head; ++i) {
        double size = 1e-37;
        for (std::uint32_t t = start; t < stop; ++t) {
          size += std::exp(score[t - start] - *high) / total *
              std::abs(reference::v_value(a.layout, a.blocks[t / kBlockTokens], kLayer, a.kv_head, t % kBlockTokens,
                                          i));
        }
        ASSERT_LE(std::abs(double{got[at + i]} - double{want[at + i]}), bound * size)
            << name << " d " << s.d_head << " first " << s.first << " row " << row << " window " << s.window;
      }
    }
  }
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {8, 4, 2, KvType::kF32, 0, 1, 0},      {8, 4, 2, KvType::kF16, 0, 40, 0},     {64, 3, 3, KvType::kF16, 0, 33, 0},
      {64, 3, 3, KvType::kF16, 250, 9, 0},   {64, 1, 1, KvType::kF32, 500, 20, 0},  {80, 2, 4, KvType::kF16, 97, 7, 0},
      {128, 1, 8, KvType::kF16, 255, 3, 0},  {128, 1, 1, KvType::kF16, 600, 14, 0},
      {64, 2, 3, KvType::kF16, 515, 5, 100}, {20, 2, 3, KvType::kF32, 300, 17, 31},
  };
  return all;
}

TEST(Attention, EveryTierAndShapeIsWithinTheBound) {
  Rng rng(1);
  for (const Shape& shape : shapes()) {
    const Pool pool = make_pool(rng, shape, 5);
    const Queries run(rng, shape);
    const std::vector<float> want = run.run(kReferenceKernels, pool, shape.rows);
    for (const KernelSet* kernels : tiers()) {
      expect_within_bound(run, pool, run.run(*kernels, pool, shape.rows), want, kernels->name);
    }
  }
}

// Decode is a chunk of one row; chunks of any size must not show in the bits, nor must the place of the blocks.
TEST(Attention, DecodeAndAnyChunkAndAnyBlockAddressGiveTheBitsOfPrefill) {
  Rng rng(2);
  for (const Shape& shape : shapes()) {
    const Rng before = rng;
    Rng again = before;
    const Pool pool = make_pool(rng, shape, 5);
    const Pool elsewhere = make_pool(again, shape, 77);
    const Queries run(rng, shape);
    for (const KernelSet* kernels : tiers()) {
      const std::vector<float> whole = run.run(*kernels, pool, shape.rows);
      for (const std::uint32_t chunk : {1u, 2u, 5u, 16u}) {
        EXPECT_TRUE(same_bits(run.run(*kernels, pool, chunk), whole)) << kernels->name << " " << chunk;
      }
      EXPECT_TRUE(same_bits(run.run(*kernels, elsewhere, shape.rows), whole)) << kernels->name;
    }
  }
}

// Later positions never show in an earlier row, whatever lies there: here nothing, which reads as NaN.
TEST(Attention, RowsDoNotSeeWhatComesAfterThem) {
  const Shape shape{64, 2, 3, KvType::kF16, 0, 70, 0};
  Rng rng(3);
  Rng again(3);
  const Pool pool = make_pool(rng, shape, 5);
  Pool partial(again, pool.layout(), 70, 5);
  partial.write(kReferenceKernels, 20, kLayer);
  const Queries run(rng, shape);
  const std::size_t seen = 20 * run.stride;
  for (const KernelSet* kernels : tiers()) {
    const std::vector<float> whole = run.run(*kernels, pool, 70);
    const std::vector<float> early = run.run(*kernels, partial, 20);
    EXPECT_EQ(std::memcmp(early.data(), whole.data(), seen * sizeof(float)), 0) << kernels->name;
    EXPECT_TRUE(std::isnan(early[early.size() - 4])) << "positions after row 19 should have been NaN";
  }
}

// The two tiers that fuse differ only in the width of their registers, so a pool may move between such processors.
TEST(Attention, TheFusingTiersGiveEqualBits) {
  const KernelSet* narrow = select_kernels(IsaRequest::kAvx2);
  const KernelSet* wide = select_kernels(IsaRequest::kAvx512);
  if (narrow == nullptr || wide == nullptr) GTEST_SKIP() << "this processor lacks one of avx2 and avx512";
  Rng rng(8);
  for (const Shape& shape : shapes()) {
    const Pool pool = make_pool(rng, shape, 5);
    const Queries run(rng, shape);
    EXPECT_TRUE(same_bits(run.run(*narrow, pool, shape.rows), run.run(*wide, pool, shape.rows))) << shape.d_head;
  }
}

TEST(Attention, OnePositionAnswersItsOwnV) {
  Rng rng(4);
  const Shape shape{64, 2, 3, KvType::kF32, 0, 1, 0};
  const Pool pool = make_pool(rng, shape, 5);
  const Queries run(rng, shape);
  for (const KernelSet* kernels : tiers()) {
    const std::vector<float> out = run.run(*kernels, pool, 1);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[3 * 64 + i], pool.v()[64 + i]) << kernels->name;
  }
}

// Three spans of equal weight whose sums cancel only from the first on: in any other order the small one is lost.
TEST(Attention, SpansMergeInTheirOrder) {
  Rng rng(9);
  const Shape shape{8, 1, 1, KvType::kF32, 3 * kSpanTokens - 1, 1, 0};
  Pool pool(rng, {kLayers, 1, 8, KvType::kF32}, 3 * kSpanTokens, 5);
  pool.set_v_by_span(std::vector<float>{1e8f, -1e8f, 1.0f});
  pool.write(kReferenceKernels, 3 * kSpanTokens, kLayer);
  Queries run(rng, shape);
  std::fill(run.q.begin(), run.q.end(), 0.0f);
  for (const KernelSet* kernels : tiers()) {
    const std::vector<float> out = run.run(*kernels, pool, 1);
    for (std::uint32_t i = 0; i < 8; ++i) EXPECT_FLOAT_EQ(out[i], 1.0f / 3) << kernels->name;
  }
}

TEST(KvWrite, EveryTierWritesTheReferencesBytesAndNothingElse) {
  for (const KvType type : {KvType::kF32, KvType::kF16}) {
    for (const std::uint32_t d_head : {8u, 20u, 64u}) {
      for (const std::uint32_t positions : {1u, 31u, 70u}) {
        Rng rng(6);
        const KvLayout layout{kLayers, 2, d_head, type};
        Pool want(rng, layout, positions, 5);
        want.write(kReferenceKernels, positions, kLayer);
        for (const KernelSet* kernels : tiers()) {
          Rng again(6);
          Pool got(again, layout, positions, 5);
          got.write(*kernels, positions, kLayer);
          EXPECT_EQ(std::memcmp(got.bytes().data(), want.bytes().data(), want.bytes().size()), 0)
              << kernels->name << " " << d_head << " " << positions;
        }
      }
    }
  }
}

TEST(KvWrite, HalvesRoundToNearestEvenAndOtherPositionsStayZero) {
  const KvLayout layout{1, 1, 8, KvType::kF16};
  for (const KernelSet* kernels : tiers()) {
    const AlignedBytes bytes(layout.block_bytes());
    std::memset(bytes.data(), 0, bytes.size());
    std::byte* block = bytes.data();
    // 1 + 2^-11 is halfway between two halves; 1 + 3 * 2^-11 too, and its even neighbour is above.
    const float value[8] = {1.0f + 0x1p-11f, 1.0f + 0x1.8p-10f, 65520.0f, 0x1p-25f, 0x1.8p-24f, -2.0f, 0.0f, 1e-9f};
    const std::uint16_t half[8] = {0x3c00, 0x3c02, 0x7c00, 0x0000, 0x0002, 0xc000, 0x0000, 0x0000};
    KvWriteArgs a;
    a.layout = layout;
    a.blocks = &block;
    a.k = value;
    a.v = value;
    a.stride = 8;
    a.rows = 1;
    a.first_position = 5;
    kernels->kv_write(a);
    std::vector<std::uint16_t> stored(layout.block_bytes() / 2);
    std::memcpy(stored.data(), block, layout.block_bytes());
    const std::size_t v = layout.v_offset_in_slice() / 2;
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(stored[5 * 8 + i], half[i]) << kernels->name << " k " << i;
      EXPECT_EQ(stored[v + i * kBlockTokens + 5], half[i]) << kernels->name << " v " << i;
      stored[5 * 8 + i] = stored[v + i * kBlockTokens + 5] = 0;
    }
    EXPECT_TRUE(std::all_of(stored.begin(), stored.end(), [](std::uint16_t h) { return h == 0; })) << kernels->name;
  }
}

}  // namespace
}  // namespace larder::kernels
