// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/base/rng.h"
#include "runtime/engine/vocab_from_gguf.h"
#include "runtime/gguf/file.h"
#include "runtime/tokenizer/byte_alphabet.h"
#include "test_paths.h"

namespace larder::tokenizer {
namespace {

std::shared_ptr<const Tokenizer> create_or_die(Vocab vocab) {
  auto tokenizer = Tokenizer::create(std::move(vocab));
  EXPECT_TRUE(tokenizer.ok()) << to_string(tokenizer.error());
  return tokenizer.ok() ? std::move(tokenizer).value() : nullptr;
}

Vocab vocab_of(const std::string& path) {
  auto file = gguf::File::open(path);
  EXPECT_TRUE(file.ok()) << to_string(file.error());
  auto vocab = engine::read_vocab(**file);
  EXPECT_TRUE(vocab.ok()) << to_string(vocab.error());
  return std::move(vocab).value();
}

// 256 bytes, a few merges, two control tokens, a user-defined one and one that only looks user-defined.
Vocab bpe_vocab() {
  Vocab vocab;
  vocab.model = "gpt2";
  vocab.pre = "gpt-2";
  for (unsigned byte = 0; byte < 256; ++byte) vocab.tokens.push_back(byte_spelling(static_cast<std::uint8_t>(byte)));
  for (const char* token : {"aa", "aaaa", "ab", "<|im_start|>", "<|im_end|>", "[mark]", "<|tool|>"}) {
    vocab.tokens.emplace_back(token);
  }
  vocab.types.assign(vocab.tokens.size(), 1);
  vocab.types[259] = vocab.types[260] = 3;
  vocab.types[261] = vocab.types[262] = 4;
  vocab.merges = {"a a", "aa aa", "a b"};
  vocab.bos = 259;
  vocab.eos = 260;
  return vocab;
}

Vocab spm_vocab() {
  Vocab vocab;
  vocab.model = "llama";
  vocab.tokens = {"<unk>", "<s>", "</s>"};
  vocab.types = {2, 3, 3};
  vocab.scores = {0, 0, 0};
  const auto add = [&](const std::string& text, float score, std::int32_t type) {
    vocab.tokens.push_back(text);
    vocab.scores.push_back(score);
    vocab.types.push_back(type);
  };
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    add(text, 0, 6);
  }
  for (const char* text : {"\xE2\x96\x81", "a", "b", "<", "s", ">"}) add(text, -10, 1);
  add("ab", -1, 1);
  add("\xE2\x96\x81"
      "ab",
      -2, 1);
  add("<s", -3, 1);
  vocab.bos = 1;
  vocab.eos = 2;
  vocab.unknown = 0;
  vocab.add_bos = true;
  return vocab;
}

TEST(Tokenizer, MergesTheLowestRankFirstAndTheLeftmostOfEqualOnes) {
  const auto tokenizer = create_or_die(bpe_vocab());
  EXPECT_EQ(tokenizer->encode("aaa", true).value(), (std::vector<Token>{256, 'a'}));
  EXPECT_EQ(tokenizer->encode("aaaaa", true).value(), (std::vector<Token>{257, 'a'}));
  EXPECT_EQ(tokenizer->encode("aab", true).value(), (std::vector<Token>{256, 'b'}));
  EXPECT_EQ(tokenizer->encode("ab", true).value(), (std::vector<Token>{258}));
}

TEST(Tokenizer, ScoresDecideAndASpaceStandsInFrontOfSentencePieceText) {
  const auto tokenizer = create_or_die(spm_vocab());
  const Token space_ab = tokenizer->find_token(
      "\xE2\x96\x81"
      "ab");
  EXPECT_EQ(tokenizer->encode("ab", true).value(), (std::vector<Token>{space_ab}));
  EXPECT_EQ(tokenizer->decode(std::vector<Token>{1, space_ab, space_ab}), "ab ab");
  const auto bytes = tokenizer->encode("è", true).value();
  EXPECT_EQ(bytes, (std::vector<Token>{tokenizer->find_token("\xE2\x96\x81"), 3 + 0xC3, 3 + 0xA8}));
  EXPECT_EQ(tokenizer->decode(bytes), "è");
}

TEST(Tokenizer, ControlTokensAreFoundOnlyWhereNoByteIsMarked) {
  const auto tokenizer = create_or_die(bpe_vocab());
  MarkedText text;
  text.text = "<|im_start|>a<|im_end|>";
  EXPECT_EQ(tokenizer->encode(text).value().tokens, (std::vector<Token>{259, 'a', 260}));
  for (std::uint32_t begin = 13; begin < text.text.size(); ++begin) {
    for (std::uint32_t end = begin + 1; end <= text.text.size(); ++end) {
      text.untrusted = {{begin, end}};
      const auto tokens = tokenizer->encode(text).value().tokens;
      EXPECT_EQ(tokens.front(), 259);
      EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 260), 0) << begin << " to " << end;
    }
  }
}

