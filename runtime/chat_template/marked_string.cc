// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/marked_string.h"

#include <algorithm>

namespace larder::chat_template {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

char32_t decode(std::string_view text, std::size_t at, std::size_t length) {
  if (length == 1) return byte_at(text, at);
  char32_t code = byte_at(text, at) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (byte_at(text, at + i) & 0x3fu);
  return code;
}

void encode(char32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0u | (code >> 6));
    out += static_cast<char>(0x80u | (code & 0x3fu));
  } else {
    out += static_cast<char>(0xe0u | (code >> 12));
    out += static_cast<char>(0x80u | ((code >> 6) & 0x3fu));
    out += static_cast<char>(0x80u | (code & 0x3fu));
  }
}

// Source: the characters for which Python's str.isspace() is true.
bool is_space(char32_t c) {
  return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool in_set(std::string_view text, std::size_t at, std::size_t length, const std::string* chars) {
  if (chars == nullptr) return is_space(decode(text, at, length));
  const std::string_view wanted = text.substr(at, length);
  for (std::size_t i = 0; i < chars->size(); i += character_bytes(*chars, i)) {
    if (std::string_view(*chars).substr(i, character_bytes(*chars, i)) == wanted) return true;
  }
  return false;
}

// Source: Unicode case mapping of the blocks named in change_case, one character to one.
char32_t lower(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  if (c >= 0xc0 && c <= 0xde && c != 0xd7) return c + 32;
  if (c == 0x178) return 0xff;
  if ((c >= 0x100 && c <= 0x12f) || (c >= 0x132 && c <= 0x137) || (c >= 0x14a && c <= 0x177)) return c | 1u;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e)) return (c & 1u) != 0 ? c + 1 : c;
  if (c >= 0x391 && c <= 0x3a9 && c != 0x3a2) return c + 32;
  if (c >= 0x410 && c <= 0x42f) return c + 32;
  if (c >= 0x400 && c <= 0x40f) return c + 80;
  return c;
}

char32_t upper(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z' ? c - 32 : c;
  if (c == 0xff) return 0x178;
  if (c >= 0xe0 && c <= 0xfe && c != 0xf7) return c - 32;
  if (c == 0x131) return 'I';
  if ((c >= 0x100 && c <= 0x12f) || (c >= 0x132 && c <= 0x137) || (c >= 0x14a && c <= 0x177)) return c & ~char32_t{1};
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e)) return (c & 1u) == 0 ? c - 1 : c;
  if (c >= 0x3b1 && c <= 0x3c9) return c == 0x3c2 ? 0x3a3 : c - 32;
  if (c >= 0x430 && c <= 0x44f) return c - 32;
  if (c >= 0x450 && c <= 0x45f) return c - 80;
  return c;
}

}  // namespace

void MarkedString::append(std::string_view bytes, Source source) {
  if (bytes.empty()) return;
  bytes_ += bytes;
  if (!runs_.empty() && runs_.back().source == source) {
    runs_.back().end = bytes_.size();
  } else {
    runs_.push_back(Run{bytes_.size(), source});
  }
}

void MarkedString::append(const MarkedString& other, std::size_t begin, std::size_t end) {
  end = std::min(end, other.size());
  auto run = std::upper_bound(other.runs_.begin(), other.runs_.end(), begin,
                              [](std::size_t value, const Run& one) { return value < one.end; });
  while (begin < end) {
    const std::size_t stop = std::min(end, run->end);
    append(std::string_view(other.bytes_).substr(begin, stop - begin), run->source);
    begin = stop;
    ++run;
  }
}

MarkedString MarkedString::slice(std::size_t begin, std::size_t end) const {
  MarkedString part;
  part.append(*this, begin, end);
  return part;
}

Source MarkedString::source_at(std::size_t byte) const {
  return std::upper_bound(runs_.begin(), runs_.end(), byte,
                          [](std::size_t value, const Run& one) { return value < one.end; })
      ->source;
}

Source MarkedString::first_untrusted() const {
  for (const Run& run : runs_) {
    if (run.source != kTrusted) return run.source;
  }
  return kTrusted;
}

