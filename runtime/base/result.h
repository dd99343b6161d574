// SPDX-License-Identifier: Apache-2.0
// Result<T> and Error: how every fallible function of this project answers. We never throw; foreign exceptions are
// caught in three places only (engine thread, storage thread, HTTP handler), a lack of memory also where one of many
// ends alone (out_of_memory.h).
// Errors: the code is a closed set with one HTTP status and one sentence each. A message says what failed, with which
//         value and what to do; `context` holds a path or key and never prompt text or a secret.
// Threads: values; copy and move freely.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "runtime/base/invariant.h"

namespace larder {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument,
  kNotFound,
  kUnsupported,
  kUnavailable,
  kResourceExhausted,
  kQuotaExceeded,
  kCancelled,
  kDeadlineExceeded,
  kCorrupt,
  kIo,
  kDevice,
  kConflict,
  kUnauthorized,
  kForbidden,
  kInternal,
};

std::string_view error_code_name(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string context;
};

// "code: message (context)", for logs and terminals.
std::string to_string(const Error& error);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& value() & {
    INVARIANT(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    INVARIANT(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    INVARIANT(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires: !ok().
  const Error& error() const& {
    INVARIANT(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    INVARIANT(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    INVARIANT(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace larder

#define LARDER_CONCAT_INNER(a, b) a##b
#define LARDER_CONCAT(a, b) LARDER_CONCAT_INNER(a, b)

// Leaves the calling function with the error of `expr`, if it has one.
#define RETURN_IF_ERROR(expr)                                            \
  do {                                                                   \
    if (auto result_of_expr = (expr); !result_of_expr.ok()) return result_of_expr.error(); \
  } while (false)

// ASSIGN_OR_RETURN(auto x, make_x()): declares or assigns x, or leaves the calling function with the error.
#define ASSIGN_OR_RETURN(lhs, expr) LARDER_ASSIGN_OR_RETURN(LARDER_CONCAT(result_, __LINE__), lhs, expr)
#define LARDER_ASSIGN_OR_RETURN(tmp, lhs, expr) \
  auto tmp = (expr);                            \
  if (!tmp.ok()) return std::move(tmp).error(); \
  lhs = std::move(tmp).value()
