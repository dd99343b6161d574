// SPDX-License-Identifier: Apache-2.0
#include "kernels/layout/kv_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kernels/layout/checksum.h"
#include "kernels/reference/reference.h"
#include "tests/kernels/cases.h"

namespace larder::kernels {
namespace {

using reference::kReferenceKernels;
using testing::AlignedBytes;
using testing::kUnit;
using testing::tiers;

constexpr std::size_t kGuard = 64;

// One slice in memory of exactly its size, all zeros, with values by token, element and side.
class Slice {
 public:
  Slice(std::uint32_t d_head, KvType type) : layout_{1, 1, d_head, type}, bytes_(layout_.slice_bytes()) {
    std::memset(bytes_.data(), 0, bytes_.size());
  }
  // Every value of the first `valid` tokens, each token of another magnitude.
  static Slice random(std::uint64_t seed, std::uint32_t d_head, KvType type, std::uint32_t valid = kBlockTokens) {
    Slice slice(d_head, type);
    Rng rng(seed);
    for (std::uint32_t token = 0; token < valid; ++token) {
      const auto amplitude = static_cast<float>(std::exp2(6 * rng.unit() - 3));
      for (const bool v : {false, true}) {
        for (std::uint32_t i = 0; i < d_head; ++i) slice.set(v, token, i, testing::random_float(rng, amplitude));
      }
    }
    return slice;
  }
  Slice(Slice&&) = default;

  void set(bool v, std::uint32_t token, std::uint32_t i, float value) {
    if (layout_.type == KvType::kF16) return write(at(v, token, i), f32_to_f16(value));
    write(at(v, token, i), value);
  }
  double get(bool v, std::uint32_t token, std::uint32_t i) const {
    return v ? reference::v_value(layout_, bytes_.data(), 0, 0, token, i)
             : reference::k_value(layout_, bytes_.data(), 0, 0, token, i);
  }
  double largest(bool v, std::uint32_t token) const {
    double top = 0;
    for (std::uint32_t i = 0; i < layout_.d_head; ++i) top = std::max(top, std::abs(get(v, token, i)));
    return top;
  }
  const KvLayout& layout() const { return layout_; }
  std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return layout_.slice_bytes(); }
  Slice copy() const {
    Slice other(layout_.d_head, layout_.type);
    std::memcpy(other.data(), data(), size());
    return other;
  }

 private:
  template <typename T>
  static void write(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof value);
  }
  std::byte* at(bool v, std::uint32_t token, std::uint32_t i) const {
    const std::size_t index = v ? std::size_t{i} * kBlockTokens + token : std::size_t{token} * layout_.d_head + i;
    return data() + (v ? layout_.v_offset_in_slice() : 0) + index * kv_element_bytes(layout_.type);
  }
  KvLayout layout_;
  AlignedBytes bytes_;
};

struct Coded {
  std::vector<std::byte> bytes;
  std::uint32_t dropped = 0;
};

// Encodes and looks that every byte was written and none behind them, whatever was there before.
Coded encode(const KernelSet& kernels, KvScheme scheme, const Slice& slice) {
  const std::size_t size = coded_slice_bytes(scheme, slice.layout());
  const AlignedBytes scratch(kv_codec_scratch_bytes(slice.layout()));
  Coded coded;
  for (const int before : {0, 0xff}) {
    const AlignedBytes target(size + kGuard);
    std::memset(target.data(), before, target.size());
    KvEncodeArgs a{slice.layout(), scheme, slice.data(), target.data(), scratch.data()};
    coded.dropped = kernels.codec.encode(a);
    std::vector<std::byte> bytes(target.data(), target.data() + size);
    for (std::size_t i = size; i < target.size(); ++i) EXPECT_EQ(target.data()[i], static_cast<std::byte>(before));
    EXPECT_TRUE(before == 0 || bytes == coded.bytes) << kernels.name;
    coded.bytes = std::move(bytes);
  }
  return coded;
}

