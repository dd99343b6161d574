// SPDX-License-Identifier: Apache-2.0
// SpecialCutter: finds the tokens that are cut out of the text before anything else: control tokens where the text is
// trusted, user-defined tokens everywhere. At each place the longest one wins, from left to right.
// Bounds:   at most kMaxSpecialBytes steps per byte of text.    Threads: const after the last add; any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/marked_text.h"

namespace larder::tokenizer {

inline constexpr std::size_t kMaxSpecialBytes = 256;

struct Cut {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  Token token = -1;
};

class SpecialCutter {
 public:
  SpecialCutter() : nodes_(1) {}

  // Requires: text not empty, at most kMaxSpecialBytes. The first token of a spelling keeps it.
  void add(std::string_view text, Token token, bool control);

  // Ensures: cuts in order, not overlapping; no control token touches a byte of `untrusted`.
  void find(std::string_view text, std::span<const ByteRange> untrusted, std::vector<Cut>& cuts) const;

 private:
  struct Node {
    std::map<char, std::uint32_t> next;
    Token token = -1;
    bool control = false;
  };

  // The longest token at `at` whose control tokens end at or before `trusted_end`.
  Cut longest_at(std::string_view text, std::uint32_t at, std::uint32_t trusted_end) const;

  std::vector<Node> nodes_;
};

}  // namespace larder::tokenizer
