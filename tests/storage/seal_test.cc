// SPDX-License-Identifier: Apache-2.0
#include "storage/seal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

namespace larder::storage {
namespace {

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

SealKey key(std::uint8_t fill) {
  SealKey made;
  made.fill(fill);
  return made;
}

TEST(Seal, WrappedSecretOpensOnlyWithItsKeyAndItsName) {
  const auto wrapped = wrap(key(1), bytes("a secret"), bytes("tenant 3"));
  EXPECT_EQ(wrapped.size(), 8 + kWrapOverhead);
  EXPECT_EQ(*unwrap(key(1), wrapped, bytes("tenant 3")), bytes("a secret"));
  EXPECT_EQ(unwrap(key(2), wrapped, bytes("tenant 3")).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(unwrap(key(1), wrapped, bytes("tenant 4")).error().code, ErrorCode::kCorrupt);
}

TEST(Seal, EveryAlteredByteAndEveryCutIsRefused) {
  const auto wrapped = wrap(key(1), bytes("a secret"), {});
  for (std::size_t at = 0; at < wrapped.size(); ++at) {
    auto altered = wrapped;
    altered[at] ^= 0x10;
    EXPECT_FALSE(unwrap(key(1), altered, {}).ok()) << at;
    EXPECT_FALSE(unwrap(key(1), std::span(wrapped).first(at), {}).ok()) << at;
  }
}

TEST(Seal, NothingIsWrappedTwiceAlike) {
  EXPECT_NE(wrap(key(1), bytes("a"), {}), wrap(key(1), bytes("a"), {}));
}

class SealStreams : public ::testing::TestWithParam<Cipher> {};
INSTANTIATE_TEST_SUITE_P(BothCiphers, SealStreams, ::testing::Values(Cipher::kAes256Gcm, Cipher::kXChaCha20Poly1305));

std::vector<std::byte> message(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

// Seals in pieces of the given sizes; the rest in one.
SealTag seal_in(std::initializer_list<std::size_t> sizes, Cipher cipher, std::vector<std::byte>& text,
                const std::string& associated) {
  const CipherKey with(cipher, key(5));
  SealNonce nonce{};
  nonce[3] = 9;
  SealStream stream(SealStream::Direction::kSeal, with, nonce, bytes(associated));
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    const auto piece = std::span(text).subspan(at, size);
    stream.update(piece, piece);
    at += size;
  }
  const auto rest = std::span(text).subspan(at);
  stream.update(rest, rest);
  return stream.finish();
}

bool opens(Cipher cipher, std::vector<std::byte> text, const SealTag& tag, const std::string& associated,
           std::uint8_t key_fill = 5, std::uint8_t nonce_byte = 9) {
  const CipherKey with(cipher, key(key_fill));
  SealNonce nonce{};
  nonce[3] = nonce_byte;
  SealStream stream(SealStream::Direction::kOpen, with, nonce, bytes(associated));
  stream.update(text, text);
  return stream.opened_whole(tag) && text == message(text.size());
}

TEST_P(SealStreams, PiecesGiveTheSameAsTheWhole) {
  auto whole = message(1000);
  auto pieces = whole;
  const SealTag tag = seal_in({}, GetParam(), whole, "block 3");
  EXPECT_EQ(seal_in({64, 128, 640}, GetParam(), pieces, "block 3"), tag);
  EXPECT_EQ(pieces, whole);
  EXPECT_NE(whole, message(1000));
  EXPECT_TRUE(opens(GetParam(), whole, tag, "block 3"));
}

TEST_P(SealStreams, AnotherKeyNonceNameTagOrByteDoesNotOpen) {
  auto text = message(333);
  const SealTag tag = seal_in({}, GetParam(), text, "block 3");
  EXPECT_FALSE(opens(GetParam(), text, tag, "block 4"));
  EXPECT_FALSE(opens(GetParam(), text, tag, "block 3", 6));
  EXPECT_FALSE(opens(GetParam(), text, tag, "block 3", 5, 8));
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto altered = text;
    altered[at] ^= std::byte{1};
    ASSERT_FALSE(opens(GetParam(), altered, tag, "block 3")) << at;
  }
  for (std::size_t at = 0; at < tag.size(); ++at) {
    SealTag altered = tag;
    altered[at] ^= 0x80;
    EXPECT_FALSE(opens(GetParam(), text, altered, "block 3")) << at;
  }
}

TEST(SealStream, XChaChaInPiecesIsTheLibrarysConstruction) {
  // wrap() is nonce | ciphertext | tag of the library's one-shot form.
  const std::string text(200, 'x');
  const auto wrapped = wrap(key(5), bytes(text), bytes("block 3"));
  SealNonce nonce;
  std::copy_n(wrapped.begin(), nonce.size(), nonce.begin());
  SealTag tag;
  std::copy_n(wrapped.end() - 16, tag.size(), tag.begin());
  std::vector<std::byte> sealed(text.size());
  std::memcpy(sealed.data(), wrapped.data() + nonce.size(), sealed.size());
  const CipherKey with(Cipher::kXChaCha20Poly1305, key(5));
  SealStream stream(SealStream::Direction::kOpen, with, nonce, bytes("block 3"));
  stream.update(std::span(sealed).first(64), std::span(sealed).first(64));
  stream.update(std::span(sealed).subspan(64), std::span(sealed).subspan(64));
  EXPECT_TRUE(stream.opened_whole(tag));
  EXPECT_EQ(std::memcmp(sealed.data(), text.data(), text.size()), 0);
}

TEST(SealStream, AesGcmMatchesThePublishedVector) {
  // Test case 15 of the GCM specification (McGrew & Viega): 256-bit key, no associated data.
  const SealKey secret{0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08,
                       0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08};
  const SealNonce nonce{0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
  const unsigned char plain[] = {
      0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59, 0x09, 0xc5, 0xaf, 0xf5, 0x26, 0x9a,
      0x86, 0xa7, 0xa9, 0x53, 0x15, 0x34, 0xf7, 0xda, 0x2e, 0x4c, 0x30, 0x3d, 0x8a, 0x31, 0x8a, 0x72,
      0x1c, 0x3c, 0x0c, 0x95, 0x95, 0x68, 0x09, 0x53, 0x2f, 0xcf, 0x0e, 0x24, 0x49, 0xa6, 0xb5, 0x25,
      0xb1, 0x6a, 0xed, 0xf5, 0xaa, 0x0d, 0xe6, 0x57, 0xba, 0x63, 0x7b, 0x39, 0x1a, 0xaf, 0xd2, 0x55};
  const SealTag wanted{0xb0, 0x94, 0xda, 0xc5, 0xd9, 0x34, 0x71, 0xbd, 0xec, 0x1a, 0x50, 0x22, 0x70, 0xe3, 0xcc, 0x6c};
  std::vector<std::byte> text(sizeof plain);
  std::memcpy(text.data(), plain, sizeof plain);
  const CipherKey with(Cipher::kAes256Gcm, secret);
  SealStream stream(SealStream::Direction::kSeal, with, nonce, {});
  stream.update(text, text);
  EXPECT_EQ(stream.finish(), wanted);
  EXPECT_EQ(text[0], std::byte{0x52});
}

TEST(Seal, DerivedKeysDifferByPurposeAndMaster) {
  const std::set<SealKey> keys{derive_key(key(1), "a"), derive_key(key(1), "b"), derive_key(key(2), "a")};
  EXPECT_EQ(keys.size(), 3u);
  EXPECT_EQ(derive_key(key(1), "a"), derive_key(key(1), "a"));
}

TEST(Seal, ComparisonAndWipeDoWhatTheySay) {
  Digest256 a{};
  Digest256 b{};
  EXPECT_TRUE(equal_constant_time(a, b));
  b[31] = 1;
  EXPECT_FALSE(equal_constant_time(a, b));
  wipe(b);
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace larder::storage
