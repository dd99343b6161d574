// SPDX-License-Identifier: Apache-2.0
// Tokenizer::Tables: a checked vocabulary and what is derived from it. Made once by Tokenizer::create; the views inside
// point into `vocab`, so it is never moved or changed afterwards.
// Errors:  fill: as Tokenizer::create says.    Threads: const after create; any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tokenizer/bpe.h"
#include "runtime/tokenizer/pre_tokenizer.h"
#include "runtime/tokenizer/special_cutter.h"
#include "runtime/tokenizer/spm.h"
#include "runtime/tokenizer/tokenizer.h"

namespace larder::tokenizer {

struct Tokenizer::Tables {
  explicit Tables(Vocab from) : vocab(std::move(from)) {}
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  Status fill();
  // The id of a piece that is a token as a whole; -1: none.
  Token find_piece(std::string_view piece) const;

  // Whether the token is cut out of the text before anything else is looked at.
  bool is_cut(Token id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= types.size()) return false;
    return is_control[static_cast<std::size_t>(id)] != 0 ||
           types[static_cast<std::size_t>(id)] == TokenType::kUserDefined;
  }

  const Vocab vocab;
  std::vector<TokenType> types;          // by id
  std::vector<std::uint8_t> is_control;  // by id; also user-defined tokens that steer the model
  std::vector<Token> end_tokens;         // sorted
  TokenIndex all;                        // spelling to id, every token
  TokenIndex mergeable;                  // what text may become: no control, byte or unused tokens
  std::string bytes;                     // of all tokens, end to end
  std::vector<std::uint32_t> bytes_at;   // token i is bytes[bytes_at[i], bytes_at[i + 1])
  SpecialCutter cutter;
  std::unique_ptr<const PreTokenizer> pre_tokenizer;  // byte-level BPE only
  std::optional<Bpe> bpe;
  std::optional<Spm> spm;

 private:
  Status check_sizes() const;
  Status check_special(std::string_view name, Token id) const;
  Status fill_types();
  Status fill_special();
  void fill_ends();
  void fill_index();
  void fill_bytes();
  std::string bytes_of(std::size_t id) const;
  Status fill_spm();
  Status fill_bpe();
};

// The byte a token spelled "<0xNN>" stands for; -1 for any other spelling.
int byte_of_spelling(std::string_view spelling);

}  // namespace larder::tokenizer
