// SPDX-License-Identifier: Apache-2.0
// A stranger's request through the codecs of the API: it is refused with an error that prints as JSON, or read within
// the limits, and what is passed on as JSON is JSON. The first byte chooses the codec.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/invariant.h"
#include "runtime/http/control_request.h"
#include "runtime/http/errors.h"
#include "runtime/http/guard.h"
#include "runtime/http/openai_request.h"

namespace {

using namespace larder;

const http::JsonLimits kLimits{64, 20'000};

void check_fault(const http::Fault& fault) {
  INVARIANT(!fault.error.message.empty());
  INVARIANT(http::parse_json(http::error_body(fault.error, fault.param), kLimits).ok());
}

void check_request(const http::ParsedRequest& parsed) {
  const engine::Request& request = parsed.request;
  INVARIANT(request.n >= 1 && request.n <= http::kMaxChoices);
  INVARIANT(request.stop.size() <= http::kMaxStops);
  for (const std::string& stop : request.stop) INVARIANT(!stop.empty() && stop.size() <= http::kMaxStopBytes);
  INVARIANT(request.sampling.temperature >= 0 && request.sampling.temperature <= 2);
  INVARIANT(request.sampling.top_logprobs <= 20);
  if (const auto* chat = std::get_if<engine::ChatPrompt>(&request.prompt)) {
    INVARIANT(!chat->messages.empty() && chat->messages.size() <= http::kMaxMessages);
    for (const std::string& tool : chat->tools_json) INVARIANT(http::parse_object(tool, kLimits).ok());
    for (const engine::ChatMessage& message : chat->messages) {
      INVARIANT(message.tool_calls_json.empty() || http::parse_json(message.tool_calls_json, kLimits).ok());
    }
  }
  if (const auto* ids = std::get_if<engine::TokenPrompt>(&request.prompt)) {
    INVARIANT(!ids->tokens.empty());
    for (const Token token : ids->tokens) INVARIANT(token >= 0);
  }
}

template <typename T>
void check(const std::variant<T, http::Fault>& outcome) {
  if (const auto* fault = std::get_if<http::Fault>(&outcome)) return check_fault(*fault);
  if constexpr (std::is_same_v<T, http::ParsedRequest>) check_request(std::get<T>(outcome));
}

// Whatever is JSON stays the same JSON when it is written and read again.
void check_round_trip(std::string_view text) {
  const auto first = http::parse_json(text, kLimits);
  if (!first.ok()) return;
  const std::string written = http::to_json(*first);
  const auto second = http::parse_json(written, kLimits);
  INVARIANT(second.ok() && http::to_json(*second) == written);
}

void check_guard(std::string_view text) {
  http::RequestHead head;
  head.method = "POST";
  head.host_count = 1;
  head.host = std::string(text.substr(0, text.find('\n')));
  head.local_address = "127.0.0.1";
  head.content_type = "application/json";
  // Where a browser was told a stranger's name, that name is no good host.
  if (head.host.find("example") != std::string::npos) INVARIANT(http::refuse(head, {}).has_value());
  http::query_value(text, "since");
  http::percent_decoded(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const std::vector<std::vector<std::string>> kPaths{
      {"pin"}, {"unpin"}, {"delete"}, {"locate"}, {"models", "load"}, {"models", "unload"}, {"tenants"},
      {"keys"}, {"settings"}, {"packs", "casa-it", "warm"}};
  switch (data[0] % 5) {
    case 0: check(http::parse_chat(text, kLimits)); break;
    case 1: check(http::parse_completion(text, kLimits)); break;
    case 2: check(http::parse_verb("POST", kPaths[(data[0] / 5) % kPaths.size()], text, kLimits)); break;
    case 3: check_round_trip(text); break;
    default: check_guard(text); break;
  }
  return 0;
}
