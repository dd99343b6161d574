// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "runtime/chat_template/builtins.h"
#include "runtime/chat_template/interpreter.h"
#include "runtime/chat_template/json_value.h"

namespace larder::chat_template {
namespace {

constexpr std::int64_t kMaxIndent = 64;

Error failure(std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message), {}}; }

Result<Value> filter_tojson(Interpreter& run, const Value& input, const Args& args) {
  JsonStyle style;
  const Value* indent = args.get(1, "indent");
  if (indent != nullptr && !indent->is(Kind::kNone)) {
    ASSIGN_OR_RETURN(const std::int64_t width, integer_arg(indent, 0, "the indent of tojson"));
    if (width < 0 || width > kMaxIndent) return failure("tojson: the indent must lie between 0 and 64");
    style.indent = static_cast<int>(width);
  }
  ASSIGN_OR_RETURN(style.ascii, flag_arg(args.get(0, "ensure_ascii"), false));
  ASSIGN_OR_RETURN(style.sort_keys, flag_arg(args.get(3, "sort_keys"), false));
  if (const Value* separators = args.get(2, "separators"); separators != nullptr && !separators->is(Kind::kNone)) {
    if (!separators->is_sequence() || separators->as_list().items.size() != 2) {
      return wrong_type("the separators of tojson", *separators, "a pair of str");
    }
    ASSIGN_OR_RETURN(style.item_separator, text_of(run, separators->as_list().items[0]));
    ASSIGN_OR_RETURN(style.key_separator, text_of(run, separators->as_list().items[1]));
  }
  ASSIGN_OR_RETURN(MarkedString text, dump_json(run.meter(), input, style));
  return Value::text(std::move(text));
}

Result<Value> filter_from_json(Interpreter& run, const Value& input, const Args&) {
  if (!input.is(Kind::kString)) return wrong_type("from_json", input, "a str");
  const MarkedString& text = input.as_text();
  RETURN_IF_ERROR(run.meter().charge(1 + text.size() / 4));
  return parse_json(text.bytes(), text.first_untrusted(), run.heap());
}

Result<Value> filter_length(Interpreter& run, const Value& input, const Args&) {
  if (input.is(Kind::kString)) RETURN_IF_ERROR(run.meter().charge_text(input.as_text().size()));
  ASSIGN_OR_RETURN(const std::size_t length, length_of(input));
  return Value::integer(static_cast<std::int64_t>(length));
}

Result<Value> filter_string(Interpreter& run, const Value& input, const Args&) {
  ASSIGN_OR_RETURN(MarkedString text, text_of(run, input));
  return Value::text(std::move(text));
}

Result<Value> filter_trim(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const MarkedString text, text_of(run, input));
  const Value* chars = args.get(0, "chars");
  const bool given = chars != nullptr && chars->is(Kind::kString);
  RETURN_IF_ERROR(run.meter().charge_search(text.size(), given ? chars->as_text().size() * 64 : 0));
  return Value::text(strip(text, given ? &chars->as_text().bytes() : nullptr, true, true));
}

Result<Value> cased(Interpreter& run, const Value& input, Case wanted) {
  ASSIGN_OR_RETURN(const MarkedString text, text_of(run, input));
  RETURN_IF_ERROR(run.meter().charge(text.size() / 8));
  return Value::text(change_case(text, wanted));
}
Result<Value> filter_lower(Interpreter& run, const Value& input, const Args&) {
  return cased(run, input, Case::kLower);
}
Result<Value> filter_upper(Interpreter& run, const Value& input, const Args&) {
  return cased(run, input, Case::kUpper);
}
Result<Value> filter_capitalize(Interpreter& run, const Value& input, const Args&) {
  return cased(run, input, Case::kCapitalised);
}

Result<Value> filter_default(Interpreter&, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const bool falsy_too, flag_arg(args.get(1, "boolean"), false));
  if (!input.is(Kind::kUndefined) && !(falsy_too && !truthy(input))) return input;
  const Value* otherwise = args.get(0, "default_value");
  return otherwise != nullptr ? *otherwise : Value::text(MarkedString());
}

