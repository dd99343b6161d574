// SPDX-License-Identifier: Apache-2.0
#include "storage/sealed_block.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "kernels/layout/checksum.h"
#include "runtime/base/rng.h"
#include "tests/storage/block_maker.h"

namespace larder::storage {
namespace {

using test::block_of;
using test::payload_of;

std::shared_ptr<const CipherKey> key(Cipher cipher, std::uint8_t fill = 3) {
  SealKey bytes;
  bytes.fill(fill);
  return std::make_shared<const CipherKey>(cipher, bytes);
}

ExtentPlace place(const StoredBlock& block, Cipher cipher) { return {block.scope, format_word(cipher), 7, 41}; }

struct Stored {
  std::vector<std::byte> bytes;
  std::uint64_t checksum = 0;
};

Stored seal(const StoredBlock& block, const ExtentPlace& at, Cipher cipher) {
  const auto payload = payload_of(block);
  BlockSealer sealer(key(cipher), at, block, payload);
  Stored stored;
  stored.checksum = sealer.checksum();
  std::vector<std::byte> piece(kStagingPiece);
  while (const std::size_t size = sealer.fill(piece)) {
    stored.bytes.insert(stored.bytes.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return stored;
}

struct Opened {
  Miss miss = Miss::kNone;
  std::vector<std::byte> into;
  std::uint64_t checksum = 0;
  bool all_zero() const {
    return std::all_of(into.begin(), into.end(), [](std::byte byte) { return byte == std::byte{0}; });
  }
};

Opened open(const std::vector<std::byte>& stored, const StoredBlock& expected, const ExtentPlace& at, Cipher cipher,
            std::uint8_t key_fill = 3) {
  Opened result;
  result.into.resize(expected.payload_bytes());
  BlockOpener opener(key(cipher, key_fill), at, expected, result.into);
  for (std::size_t from = 0; from < stored.size() && result.miss == Miss::kNone; from += kStagingPiece) {
    result.miss = opener.take(std::span(stored).subspan(from, std::min(kStagingPiece, stored.size() - from)));
  }
  if (result.miss == Miss::kNone) result.miss = opener.finish();
  result.checksum = opener.checksum();
  return result;
}

class SealedBlocks : public ::testing::TestWithParam<Cipher> {};
INSTANTIATE_TEST_SUITE_P(BothCiphers, SealedBlocks, ::testing::Values(Cipher::kAes256Gcm, Cipher::kXChaCha20Poly1305));

TEST_P(SealedBlocks, OpenAsTheyWereSealedWhateverTheSize) {
  // One page, just over a page, one piece, several pieces.
  for (const auto& [slices, slice_bytes] : {std::pair{1u, 64u}, {7u, 576u}, {16u, 32'768u}, {33u, 65'536u}}) {
    const StoredBlock block = block_of(1, 5, slices, slice_bytes);
    const ExtentPlace at = place(block, GetParam());
    const Stored stored = seal(block, at, GetParam());
    EXPECT_EQ(stored.bytes.size(), extent_bytes(slices, slice_bytes));
    const Opened opened = open(stored.bytes, block, at, GetParam());
    ASSERT_EQ(opened.miss, Miss::kNone);
    EXPECT_EQ(opened.into, payload_of(block));
    EXPECT_EQ(opened.checksum, stored.checksum);
  }
}

TEST_P(SealedBlocks, ChecksumIsTheLayoutsOwn) {
  const kernels::KvLayout layout{2, 3, 16, kernels::KvType::kF16};
  const StoredBlock block = block_of(1, 5, static_cast<std::uint32_t>(layout.slice_count()),
                                     static_cast<std::uint32_t>(layout.slice_bytes()));
  const auto payload = payload_of(block);
  EXPECT_EQ(seal(block, place(block, GetParam()), GetParam()).checksum,
            kernels::block_checksum(layout, payload.data()));
}

TEST_P(SealedBlocks, NothingOfThemIsInClear) {
  const StoredBlock block = block_of(1, 5, 4, 4096);
  const Stored stored = seal(block, place(block, GetParam()), GetParam());
  const auto contains = [&](const void* bytes, std::size_t size) {
    return ::memmem(stored.bytes.data(), stored.bytes.size(), bytes, size) != nullptr;
  };
  EXPECT_FALSE(contains(block.tokens.data(), 16));
  EXPECT_FALSE(contains(block.key.data(), 8));
  EXPECT_FALSE(contains(block.parent.data(), 8));
  EXPECT_FALSE(contains(block.identity.data(), 8));
  EXPECT_FALSE(contains(block.scope.data(), 8));
  const auto payload = payload_of(block);
  for (std::size_t at = 0; at + 16 <= payload.size(); at += 1024) EXPECT_FALSE(contains(payload.data() + at, 16));
  EXPECT_NE(seal(block, place(block, GetParam()), GetParam()).bytes, stored.bytes);  // a fresh nonce each time
}

TEST_P(SealedBlocks, AnotherBlockThanExpectedIsNamed) {
  const StoredBlock block = block_of(1, 5, 4, 4096);
  const ExtentPlace at = place(block, GetParam());
  const Stored stored = seal(block, at, GetParam());
  const auto miss_with = [&](auto change) {
    StoredBlock expected = block;
    change(expected);
    const Opened opened = open(stored.bytes, expected, at, GetParam());
    EXPECT_TRUE(opened.all_zero());
    return opened.miss;
  };
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.identity[31] ^= 1; }), Miss::kWrongIdentity);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.key[0] ^= 1; }), Miss::kWrongKey);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.parent[9] ^= 1; }), Miss::kWrongParent);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.first_position += 32; }), Miss::kWrongPosition);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.tokens[31] += 1; }), Miss::kWrongTokens);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.valid_tokens = 31; }), Miss::kWrongTokens);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.scheme = 1; }), Miss::kWrongScheme);
  const auto miss_at = [&](auto change, std::uint8_t key_fill) {
    ExtentPlace other = at;
    change(other);
    return open(stored.bytes, block, other, GetParam(), key_fill).miss;
  };
  EXPECT_EQ(miss_at([](ExtentPlace& p) { p.scope[0] ^= 1; }, 3), Miss::kNotAuthentic);
  EXPECT_EQ(miss_at([](ExtentPlace& p) { p.extent += 1; }, 3), Miss::kWrongExtent);
  EXPECT_EQ(miss_at([](ExtentPlace& p) { p.generation += 1; }, 3), Miss::kStaleGeneration);
  EXPECT_EQ(miss_at([](ExtentPlace& p) { p.version += 1; }, 3), Miss::kFormat);
  EXPECT_EQ(miss_at([](ExtentPlace&) {}, 4), Miss::kNotAuthentic);
  EXPECT_EQ(miss_at([](ExtentPlace&) {}, 3), Miss::kNone);
}

