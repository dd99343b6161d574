// SPDX-License-Identifier: Apache-2.0
// MarkedString: text in which every byte knows where it came from: source 0 is the template (trusted), any other a part
// of a request (untrusted). Not a Unicode library: code points are counted, bytes that are no UTF-8 count one each.
// Units:   byte offsets, end exclusive, unless a name says characters.
// Errors:  none.    Threads: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace larder::chat_template {

using Source = std::uint32_t;
inline constexpr Source kTrusted = 0;

class MarkedString {
 public:
  struct Run {
    std::size_t end = 0;
    Source source = kTrusted;
  };

  MarkedString() = default;
  explicit MarkedString(std::string_view bytes, Source source = kTrusted) { append(bytes, source); }

  const std::string& bytes() const { return bytes_; }
  const std::vector<Run>& runs() const { return runs_; }  // cover the bytes; neighbours differ
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

  void append(std::string_view bytes, Source source);
  void append(const MarkedString& other) { append(other, 0, other.size()); }
  void append(const MarkedString& other, std::size_t begin, std::size_t end);
  MarkedString slice(std::size_t begin, std::size_t end) const;

  Source source_at(std::size_t byte) const;  // Requires: byte < size()
  Source first_untrusted() const;            // kTrusted when there is none

 private:
  std::string bytes_;
  std::vector<Run> runs_;
};

// Length in bytes of the UTF-8 character at `byte`; 1 where there is none.
std::size_t character_bytes(std::string_view text, std::size_t byte);
std::size_t count_characters(std::string_view text);
// Byte offset of a character; text.size() when there are fewer.
std::size_t character_offset(std::string_view text, std::size_t character);

// What Python's str methods of the same name do. `chars` null: white space.
MarkedString strip(const MarkedString& text, const std::string* chars, bool left, bool right);
MarkedString replace(const MarkedString& text, std::string_view from, const MarkedString& to, std::int64_t count);
std::vector<MarkedString> split(const MarkedString& text, std::int64_t max_splits);  // at white space
std::vector<MarkedString> split(const MarkedString& text, std::string_view separator, std::int64_t max_splits);

// Case of letters of ASCII, Latin-1, Latin Extended-A, Cyrillic up to U+045F and Greek without accents; others stay.
enum class Case : std::uint8_t { kLower, kUpper, kCapitalised };
MarkedString change_case(const MarkedString& text, Case wanted);

}  // namespace larder::chat_template