Result<Value> filter_replace(Interpreter& run, const Value& input, const Args& args) {
  const Value* from = args.get(0, "old");
  const Value* to = args.get(1, "new");
  if (from == nullptr || to == nullptr) return failure("replace needs what to replace and by what");
  ASSIGN_OR_RETURN(const MarkedString text, text_of(run, input));
  ASSIGN_OR_RETURN(const MarkedString pattern, text_of(run, *from));
  ASSIGN_OR_RETURN(const MarkedString replacement, text_of(run, *to));
  const Value* limit = args.get(2, "count");
  ASSIGN_OR_RETURN(const std::int64_t count, limit == nullptr || limit->is(Kind::kNone)
                                                 ? Result<std::int64_t>(-1)
                                                 : integer_arg(limit, -1, "count"));
  RETURN_IF_ERROR(run.meter().charge_search(text.size(), pattern.size()));
  const std::uint64_t places = text.size() / std::max<std::size_t>(1, pattern.size()) + 1;
  RETURN_IF_ERROR(run.meter().charge(places / 8));
  std::uint64_t found = 0;
  for (std::size_t at = 0; !pattern.empty() && (at = text.bytes().find(pattern.bytes(), at)) != std::string::npos;) {
    ++found;
    at += pattern.size();
  }
  if (pattern.empty()) found = places;
  RETURN_IF_ERROR(run.meter().charge_text(text.size() + found * replacement.size()));
  return Value::text(replace(text, pattern.bytes(), replacement, count));
}

Result<Value> filter_indent(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const MarkedString text, text_of(run, input));
  MarkedString pad;
  const Value* width = args.get(0, "width");
  if (width != nullptr && width->is(Kind::kString)) {
    pad = width->as_text();
  } else {
    ASSIGN_OR_RETURN(const std::int64_t spaces, integer_arg(width, 4, "the width of indent"));
    if (spaces < 0 || spaces > kMaxIndent) return failure("indent: the width must lie between 0 and 64");
    pad.append(std::string(static_cast<std::size_t>(spaces), ' '), kTrusted);
  }
  ASSIGN_OR_RETURN(const bool first_too, flag_arg(args.get(1, "first"), false));
  ASSIGN_OR_RETURN(const bool blank_too, flag_arg(args.get(2, "blank"), false));
  const std::string& bytes = text.bytes();
  const std::uint64_t lines = 1 + static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  RETURN_IF_ERROR(run.meter().charge_text(bytes.size() + lines * (pad.size() + 8)));
  MarkedString out;
  bool first = true;
  for (std::size_t at = 0; at <= bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    if (first ? first_too : (end > at || blank_too)) out.append(pad);
    out.append(text, at, std::min(end + 1, bytes.size()));
    first = false;
    at = end + 1;
  }
  return Value::text(std::move(out));
}

Result<Value> filter_int(Interpreter& run, const Value& input, const Args& args) {
  const Value* given = args.get(0, "default");
  const Value otherwise = given != nullptr ? *given : Value::integer(0);
  ASSIGN_OR_RETURN(const std::int64_t base, integer_arg(args.get(1, "base"), 10, "the base of int"));
  if (base < 2 || base > 36) return failure("int: the base must lie between 2 and 36");
  if (input.is_integral()) return Value::integer(input.as_int());
  double real = 0;
  if (input.is(Kind::kFloat)) {
    real = input.as_double();
  } else if (input.is(Kind::kString)) {
    if (input.as_text().size() > 400) return otherwise;
    std::string digits = strip(input.as_text(), nullptr, true, true).bytes();
    RETURN_IF_ERROR(run.meter().charge(1));
    if (digits.size() > 1 && digits[0] == '+') digits.erase(0, 1);
    std::int64_t number = 0;
    const char* last = digits.data() + digits.size();
    const auto end = std::from_chars(digits.data(), last, number, static_cast<int>(base));
    if (end.ec == std::errc() && end.ptr == last && !digits.empty()) return Value::integer(number);
    const auto real_end = std::from_chars(digits.data(), last, real);
    if (real_end.ec != std::errc() || real_end.ptr != last || digits.empty()) return otherwise;
  } else {
    return otherwise;
  }
  if (!(std::abs(real) < 9.2e18)) return otherwise;
  return Value::integer(static_cast<std::int64_t>(real));
}

