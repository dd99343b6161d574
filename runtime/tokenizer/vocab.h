// SPDX-License-Identifier: Apache-2.0
// Vocab: everything a model file says about its tokenizer, as plain values. It checks nothing: Tokenizer::create does.
// Threads: value.
// Source:  ggml-org/ggml docs/gguf.md, keys tokenizer.ggml.*.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/ids.h"

namespace larder::tokenizer {

enum class TokenType : std::uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

struct Vocab {
  std::string model;                // "gpt2" (byte-level BPE) or "llama" (SentencePiece BPE with scores)
  std::string pre;                  // name of the pre-tokenizer; "" or "default" where the file has none
  std::vector<std::string> tokens;  // by id, as the file spells them
  std::vector<float> scores;        // by id; required for "llama"
  std::vector<std::int32_t> types;  // TokenType by id; empty: all normal
  std::vector<std::string> merges;  // "left right", best first; required for "gpt2"
  Token bos = -1;                   // -1: none
  Token eos = -1;
  Token eot = -1;
  Token eom = -1;
  Token unknown = -1;
  Token padding = -1;
  std::vector<Token> more_end_tokens;  // tokenizer.ggml.eos_token_ids and the like
  bool add_bos = false;
  bool add_eos = false;
  bool add_space_prefix = true;  // "llama" only: a space stands before the first text
  bool ignore_merges = false;    // "gpt2": a piece that is a token as a whole is taken before merging
};

}  // namespace larder::tokenizer
