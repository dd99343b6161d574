// SPDX-License-Identifier: Apache-2.0
// Lexer: template source to tokens, with white space control settled (trim_blocks and lstrip_blocks on, one newline at
// the very end dropped, line ends made \n), comments gone and raw blocks turned into text.
// Errors:  kInvalidArgument naming the line.    Threads: any.
// Source:  Jinja 3.1 documentation, "Whitespace Control" and "Template Designer Documentation".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace larder::chat_template {

enum class TokenKind : std::uint8_t {
  kText,
  kPrintBegin,
  kPrintEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kInteger,
  kFloat,
  kString,
  kOperator,
  kEnd,
};

struct LexToken {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // strings: unescaped
  std::uint32_t line = 0;
};

// Ends with one kEnd.
Result<std::vector<LexToken>> tokenize_template(std::string_view source);

Error template_error(ErrorCode code, std::uint32_t line, const std::string& message);

}  // namespace larder::chat_template
