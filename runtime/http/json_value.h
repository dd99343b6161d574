// SPDX-License-Identifier: Apache-2.0
// JsonValue: a request body as a tree, parsed with limits. Members keep their order; of equal names the last value
// counts, at the first one's place. What it is not: a writer (json_writer.h).
// Bounds:   text at most the transport's body limit; depth and number of values as given; over them kInvalidArgument.
// Errors:   kInvalidArgument with the byte where parsing stopped; the text itself is never quoted.
// Threads:  values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace larder::http {

struct JsonLimits {
  std::size_t depth = 64;
  std::size_t values = 1'000'000;
};

struct JsonMember;

class JsonValue {
 public:
  enum class Type : std::uint8_t { kNull, kFlag, kInteger, kNumber, kText, kArray, kObject };

  JsonValue();
  ~JsonValue();
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other) noexcept;
  JsonValue& operator=(const JsonValue& other);
  JsonValue& operator=(JsonValue&& other) noexcept;

  Type type = Type::kNull;
  bool flag = false;
  std::int64_t integer = 0;  // kInteger: in range; greater ones are kNumber
  double number = 0;         // kInteger and kNumber
  std::string text;          // kText; kNumber: as it was written
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;

  bool is(Type wanted) const { return type == wanted; }
  // The member's value; null when it is absent or null. Requires: kObject.
  const JsonValue* find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

Result<JsonValue> parse_json(std::string_view text, const JsonLimits& limits);

// Compact JSON text of the value, its members in their order.
std::string to_json(const JsonValue& value);

// "a string", "an array", …: for messages.
std::string_view type_name(JsonValue::Type type);

}  // namespace larder::http
