// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/json_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace larder::chat_template {
namespace {

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

class Reader {
 public:
  Reader(std::string_view text, Source source, Heap& heap) : text_(text), source_(source), heap_(heap) {}

  Result<Value> document() {
    if (text_.size() > kMaxJsonBytes) {
      return Error{ErrorCode::kResourceExhausted,
                   "a JSON text of " + std::to_string(text_.size()) + " bytes is over the limit of " +
                       std::to_string(kMaxJsonBytes),
                   "json"};
    }
    ASSIGN_OR_RETURN(Value value, any(0));
    skip_blanks();
    if (at_ != text_.size()) return fail("text behind the value");
    return value;
  }

 private:
  Error fail(const std::string& what) const {
    return Error{ErrorCode::kInvalidArgument, "bad JSON at byte " + std::to_string(at_) + ": " + what, "json"};
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') ++at_;
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool accept_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Result<Value> any(int depth) {
    if (depth > kMaxJsonDepth || ++values_ > kMaxJsonValues) {
      return Error{ErrorCode::kResourceExhausted,
                   "a JSON text is nested over " + std::to_string(kMaxJsonDepth) + " levels or holds over " +
                       std::to_string(kMaxJsonValues) + " values",
                   "json"};
    }
    skip_blanks();
    if (accept('{')) return object(depth);
    if (accept('[')) return array(depth);
    if (accept('"')) {
      ASSIGN_OR_RETURN(const std::string text, string());
      return Value::text(text, source_);
    }
    if (accept_word("true")) return Value::boolean(true);
    if (accept_word("false")) return Value::boolean(false);
    if (accept_word("null")) return Value::none();
    return number();
  }

  Result<Value> object(int depth) {
    Dict* dict = heap_.dict();
    skip_blanks();
    if (accept('}')) return Value::object(Kind::kDict, dict);
    while (true) {
      skip_blanks();
      if (!accept('"')) return fail("expected a key");
      ASSIGN_OR_RETURN(const std::string key, string());
      skip_blanks();
      if (!accept(':')) return fail("expected ':'");
      ASSIGN_OR_RETURN(Value value, any(depth + 1));
      RETURN_IF_ERROR(dict->set(Value::text(key, source_), std::move(value)));
      skip_blanks();
      if (accept('}')) return Value::object(Kind::kDict, dict);
      if (!accept(',')) return fail("expected ',' or '}'");
    }
  }

  Result<Value> array(int depth) {
    std::vector<Value> items;
    skip_blanks();
    if (accept(']')) return heap_.list(std::move(items));
    while (true) {
      ASSIGN_OR_RETURN(Value value, any(depth + 1));
      items.push_back(std::move(value));
      skip_blanks();
      if (accept(']')) return heap_.list(std::move(items));
      if (!accept(',')) return fail("expected ',' or ']'");
    }
  }

  Result<std::uint32_t> hex4() {
    std::uint32_t code = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || end.ptr != digits.data() + 4 || digits[0] == '-') return fail("a broken \\u escape");
    at_ += 4;
    return code;
  }

