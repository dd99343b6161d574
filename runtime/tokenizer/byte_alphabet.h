// SPDX-License-Identifier: Apache-2.0
// The alphabet in which byte-level BPE vocabularies are spelled: every byte has one printable character, so that a
// vocabulary file holds text. It knows nothing of tokens.
// Threads: any.
// Source:  openai/gpt-2 encoder.py, bytes_to_unicode: printable Latin-1 bytes stand for themselves, the others take the
//          code points from U+0100 on, in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace larder::tokenizer {

// The UTF-8 spelling of one byte.
std::string byte_spelling(std::uint8_t byte);

// The bytes a spelled token stands for; characters outside the alphabet stay as they are.
std::string bytes_of_spelling(std::string_view spelling);

}  // namespace larder::tokenizer
