// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/pre_tokenizer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "test_paths.h"

namespace larder::tokenizer {
namespace {

std::vector<std::size_t> piece_bytes(const PreTokenizer& pre, const std::string& text) {
  std::vector<Piece> pieces;
  const Status status = pre.split(text, pieces);
  EXPECT_TRUE(status.ok());
  std::vector<std::size_t> bytes;
  std::uint32_t at = 0;
  for (const Piece piece : pieces) {
    EXPECT_EQ(piece.begin, at);
    EXPECT_LT(piece.begin, piece.end);
    at = piece.end;
    bytes.push_back(piece.end - piece.begin);
  }
  EXPECT_EQ(at, text.size());
  return bytes;
}

// make_pre_tokenizer_golden.py made the file with another engine of regular expressions.
TEST(PreTokenizer, EveryFamilyCutsAsHuggingFaceDoes) {
  std::ifstream in(LARDER_TEST_DATA "/tokenizer-vectors/pre-tokenizer-golden.jsonl");
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    const auto record = nlohmann::json::parse(line);
    const std::string text = record.at("text");
    for (const auto& [family, bytes] : record.at("splits").items()) {
      auto pre = PreTokenizer::create(family);
      ASSERT_TRUE(pre.ok()) << to_string(pre.error());
      EXPECT_EQ(piece_bytes(**pre, text), bytes.get<std::vector<std::size_t>>())
          << family << ", line " << lines << ": " << testing::PrintToString(text);
    }
  }
  EXPECT_EQ(lines, 400u);
}

TEST(PreTokenizer, AnUnknownNameIsRefusedWithTheKnownOnes) {
  const auto unknown = PreTokenizer::create("no-such-model");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(unknown.error().message.find("'no-such-model'"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("smollm"), std::string::npos);
  EXPECT_NE(PreTokenizer::create("").error().message.find("none"), std::string::npos);
}

TEST(PreTokenizer, SaysWhoseTextsBeginWithBos) {
  EXPECT_TRUE(begins_with_bos("llama-bpe"));
  EXPECT_TRUE(begins_with_bos("tekken"));
  EXPECT_FALSE(begins_with_bos("qwen2"));
  EXPECT_FALSE(begins_with_bos("no-such-model"));
}

TEST(PreTokenizer, BytesThatAreNotUtf8ArePiecesOfTheirOwn) {
  auto pre = PreTokenizer::create("gpt-2");
  ASSERT_TRUE(pre.ok());
  EXPECT_EQ(piece_bytes(**pre, "ab\xFF\xFE cd\xE2\x82"), (std::vector<std::size_t>{2, 2, 3, 2}));
  EXPECT_EQ(piece_bytes(**pre, "\x80"), (std::vector<std::size_t>{1}));
  EXPECT_EQ(piece_bytes(**pre, ""), (std::vector<std::size_t>{}));
}

TEST(PreTokenizer, LongRunsAreCutInOneGo) {
  for (const char* family : {"gpt-2", "smollm", "falcon", "llama-bpe", "qwen2", "deepseek-coder", "deepseek-llm",
                             "deepseek-v3", "tekken", "gpt-4o"}) {
    auto pre = PreTokenizer::create(family);
    ASSERT_TRUE(pre.ok());
    for (const std::string& unit : {std::string("a"), std::string(" "), std::string("\n"), std::string(" \n"),
                                    std::string("1"), std::string("!"), std::string("'s"), std::string("\xFF"),
                                    std::string("A"), std::string("Aa"), std::string("\u4E2D")}) {
      std::string text;
      while (text.size() < (std::size_t{1} << 18)) text += unit;
      text += "x";
      piece_bytes(**pre, text);
    }
  }
}

}  // namespace
}  // namespace larder::tokenizer
