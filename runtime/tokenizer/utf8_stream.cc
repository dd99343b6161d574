// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/utf8_stream.h"

#include <cstdint>

namespace larder::tokenizer {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct SecondByte {
  std::uint8_t low;
  std::uint8_t high;
};

// Length a first byte asks for; 0 for one that cannot begin a character.
std::size_t sequence_bytes(std::uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

// The second byte is narrower after four first bytes: no overlong forms, no surrogates, nothing past U+10FFFF.
SecondByte second_byte(std::uint8_t first) {
  switch (first) {
    case 0xE0: return {0xA0, 0xBF};
    case 0xED: return {0x80, 0x9F};
    case 0xF0: return {0x90, 0xBF};
    case 0xF4: return {0x80, 0x8F};
    default: return {0x80, 0xBF};
  }
}

// Gives the complete characters of `text` to `out`, replacing ill-formed parts; answers where an unfinished one begins.
std::size_t copy_complete(std::string_view text, std::string& out) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Unit unit = next_utf8_unit(text.substr(at));
    if (unit.needs_more) break;
    out += unit.complete ? text.substr(at, unit.bytes) : kReplacement;
    at += unit.bytes;
  }
  return at;
}

}  // namespace

Utf8Unit next_utf8_unit(std::string_view text) {
  const auto first = static_cast<std::uint8_t>(text.front());
  const std::size_t wanted = sequence_bytes(first);
  if (wanted == 0) return {1, false, false};
  const SecondByte second = second_byte(first);
  for (std::size_t i = 1; i < wanted; ++i) {
    if (i == text.size()) return {i, false, true};
    const auto byte = static_cast<std::uint8_t>(text[i]);
    const std::uint8_t low = i == 1 ? second.low : 0x80;
    const std::uint8_t high = i == 1 ? second.high : 0xBF;
    if (byte < low || byte > high) return {i, false, false};
  }
  return {wanted, true, false};
}

std::string Utf8Stream::push(std::string_view bytes) {
  held_ += bytes;
  std::string out;
  held_.erase(0, copy_complete(held_, out));
  return out;
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  if (copy_complete(text, out) < text.size()) out += kReplacement;
  return out;
}

}  // namespace larder::tokenizer
