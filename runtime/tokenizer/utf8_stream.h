// SPDX-License-Identifier: Apache-2.0
// Utf8Stream: bytes of tokens in, whole characters out. What is given out is always valid UTF-8: the beginning of a
// character is held back until it is complete, bytes that can never become one turn into U+FFFD. What is held back when
// the text ends is no character and is never given out: an answer may be cut anywhere.
// Bounds:  holds back at most 3 bytes.    Threads: value, one owner.
// Source:  Unicode 15 table 3-7 (well-formed sequences) and section 3.9 (one U+FFFD per maximal subpart).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace larder::tokenizer {

class Utf8Stream {
 public:
  // Takes bytes and gives the characters that are now complete.
  std::string push(std::string_view bytes);
  std::size_t held_bytes() const { return held_.size(); }

 private:
  std::string held_;
};

// One look at the front of `bytes`. Ensures: bytes >= 1; complete: a well-formed character of that many bytes;
// otherwise `needs_more` says that further bytes could still complete it, else it is a maximal subpart to replace.
struct Utf8Unit {
  std::size_t bytes = 1;
  bool complete = false;
  bool needs_more = false;
};
// Requires: text not empty.
Utf8Unit next_utf8_unit(std::string_view text);

// `text` with every ill-formed part replaced by U+FFFD.
std::string to_valid_utf8(std::string_view text);

}  // namespace larder::tokenizer