std::size_t character_bytes(std::string_view text, std::size_t byte) {
  const unsigned first = byte_at(text, byte);
  const std::size_t length = first >= 0xf8u ? 1 : first >= 0xf0u ? 4 : first >= 0xe0u ? 3 : first >= 0xc0u ? 2 : 1;
  if (length > text.size() - byte) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, byte + i) & 0xc0u) != 0x80u) return 1;
  }
  return length;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); i += character_bytes(text, i)) ++count;
  return count;
}

std::size_t character_offset(std::string_view text, std::size_t character) {
  std::size_t byte = 0;
  while (character > 0 && byte < text.size()) {
    byte += character_bytes(text, byte);
    --character;
  }
  return byte;
}

MarkedString strip(const MarkedString& text, const std::string* chars, bool left, bool right) {
  const std::string_view bytes = text.bytes();
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  while (left && begin < end) {
    const std::size_t length = character_bytes(bytes, begin);
    if (!in_set(bytes, begin, length, chars)) break;
    begin += length;
  }
  while (right && end > begin) {
    std::size_t last = end - 1;
    while (last > begin && end - last < 4 && (byte_at(bytes, last) & 0xc0u) == 0x80u) --last;
    if (last + character_bytes(bytes, last) != end) last = end - 1;
    if (!in_set(bytes, last, end - last, chars)) break;
    end = last;
  }
  return text.slice(begin, end);
}

MarkedString replace(const MarkedString& text, std::string_view from, const MarkedString& to, std::int64_t count) {
  MarkedString out;
  const std::string& bytes = text.bytes();
  std::size_t at = 0;
  while (count != 0) {
    std::size_t found = bytes.find(from, at);
    if (from.empty()) {  // between all characters, as Python does
      out.append(to);
      if (at >= bytes.size()) return out;
      found = at + character_bytes(bytes, at);
      out.append(text, at, found);
      at = found;
    } else {
      if (found == std::string::npos) break;
      out.append(text, at, found);
      out.append(to);
      at = found + from.size();
    }
    if (count > 0) --count;
  }
  out.append(text, at, bytes.size());
  return out;
}

std::vector<MarkedString> split(const MarkedString& text, std::int64_t max_splits) {
  std::vector<MarkedString> parts;
  const std::string_view bytes = text.bytes();
  std::size_t at = 0;
  while (true) {
    while (at < bytes.size() && in_set(bytes, at, character_bytes(bytes, at), nullptr)) {
      at += character_bytes(bytes, at);
    }
    if (at >= bytes.size()) return parts;
    if (max_splits >= 0 && static_cast<std::int64_t>(parts.size()) >= max_splits) {
      parts.push_back(text.slice(at, bytes.size()));
      return parts;
    }
    const std::size_t begin = at;
    while (at < bytes.size() && !in_set(bytes, at, character_bytes(bytes, at), nullptr)) {
      at += character_bytes(bytes, at);
    }
    parts.push_back(text.slice(begin, at));
  }
}

std::vector<MarkedString> split(const MarkedString& text, std::string_view separator, std::int64_t max_splits) {
  std::vector<MarkedString> parts;
  std::size_t at = 0;
  while (max_splits < 0 || static_cast<std::int64_t>(parts.size()) < max_splits) {
    const std::size_t found = text.bytes().find(separator, at);
    if (found == std::string::npos) break;
    parts.push_back(text.slice(at, found));
    at = found + separator.size();
  }
  parts.push_back(text.slice(at, text.size()));
  return parts;
}

MarkedString change_case(const MarkedString& text, Case wanted) {
  MarkedString out;
  const std::string_view bytes = text.bytes();
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character_bytes(bytes, at);
    const Source source = text.source_at(at);
    const bool to_upper = wanted == Case::kUpper || (wanted == Case::kCapitalised && at == 0);
    if ((length == 1 && byte_at(bytes, at) >= 0x80u) || length > 2) {
      out.append(bytes.substr(at, length), source);
    } else {
      const char32_t code = decode(bytes, at, length);
      std::string changed;
      if (to_upper && code == 0xdf) {
        changed.append(wanted == Case::kUpper ? "SS" : "Ss", 2);
      } else {
        encode(to_upper ? upper(code) : lower(code), changed);
      }
      out.append(changed, source);
    }
    at += length;
  }
  return out;
}

}  // namespace larder::chat_template
