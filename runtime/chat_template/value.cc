// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace larder::chat_template {
namespace {

Error type_error(std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message), {}}; }

Error too_deep() {
  return Error{ErrorCode::kResourceExhausted,
               "a value is nested more than " + std::to_string(kMaxNesting) + " levels deep", "nesting"};
}

// Keys that Python holds equal map to one text: 1, 1.0 and True are one key.
bool key_of(const Value& key, std::string& out) {
  switch (key.kind()) {
    case Kind::kString:
      out = "s" + key.as_text().bytes();
      return true;
    case Kind::kBigInt:
      out = "n" + key.as_text().bytes();
      return true;
    case Kind::kBool:
    case Kind::kInt:
      out = "n" + std::to_string(key.as_int());
      return true;
    case Kind::kFloat: {
      const double value = key.as_double();
      const bool whole = std::abs(value) < 9e15 && value == std::floor(value);
      out = "n" + (whole ? std::to_string(static_cast<std::int64_t>(value)) : float_text(value));
      return true;
    }
    case Kind::kNone:
      out = "0";
      return true;
    default:
      return false;
  }
}

// Source: Python's repr(str): single quotes unless only single quotes are inside; control characters escaped.
void repr_text(const MarkedString& text, MarkedString& out) {
  const std::string& bytes = text.bytes();
  const bool has_single = bytes.find('\'') != std::string::npos;
  const char quote = has_single && bytes.find('"') == std::string::npos ? '"' : '\'';
  const Source outside = text.first_untrusted();
  out.append(std::string(1, quote), outside);
  std::size_t plain = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned char byte = static_cast<unsigned char>(bytes[i]);
    std::string escaped;
    if (bytes[i] == quote || bytes[i] == '\\') {
      escaped = std::string("\\") + bytes[i];
    } else if (bytes[i] == '\n') {
      escaped = "\\n";
    } else if (bytes[i] == '\r') {
      escaped = "\\r";
    } else if (bytes[i] == '\t') {
      escaped = "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr std::string_view kHex = "0123456789abcdef";
      escaped = std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15u];
    } else {
      continue;
    }
    out.append(text, plain, i);
    out.append(escaped, text.source_at(i));
    plain = i + 1;
  }
  out.append(text, plain, bytes.size());
  out.append(std::string(1, quote), outside);
}

Status repr(Meter& meter, const Value& value, MarkedString& out, int depth);

Status repr_items(Meter& meter, const std::vector<Value>& items, bool tuple, MarkedString& out, int depth) {
  out.append(tuple ? "(" : "[", kTrusted);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(", ", kTrusted);
    RETURN_IF_ERROR(repr(meter, items[i], out, depth + 1));
  }
  if (tuple && items.size() == 1) out.append(",", kTrusted);
  out.append(tuple ? ")" : "]", kTrusted);
  return {};
}

Status repr(Meter& meter, const Value& value, MarkedString& out, int depth) {
  if (depth > kMaxNesting) return too_deep();
  RETURN_IF_ERROR(meter.charge(1));
  switch (value.kind()) {
    case Kind::kString:
      RETURN_IF_ERROR(meter.charge_text(out.size() / 1024 + value.as_text().size()));
      repr_text(value.as_text(), out);
      return {};
    case Kind::kList:
    case Kind::kTuple:
      return repr_items(meter, value.as_list().items, value.is(Kind::kTuple), out, depth);
    case Kind::kDict: {
      out.append("{", kTrusted);
      bool first = true;
      for (const auto& [key, item] : value.as_dict().entries) {
        if (!first) out.append(", ", kTrusted);
        first = false;
        RETURN_IF_ERROR(repr(meter, key, out, depth + 1));
        out.append(": ", kTrusted);
        RETURN_IF_ERROR(repr(meter, item, out, depth + 1));
      }
      out.append("}", kTrusted);
      return {};
    }
    case Kind::kUndefined:
      out.append("Undefined", kTrusted);
      return {};
    default: {
      ASSIGN_OR_RETURN(const MarkedString text, to_text(meter, value));
      out.append(text);
      return {};
    }
  }
}

Result<bool> equal_dicts(Meter& meter, const Dict& a, const Dict& b, int depth) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const auto& [key, value] : a.entries) {
    const Value* other = b.find(key);
    if (other == nullptr) return false;
    ASSIGN_OR_RETURN(const bool same, equal(meter, value, *other, depth + 1));
    if (!same) return false;
  }
  return true;
}

}  // namespace

Value Value::boolean(bool value) {
  Value made = of(Kind::kBool);
  made.int_ = value ? 1 : 0;
  return made;
}

Value Value::integer(std::int64_t value) {
  Value made = of(Kind::kInt);
  made.int_ = value;
  return made;
}