  Result<std::string> string() {
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) return fail("a control character in a string");
      if (c != '\\') {
        out += c;
        continue;
      }
      const char escaped = peek();
      ++at_;
      constexpr std::string_view kNames = "\"\\/bfnrt";
      constexpr std::string_view kBytes = "\"\\/\b\f\n\r\t";
      const std::size_t simple = kNames.find(escaped);
      if (escaped != '\0' && simple != std::string_view::npos) {
        out += kBytes[simple];
      } else if (escaped == 'u') {
        ASSIGN_OR_RETURN(std::uint32_t code, hex4());
        if (code >= 0xd800 && code < 0xdc00 && accept_word("\\u")) {
          ASSIGN_OR_RETURN(const std::uint32_t low, hex4());
          const bool pair = low >= 0xdc00 && low < 0xe000;
          code = pair ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
        }
        append_utf8(code >= 0xd800 && code < 0xe000 ? 0xfffd : code, out);
      } else {
        return fail("an unknown escape");
      }
    }
    return fail("a string is not closed");
  }

  std::size_t take_digits() {
    const std::size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ - begin;
  }

  Result<Value> number() {
    const std::size_t begin = at_;
    bool real = false;
    accept('-');
    const bool zero = peek() == '0';
    const std::size_t digits = take_digits();
    if (digits == 0 || (zero && digits > 1)) return fail("expected a value");
    if (accept('.')) {
      real = true;
      if (take_digits() == 0) return fail("expected a digit");
    }
    if (accept('e') || accept('E')) {
      real = true;
      if (!accept('+')) accept('-');
      if (take_digits() == 0) return fail("expected a digit");
    }
    const std::string_view token = text_.substr(begin, at_ - begin);
    if (!real) {
      std::int64_t value = 0;
      const auto end = std::from_chars(token.data(), token.data() + token.size(), value);
      if (end.ec == std::errc()) return Value::integer(value);
      if (token.size() > 4300) return fail("an integer of over 4300 digits");
      return Value::big_integer(std::string(token));
    }
    double value = 0;
    const auto end = std::from_chars(token.data(), token.data() + token.size(), value);
    if (end.ec != std::errc() || std::isinf(value)) return fail("a number out of range");
    return Value::real(value);
  }

  std::string_view text_;
  Source source_;
  Heap& heap_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
};

// The first untrusted source in a value, looked for in at most `budget` values.
Source find_source(const Value& value, int& budget) {
  if (--budget < 0) return kTrusted;
  if (value.is(Kind::kString)) return value.as_text().first_untrusted();
  if (value.is_sequence()) {
    for (const Value& item : value.as_list().items) {
      if (const Source source = find_source(item, budget); source != kTrusted) return source;
    }
  } else if (value.is(Kind::kDict)) {
    for (const auto& [key, item] : value.as_dict().entries) {
      if (const Source source = find_source(key, budget); source != kTrusted) return source;
      if (const Source source = find_source(item, budget); source != kTrusted) return source;
    }
  }
  return kTrusted;
}

class Writer {
 public:
  Writer(Meter& meter, const JsonStyle& style) : meter_(meter), style_(style) {}

  Status any(const Value& value, int depth) {
    if (depth > kMaxNesting) {
      return Error{ErrorCode::kResourceExhausted, "tojson: a value is nested too deeply", "nesting"};
    }
    RETURN_IF_ERROR(meter_.charge(1));
    switch (value.kind()) {
      case Kind::kNone: put("null"); return {};
      case Kind::kBool: put(value.as_int() != 0 ? "true" : "false"); return {};
      case Kind::kInt: put(std::to_string(value.as_int())); return {};
      case Kind::kBigInt: put(value.as_text().bytes()); return {};
      case Kind::kFloat: put(json_float(value.as_double())); return {};
      case Kind::kString: return string(value.as_text());
      case Kind::kList:
      case Kind::kTuple: return array(value, depth);
      case Kind::kDict: return object(value, depth);
      default:
        return Error{ErrorCode::kInvalidArgument,
                     "tojson: a " + std::string(kind_name(value.kind())) + " cannot be written as JSON", {}};
    }
  }

  MarkedString take() { return std::move(out_); }

 private:
  static std::string json_float(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return float_text(value);
  }

  void put(std::string_view bytes) { out_.append(bytes, near_); }
  void put(const MarkedString& text) {
    if (text.first_untrusted() != kTrusted) {
      out_.append(text);
    } else {
      put(text.bytes());
    }
  }

  void line(int depth) {
    if (style_.indent < 0) return;
    put("\n" + std::string(static_cast<std::size_t>(style_.indent) * static_cast<std::size_t>(depth), ' '));
  }

  void separator() {
    if (style_.indent < 0) {
      put(style_.item_separator);
    } else {
      std::string bytes = style_.item_separator.bytes();
      while (!bytes.empty() && bytes.back() == ' ') bytes.pop_back();
      put(bytes);
    }
  }

  void open(const Value& value, std::string_view bracket) {
    int budget = 64;
    near_ = find_source(value, budget);
    put(bracket);
  }

