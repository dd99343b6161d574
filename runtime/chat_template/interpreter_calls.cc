// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <limits>

#include "runtime/chat_template/interpreter.h"

namespace larder::chat_template {
namespace {

constexpr std::int64_t kMaxRange = 100'000;

Error failure(std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message), {}}; }

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

Result<Value> integer_arithmetic(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  bool overflow = false;
  switch (op) {
    case Op::kAdd: overflow = __builtin_add_overflow(a, b, &out); break;
    case Op::kSubtract: overflow = __builtin_sub_overflow(a, b, &out); break;
    case Op::kMultiply: overflow = __builtin_mul_overflow(a, b, &out); break;
    default:
      if (b == 0) return failure("division by zero");
      if (b == -1) {  // the one quotient that may not fit
        overflow = op == Op::kFloorDivide && __builtin_sub_overflow(std::int64_t{0}, a, &out);
      } else {
        out = op == Op::kFloorDivide ? floor_divide(a, b) : a - floor_divide(a, b) * b;
      }
  }
  if (overflow) return failure("an integer over 64 bits");
  return Value::integer(out);
}

// The trusted part of a text: what may stand in an error message.
std::string without_request_text(const MarkedString& text) {
  std::string out;
  std::size_t begin = 0;
  for (const MarkedString::Run& run : text.runs()) {
    out += run.source == kTrusted ? text.bytes().substr(begin, run.end - begin) : std::string("…");
    begin = run.end;
    if (out.size() > 500) break;
  }
  return out.substr(0, 500);
}

struct CivilTime {
  std::int64_t year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int week_day = 4;  // 0: Sunday
  int year_day = 0;  // 0: 1 January
};

// Source: Hinnant, "chrono-Compatible Low-Level Date Algorithms", days to civil, 2013.
CivilTime civil_time(std::int64_t seconds) {
  CivilTime t;
  const std::int64_t days = floor_divide(seconds, 86400);
  const int rest = static_cast<int>(seconds - days * 86400);
  t.hour = rest / 3600;
  t.minute = rest / 60 % 60;
  t.second = rest % 60;
  t.week_day = static_cast<int>(((days + 4) % 7 + 7) % 7);
  const std::int64_t shifted = days + 719468;
  const std::int64_t era = floor_divide(shifted, 146097);
  const std::int64_t day_of_era = shifted - era * 146097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  t.day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  t.month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  t.year = year_of_era + era * 400 + (t.month <= 2 ? 1 : 0);
  const bool leap = (t.year % 4 == 0 && t.year % 100 != 0) || t.year % 400 == 0;
  constexpr std::array<int, 12> kBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  t.year_day = kBefore[static_cast<std::size_t>(t.month - 1)] + t.day - 1 + (leap && t.month > 2 ? 1 : 0);
  return t;
}

std::string padded(std::int64_t number, std::size_t width, char pad) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), pad);
  return digits;
}

constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};

// Empty: not a directive we know.
std::string one_directive(char directive, const CivilTime& t, char pad) {
  const std::string_view month = kMonths[static_cast<std::size_t>(t.month - 1)];
  const std::string_view day = kDays[static_cast<std::size_t>(t.week_day)];
  const int hour12 = t.hour % 12 == 0 ? 12 : t.hour % 12;
  const std::size_t two = pad == '\0' ? 1 : 2;
  switch (directive) {
    case 'Y': return std::to_string(t.year);
    case 'y': return padded(t.year % 100, two, '0');
    case 'm': return padded(t.month, two, '0');
    case 'd': return padded(t.day, two, '0');
    case 'e': return padded(t.day, two, ' ');
    case 'H': return padded(t.hour, two, '0');
    case 'I': return padded(hour12, two, '0');
    case 'M': return padded(t.minute, two, '0');
    case 'S': return padded(t.second, two, '0');
    case 'j': return padded(t.year_day + 1, pad == '\0' ? 1 : 3, '0');
    case 'p': return t.hour < 12 ? "AM" : "PM";
    case 'B': return std::string(month);
    case 'b':
    case 'h': return std::string(month.substr(0, 3));
    case 'A': return std::string(day);
    case 'a': return std::string(day.substr(0, 3));
    case 'w': return std::to_string(t.week_day);
    case 'u': return std::to_string(t.week_day == 0 ? 7 : t.week_day);
    case 'F': return std::to_string(t.year) + "-" + padded(t.month, 2, '0') + "-" + padded(t.day, 2, '0');
    case 'T': return padded(t.hour, 2, '0') + ":" + padded(t.minute, 2, '0') + ":" + padded(t.second, 2, '0');
    case 'R': return padded(t.hour, 2, '0') + ":" + padded(t.minute, 2, '0');
    case '%': return "%";
    default: return {};
  }
}

}  // namespace