Value Value::real(double value) {
  Value made = of(Kind::kFloat);
  made.float_ = value;
  return made;
}

Value Value::big_integer(std::string digits) {
  Value made = text(MarkedString(digits));
  made.kind_ = Kind::kBigInt;
  return made;
}

Value Value::text(MarkedString value) {
  Value made = of(Kind::kString);
  made.text_ = std::make_shared<const MarkedString>(std::move(value));
  return made;
}

Value Value::object(Kind kind, List* list) {
  Value made = of(kind);
  made.list_ = list;
  return made;
}

Value Value::object(Kind kind, Dict* dict) {
  Value made = of(kind);
  made.dict_ = dict;
  return made;
}

Value Value::object(Macro* macro) {
  Value made = of(Kind::kMacro);
  made.macro_ = macro;
  return made;
}

Value Value::object(Loop* loop) {
  Value made = of(Kind::kLoop);
  made.loop_ = loop;
  return made;
}

const Value* Dict::find(std::string_view text_key) const {
  const auto found = index.find("s" + std::string(text_key));
  return found == index.end() ? nullptr : &entries[found->second].second;
}

const Value* Dict::find(const Value& key) const {
  std::string text;
  if (!key_of(key, text)) return nullptr;
  const auto found = index.find(text);
  return found == index.end() ? nullptr : &entries[found->second].second;
}

Status Dict::set(Value key, Value value) {
  std::string text;
  if (!key_of(key, text)) {
    return type_error("a " + std::string(kind_name(key.kind())) + " cannot be the key of a dict");
  }
  const auto [place, fresh] = index.try_emplace(std::move(text), entries.size());
  if (fresh) {
    entries.emplace_back(std::move(key), std::move(value));
  } else {
    entries[place->second].second = std::move(value);
  }
  return {};
}

void Dict::erase(const Value& key) {
  std::string text;
  if (!key_of(key, text)) return;
  const auto found = index.find(text);
  if (found == index.end()) return;
  const std::size_t place = found->second;
  index.erase(found);
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(place));
  for (auto& [name, at] : index) {
    if (at > place) --at;
  }
}

Value Heap::list(std::vector<Value> items, Kind kind) {
  lists_.push_back(std::make_unique<List>());
  lists_.back()->items = std::move(items);
  return Value::object(kind, lists_.back().get());
}

Dict* Heap::dict() {
  dicts_.push_back(std::make_unique<Dict>());
  return dicts_.back().get();
}

Value Heap::macro(const Stmt* body, Scope* defined_in) {
  macros_.push_back(std::make_unique<Macro>());
  macros_.back()->body = body;
  macros_.back()->defined_in = defined_in;
  return Value::object(macros_.back().get());
}

Loop* Heap::loop(std::vector<Value> items) {
  loops_.push_back(std::make_unique<Loop>());
  loops_.back()->items = std::move(items);
  return loops_.back().get();
}

std::string_view kind_name(Kind kind) {
  constexpr std::array<std::string_view, 14> kNames = {"undefined", "none",  "bool", "int",       "float",
                                                       "int",       "str",   "list", "tuple",     "dict",
                                                       "namespace", "macro", "loop", "function"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool truthy(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return value.as_double() != 0;
    case Kind::kString:
      return !value.as_text().empty();
    case Kind::kList:
    case Kind::kTuple:
      return !value.as_list().items.empty();
    case Kind::kDict:
      return !value.as_dict().entries.empty();
    default:
      return true;
  }
}

Result<bool> equal(Meter& meter, const Value& a, const Value& b, int depth) {
  if (depth > kMaxNesting) return too_deep();
  RETURN_IF_ERROR(meter.charge(1));
  if (a.is_integral() && b.is_integral()) return a.as_int() == b.as_int();
  if (a.is_number() && b.is_number()) return a.as_double() == b.as_double();
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kString:
    case Kind::kBigInt:
      if (a.as_text().size() != b.as_text().size()) return false;
      RETURN_IF_ERROR(meter.charge_text(a.as_text().size()));
      return a.as_text().bytes() == b.as_text().bytes();
    case Kind::kList:
    case Kind::kTuple: {
      const std::vector<Value>& left = a.as_list().items;
      const std::vector<Value>& right = b.as_list().items;
      if (left.size() != right.size()) return false;
      for (std::size_t i = 0; i < left.size(); ++i) {
        ASSIGN_OR_RETURN(const bool same, equal(meter, left[i], right[i], depth + 1));
        if (!same) return false;
      }
      return true;
    }
    case Kind::kDict:
      return equal_dicts(meter, a.as_dict(), b.as_dict(), depth);
    case Kind::kNamespace:
      return &a.as_dict() == &b.as_dict();
    case Kind::kMacro:
      return &a.as_macro() == &b.as_macro();
    case Kind::kLoop:
      return &a.as_loop() == &b.as_loop();
    default:
      return true;  // none, undefined, function
  }
}