Result<Value> filter_abs(Interpreter&, const Value& input, const Args&) {
  if (input.is(Kind::kFloat)) return Value::real(std::abs(input.as_double()));
  if (!input.is_integral()) return wrong_type("abs", input, "a number");
  if (input.as_int() == INT64_MIN) return failure("abs: an integer over 64 bits");
  return Value::integer(std::abs(input.as_int()));
}

Result<Value> filter_round(Interpreter&, const Value& input, const Args& args) {
  if (!input.is_number()) return wrong_type("round", input, "a number");
  ASSIGN_OR_RETURN(const std::int64_t precision, integer_arg(args.get(0, "precision"), 0, "the precision of round"));
  if (precision < 0 || precision > 15) return failure("round: the precision must lie between 0 and 15");
  const Value* method = args.get(1, "method");
  const std::string name = method != nullptr && method->is(Kind::kString) ? method->as_text().bytes() : "common";
  const double value = input.as_double();
  if (name == "ceil" || name == "floor") {
    const double scale = std::pow(10.0, static_cast<double>(precision));
    return Value::real((name == "ceil" ? std::ceil(value * scale) : std::floor(value * scale)) / scale);
  }
  if (name != "common") return failure("round: the method must be common, ceil or floor");
  if (input.is_integral()) return Value::integer(input.as_int());
  if (!std::isfinite(value) || std::abs(value) >= 1e16) return input;
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", static_cast<int>(precision), value);
  return Value::real(std::strtod(buffer.data(), nullptr));
}

Result<Value> filter_safe(Interpreter&, const Value& input, const Args&) { return input; }

struct NamedFilter {
  std::string_view name;
  FilterFn function;
};

constexpr std::array<NamedFilter, 32> kFilters = {{
    {"abs", filter_abs},
    {"batch", filter_batch},
    {"capitalize", filter_capitalize},
    {"count", filter_length},
    {"d", filter_default},
    {"default", filter_default},
    {"dictsort", filter_dictsort},
    {"first", filter_first},
    {"from_json", filter_from_json},
    {"fromjson", filter_from_json},
    {"indent", filter_indent},
    {"int", filter_int},
    {"items", filter_items},
    {"join", filter_join},
    {"last", filter_last},
    {"length", filter_length},
    {"list", filter_list},
    {"lower", filter_lower},
    {"map", filter_map},
    {"reject", filter_reject},
    {"rejectattr", filter_rejectattr},
    {"replace", filter_replace},
    {"round", filter_round},
    {"safe", filter_safe},
    {"select", filter_select},
    {"selectattr", filter_selectattr},
    {"sort", filter_sort},
    {"string", filter_string},
    {"tojson", filter_tojson},
    {"trim", filter_trim},
    {"unique", filter_unique},
    {"upper", filter_upper},
}};

}  // namespace

FilterFn find_filter(std::string_view name) {
  const auto found = std::find_if(kFilters.begin(), kFilters.end(), [name](const NamedFilter& one) {
    return one.name == name;
  });
  return found == kFilters.end() ? nullptr : found->function;
}

const Value* Args::get(std::size_t place, std::string_view name) const {
  if (place < positional.size()) return &positional[place];
  for (const auto& [given, value] : named) {
    if (given == name) return &value;
  }
  return nullptr;
}

Args Args::behind(std::size_t count) const {
  Args rest;
  if (count < positional.size()) {
    rest.positional.assign(positional.begin() + static_cast<std::ptrdiff_t>(count), positional.end());
  }
  rest.named = named;
  return rest;
}

Error wrong_type(std::string_view what, const Value& value, std::string_view wanted) {
  return failure(std::string(what) + " needs " + std::string(wanted) + ", not a " +
                 std::string(kind_name(value.kind())));
}

Result<std::int64_t> integer_arg(const Value* value, std::int64_t otherwise, std::string_view what) {
  if (value == nullptr) return otherwise;
  if (!value->is_integral()) return wrong_type(what, *value, "an int");
  return value->as_int();
}

Result<bool> flag_arg(const Value* value, bool otherwise) {
  return value == nullptr ? otherwise : truthy(*value);
}

Result<MarkedString> text_of(Interpreter& run, const Value& value) {
  ASSIGN_OR_RETURN(MarkedString text, to_text(run.meter(), value));
  RETURN_IF_ERROR(run.meter().charge_text(text.size()));
  return text;
}

}  // namespace larder::chat_template
