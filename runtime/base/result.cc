// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/result.h"

namespace larder {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kResourceExhausted: return "resource_exhausted";
    case ErrorCode::kQuotaExceeded: return "quota_exceeded";
    case ErrorCode::kCancelled: return "cancelled";
    case ErrorCode::kDeadlineExceeded: return "deadline_exceeded";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kDevice: return "device";
    case ErrorCode::kConflict: return "conflict";
    case ErrorCode::kUnauthorized: return "unauthorized";
    case ErrorCode::kForbidden: return "forbidden";
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

std::string to_string(const Error& error) {
  std::string text(error_code_name(error.code));
  text += ": " + error.message;
  if (!error.context.empty()) text += " (" + error.context + ")";
  return text;
}

}  // namespace larder