TEST(Tokenizer, AControlTokenMadeOfTrustedAndMarkedHalvesStaysText) {
  const auto tokenizer = create_or_die(bpe_vocab());
  const MarkedText text{"<|im_end|>", {{4, 6}}};
  const auto tokens = tokenizer->encode(text).value().tokens;
  EXPECT_EQ(tokens.size(), text.text.size());
}

TEST(Tokenizer, UserDefinedTokensAreCutEverywhereUnlessTheySteerTheModel) {
  const auto tokenizer = create_or_die(bpe_vocab());
  EXPECT_EQ(tokenizer->encode("a[mark]", /*parse_special=*/false).value(), (std::vector<Token>{'a', 261}));
  EXPECT_TRUE(tokenizer->is_control(262));
  EXPECT_EQ(tokenizer->encode("<|tool|>", true).value(), (std::vector<Token>{262}));
  EXPECT_EQ(tokenizer->encode("<|tool|>", false).value().size(), 8u);
}

TEST(Tokenizer, MergesNeverMakeAControlToken) {
  Vocab bpe = bpe_vocab();
  bpe.tokens[258] = "<e>";
  bpe.types[258] = 3;
  bpe.merges = {"< e", "<e >"};
  for (const bool special : {false, true}) {
    const auto tokens = create_or_die(bpe)->encode("<e>", special).value();
    EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 258), special ? 1 : 0);
  }
  const auto spm = create_or_die(spm_vocab());
  const auto tokens = spm->encode("<s>", /*parse_special=*/false).value();
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 1), 0);
}

TEST(Tokenizer, OffsetsSayWhereEachTokenBegins) {
  const auto tokenizer = create_or_die(vocab_of(LARDER_TEST_DATA "/tokenizer-vectors/ggml-vocab-gpt-2.gguf"));
  const std::string text = "Buongiorno, è l'ora <|endoftext|> 日本 👍\xFF!";
  const auto encoding = tokenizer->encode(MarkedText{text, {}}).value();
  ASSERT_EQ(encoding.tokens.size(), encoding.offsets.size());
  for (std::size_t i = 0; i < encoding.tokens.size(); ++i) {
    const std::size_t end = i + 1 < encoding.offsets.size() ? encoding.offsets[i + 1] : text.size();
    const bool control = tokenizer->is_control(encoding.tokens[i]);
    const auto bytes = control ? tokenizer->token_text(encoding.tokens[i]) : tokenizer->token_bytes(encoding.tokens[i]);
    EXPECT_EQ(bytes, text.substr(encoding.offsets[i], end - encoding.offsets[i])) << "token " << i;
  }
}

TEST(Tokenizer, AnyBytesComeBackAndNeverHoldAControlToken) {
  const auto bpe = create_or_die(vocab_of(LARDER_TEST_DATA "/tokenizer-vectors/ggml-vocab-gpt-2.gguf"));
  const auto spm = create_or_die(vocab_of(LARDER_TEST_DATA "/tokenizer-vectors/ggml-vocab-phi-3.gguf"));
  Rng rng(11);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::uint64_t n = rng.below(40); text.size() < n;) {
      constexpr const char* kParts[] = {"<|end|>", "<s>",      "</s>", "<|endoftext|>", " ",
                                        "a",       "\xE2\x96", "\x81", "\xC3",          "9"};
      text +=
          rng.below(2) != 0 ? std::string(kParts[rng.below(10)]) : std::string(1, static_cast<char>(rng.below(256)));
    }
    for (const auto& tokenizer : {bpe, spm}) {
      const auto tokens = tokenizer->encode(text, /*parse_special=*/false).value();
      for (const Token token : tokens) EXPECT_FALSE(tokenizer->is_control(token)) << token;
      // U+2581 in the text is a space to SentencePiece, so such a text does not come back as it was.
      if (tokenizer == bpe || text.find("\xE2\x96\x81") == std::string::npos) {
        EXPECT_EQ(tokenizer->decode(tokens), text);
      }
    }
  }
}

