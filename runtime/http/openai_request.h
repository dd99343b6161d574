// SPDX-License-Identifier: Apache-2.0
// Codec of OpenAI's requests: JSON text in, engine::Request out. Pure; asks nobody, keeps nothing.
// Bounds:   JsonLimits; n, stop, messages, tools and numbers as API.md lists them.
// Errors:   a Fault: kInvalidArgument (wrong type or range) or kUnsupported (images, response_format, …), naming the
//           member. Members that are not known are ignored.
// Source:   OpenAI's API reference for chat completions and completions; top_k, min_p, repetition_penalty and
//           ignore_eos as vLLM names them; cache_prompt as llama.cpp does.
// Threads:  any.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "runtime/engine/request.h"
#include "runtime/http/fields.h"
#include "runtime/http/json_value.h"

namespace larder::http {

// A request and what only its answer needs.
struct ParsedRequest {
  engine::Request request;
  bool chat = true;
  bool stream = false;
  bool include_usage = false;
  bool has_seed = false;   // false: the caller draws one
  bool echo = false;       // completions: the prompt's text comes first
  bool no_new_text = false;  // completions with echo and max_tokens 0: the one drawn token is not shown
};

inline constexpr std::size_t kMaxStops = 16;
inline constexpr std::size_t kMaxStopBytes = 256;
inline constexpr std::int64_t kMaxChoices = 16;
inline constexpr std::size_t kMaxMessages = 8192;
inline constexpr std::size_t kMaxTools = 512;

std::variant<ParsedRequest, Fault> parse_chat(std::string_view body, const JsonLimits& limits);
std::variant<ParsedRequest, Fault> parse_completion(std::string_view body, const JsonLimits& limits);

}  // namespace larder::http
