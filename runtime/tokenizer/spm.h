// SPDX-License-Identifier: Apache-2.0
// Spm: merges the characters of a text by score, as SentencePiece's BPE does: of all neighbours that together are a
// token, those with the highest score first, the leftmost of equal ones. What is no token in the end is spelled in byte
// tokens.
// Bounds:   time O(n log n); a merge is looked up only up to the longest token's length.
// Threads:  const after build; any.
// Source:   Kudo & Richardson 2018; google/sentencepiece src/bpe_model.cc (order of merges).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/tokenizer/bpe.h"

namespace larder::tokenizer {

class Spm {
 public:
  // `index` gives the id of a spelling that text may become (never a control or byte token); it and `scores` are by id
  // and must outlive the Spm. byte_tokens: -1 where the vocabulary has none.
  Spm(const TokenIndex& index, const std::vector<float>& scores, const std::array<Token, 256>& byte_tokens,
      Token unknown, std::size_t longest_token_bytes);

  // Appends the tokens of `text`, which begins at `origin`. With `space_before` a space stands in front of it.
  void encode(std::string_view text, std::uint32_t origin, bool space_before, Encoding& out) const;

 private:
  struct Symbol {
    std::uint32_t begin;  // in the spelled text
    std::uint32_t bytes;  // 0: merged away
    std::uint32_t origin;
    std::uint32_t previous;
    std::uint32_t next;
  };
  struct Candidate {
    float score;
    std::uint32_t left;
    std::uint32_t bytes;  // of both together; another number means the candidate is stale
  };
  class Run;

  void emit(const Symbol& symbol, std::string_view spelled, Encoding& out) const;

  const TokenIndex& index_;
  const std::vector<float>& scores_;
  std::array<Token, 256> byte_tokens_;
  Token unknown_;
  std::size_t longest_token_bytes_;
};

}  // namespace larder::tokenizer
