// SPDX-License-Identifier: Apache-2.0
// Tokenizer: text to token ids and back for one vocabulary: byte-level BPE and SentencePiece BPE with byte fallback. It
// adds BOS only when asked and knows no chat template.
// Bounds:   text up to kMaxTextBytes; time O(n log n) in the text, also on one unbroken run; text need not be UTF-8.
// Errors:   create: kUnsupported (model or pre-tokenizer by name), kInvalidArgument or kCorrupt (which field, which
// id).
//           encode: kResourceExhausted (text too long), kInvalidArgument (ranges), kInternal (regular expression
//           limit). Messages never hold text.
// Threads:  const after create; any.
// Source:   byte-level BPE: openai/gpt-2 encoder.py; pre-tokenizer expressions: Hugging Face tokenizer.json of each
// model;
//           SentencePiece BPE with scores: Kudo & Richardson 2018.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/marked_text.h"
#include "runtime/base/result.h"
#include "runtime/tokenizer/vocab.h"

namespace larder::tokenizer {

inline constexpr std::size_t kMaxTextBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMaxVocabTokens = std::size_t{1} << 20;

enum class BosRule : std::uint8_t {
  kOnce,      // one, when the file asks for it or the text begins with any; never two
  kAsWritten  // those in the text
};

// Ensures: tokens and offsets have the same length; offsets never fall; token i begins at byte offsets[i] of the text.
// A BOS that was added, and a space that SentencePiece put in front, begin at the byte they stand before.
struct Encoding {
  std::vector<Token> tokens;
  std::vector<std::uint32_t> offsets;
};

class Tokenizer {
 public:
  static Result<std::shared_ptr<const Tokenizer>> create(Vocab vocab);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // First the tokens that stand as they are: control tokens where no byte of them is marked, user-defined ones
  // everywhere; at each place the longest. A user-defined token that is spelled like <|this|> or ends a turn counts as
  // control. Ensures: no token that begins in a marked range is a control token, save a SentencePiece vocabulary's own
  // unknown token; text is tokenized across range borders.
  Result<Encoding> encode(const MarkedText& text, BosRule bos = BosRule::kAsWritten) const;
  // The same for one kind of text. parse_special false: the whole text is a stranger's.
  Result<std::vector<Token>> encode(std::string_view text, bool parse_special, BosRule bos = BosRule::kAsWritten) const;

  // The bytes the token stands for: "" for control and unused tokens and for ids outside the vocabulary.
  std::string_view token_bytes(Token id) const;
  // As the vocabulary spells it ("<|im_end|>", "▁the"); "" outside it.
  std::string_view token_text(Token id) const;
  // Bytes of all tokens in order; control tokens by their spelling when `with_control`. SentencePiece: the space that
  // encode puts in front is taken away again.
  std::string decode(std::span<const Token> tokens, bool with_control = false) const;

  bool is_end_token(Token id) const;  // one of eos, eot, eom and the file's further ones
  bool is_control(Token id) const;
  std::span<const Token> end_tokens() const;
  Token find_token(std::string_view text) const;  // by spelling; -1: none

  std::size_t vocab_size() const;
  Token bos() const;
  Token eos() const;
  bool add_bos() const;

 private:
  struct Tables;
  explicit Tokenizer(std::unique_ptr<const Tables> tables);
  Result<Encoding> encode_ranges(std::string_view text, std::span<const ByteRange> untrusted, BosRule bos) const;
  Status encode_plain(std::string_view text, std::uint32_t origin, bool space_before, Encoding& out) const;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace larder::tokenizer