Slice decode(const KernelSet& kernels, KvScheme scheme, const KvLayout& layout, const std::vector<std::byte>& coded) {
  const AlignedBytes scratch(kv_codec_scratch_bytes(layout));
  const AlignedBytes source(coded.size());
  std::copy(coded.begin(), coded.end(), source.data());
  const AlignedBytes target(layout.slice_bytes() + kGuard);
  KvDecodeArgs a{layout, scheme, source.data(), target.data(), scratch.data()};
  kernels.codec.decode(a);
  for (std::size_t i = layout.slice_bytes(); i < target.size(); ++i) EXPECT_EQ(target.data()[i], std::byte{0xff});
  Slice slice(layout.d_head, layout.type);
  std::memcpy(slice.data(), target.data(), slice.size());
  return slice;
}

bool same(const Slice& a, const Slice& b) { return std::memcmp(a.data(), b.data(), a.size()) == 0; }

template <typename T>
T read(const std::vector<std::byte>& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

float int8_scale(const Coded& coded, std::uint32_t d, bool v, std::uint32_t token) {
  return read<float>(coded.bytes, std::size_t{64} * d + (v ? 128 : 0) + std::size_t{4} * token);
}
double int4_scale(const Coded& coded, std::uint32_t d, bool v, std::uint32_t token, std::uint32_t group) {
  const Int4Slice slice = int4_slice(d);
  const std::size_t index = v ? std::size_t{group} * kBlockTokens + token : std::size_t{token} * slice.groups + group;
  return bf16_to_f32(read<std::uint16_t>(coded.bytes, (v ? slice.v_scales : slice.k_scales) + 2 * index));
}

int int4_code(const Coded& coded, std::uint32_t d, bool v, std::uint32_t token, std::uint32_t i) {
  const std::size_t k_byte = std::size_t{token} * d / 2 + i / 32 * 16 + i % 16;
  const std::size_t v_byte = int4_slice(d).v_codes + std::size_t{i} * 16 + token % 16;
  const int both = std::to_integer<int>(coded.bytes[v ? v_byte : k_byte]);
  return ((v ? token : i % 32) < 16 ? both : both >> 4) & 15;
}

struct Case {
  KvScheme scheme;
  std::uint32_t d_head;
  KvType type;
};

std::vector<Case> cases() {
  std::vector<Case> made;
  for (const KvScheme scheme : {KvScheme::kExact, KvScheme::kInt8, KvScheme::kInt4}) {
    for (const KvType type : {KvType::kF16, KvType::kF32}) {
      for (const std::uint32_t d : {1u, 4u, 8u, 20u, 32u, 64u, 80u, 96u, 128u, 256u}) {
        if (kv_scheme_fault(scheme, {1, 1, d, type}) == KvSchemeFault::kNone) made.push_back({scheme, d, type});
      }
    }
  }
  return made;
}

std::string name_of(const Case& c) {
  return std::string(kv_scheme_name(c.scheme)) + " d " + std::to_string(c.d_head) + " type " +
         std::to_string(static_cast<int>(c.type));
}

TEST(KvCodec, ASchemeIsOfferedWhereItsRulesHoldAndElseSaysWhy) {
  const KvLayout smollm{30, 3, 64, KvType::kF16};
  EXPECT_EQ(kv_scheme_fault(KvScheme::kInt4, smollm), KvSchemeFault::kNone);
  for (const std::uint32_t d : {8u, 16u, 48u, 80u, 96u}) {
    const KvLayout odd{1, 1, d, KvType::kF16};
    EXPECT_EQ(kv_scheme_fault(KvScheme::kInt8, odd), KvSchemeFault::kNone) << d;
    EXPECT_EQ(kv_scheme_fault(KvScheme::kInt4, odd), KvSchemeFault::kHeadNotPowerOfTwo) << d;
  }
  EXPECT_EQ(kv_scheme_fault(KvScheme::kInt8, {1, 1, 4, KvType::kF16}), KvSchemeFault::kNotSmaller);
  EXPECT_EQ(kv_scheme_fault(KvScheme::kInt8, {1, 1, 4, KvType::kF32}), KvSchemeFault::kNone);
  EXPECT_EQ(kv_scheme_fault(KvScheme::kInt8, int8_layout(smollm)), KvSchemeFault::kNotFloats);
  EXPECT_EQ(kv_scheme_fault(static_cast<KvScheme>(kKvSchemes), smollm), KvSchemeFault::kUnknown);
  EXPECT_EQ(kv_scheme_name(static_cast<KvScheme>(kKvSchemes)), nullptr);
  EXPECT_STREQ(kv_scheme_fault_text(KvSchemeFault::kHeadNotPowerOfTwo),
               "the head dimension is not a power of two of at least 32");
}

TEST(KvCodec, CodedSizesAreWholeLinesAndAsSmallAsPromised) {
  for (const Case& c : cases()) EXPECT_EQ(coded_slice_bytes(c.scheme, {1, 1, c.d_head, c.type}) % 64, 0u) << name_of(c);
  const KvLayout smollm{30, 3, 64, KvType::kF16};
  const auto exact = static_cast<double>(smollm.block_bytes());
  EXPECT_EQ(coded_block_bytes(KvScheme::kExact, smollm), smollm.block_bytes());
  EXPECT_EQ(static_cast<double>(coded_block_bytes(KvScheme::kInt8, smollm)) / exact, 0.53125);
  EXPECT_EQ(static_cast<double>(coded_block_bytes(KvScheme::kInt4, smollm)) / exact, 0.296875);
}

TEST(KvCodec, EveryTierGivesEqualBitsBothWays) {
  for (const Case& c : cases()) {
    const Slice slice = Slice::random(c.d_head, c.d_head, c.type);
    const Coded want = encode(*tiers().front(), c.scheme, slice);
    const Slice decoded = decode(*tiers().front(), c.scheme, slice.layout(), want.bytes);
    EXPECT_EQ(want.dropped, 0u) << name_of(c);
    for (const KernelSet* kernels : tiers()) {
      EXPECT_EQ(encode(*kernels, c.scheme, slice).bytes, want.bytes) << kernels->name << " " << name_of(c);
      EXPECT_TRUE(same(decode(*kernels, c.scheme, slice.layout(), want.bytes), decoded))
          << kernels->name << " " << name_of(c);
    }
    if (c.scheme == KvScheme::kExact) {
      EXPECT_TRUE(same(decoded, slice));
    }
  }
}

// Quotient, product and sum are rounded: a code is off by at most 3 roundings of 127 (15) where the twin stands at a
// tie. The rotation rounds once for each of its log2 d steps, of at most the vector's largest magnitude, and the twin's
// group scale may round up to the next bf16.
TEST(KvCodec, CodesAreTheTwinsButForTies) {
  for (const Case& c : cases()) {
    if (c.scheme == KvScheme::kExact) continue;
    const Slice slice = Slice::random(7 * c.d_head, c.d_head, c.type);
    const Coded want = encode(kReferenceKernels, c.scheme, slice);
    const Coded got = encode(*tiers().back(), c.scheme, slice);
    ASSERT_EQ(got.bytes.size(), want.bytes.size());
    std::size_t codes = 0;
    std::size_t differ = 0;
    const std::size_t code_bytes =
        c.scheme == KvScheme::kInt8 ? std::size_t{64} * c.d_head : int4_slice(c.d_head).k_scales;
    for (std::size_t i = 0; i < code_bytes; ++i, ++codes) {
      if (got.bytes[i] == want.bytes[i]) continue;
      ++differ;
      const int a = std::to_integer<int>(got.bytes[i]);
      const int b = std::to_integer<int>(want.bytes[i]);
      if (c.scheme == KvScheme::kInt8) {
        EXPECT_EQ(std::abs(static_cast<std::int8_t>(a) - static_cast<std::int8_t>(b)), 1) << name_of(c);
      } else {
        EXPECT_LE(std::abs((a & 15) - (b & 15)), 1) << name_of(c);
        EXPECT_LE(std::abs((a >> 4) - (b >> 4)), 1) << name_of(c);
      }
    }
    EXPECT_LE(differ, 1 + codes / 1000) << name_of(c);
  }
}

// What is decoded is the twin's value of the same bytes: one product (and for kInt4 log2 d sums) rounded, then the
// rounding to the pool's type on both sides.
TEST(KvCodec, DecodedValuesAreTheTwins) {
  for (const Case& c : cases()) {
    if (c.scheme == KvScheme::kExact) continue;
    const Slice slice = Slice::random(3 * c.d_head, c.d_head, c.type);
    const Coded coded = encode(*tiers().back(), c.scheme, slice);
    const Slice want = decode(kReferenceKernels, c.scheme, slice.layout(), coded.bytes);
    const Slice got = decode(*tiers().back(), c.scheme, slice.layout(), coded.bytes);
    const double steps = c.scheme == KvScheme::kInt8 ? 1 : 1 + std::log2(c.d_head);
    const double unit = c.type == KvType::kF16 ? 0x1p-10 : 0x1p-23;
    for (const bool v : {false, true}) {
      for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
        // Every partial sum of the inverse rotation is at most the sum of the magnitudes of all coefficients.
        const double sum = c.scheme == KvScheme::kInt8 ? 0 : slice.largest(v, token) * std::sqrt(c.d_head);
        for (std::uint32_t i = 0; i < c.d_head; ++i) {
          const double value = want.get(v, token, i);
          ASSERT_LE(std::abs(got.get(v, token, i) - value),
                    testing::gamma(steps) * sum + unit * std::abs(value) + 0x1p-24)
              << name_of(c) << " token " << token << " element " << i;
        }
      }
    }
  }
}