// S3: each byte of a stored 64 KiB block flipped by one random bit, all bits of header, facts and tag, every cut, every
// sector zeroed.
TEST_P(SealedBlocks, EveryFlippedByteEveryCutAndEveryZeroedSectorIsRefused) {
  const StoredBlock block = block_of(1, 5, 8, 8192);
  const ExtentPlace at = place(block, GetParam());
  const Stored stored = seal(block, at, GetParam());
  int passed = 0;
  int failed = 0;
  const auto expect_refused = [&](const std::vector<std::byte>& damaged) {
    const Opened opened = open(damaged, block, at, GetParam());
    const bool refused = opened.miss != Miss::kNone && opened.all_zero();
    refused ? ++passed : ++failed;
  };
  Rng rng(11);
  std::vector<std::byte> damaged = stored.bytes;
  const std::size_t step = GetParam() == fastest_cipher() ? 1 : 7;  // the other one is several times as slow
  for (std::size_t i = 0; i < stored.bytes.size(); i += step) {
    const bool all_bits = i < 512 || i + 4096 > stored.bytes.size();
    for (unsigned bit = 0; bit < (all_bits ? 8u : 1u); ++bit) {
      const auto flip = static_cast<std::byte>(1u << (all_bits ? bit : rng.below(8)));
      damaged[i] ^= flip;
      expect_refused(damaged);
      damaged[i] ^= flip;
    }
  }
  for (std::size_t cut = 0; cut < stored.bytes.size(); cut += cut < 512 ? 1 : 512) {
    expect_refused({stored.bytes.begin(), stored.bytes.begin() + static_cast<std::ptrdiff_t>(cut)});
  }
  for (std::size_t sector = 0; sector + 512 <= stored.bytes.size() - 4096; sector += 512) {
    std::memset(damaged.data() + sector, 0, 512);
    expect_refused(damaged);
    std::memcpy(damaged.data() + sector, stored.bytes.data() + sector, 512);
  }
  std::printf("every byte flipped: %d passed, %d failed\n", passed, failed);
  EXPECT_EQ(failed, 0);
  EXPECT_GT(passed, step == 1 ? 65'536 : 10'000);
  const Opened control = open(damaged, block, at, GetParam());  // undamaged again
  EXPECT_EQ(control.miss, Miss::kNone);
  EXPECT_EQ(control.into, payload_of(block));
}

