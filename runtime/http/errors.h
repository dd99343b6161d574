// SPDX-License-Identifier: Apache-2.0
// Errors on the wire: the one table from ErrorCode to HTTP status, and OpenAI's error shape
// {"error":{"message","type","param","code"}} with all four members, for every endpoint.
// Source:   shape and type words, OpenAI's API reference; 499 as nginx uses it for a client that gave up.
// Threads:  any; pure.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.h"
#include "runtime/http/message.h"

namespace larder::http {

struct ErrorRow {
  ErrorCode code;
  int status;
  std::string_view type;
  int retry_after_s;  // 0: no Retry-After
};

const ErrorRow& error_row(ErrorCode code);

// Context of an error whose prompt is longer than can be served; becomes the wire's `code`.
inline constexpr std::string_view kContextLengthExceeded = "context_length_exceeded";

// {"error":{…}} for this error. `param` names the request member, empty: null.
std::string error_body(const Error& error, std::string_view param = {});
Answer error_answer(const Error& error, std::string_view param = {});
// An error that has no ErrorCode (405, 408, 411, 413, 414, 415, 431, …).
Answer plain_error(int status, std::string_view code, std::string_view message);
std::string_view reason_phrase(int status);

}  // namespace larder::http