// kInt8: half a step of the token's scale, and the rounding to the pool's type.
TEST(KvCodec, Int8IsWithinHalfAStepOfItsScale) {
  for (const Case& c : cases()) {
    if (c.scheme != KvScheme::kInt8) continue;
    const Slice slice = Slice::random(11 * c.d_head, c.d_head, c.type);
    const Coded coded = encode(*tiers().back(), c.scheme, slice);
    const Slice decoded = decode(*tiers().back(), c.scheme, slice.layout(), coded.bytes);
    const double unit = c.type == KvType::kF16 ? 0x1p-11 : kUnit;
    for (const bool v : {false, true}) {
      for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
        const double scale = double{int8_scale(coded, c.d_head, v, token)};
        const double top = slice.largest(v, token);
        EXPECT_NEAR(scale, top / 127, top / 127 * kUnit) << name_of(c);
        for (std::uint32_t i = 0; i < c.d_head; ++i) {
          const double error = std::abs(decoded.get(v, token, i) - slice.get(v, token, i));
          ASSERT_LE(error, scale / 2 + top * (unit + 4 * kUnit)) << name_of(c) << " token " << token;
        }
      }
    }
  }
}

// kInt4: the rotation keeps lengths up to the factor d, so the vector's error is that of its coefficients: each half a
// step of its group's scale at most, a whole one where the last code stands for a value beyond it; and the roundings of
// the rotations and of the pool's type.
TEST(KvCodec, Int4IsWithinHalfAStepOfItsScalesAfterTheRotation) {
  for (const Case& c : cases()) {
    if (c.scheme != KvScheme::kInt4) continue;
    const Slice slice = Slice::random(13 * c.d_head, c.d_head, c.type);
    const Coded coded = encode(*tiers().back(), c.scheme, slice);
    const Slice decoded = decode(*tiers().back(), c.scheme, slice.layout(), coded.bytes);
    const double unit = c.type == KvType::kF16 ? 0x1p-11 : kUnit;
    for (const bool v : {false, true}) {
      for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
        double squares = 0;
        double allowed = 0;
        for (std::uint32_t i = 0; i < c.d_head; ++i) {
          squares += std::pow(decoded.get(v, token, i) - slice.get(v, token, i), 2);
          const double step = int4_scale(coded, c.d_head, v, token, i / kInt4Group);
          allowed += std::pow(int4_code(coded, c.d_head, v, token, i) == 15 ? step : step / 2, 2) * c.d_head;
        }
        const double rounding = slice.largest(v, token) * std::sqrt(c.d_head) * (unit + testing::gamma(48));
        ASSERT_LE(std::sqrt(squares), std::sqrt(allowed) + rounding) << name_of(c) << " token " << token;
      }
    }
  }
}