  Status array(const Value& value, int depth) {
    const std::vector<Value>& items = value.as_list().items;
    if (items.empty()) {
      put("[]");
      return {};
    }
    const Source outside = near_;
    open(value, "[");
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) separator();
      line(depth + 1);
      RETURN_IF_ERROR(any(items[i], depth + 1));
    }
    line(depth);
    put("]");
    if (near_ == kTrusted) near_ = outside;
    return {};
  }

  Status object(const Value& value, int depth) {
    std::vector<std::pair<Value, Value>> entries = value.as_dict().entries;
    if (entries.empty()) {
      put("{}");
      return {};
    }
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.first.is(Kind::kString) && b.first.is(Kind::kString) &&
               a.first.as_text().bytes() < b.first.as_text().bytes();
      });
    }
    const Source outside = near_;
    open(value, "{");
    bool first = true;
    for (const auto& [key, item] : entries) {
      if (!first) separator();
      first = false;
      line(depth + 1);
      RETURN_IF_ERROR(object_key(key));
      put(style_.key_separator);
      RETURN_IF_ERROR(any(item, depth + 1));
    }
    line(depth);
    put("}");
    if (near_ == kTrusted) near_ = outside;
    return {};
  }

  // Source: json.dumps turns None, bool, int and float keys into their JSON text.
  Status object_key(const Value& key) {
    if (key.is(Kind::kString)) return string(key.as_text());
    put("\"");
    RETURN_IF_ERROR(any(key, 0));
    put("\"");
    return {};
  }

  Status string(const MarkedString& text) {
    RETURN_IF_ERROR(meter_.charge_text(text.size() + out_.size() / 4096));
    if (const Source source = text.first_untrusted(); source != kTrusted) near_ = source;
    const std::string& bytes = text.bytes();
    put("\"");
    std::size_t plain = 0;
    for (std::size_t i = 0; i < bytes.size();) {
      const std::size_t length = character_bytes(bytes, i);
      const std::string escaped = escape(bytes, i, length);
      if (!escaped.empty()) {
        out_.append(text, plain, i);
        out_.append(escaped, text.source_at(i));
        plain = i + length;
      }
      i += length;
    }
    out_.append(text, plain, bytes.size());
    put("\"");
    return {};
  }

  static std::string unicode_escape(std::uint32_t unit) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out = "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15u];
    return out;
  }

  // Empty: the character stands for itself.
  std::string escape(std::string_view bytes, std::size_t at, std::size_t length) const {
    const unsigned char c = static_cast<unsigned char>(bytes[at]);
    switch (c) {
      case '"': return "\\\"";
      case '\\': return "\\\\";
      case '\n': return "\\n";
      case '\r': return "\\r";
      case '\t': return "\\t";
      case '\b': return "\\b";
      case '\f': return "\\f";
      default: break;
    }
    if (c < 0x20) return unicode_escape(c);
    if (c < 0x80 || !style_.ascii) return {};
    if (length == 1) return unicode_escape(0xfffd);
    std::uint32_t code = c & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
      code = (code << 6) | (static_cast<unsigned char>(bytes[at + i]) & 0x3fu);
    }
    if (code < 0x10000) return unicode_escape(code);
    code -= 0x10000;
    return unicode_escape(0xd800 + (code >> 10)) + unicode_escape(0xdc00 + (code & 0x3ffu));
  }

  Meter& meter_;
  const JsonStyle& style_;
  MarkedString out_;
  Source near_ = kTrusted;  // what brackets, separators and numbers are marked with
};

}  // namespace

Result<Value> parse_json(std::string_view text, Source source, Heap& heap) {
  return Reader(text, source, heap).document();
}

Result<MarkedString> dump_json(Meter& meter, const Value& value, const JsonStyle& style) {
  Writer writer(meter, style);
  RETURN_IF_ERROR(writer.any(value, 0));
  MarkedString out = writer.take();
  RETURN_IF_ERROR(meter.charge_text(out.size()));
  return out;
}

}  // namespace larder::chat_template
