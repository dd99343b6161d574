// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/utf8_stream.h"

#include <gtest/gtest.h>

#include "runtime/base/rng.h"

namespace larder::tokenizer {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

TEST(Utf8Stream, ACharacterComesOnlyWhenItIsComplete) {
  const std::string text = "è日👍";
  Utf8Stream stream;
  std::string out;
  for (const char byte : text) {
    const std::string piece = stream.push({&byte, 1});
    EXPECT_TRUE(piece.empty() || piece == "è" || piece == "日" || piece == "👍") << piece;
    out += piece;
  }
  EXPECT_EQ(out, text);
  EXPECT_EQ(stream.held_bytes(), 0u);
}

TEST(Utf8Stream, BytesThatCannotBeginACharacterAreReplacedAtOnce) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("a\xFF\x80z"), std::string("a") + kReplacement + kReplacement + "z");
  EXPECT_EQ(stream.held_bytes(), 0u);
}

TEST(Utf8Stream, OverlongFormsSurrogatesAndTooHighValuesAreReplaced) {
  EXPECT_EQ(to_valid_utf8("\xC0\xAF"), std::string(kReplacement) + kReplacement);
  EXPECT_EQ(to_valid_utf8("\xED\xA0\x80"), std::string(kReplacement) + kReplacement + kReplacement);
  EXPECT_EQ(to_valid_utf8("\xF4\x90\x80\x80"), std::string(kReplacement) + kReplacement + kReplacement + kReplacement);
  EXPECT_EQ(to_valid_utf8("\xE2\x82"), kReplacement);
  EXPECT_EQ(to_valid_utf8("\xF0\x9F\x92z"), std::string(kReplacement) + "z");
}

TEST(Utf8Stream, AnUnfinishedCharacterIsHeldUntilItIsWholeOrCannotBe) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("ok\xF0\x9F"), "ok");
  EXPECT_EQ(stream.held_bytes(), 2u);
  EXPECT_EQ(stream.push("a\xF0\x9F\x91"), std::string(kReplacement) + "a");
  EXPECT_EQ(stream.held_bytes(), 3u);
  EXPECT_EQ(stream.push("\x8D"), "👍");
}

TEST(Utf8Stream, AnyBytesInAnyPiecesGiveTheSameValidText) {
  Rng rng(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (std::uint64_t n = rng.below(24); bytes.size() < n;) {
      constexpr std::uint8_t kTelling[] = {0x41, 0x80, 0xBF, 0xC2, 0xE0, 0xA0, 0xED,
                                           0x9F, 0xF0, 0x90, 0xF4, 0x8F, 0xFF};
      bytes += static_cast<char>(kTelling[rng.below(sizeof kTelling)]);
    }
    Utf8Stream stream;
    std::string out;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t step = 1 + rng.below(4);
      out += stream.push(std::string_view(bytes).substr(at, step));
      EXPECT_LE(stream.held_bytes(), 3u);
      at += step;
    }
    EXPECT_EQ(out, to_valid_utf8(std::string_view(bytes).substr(0, bytes.size() - stream.held_bytes())));
    if (stream.held_bytes() > 0) {
      EXPECT_EQ(out + kReplacement, to_valid_utf8(bytes)) << "only an unfinished character is held";
    }
    EXPECT_EQ(to_valid_utf8(out), out);
  }
}

}  // namespace
}  // namespace larder::tokenizer
