// SPDX-License-Identifier: Apache-2.0
// MarkedText: text with the parts that strangers wrote. A chat template makes it, the tokenizer reads it: inside a
// marked range no control token is ever recognised, however the bytes look. Units:    byte offsets, end exclusive.
// Requires: ranges ordered, not empty, not overlapping, inside the text. Threads:  value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace larder {

struct ByteRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct MarkedText {
  std::string text;
  std::vector<ByteRange> untrusted;
};

}  // namespace larder