TEST(KvCodec, PositionsPastTheValidOnesComeBackAsZerosBitForBit) {
  for (const Case& c : cases()) {
    for (const std::uint32_t valid : {0u, 1u, 15u, 16u, 31u}) {
      const Slice slice = Slice::random(valid, c.d_head, c.type, valid);
      for (const KernelSet* kernels : tiers()) {
        Slice decoded = decode(*kernels, c.scheme, slice.layout(), encode(*kernels, c.scheme, slice).bytes);
        for (std::uint32_t token = 0; token < valid; ++token) {
          for (std::uint32_t i = 0; i < c.d_head; ++i) {
            decoded.set(false, token, i, 0);
            decoded.set(true, token, i, 0);
          }
        }
        EXPECT_TRUE(same(decoded, Slice(c.d_head, c.type))) << kernels->name << " " << name_of(c) << " " << valid;
      }
    }
  }
}

// What is not finite is counted and coded as if a zero stood there; no other bit changes for it.
TEST(KvCodec, ValuesThatAreNotFiniteAreCountedAndHarmNoOther) {
  const float bad[] = {NAN, INFINITY, -INFINITY, -NAN};
  for (const Case& c : cases()) {
    if (c.scheme == KvScheme::kExact) continue;
    Slice zeros = Slice::random(c.d_head, c.d_head, c.type);
    Slice spoilt = zeros.copy();
    std::uint32_t count = 0;
    for (std::uint32_t n = 0; n < 10; ++n) {
      const bool v = n % 2 == 1;
      zeros.set(v, 3 * n, n * 7 % c.d_head, 0);
      spoilt.set(v, 3 * n, n * 7 % c.d_head, bad[n % 4]);
      ++count;
    }
    if (c.type == KvType::kF32) {
      zeros.set(true, 31, 0, 0);
      spoilt.set(true, 31, 0, 0x1.000002p100f);
      ++count;
    }
    for (const KernelSet* kernels : tiers()) {
      const Coded coded = encode(*kernels, c.scheme, spoilt);
      EXPECT_EQ(coded.dropped, count) << kernels->name << " " << name_of(c);
      EXPECT_EQ(coded.bytes, encode(*kernels, c.scheme, zeros).bytes) << kernels->name << " " << name_of(c);
    }
    EXPECT_EQ(encode(kReferenceKernels, c.scheme, spoilt).dropped, count);
  }
}

