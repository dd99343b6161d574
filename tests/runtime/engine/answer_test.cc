// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/answer.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "runtime/tokenizer/byte_alphabet.h"

namespace larder::engine {
namespace {

constexpr Token kEnd = 256;

tokenizer::Vocab byte_level_bpe() {
  tokenizer::Vocab vocab;
  vocab.model = "gpt2";
  vocab.pre = "gpt-2";
  for (int byte = 0; byte < 256; ++byte)
    vocab.tokens.push_back(tokenizer::byte_spelling(static_cast<std::uint8_t>(byte)));
  vocab.tokens.insert(vocab.tokens.end(), {"<|end|>", "aa"});
  vocab.types.assign(258, 1);
  vocab.types[kEnd] = 3;
  vocab.merges = {"a a"};
  vocab.eos = kEnd;
  return vocab;
}

tokenizer::Vocab spm_with_byte_fallback() {
  tokenizer::Vocab vocab;
  vocab.model = "llama";
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    vocab.tokens.emplace_back(text);
  }
  vocab.types.assign(256, 6);
  vocab.tokens.emplace_back("</s>");
  vocab.types.push_back(3);
  vocab.scores.assign(257, 0);
  vocab.eos = kEnd;
  return vocab;
}

// In both vocabularies token n stands for the byte n.
class AnswerOf : public ::testing::TestWithParam<tokenizer::Vocab (*)()> {
 protected:
  Answer answer(std::vector<std::string> stops = {}, bool want_tokens = false) {
    return Answer(0, tokenizer_, std::move(stops), false, want_tokens);
  }

  struct Told {
    std::string text;
    std::vector<TokenText> tokens;
    bool ended = false;

    void add(const std::optional<Piece>& piece) {
      if (!piece) return;
      text += piece->text;
      tokens.insert(tokens.end(), piece->tokens.begin(), piece->tokens.end());
    }
  };

  // The whole answer made of these bytes; an end that no token gave is the length's.
  static Told tell(Answer answer, std::string_view bytes, bool with_end_token = false) {
    Told told;
    const auto push = [&](Token token) {
      const Answer::Out out = answer.push({token, -0.5f, {}});
      told.add(out.piece);
      told.ended = out.ended;
    };
    for (const char byte : bytes) {
      push(static_cast<unsigned char>(byte));
      if (told.ended) return told;
    }
    if (with_end_token) {
      push(kEnd);
    } else {
      told.add(answer.finish());
    }
    return told;
  }

  const std::shared_ptr<const tokenizer::Tokenizer> tokenizer_ = tokenizer::Tokenizer::create(GetParam()()).value();
};

INSTANTIATE_TEST_SUITE_P(Vocabulary, AnswerOf, ::testing::Values(byte_level_bpe, spm_with_byte_fallback),
                         [](const auto& vocab) { return vocab.index == 0 ? "bpe" : "spm"; });

TEST_P(AnswerOf, ACharacterCutByTheEndIsLeftOutWhateverEndedIt) {
  const std::string text = "caffè 👍";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    std::string whole = text.substr(0, length);
    if (length == 5) whole = "caff";
    if (length > 7 && length < text.size()) whole = "caffè ";
    for (const bool with_end_token : {false, true}) {
      EXPECT_EQ(tell(answer(), text.substr(0, length), with_end_token).text, whole);
      EXPECT_EQ(tell(answer({"never", "👎"}), text.substr(0, length), with_end_token).text, whole);
    }
  }
}

TEST_P(AnswerOf, BytesThatAreNoCharacterAreReplacedInsideTheText) {
  EXPECT_EQ(tell(answer(), "a\xE2\x82z").text, "a\xEF\xBF\xBDz");
  EXPECT_EQ(tell(answer(), "a\xFF").text, "a\xEF\xBF\xBD") << "no byte could complete it";
  EXPECT_EQ(tell(answer(), "\xE2\x82\xE2\x82").text, "\xEF\xBF\xBD") << "the second could have become one";
}

TEST_P(AnswerOf, WhatLookedLikeAStopStringIsGivenOutButNoHalfCharacterBehindIt) {
  EXPECT_EQ(tell(answer({"</end>"}), "a</e\xF0\x9F").text, "a</e");
  const Told stopped = tell(answer({"€"}), "5 €\xF0");
  EXPECT_EQ(stopped.text, "5 ");
  EXPECT_TRUE(stopped.ended);
  EXPECT_EQ(tell(answer({"€"}), "5 \xE2\x82").text, "5 ");
}

TEST_P(AnswerOf, EveryTokenIsToldWithItsOwnBytesThoughTheCharacterIsLeftOut) {
  const Told told = tell(answer({}, true), "é\xF0\x9F");
  EXPECT_EQ(told.text, "é");
  ASSERT_EQ(told.tokens.size(), 4u);
  std::string bytes;
  for (const TokenText& token : told.tokens) bytes += token.text;
  EXPECT_EQ(bytes, "é\xF0\x9F");
}

}  // namespace
}  // namespace larder::engine
