// SPDX-License-Identifier: Apache-2.0
// PreTokenizer: cuts text into the pieces inside which byte-level BPE merges. Each model family has a list of
// expressions that run one after the other on the pieces so far; what an expression leaves unmatched stays a piece.
// Bounds:   linear in the text: no expression here backtracks over more than one run per match.
// Errors:   create: kUnsupported (no such name; the message lists the known ones). split: kInternal.
// Threads:  const after create; any.
// Source:   pre_tokenizer of each model's Hugging Face tokenizer.json; names as in the GGUF key tokenizer.ggml.pre.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace larder::tokenizer {

struct Piece {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// Whether the models with this pre-tokenizer were trained on texts that begin with BOS, where their file does not say.
bool begins_with_bos(std::string_view pre);

class PreTokenizer {
 public:
  static Result<std::unique_ptr<const PreTokenizer>> create(std::string_view pre);
  ~PreTokenizer();
  PreTokenizer(const PreTokenizer&) = delete;
  PreTokenizer& operator=(const PreTokenizer&) = delete;

  // Ensures: the pieces cover the text in order, none is empty. Runs of bytes that are not UTF-8 are pieces.
  Status split(std::string_view text, std::vector<Piece>& pieces) const;

  // True where a piece that is a token as a whole is taken before any merging.
  bool ignore_merges() const { return ignore_merges_; }

 private:
  class Expression;
  PreTokenizer();

  std::vector<std::unique_ptr<Expression>> expressions_;
  bool ignore_merges_ = false;
};

}  // namespace larder::tokenizer
