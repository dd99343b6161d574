// SPDX-License-Identifier: Apache-2.0
// Bpe: merges the bytes of one piece by rank. Symbols are vocabulary ids, and further numbers behind them for spellings
// that only occur inside merges.
// Bounds:   time O(n log n) and about 30 bytes of memory per byte of the piece.
// Threads:  const after build; any.
// Source:   Sennrich, Haddow & Birch 2016; the lowest rank first, the leftmost of equal ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"

namespace larder::tokenizer {

struct Encoding;
using TokenIndex = std::unordered_map<std::string_view, Token>;

// A hash table from a pair of symbols to what becomes of it; open addressing, because it is asked for every pair of
// every text.
class MergeTable {
 public:
  struct Merge {
    std::uint32_t rank = 0xffffffffu;  // 0xffffffff: this pair is not merged
    std::int32_t symbol = -1;
  };

  explicit MergeTable(std::size_t merges = 0);
  // The first merge of a pair keeps it.
  void add(std::int32_t left, std::int32_t right, Merge merge);
  Merge find(std::int32_t left, std::int32_t right) const;

 private:
  struct Slot {
    std::uint64_t pair = ~std::uint64_t{0};
    Merge merge;
  };
  std::size_t slot_of(std::uint64_t pair) const;

  std::vector<Slot> slots_;
  std::uint64_t mask_;
};

class Bpe {
 public:
  // `index` gives the id of a spelling that text may become (never a control token). Errors: kCorrupt (a merge without
  // two sides).
  static Result<Bpe> build(const std::vector<std::string>& merges, const TokenIndex& index, std::size_t n_tokens);

  // Appends the tokens of `piece`; `origin` is where the piece begins in the text. A byte that has no token is left
  // out, as the tokenizers these vocabularies were made with do.
  void encode(std::string_view piece, std::uint32_t origin, Encoding& out) const;

 private:
  struct Symbol {
    std::uint32_t previous;
    std::uint32_t next;
    std::int32_t symbol;
  };
  std::int32_t symbol_of(std::string_view spelling, const TokenIndex& index,
                         std::unordered_map<std::string, std::int32_t>& further);
  void emit(std::int32_t symbol, std::string_view bytes, std::uint32_t origin, Encoding& out) const;

  MergeTable merges_;
  std::array<std::int32_t, 256> byte_symbols_{};
  std::int32_t n_tokens_ = 0;
  std::int32_t next_symbol_ = 0;
};

}  // namespace larder::tokenizer