TEST(SealedBlock, SliceChecksumIsLookedAtBehindTheSeal) {
  // Sealed by a writer whose memory went bad between the checksum and the sealing: the seal holds, the slice does not.
  const StoredBlock block = block_of(1, 5, 4, 1024);
  const ExtentPlace at = place(block, Cipher::kAes256Gcm);
  auto payload = payload_of(block);
  BlockSealer sealer(key(Cipher::kAes256Gcm), at, block, payload);
  payload[3000] ^= std::byte{4};
  std::vector<std::byte> piece(kStagingPiece);
  piece.resize(sealer.fill(piece));
  const Opened opened = open(piece, block, at, Cipher::kAes256Gcm);
  EXPECT_EQ(opened.miss, Miss::kSliceChecksum);
  EXPECT_TRUE(opened.all_zero());
}

// Slices are summed while pieces are opened: those that lie in one piece, in two, and over several; the first, the last
// and every byte that may be looked at on its own.
TEST(SealedBlock, ASliceThatDoesNotHoldIsFoundWhereverItEnds) {
  for (const auto& [slices, slice_bytes] :
       {std::pair{90u, 8192u}, {7u, 576u}, {5u, 200u << 10}, {3u, 600u << 10}, {2u, 64u}}) {
    const StoredBlock block = block_of(1, 5, slices, slice_bytes);
    const ExtentPlace at = place(block, Cipher::kAes256Gcm);
    const std::size_t size = block.payload_bytes();
    for (const std::size_t damaged : {std::size_t{0}, std::size_t{slice_bytes} - 1, size / 2, size - 64, size - 1}) {
      auto payload = payload_of(block);
      BlockSealer sealer(key(Cipher::kAes256Gcm), at, block, payload);
      payload[damaged] ^= std::byte{4};
      std::vector<std::byte> stored;
      std::vector<std::byte> piece(kStagingPiece);
      while (const std::size_t bytes = sealer.fill(piece)) {
        stored.insert(stored.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(bytes));
      }
      const Opened opened = open(stored, block, at, Cipher::kAes256Gcm);
      EXPECT_EQ(opened.miss, Miss::kSliceChecksum) << slices << " slices, byte " << damaged;
      EXPECT_TRUE(opened.all_zero());
    }
  }
}

TEST(SealedBlock, ImpossibleShapesAreKnown) {
  const StoredBlock good = block_of(1, 5, 4, 1024);
  EXPECT_TRUE(shape_is_possible(good));
  for (const auto& change : std::vector<std::function<void(StoredBlock&)>>{
           [](StoredBlock& b) { b.valid_tokens = 0; }, [](StoredBlock& b) { b.valid_tokens = 33; },
           [](StoredBlock& b) { b.slice_count = 0; }, [](StoredBlock& b) { b.slice_count = kMaxSlices + 1; },
           [](StoredBlock& b) { b.slice_bytes = 0; }, [](StoredBlock& b) { b.slice_bytes = 100; },
           [](StoredBlock& b) { b.slice_count = 32'768, b.slice_bytes = 0xffffffc0u; }}) {
    StoredBlock bad = good;
    change(bad);
    EXPECT_FALSE(shape_is_possible(bad));
  }
}

}  // namespace
}  // namespace larder::storage