TEST(KvCodec, LargestValuesStayFiniteAndSubnormalOnesNearThemselves) {
  for (const Case& c : cases()) {
    const float large = c.type == KvType::kF16 ? 65504.0f : kKvCodecLargest;
    const float small = c.type == KvType::kF16 ? 0x1p-24f : 0x1p-149f;
    Slice slice(c.d_head, c.type);
    Rng signs(c.d_head);
    for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
      for (std::uint32_t i = 0; i < c.d_head; ++i) {
        const float sign = signs.below(2) == 0 ? -1.0f : 1.0f;
        slice.set(false, token, i, sign * large);
        slice.set(true, token, i, sign * small);
      }
    }
    for (const KernelSet* kernels : tiers()) {
      const Coded coded = encode(*kernels, c.scheme, slice);
      EXPECT_EQ(coded.dropped, 0u);
      const Slice decoded = decode(*kernels, c.scheme, slice.layout(), coded.bytes);
      const double step = c.scheme == KvScheme::kExact ? 0 : c.scheme == KvScheme::kInt8 ? 0.005 : 1;
      for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
        for (std::uint32_t i = 0; i < c.d_head; ++i) {
          const double k = slice.get(false, token, i);
          ASSERT_TRUE(std::isfinite(decoded.get(false, token, i))) << name_of(c);
          ASSERT_LE(std::abs(decoded.get(false, token, i) - k), step * double{large}) << kernels->name << name_of(c);
          const double v = decoded.get(true, token, i);
          const double allowed = c.scheme == KvScheme::kExact ? 0 : 1.5 * double{small} + step * double{small};
          ASSERT_LE(std::abs(v - slice.get(true, token, i)), allowed) << kernels->name << name_of(c);
        }
      }
    }
  }
}

TEST(KvCodec, HalvesOfAStepRoundToTheEvenCode) {
  Slice slice(8, KvType::kF32);
  const float values[8] = {127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -127.0f, 3.49f};
  const int codes[8] = {127, 0, 2, 2, 0, -2, -127, 3};
  for (std::uint32_t i = 0; i < 8; ++i) {
    slice.set(false, 2, i, values[i]);
    slice.set(true, 2, i, values[i]);
  }
  for (const KernelSet* kernels : tiers()) {
    const Coded coded = encode(*kernels, KvScheme::kInt8, slice);
    for (std::uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(read<std::int8_t>(coded.bytes, 2 * 8 + i), codes[i]) << kernels->name << " " << i;
      EXPECT_EQ(read<std::int8_t>(coded.bytes, kBlockTokens * 8 + i * kBlockTokens + 2), codes[i]) << kernels->name;
    }
  }
}

