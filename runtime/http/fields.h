// SPDX-License-Identifier: Apache-2.0
// Fields: reads typed members out of one JSON object of a request and keeps the first fault, which names the member.
// Absent and null are the same; unknown members are ignored; a wrong type or range is a fault.
// Requires: after a fault every further read answers its fallback; look at failed() before using the values.
// Errors:   kInvalidArgument unless fail() is told another code.    Threads: one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/result.h"
#include "runtime/http/json_value.h"

namespace larder::http {

// A fault of a request, with the member it is about ("messages[2].content").
struct Fault {
  Error error;
  std::string param;
};

class Fields {
 public:
  // `where` is put before the names in messages: "" or "messages[2].".
  Fields(const JsonValue& object, std::string where, std::optional<Fault>& fault)
      : object_(object), where_(std::move(where)), fault_(fault) {}

  bool has(std::string_view name) const { return object_.find(name) != nullptr; }
  bool failed() const { return fault_.has_value(); }

  std::optional<std::string> text(std::string_view name, std::size_t max_bytes);
  std::optional<bool> flag(std::string_view name);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
  std::optional<double> number(std::string_view name, double min, double max);
  const JsonValue* object(std::string_view name);
  const JsonValue* array(std::string_view name, std::size_t max_items);
  const JsonValue* any(std::string_view name) const { return object_.find(name); }

  // Notes the fault, unless there is one already.
  void fail(std::string_view name, std::string message, ErrorCode code = ErrorCode::kInvalidArgument);
  void wrong_type(std::string_view name, std::string_view wanted, const JsonValue& found);
  void missing(std::string_view name);

 private:
  const JsonValue* typed(std::string_view name, JsonValue::Type type);

  const JsonValue& object_;
  const std::string where_;
  std::optional<Fault>& fault_;
};

// The body as an object, or the fault.
Result<JsonValue> parse_object(std::string_view body, const JsonLimits& limits);

}  // namespace larder::http