TEST(Tokenizer, StoriesPromptsGiveTheReferenceIdsWithOneBos) {
  const auto tokenizer = create_or_die(vocab_of(LARDER_TEST_DATA "/models-tiny/stories260K-f32.gguf"));
  std::ifstream in(LARDER_TEST_DATA "/models-tiny/stories260K-greedy-reference.jsonl");
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    const auto record = nlohmann::json::parse(line);
    const std::string prompt = record.at("prompt");
    EXPECT_EQ(tokenizer->encode(prompt, false, BosRule::kOnce).value(),
              record.at("prompt_ids").get<std::vector<Token>>())
        << prompt;
  }
  EXPECT_EQ(lines, 6u);
}

TEST(Tokenizer, BosIsAddedOnceAndOnlyWhereTheFileSays) {
  Vocab vocab = bpe_vocab();
  EXPECT_EQ(create_or_die(vocab)->encode("b", true, BosRule::kOnce).value(), (std::vector<Token>{'b'}));
  vocab.add_bos = true;
  const auto tokenizer = create_or_die(vocab);
  EXPECT_EQ(tokenizer->encode("b", true, BosRule::kOnce).value(), (std::vector<Token>{259, 'b'}));
  EXPECT_EQ(tokenizer->encode("b", true, BosRule::kAsWritten).value(), (std::vector<Token>{'b'}));
  EXPECT_EQ(tokenizer->encode("<|im_start|>b", true, BosRule::kOnce).value(), (std::vector<Token>{259, 'b'}));
  EXPECT_EQ(tokenizer->encode("", true, BosRule::kOnce).value(), (std::vector<Token>{259}));
  vocab.bos = -1;
  EXPECT_EQ(create_or_die(vocab)->encode("b", true, BosRule::kOnce).value(), (std::vector<Token>{'b'}));
}

TEST(Tokenizer, OfSeveralBosAtTheStartOneIsKept) {
  for (const bool add_bos : {false, true}) {
    Vocab vocab = bpe_vocab();
    vocab.add_bos = add_bos;
    const auto tokenizer = create_or_die(vocab);
    MarkedText text{"<|im_start|><|im_start|>b<|im_start|><|im_start|>", {}};
    const Encoding once = tokenizer->encode(text, BosRule::kOnce).value();
    EXPECT_EQ(once.tokens, (std::vector<Token>{259, 'b', 259, 259}));
    EXPECT_EQ(once.offsets, (std::vector<std::uint32_t>{0, 24, 25, 37}));
    EXPECT_EQ(tokenizer->encode(text, BosRule::kAsWritten).value().tokens.size(), 5u);
    text.untrusted = {{12, 24}};
    const auto typed = tokenizer->encode(text, BosRule::kOnce).value().tokens;
    EXPECT_EQ(std::count(typed.begin(), typed.end(), 259), 3) << "what a stranger typed is text, and stays";
  }
}

TEST(Tokenizer, TheEndIsASetOfTokens) {
  Vocab vocab = bpe_vocab();
  vocab.more_end_tokens = {261};
  const auto tokenizer = create_or_die(vocab);
  EXPECT_TRUE(tokenizer->is_end_token(260));
  EXPECT_TRUE(tokenizer->is_end_token(261));
  EXPECT_FALSE(tokenizer->is_end_token(259));
  EXPECT_FALSE(tokenizer->is_end_token(-1));
  EXPECT_EQ(tokenizer->end_tokens().size(), 2u);
}

TEST(Tokenizer, IdsOutsideTheVocabularyStandForNothing) {
  const auto tokenizer = create_or_die(bpe_vocab());
  EXPECT_EQ(tokenizer->token_bytes(-1), "");
  EXPECT_EQ(tokenizer->token_bytes(1'000'000), "");
  EXPECT_EQ(tokenizer->token_bytes(259), "");
  EXPECT_EQ(tokenizer->token_text(259), "<|im_start|>");
  EXPECT_EQ(tokenizer->decode(std::vector<Token>{259, 'a', 260}), "a");
  EXPECT_EQ(tokenizer->decode(std::vector<Token>{259, 'a', 260}, /*with_control=*/true), "<|im_start|>a<|im_end|>");
}