// A vector that is one row of the Walsh-Hadamard matrix has one coefficient, its magnitude. The other codes are zero's.
// K has two such tokens, so that their mean is none.
TEST(KvCodec, Int4RotatesARowOfTheMatrixToOneCoefficientAndBackWithoutError) {
  constexpr std::uint32_t kD = 64;
  constexpr std::uint32_t kRow = 37;
  Slice slice(kD, KvType::kF16);
  for (std::uint32_t i = 0; i < kD; ++i) {
    const float sign = __builtin_parity(kRow & i) != 0 ? -1.0f : 1.0f;
    slice.set(false, 5, i, 8.0f * sign);
    slice.set(false, 6, i, -8.0f * sign);
    slice.set(true, 5, i, -8.0f * sign);
  }
  for (const KernelSet* kernels : tiers()) {
    const Coded coded = encode(*kernels, KvScheme::kInt4, slice);
    for (const bool v : {false, true}) {
      EXPECT_EQ(int4_scale(coded, kD, v, 5, 0), 0.0) << kernels->name;
      EXPECT_EQ(int4_scale(coded, kD, v, 5, 1), v ? 1.0 : -1.0) << kernels->name;
      for (std::uint32_t i = 0; i < kD; ++i) {
        EXPECT_EQ(int4_code(coded, kD, v, 5, i), i == kRow ? 0 : 8) << kernels->name << " " << i;
      }
    }
    EXPECT_TRUE(same(decode(*kernels, KvScheme::kInt4, slice.layout(), coded.bytes), slice)) << kernels->name;
  }
}

// What all tokens of K share costs no step: keys far from zero that differ a little come back as well as those that
// differ as much around zero. A token of zeros between them takes no part.
TEST(KvCodec, Int4TakesWhatKeysShareAway) {
  constexpr std::uint32_t kD = 64;
  Rng rng(8);
  Slice around(kD, KvType::kF32);
  Slice far(kD, KvType::kF32);
  for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
    if (token == 9) continue;
    for (std::uint32_t i = 0; i < kD; ++i) {
      const float value = testing::random_float(rng);
      around.set(false, token, i, value);
      far.set(false, token, i, value + (i % 3 == 0 ? 100.0f : -40.0f));
    }
  }
  double errors[2] = {};
  for (const Slice* slice : {&around, &far}) {
    const Coded coded = encode(*tiers().back(), KvScheme::kInt4, *slice);
    const Slice decoded = decode(*tiers().back(), KvScheme::kInt4, slice->layout(), coded.bytes);
    for (std::uint32_t token = 0; token < kBlockTokens; ++token) {
      for (std::uint32_t i = 0; i < kD; ++i) {
        const double error = decoded.get(false, token, i) - slice->get(false, token, i);
        errors[slice == &far ? 1 : 0] += error * error;
        EXPECT_TRUE(token != 9 || error == 0);
      }
    }
  }
  // bf16 keeps the mean to 0.25 at 100, which the residuals take up.
  EXPECT_LE(errors[1], 1.5 * errors[0]);
}

// The values pin the coded forms: blocks on disk depend on them. Another coding is another scheme.
TEST(KvCodec, CodesOfAKnownSliceAreTheseBytes) {
  Slice slice(64, KvType::kF16);
  for (std::uint32_t token = 0; token < 30; ++token) {
    for (std::uint32_t i = 0; i < 64; ++i) {
      slice.set(false, token, i, static_cast<float>((token * 37 + i * 101) % 211) / 16 - 6);
      slice.set(true, token, i, static_cast<float>((token * 53 + i * 29) % 199) / 64 - 1);
    }
  }
  const Coded int8 = encode(*tiers().front(), KvScheme::kInt8, slice);
  const Coded int4 = encode(*tiers().front(), KvScheme::kInt4, slice);
  EXPECT_EQ(slice_checksum(int8.bytes.data(), int8.bytes.size()), 0xa06f8f91a94486a9u);
  EXPECT_EQ(slice_checksum(int4.bytes.data(), int4.bytes.size()), 0xf6cab0765a68b83fu);
}

}  // namespace
}  // namespace larder::kernels
