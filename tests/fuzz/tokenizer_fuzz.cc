// SPDX-License-Identifier: Apache-2.0
// A stranger's text through a small vocabulary of each kind: every byte comes back, no control token is made of it, and
// the stream decoder gives valid UTF-8. The first byte chooses the pre-tokenizer.
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/invariant.h"
#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/utf8_stream.h"

namespace {

using namespace larder;
using tokenizer::Tokenizer;
using tokenizer::Vocab;

constexpr std::array<const char*, 6> kPre = {"gpt-2", "smollm", "falcon", "llama-bpe", "qwen2", "deepseek-coder"};

std::shared_ptr<const Tokenizer> make_bpe(const char* pre) {
  Vocab vocab;
  vocab.model = "gpt2";
  vocab.pre = pre;
  for (unsigned byte = 0; byte < 256; ++byte) {
    vocab.tokens.push_back(tokenizer::byte_spelling(static_cast<std::uint8_t>(byte)));
  }
  for (const char* token : {"aa", "aaaa", "ab",
                            "\xC4\xA0"
                            "a",
                            "<|im_start|>", "<|im_end|>", "[mark]"}) {
    vocab.tokens.emplace_back(token);
  }
  vocab.types.assign(vocab.tokens.size(), 1);
  vocab.types[260] = vocab.types[261] = 3;
  vocab.types[262] = 4;
  vocab.merges = {"a a", "aa aa", "a b", "\xC4\xA0 a"};
  vocab.eos = 261;
  auto made = Tokenizer::create(std::move(vocab));
  INVARIANT(made.ok());
  return std::move(made).value();
}

std::shared_ptr<const Tokenizer> make_spm() {
  Vocab vocab;
  vocab.model = "llama";
  vocab.tokens = {"<unk>", "<s>", "</s>", "a", "aa", "ab", "<s", "aaaa"};
  vocab.types = {2, 3, 3, 1, 1, 1, 1, 1};
  vocab.scores = {0, 0, 0, -9, -1, -2, -3, -4};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    vocab.tokens.emplace_back(text);
    vocab.types.push_back(6);
    vocab.scores.push_back(0);
  }
  vocab.eos = 2;
  auto made = Tokenizer::create(std::move(vocab));
  INVARIANT(made.ok());
  return std::move(made).value();
}

std::string stream_of(const Tokenizer& tokenizer, const std::vector<Token>& tokens) {
  tokenizer::Utf8Stream stream;
  std::string out;
  for (const Token token : tokens) out += stream.push(tokenizer.token_bytes(token));
  return out;
}

void check(const Tokenizer& tokenizer, const std::string& text, bool exact) {
  const MarkedText marked{text, text.empty() ? std::vector<ByteRange>{}
                                             : std::vector<ByteRange>{{0, static_cast<std::uint32_t>(text.size())}}};
  const auto encoding = tokenizer.encode(marked);
  INVARIANT(encoding.ok());
  INVARIANT(encoding->tokens.size() == encoding->offsets.size());
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < encoding->tokens.size(); ++i) {
    INVARIANT(!tokenizer.is_control(encoding->tokens[i]));
    INVARIANT(encoding->offsets[i] >= last && encoding->offsets[i] < text.size());
    last = encoding->offsets[i];
  }
  if (exact) INVARIANT(tokenizer.decode(encoding->tokens) == text);
  const std::string streamed = stream_of(tokenizer, encoding->tokens);
  INVARIANT(tokenizer::to_valid_utf8(streamed) == streamed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto bpe = [] {
    std::array<std::shared_ptr<const Tokenizer>, kPre.size()> all;
    for (std::size_t i = 0; i < kPre.size(); ++i) all[i] = make_bpe(kPre[i]);
    return all;
  }();
  static const auto spm = make_spm();
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check(*bpe[data[0] % kPre.size()], text, /*exact=*/true);
  // This vocabulary spells a space with three byte tokens of U+2581, so only text without either comes back.
  check(*spm, text, /*exact=*/false);
  return 0;
}
