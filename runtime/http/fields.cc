// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/fields.h"

#include <array>
#include <charconv>
#include <cmath>

namespace larder::http {
namespace {

using Type = JsonValue::Type;

std::string plain(double value) {
  std::array<char, 32> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), result.ptr};
}

}  // namespace

void Fields::fail(std::string_view name, std::string message, ErrorCode code) {
  if (fault_) return;
  const std::string param = where_ + std::string(name);
  fault_ = Fault{Error{code, param + ": " + std::move(message), ""}, param};
}

void Fields::wrong_type(std::string_view name, std::string_view wanted, const JsonValue& found) {
  fail(name, "must be " + std::string(wanted) + ", not " + std::string(type_name(found.type)));
}

void Fields::missing(std::string_view name) { fail(name, "is missing"); }

const JsonValue* Fields::typed(std::string_view name, Type type) {
  const JsonValue* value = object_.find(name);
  if (!value || failed()) return nullptr;
  if (value->type == type) return value;
  wrong_type(name, type_name(type), *value);
  return nullptr;
}

std::optional<std::string> Fields::text(std::string_view name, std::size_t max_bytes) {
  const JsonValue* value = typed(name, Type::kText);
  if (!value) return std::nullopt;
  if (value->text.size() > max_bytes) {
    fail(name, "is longer than " + std::to_string(max_bytes) + " bytes");
    return std::nullopt;
  }
  return value->text;
}

std::optional<bool> Fields::flag(std::string_view name) {
  const JsonValue* value = typed(name, Type::kFlag);
  return value ? std::optional(value->flag) : std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, std::int64_t min, std::int64_t max) {
  const JsonValue* value = object_.find(name);
  if (!value || failed()) return std::nullopt;
  // 5.0 is an integer too: some clients' languages know one kind of number only.
  const bool whole = value->type == Type::kNumber && std::trunc(value->number) == value->number &&
                     std::fabs(value->number) < 0x1p53;
  if (value->type != Type::kInteger && !whole) {
    wrong_type(name, "an integer", *value);
    return std::nullopt;
  }
  const std::int64_t found = whole ? static_cast<std::int64_t>(value->number) : value->integer;
  if (found < min || found > max) {
    fail(name, "is " + std::to_string(found) + ", must be from " + std::to_string(min) + " to " + std::to_string(max));
    return std::nullopt;
  }
  return found;
}

std::optional<double> Fields::number(std::string_view name, double min, double max) {
  const JsonValue* value = object_.find(name);
  if (!value || failed()) return std::nullopt;
  if (value->type != Type::kInteger && value->type != Type::kNumber) {
    wrong_type(name, "a number", *value);
    return std::nullopt;
  }
  if (!(value->number >= min && value->number <= max)) {
    fail(name, "is " + plain(value->number) + ", must be from " + plain(min) + " to " + plain(max));
    return std::nullopt;
  }
  return value->number;
}

const JsonValue* Fields::object(std::string_view name) { return typed(name, Type::kObject); }

const JsonValue* Fields::array(std::string_view name, std::size_t max_items) {
  const JsonValue* value = typed(name, Type::kArray);
  if (value && value->items.size() > max_items) {
    fail(name, "has more than " + std::to_string(max_items) + " items");
    return nullptr;
  }
  return value;
}

Result<JsonValue> parse_object(std::string_view body, const JsonLimits& limits) {
  ASSIGN_OR_RETURN(JsonValue value, parse_json(body, limits));
  if (value.type != Type::kObject) {
    return Error{ErrorCode::kInvalidArgument,
                 "the body must be a JSON object, not " + std::string(type_name(value.type)), ""};
  }
  return value;
}

}  // namespace larder::http
