// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/lexer.h"

#include <algorithm>
#include <array>

namespace larder::chat_template {
namespace {

constexpr std::size_t kMaxTokens = 200'000;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string normalise(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
      out += '\n';
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

void append_utf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr std::array<std::uint32_t, 4> kLead = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(kLead[static_cast<std::size_t>(more)] | (code >> (6 * more)));
  for (int shift = 6 * (more - 1); shift >= 0; shift -= 6) {
    out += static_cast<char>(0x80u | ((code >> shift) & 0x3fu));
  }
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  Result<std::vector<LexToken>> run() {
    while (at_ < source_.size()) {
      if (tokens_.size() > kMaxTokens) return fail("the template is too long");
      RETURN_IF_ERROR(text_then_tag());
    }
    push(TokenKind::kEnd, {});
    return std::move(tokens_);
  }

 private:
  Error fail(const std::string& message) const { return template_error(ErrorCode::kInvalidArgument, line_, message); }

  void push(TokenKind kind, std::string text) { tokens_.push_back(LexToken{kind, std::move(text), line_}); }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void advance(std::size_t count) {
    const std::size_t end = std::min(source_.size(), at_ + count);
    for (; at_ < end; ++at_) line_ += source_[at_] == '\n' ? 1 : 0;
  }

  void skip_blanks() {
    while (at_ < source_.size() && is_blank(source_[at_])) advance(1);
  }

  void push_text(std::string text) {
    if (text.empty()) return;
    if (!tokens_.empty() && tokens_.back().kind == TokenKind::kText) {
      tokens_.back().text += text;
    } else {
      push(TokenKind::kText, std::move(text));
    }
  }

  // White space before a tag: all of it for `-`, else the indentation of a block or comment that stands first on its
  // line.
  void trim_before(std::string& text, char sign, bool block) const {
    if (sign == '-') {
      while (!text.empty() && is_blank(text.back())) text.pop_back();
    } else if (sign != '+' && block) {
      const std::size_t newline = text.rfind('\n');
      const std::size_t line_begin = newline == std::string::npos ? 0 : newline + 1;
      if ((line_begin > 0 || at_line_start_) && text.find_first_not_of(" \t", line_begin) == std::string::npos) {
        text.resize(line_begin);
      }
    }
  }