Result<int> compare(Meter& meter, const Value& a, const Value& b, int depth) {
  if (depth > kMaxNesting) return too_deep();
  RETURN_IF_ERROR(meter.charge(1));
  if (a.is_integral() && b.is_integral()) return (a.as_int() > b.as_int()) - (a.as_int() < b.as_int());
  if (a.is_number() && b.is_number()) return (a.as_double() > b.as_double()) - (a.as_double() < b.as_double());
  if (a.is(Kind::kString) && b.is(Kind::kString)) {
    RETURN_IF_ERROR(meter.charge_text(std::min(a.as_text().size(), b.as_text().size())));
    const int order = a.as_text().bytes().compare(b.as_text().bytes());
    return (order > 0) - (order < 0);
  }
  if (a.is_sequence() && a.kind() == b.kind()) {
    const std::vector<Value>& left = a.as_list().items;
    const std::vector<Value>& right = b.as_list().items;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      ASSIGN_OR_RETURN(const bool same, equal(meter, left[i], right[i], depth + 1));
      if (!same) return compare(meter, left[i], right[i], depth + 1);
    }
    return (left.size() > right.size()) - (left.size() < right.size());
  }
  return type_error("a " + std::string(kind_name(a.kind())) + " and a " + std::string(kind_name(b.kind())) +
                    " have no order");
}

Result<bool> contains(Meter& meter, const Value& container, const Value& item) {
  if (container.is(Kind::kString)) {
    if (!item.is(Kind::kString)) {
      return type_error("'in' a str needs a str, not a " + std::string(kind_name(item.kind())));
    }
    RETURN_IF_ERROR(meter.charge_search(container.as_text().size(), item.as_text().size()));
    return container.as_text().bytes().find(item.as_text().bytes()) != std::string::npos;
  }
  if (container.is(Kind::kDict)) return container.as_dict().find(item) != nullptr;
  if (container.is_sequence()) {
    for (const Value& one : container.as_list().items) {
      ASSIGN_OR_RETURN(const bool same, equal(meter, one, item));
      if (same) return true;
    }
    return false;
  }
  if (container.is(Kind::kUndefined)) return false;
  return type_error("'in' cannot look into a " + std::string(kind_name(container.kind())));
}

// Source: Python's float.__repr__: shortest digits that round-trip; an exponent below 1e-4 and from 1e16.
std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> buffer{};
  const double size = std::abs(value);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), end.ptr);
  if (fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}

Result<MarkedString> to_text(Meter& meter, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return MarkedString();
    case Kind::kNone:
      return MarkedString("None");
    case Kind::kBool:
      return MarkedString(value.as_int() != 0 ? "True" : "False");
    case Kind::kInt:
      return MarkedString(std::to_string(value.as_int()));
    case Kind::kFloat:
      return MarkedString(float_text(value.as_double()));
    case Kind::kBigInt:
    case Kind::kString:
      return value.as_text();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict: {
      MarkedString out;
      RETURN_IF_ERROR(repr(meter, value, out, 0));
      RETURN_IF_ERROR(meter.charge_text(out.size()));
      return out;
    }
    default:
      return type_error("a " + std::string(kind_name(value.kind())) + " cannot be printed");
  }
}

Result<std::vector<Value>> elements(Meter& meter, const Value& value) {
  std::vector<Value> out;
  switch (value.kind()) {
    case Kind::kUndefined:
      return out;
    case Kind::kList:
    case Kind::kTuple:
      RETURN_IF_ERROR(meter.charge(value.as_list().items.size()));
      return value.as_list().items;
    case Kind::kDict:
      RETURN_IF_ERROR(meter.charge(value.as_dict().entries.size()));
      for (const auto& [key, item] : value.as_dict().entries) out.push_back(key);
      return out;
    case Kind::kString: {
      const MarkedString& text = value.as_text();
      RETURN_IF_ERROR(meter.charge(text.size()));
      for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = character_bytes(text.bytes(), i);
        out.push_back(Value::text(text.slice(i, i + length)));
        i += length;
      }
      return out;
    }
    default:
      return type_error("a " + std::string(kind_name(value.kind())) + " cannot be iterated");
  }
}

Result<std::size_t> length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return std::size_t{0};
    case Kind::kString:
      return count_characters(value.as_text().bytes());
    case Kind::kList:
    case Kind::kTuple:
      return value.as_list().items.size();
    case Kind::kDict:
      return value.as_dict().entries.size();
    default:
      return type_error("a " + std::string(kind_name(value.kind())) + " has no length");
  }
}

}  // namespace larder::chat_template