Result<std::string> format_time(std::string_view format, LocalTime time) {
  if (format.size() > 1024) return failure("strftime_now: the format is longer than 1024 bytes");
  const CivilTime civil = civil_time(floor_divide(time.now, 1000) + time.utc_offset_s);
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    const bool unpadded = i + 1 < format.size() && format[i + 1] == '-';
    i += unpadded ? 2 : 1;
    const std::string text = i < format.size() ? one_directive(format[i], civil, unpadded ? '\0' : '0') : std::string();
    if (text.empty()) return failure("strftime_now: a directive that is not supported");
    out += text;
  }
  return out;
}

Result<Value> Interpreter::arithmetic(Op op, const Value& left, const Value& right) {
  if (op != Op::kDivide && left.is_integral() && right.is_integral()) {
    return integer_arithmetic(op, left.as_int(), right.as_int());
  }
  const double a = left.as_double();
  const double b = right.as_double();
  if ((op == Op::kDivide || op == Op::kFloorDivide || op == Op::kModulo) && b == 0) return failure("division by zero");
  switch (op) {
    case Op::kAdd: return Value::real(a + b);
    case Op::kSubtract: return Value::real(a - b);
    case Op::kMultiply: return Value::real(a * b);
    case Op::kDivide: return Value::real(a / b);
    case Op::kFloorDivide: return Value::real(std::floor(a / b));
    default: {
      const double rest = std::fmod(a, b);
      return Value::real(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
  }
}

Result<Value> Interpreter::call(const Expr& expr) { return call_with(expr, Value()); }

Result<Value> Interpreter::call_with(const Expr& expr, const Value& caller) {
  ASSIGN_OR_RETURN(const Args args, arguments(expr));
  ASSIGN_OR_RETURN(const Value callee, evaluate(*expr.operands[0]));
  if (callee.is(Kind::kMacro)) return call_macro(callee.as_macro(), args, caller);
  if (callee.is(Kind::kFunction)) return call_global(expr, args);
  return wrong_type("calling '" + expr.name.substr(0, 64) + "'", callee, "a macro or function");
}

Result<Value> Interpreter::call_global(const Expr& expr, const Args& args) {
  const std::string& name = expr.operands[0]->name;
  if (name == "namespace") return make_namespace(args);
  if (name == "range") return make_range(args);
  const Value* argument = args.get(0, name == "strftime_now" ? "format" : "message");
  if (argument == nullptr) return failure("'" + name + "' needs an argument");
  ASSIGN_OR_RETURN(const MarkedString text, to_text(meter_, *argument));
  if (name == "raise_exception") return failure("the template refused: " + without_request_text(text));
  if (name == "strftime_now") {
    time_was_read_ = true;
    ASSIGN_OR_RETURN(const std::string formatted, format_time(text.bytes(), time_));
    return Value::text(formatted, text.first_untrusted());
  }
  return failure("'" + name.substr(0, 64) + "' is not a function");
}

Result<Value> Interpreter::make_range(const Args& args) {
  std::array<std::int64_t, 3> numbers = {0, 0, 1};
  if (args.positional.empty() || args.positional.size() > 3) return failure("range takes one to three numbers");
  for (std::size_t i = 0; i < args.positional.size(); ++i) {
    if (!args.positional[i].is_integral()) return wrong_type("range", args.positional[i], "an int");
    numbers[i] = args.positional[i].as_int();
  }
  if (args.positional.size() == 1) {
    numbers[1] = numbers[0];
    numbers[0] = 0;
  }
  if (numbers[2] == 0) return failure("the step of a range is 0");
  std::vector<Value> items;
  std::int64_t at = numbers[0];
  while (numbers[2] > 0 ? at < numbers[1] : at > numbers[1]) {
    if (static_cast<std::int64_t>(items.size()) >= kMaxRange) {
      return Error{ErrorCode::kResourceExhausted, "a range of over " + std::to_string(kMaxRange) + " numbers", "range"};
    }
    items.push_back(Value::integer(at));
    if (__builtin_add_overflow(at, numbers[2], &at)) break;
  }
  RETURN_IF_ERROR(meter_.charge(items.size()));
  return heap_.list(std::move(items));
}

Result<Value> Interpreter::make_namespace(const Args& args) {
  Dict* dict = heap_.dict();
  for (const Value& given : args.positional) {
    if (!given.is(Kind::kDict)) return wrong_type("namespace", given, "a dict");
    for (const auto& [key, value] : given.as_dict().entries) RETURN_IF_ERROR(dict->set(key, value));
  }
  for (const auto& [name, value] : args.named) RETURN_IF_ERROR(dict->set(Value::text(name), value));
  return Value::object(Kind::kNamespace, dict);
}

}  // namespace larder::chat_template