  Status text_then_tag() {
    std::size_t tag = at_;
    while (true) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source_.size()) {
        push_text(source_.substr(at_));
        advance(source_.size());
        return {};
      }
      const char next = source_[tag + 1];
      if (next == '{' || next == '%' || next == '#') break;
      ++tag;
    }
    std::string text = source_.substr(at_, tag - at_);
    const char type = source_[tag + 1];
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    const bool signed_tag = sign == '-' || sign == '+';
    trim_before(text, signed_tag ? sign : '\0', type != '{');
    push_text(std::move(text));
    advance(tag - at_ + (signed_tag ? 3 : 2));
    at_line_start_ = false;
    if (type == '#') return comment();
    return type == '{' ? print() : block();
  }

  // Behind a closed tag: white space for `-`, one newline for blocks and comments.
  void trim_after(char sign, bool block) {
    const std::size_t begin = at_;
    if (sign == '-') {
      skip_blanks();
    } else if (sign != '+' && block && peek() == '\n') {
      advance(1);
    }
    at_line_start_ = at_ > begin && source_[at_ - 1] == '\n';
  }

  Status comment() {
    const std::size_t end = source_.find("#}", at_);
    if (end == std::string::npos) return fail("a comment is not closed");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    advance(end + 2 - at_);
    trim_after(sign, true);
    return {};
  }

  Status print() {
    push(TokenKind::kPrintBegin, {});
    return expression(TokenKind::kPrintEnd, '}');
  }

  Status block() {
    const std::size_t saved = at_;
    const std::uint32_t saved_line = line_;
    skip_blanks();
    if (source_.compare(at_, 3, "raw") == 0 && (is_blank(peek(3)) || peek(3) == '%' || peek(3) == '-')) {
      advance(3);
      return raw();
    }
    at_ = saved;
    line_ = saved_line;
    push(TokenKind::kBlockBegin, {});
    return expression(TokenKind::kBlockEnd, '%');
  }

  Status raw() {
    skip_blanks();
    const bool minus = peek() == '-';
    if (minus) advance(1);
    if (peek() != '%' || peek(1) != '}') return fail("the tag of a raw block is not closed");
    advance(2);
    trim_after(minus ? '-' : '\0', true);
    for (std::size_t tag = source_.find("{%", at_); tag != std::string::npos; tag = source_.find("{%", tag + 2)) {
      std::size_t name = tag + 2;
      const char sign = name < source_.size() ? source_[name] : '\0';
      if (sign == '-' || sign == '+') ++name;
      while (name < source_.size() && is_blank(source_[name])) ++name;
      if (source_.compare(name, 6, "endraw") != 0) continue;
      std::string text = source_.substr(at_, tag - at_);
      trim_before(text, sign == '-' || sign == '+' ? sign : '\0', true);
      push_text(std::move(text));
      advance(name + 6 - at_);
      skip_blanks();
      const char end_sign = peek() == '-' || peek() == '+' ? peek() : '\0';
      if (end_sign != '\0') advance(1);
      if (peek() != '%' || peek(1) != '}') return fail("the tag of an endraw is not closed");
      advance(2);
      trim_after(end_sign, true);
      return {};
    }
    return fail("a raw block is not closed");
  }

  // Tokens up to the tag's end, which is `}}` or `%}` outside all brackets, after an optional sign.
  Status expression(TokenKind end_kind, char end_first) {
    std::string brackets;
    while (true) {
      skip_blanks();
      if (at_ >= source_.size()) return fail("a tag is not closed");
      if (brackets.empty()) {
        const bool has_sign = peek() == '-' || (peek() == '+' && end_first == '%');
        const std::size_t sign_bytes = has_sign ? 1 : 0;
        if (peek(sign_bytes) == end_first && peek(sign_bytes + 1) == '}') {
          const char sign = has_sign ? peek() : '\0';
          push(end_kind, {});
          advance(sign_bytes + 2);
          trim_after(sign, end_first == '%');
          return {};
        }
      }
      if (tokens_.size() > kMaxTokens) return fail("the template is too long");
      RETURN_IF_ERROR(one_token(brackets));
    }
  }

  Status one_token(std::string& brackets) {
    const char c = peek();
    if (begins_name(c)) {
      std::size_t end = at_;
      while (end < source_.size() && (begins_name(source_[end]) || is_digit(source_[end]))) ++end;
      push(TokenKind::kName, source_.substr(at_, end - at_));
      advance(end - at_);
      return {};
    }
    if (is_digit(c)) return number();
    if (c == '\'' || c == '"') return string(c);
    return op(brackets);
  }

  Status number() {
    std::string digits;
    bool real = false;
    std::size_t end = at_;
    const auto take_digits = [&] {
      while (end < source_.size() && (is_digit(source_[end]) || source_[end] == '_')) {
        if (source_[end] != '_') digits += source_[end];
        ++end;
      }
    };
    take_digits();
    if (end + 1 < source_.size() && source_[end] == '.' && is_digit(source_[end + 1])) {
      real = true;
      digits += source_[end++];
      take_digits();
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      std::size_t exponent = end + 1;
      if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-')) ++exponent;
      if (exponent < source_.size() && is_digit(source_[exponent])) {
        real = true;
        digits += source_.substr(end, exponent - end);
        end = exponent;
        take_digits();
      }
    }
    if (digits.size() > 400) return fail("a number is too long");
    push(real ? TokenKind::kFloat : TokenKind::kInteger, std::move(digits));
    advance(end - at_);
    return {};
  }

  Status string(char quote) {
    std::string text;
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) {
      if (source_[end] == '\\' && end + 1 < source_.size()) {
        RETURN_IF_ERROR(escape(end, text));
      } else {
        text += source_[end++];
      }
    }
    if (end >= source_.size()) return fail("a string is not closed");
    push(TokenKind::kString, std::move(text));
    advance(end + 1 - at_);
    return {};
  }

  // Source: the escapes of Python's string literals.
  Status escape(std::size_t& at, std::string& text) const {
    const char c = source_[at + 1];
    constexpr std::string_view kNames = "\\'\"abfnrtv\n";
    constexpr std::array<std::string_view, 11> kTexts = {"\\", "'", "\"", "\a", "\b", "\f", "\n", "\r", "\t", "\v", ""};
    const std::size_t simple = kNames.find(c);
    if (simple != std::string_view::npos) {
      text += kTexts[simple];
      at += 2;
      return {};
    }
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      if (is_digit(c)) return fail("an octal escape in a string is not supported");
      text += '\\';
      at += 1;
      return {};
    }
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char d = at + 2 + i < source_.size() ? source_[at + 2 + i] : '\0';
      const bool letter = (d >= 'a' && d <= 'f') || (d >= 'A' && d <= 'F');
      if (!is_digit(d) && !letter) return fail("a string has a broken escape");
      code = code * 16 + static_cast<std::uint32_t>(is_digit(d) ? d - '0' : (d & ~0x20) - 'A' + 10);
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return fail("a string escapes no character");
    append_utf8(code, text);
    at += 2 + digits;
    return {};
  }

  Status op(std::string& brackets) {
    constexpr std::array<std::string_view, 6> kPairs = {"==", "!=", "<=", ">=", "//", "**"};
    const std::string_view two = std::string_view(source_).substr(at_, 2);
    if (std::find(kPairs.begin(), kPairs.end(), two) != kPairs.end()) {
      push(TokenKind::kOperator, std::string(two));
      advance(2);
      return {};
    }
    const char c = peek();
    if (std::string_view("+-*/%~[](){}<>=.,:|").find(c) == std::string_view::npos) {
      return fail("a character that begins nothing: byte " + std::to_string(static_cast<unsigned char>(c)));
    }
    if (c == '(' || c == '[' || c == '{') brackets += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (brackets.empty() || brackets.back() != c) return fail(std::string("a '") + c + "' closes nothing");
      brackets.pop_back();
    }
    push(TokenKind::kOperator, std::string(1, c));
    advance(1);
    return {};
  }

  std::string source_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool at_line_start_ = true;
  std::vector<LexToken> tokens_;
};

}  // namespace

Error template_error(ErrorCode code, std::uint32_t line, const std::string& message) {
  return Error{code, "chat template, line " + std::to_string(line) + ": " + message, "line " + std::to_string(line)};
}

Result<std::vector<LexToken>> tokenize_template(std::string_view source) { return Lexer(normalise(source)).run(); }

}  // namespace larder::chat_template
