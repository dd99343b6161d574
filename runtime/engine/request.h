// SPDX-License-Identifier: Apache-2.0
// Request and Principal: the one internal form of a request. Codecs (HTTP) and the window translate into it.
// Threads: values, moved into Engine::submit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/sample/sampler.h"

namespace larder::engine {

// Who asks: made from a credential by Engine::authenticate, never from a request body.
struct Principal {
  TenantId tenant{};
  KeyId key{};
  bool admin = false;
  std::string tenant_name;
};

struct ChatMessage {
  std::string role;  // system, user, assistant, tool, developer
  std::string content;
  std::string name;
  std::string tool_calls_json;  // as sent, re-serialised; empty: none
  std::string tool_call_id;
};

struct ChatPrompt {
  std::vector<ChatMessage> messages;
  std::vector<std::string> tools_json;  // each one tool object, re-serialised with its key order kept
  bool tools_wanted = true;             // false: tool_choice none, so a template without tools may leave them out
  bool add_generation_prompt = true;
};

struct TextPrompt {
  std::string text;  // plain completion text: BOS added when the model wants one, control tokens are not parsed
};

struct TokenPrompt {
  std::vector<Token> tokens;  // taken as they are
};

enum class CachePolicy : std::uint8_t { kDefault, kBypass };  // kBypass: neither reads nor keeps KV

struct Request {
  std::string model;  // name or alias; empty: the loaded one
  std::variant<ChatPrompt, TextPrompt, TokenPrompt> prompt;
  sample::SamplingParams sampling;
  std::uint32_t n = 1;            // choices; streams 0..n-1 of the seed
  std::uint32_t max_tokens = 0;   // 0: up to the context
  std::vector<std::string> stop;  // at most 16, each 1..256 bytes
  bool ignore_eos = false;
  bool echo_logprobs = false;  // completions: score the prompt
  CachePolicy cache = CachePolicy::kDefault;
  std::string label;             // names the entry this prompt becomes; empty: made from its sections
  std::int64_t deadline_ms = 0;  // from submission; 0: none
};

}  // namespace larder::engine
