// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/errors.h"

#include <algorithm>
#include <array>

#include "runtime/http/json_writer.h"

namespace larder::http {
namespace {

// What an engine's error may be about, of what a request sends.
constexpr std::array<std::string_view, 3> kMembers{"messages", "prompt", "tools"};

constexpr std::array<ErrorRow, 15> kRows{{
    {ErrorCode::kInvalidArgument, 400, "invalid_request_error", 0},
    {ErrorCode::kNotFound, 404, "invalid_request_error", 0},
    {ErrorCode::kUnsupported, 400, "invalid_request_error", 0},
    {ErrorCode::kUnavailable, 503, "server_error", 2},
    {ErrorCode::kResourceExhausted, 429, "rate_limit_error", 1},
    {ErrorCode::kQuotaExceeded, 429, "insufficient_quota", 10},
    {ErrorCode::kCancelled, 499, "cancelled", 0},
    {ErrorCode::kDeadlineExceeded, 504, "timeout", 0},
    {ErrorCode::kCorrupt, 500, "server_error", 0},
    {ErrorCode::kIo, 500, "server_error", 0},
    {ErrorCode::kDevice, 500, "server_error", 0},
    {ErrorCode::kConflict, 409, "conflict_error", 0},
    {ErrorCode::kUnauthorized, 401, "authentication_error", 0},
    {ErrorCode::kForbidden, 403, "permission_error", 0},
    {ErrorCode::kInternal, 500, "server_error", 0},
}};

std::string body_of(std::string_view message, std::string_view type, std::string_view param, std::string_view code) {
  JsonWriter out;
  out.begin_object().key("error").begin_object().member("message", message).member("type", type).key("param");
  if (param.empty()) {
    out.null();
  } else {
    out.text(param);
  }
  out.member("code", code).end_object().end_object();
  return out.take();
}

}  // namespace

const ErrorRow& error_row(ErrorCode code) {
  const auto index = static_cast<std::size_t>(code);
  INVARIANT(index < kRows.size() && kRows[index].code == code);
  return kRows[index];
}

std::string error_body(const Error& error, std::string_view param) {
  const ErrorRow& row = error_row(error.code);
  std::string_view code = error_code_name(error.code);
  if (error.context == kContextLengthExceeded) code = kContextLengthExceeded;
  if (error.code == ErrorCode::kUnauthorized) code = "invalid_api_key";
  const bool member = std::find(kMembers.begin(), kMembers.end(), error.context) != kMembers.end();
  if (param.empty() && member) param = error.context;
  return body_of(error.message, row.type, param, code);
}

Answer error_answer(const Error& error, std::string_view param) {
  const ErrorRow& row = error_row(error.code);
  Answer answer;
  answer.status = row.status;
  answer.body = error_body(error, param);
  if (row.retry_after_s > 0) answer.headers.emplace_back("Retry-After", std::to_string(row.retry_after_s));
  if (error.code == ErrorCode::kUnauthorized) answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

Answer plain_error(int status, std::string_view code, std::string_view message) {
  Answer answer;
  answer.status = status;
  answer.body = body_of(message, status >= 500 ? "server_error" : "invalid_request_error", {}, code);
  if (status == 503) answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

}  // namespace larder::http