TEST(Tokenizer, OneUnbrokenMegabyteTakesNearlyLinearTime) {
  const auto bpe = create_or_die(vocab_of(LARDER_TEST_DATA "/tokenizer-vectors/ggml-vocab-gpt-2.gguf"));
  const auto spm = create_or_die(vocab_of(LARDER_TEST_DATA "/tokenizer-vectors/ggml-vocab-phi-3.gguf"));
  const auto seconds = [](const Tokenizer& tokenizer, std::size_t bytes) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_GT(tokenizer.encode(std::string(bytes, 'a'), false).value().size(), 0u);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (const auto& tokenizer : {bpe, spm}) {
    const double eighth = seconds(*tokenizer, std::size_t{1} << 17);
    const double whole = seconds(*tokenizer, std::size_t{1} << 20);
    // n log n gives about 9; a quadratic merge gives 64.
    EXPECT_LT(whole, 30 * eighth + 0.05) << whole << " s";
  }
}

TEST(Tokenizer, TextBeyondTheBoundAndRangesOutOfOrderAreRefused) {
  const auto tokenizer = create_or_die(bpe_vocab());
  const auto text = tokenizer->encode(std::string(kMaxTextBytes + 1, 'a'), true);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, ErrorCode::kResourceExhausted);
  const std::vector<std::vector<ByteRange>> wrong = {{{0, 0}}, {{2, 1}}, {{0, 4}}, {{1, 3}, {2, 3}}, {{2, 3}, {0, 1}}};
  for (const auto& ranges : wrong) {
    const auto marked = tokenizer->encode(MarkedText{"abc", ranges});
    ASSERT_FALSE(marked.ok());
    EXPECT_EQ(marked.error().code, ErrorCode::kInvalidArgument);
  }
}

// What a vocabulary says wrongly, and the part of the message that names it.
struct Fault {
  const char* named;
  void (*spoil)(Vocab&);
};

void expect_refused(Vocab (*make)(), const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    Vocab vocab = make();
    fault.spoil(vocab);
    const auto tokenizer = Tokenizer::create(std::move(vocab));
    ASSERT_FALSE(tokenizer.ok()) << fault.named;
    EXPECT_NE(tokenizer.error().message.find(fault.named), std::string::npos) << to_string(tokenizer.error());
  }
}

TEST(Tokenizer, AVocabularyThatMakesNoSenseIsRefusedByName) {
  expect_refused(bpe_vocab, {
                                {"'bert'", [](Vocab& v) { v.model = "bert"; }},
                                {"'other'", [](Vocab& v) { v.pre = "other"; }},
                                {"0 tokens", [](Vocab& v) { v.tokens.clear(); }},
                                {"merges", [](Vocab& v) { v.merges.clear(); }},
                                {"entry 1", [](Vocab& v) { v.merges[1] = "aa"; }},
                                {"token_type has 1", [](Vocab& v) { v.types.resize(1); }},
                                {"type 7", [](Vocab& v) { v.types[3] = 7; }},
                                {"type -1", [](Vocab& v) { v.types[3] = -1; }},
                                {"eos_token_id is 263", [](Vocab& v) { v.eos = 263; }},
                                {"bos_token_id is -2", [](Vocab& v) { v.bos = -2; }},
                                {"eos_token_ids", [](Vocab& v) { v.more_end_tokens = {9999}; }},
                                {"token 5 has 2000", [](Vocab& v) { v.tokens[5].assign(2000, 'x'); }},
                                {"special token 261", [](Vocab& v) { v.tokens[261].assign(300, 'x'); }},
                            });
  expect_refused(spm_vocab,
                 {
                     {"scores has 2", [](Vocab& v) { v.scores.resize(2); }},
                     {"score of token 4", [](Vocab& v) { v.scores[4] = std::numeric_limits<float>::quiet_NaN(); }},
                     {"token 4 is a byte token", [](Vocab& v) { v.tokens[4] = "<0x-1>"; }},
                     {"some text has no tokens",
                      [](Vocab& v) {
                        v.types[4] = 1;
                        v.unknown = -1;
                      }},
                 });
}

}  // namespace
}  // namespace larder::tokenizer
