// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/byte_alphabet.h"

#include <array>

#include "runtime/tokenizer/utf8_stream.h"

namespace larder::tokenizer {
namespace {

constexpr std::size_t kAlphabetEnd = 0x144;  // 256 + the 68 bytes that do not stand for themselves

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<std::uint16_t, 256> code_point{};
  std::array<std::int16_t, kAlphabetEnd> byte{};  // -1: no byte is spelled so
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (auto& byte : alphabet.byte) byte = -1;
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const unsigned code_point = stands_for_itself(byte) ? byte : next++;
    alphabet.code_point[byte] = static_cast<std::uint16_t>(code_point);
    alphabet.byte[code_point] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string byte_spelling(std::uint8_t byte) {
  const unsigned code_point = kAlphabet.code_point[byte];
  if (code_point < 0x80) return std::string(1, static_cast<char>(code_point));
  return {static_cast<char>(0xC0 | (code_point >> 6)), static_cast<char>(0x80 | (code_point & 0x3F))};
}

std::string bytes_of_spelling(std::string_view spelling) {
  std::string bytes;
  bytes.reserve(spelling.size());
  while (!spelling.empty()) {
    const Utf8Unit unit = next_utf8_unit(spelling);
    const auto first = static_cast<std::uint8_t>(spelling.front());
    unsigned code_point = first;
    if (unit.complete && unit.bytes == 2) {
      code_point = ((first & 0x1Fu) << 6) | (static_cast<std::uint8_t>(spelling[1]) & 0x3Fu);
    }
    const bool spelled =
        unit.complete && unit.bytes <= 2 && code_point < kAlphabetEnd && kAlphabet.byte[code_point] >= 0;
    if (spelled) {
      bytes += static_cast<char>(kAlphabet.byte[code_point]);
    } else {
      bytes += spelling.substr(0, unit.bytes);
    }
    spelling.remove_prefix(unit.bytes);
  }
  return bytes;
}

}  // namespace larder::tokenizer
