// SPDX-License-Identifier: Apache-2.0
// ChatTemplate: a model's own Jinja chat template, parsed once and rendered per request by an engine for exactly the
// subset that chat templates use. What it is not: a general Jinja (no include, import, extends, recursion), and it has
// no built-in template to fall back to: a model without one answers chat requests with an error.
// Marking:  every byte of the output knows whether it came from the template (trusted) or from a request (untrusted),
//           through every filter, slice and concatenation, so that request text never becomes a control token.
// Units:    byte offsets into RenderedPrompt::text, end exclusive; time in ms since the Unix epoch.
// Errors:   parse: kInvalidArgument (syntax), kUnsupported (a construct outside the subset), both naming line and
//           construct. render: kInvalidArgument (the template refused these messages, bad tool JSON, bad types),
//           kResourceExhausted (a limit of RenderLimits). Error texts never hold message content.
// Threads:  any; a ChatTemplate is immutable.
// Source:   Jinja 3.1 documentation; settings of Hugging Face chat templating (trim_blocks, lstrip_blocks, loop
//           controls, tojson without HTML escaping).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/marked_text.h"
#include "runtime/base/result.h"
#include "runtime/base/section.h"

namespace larder::chat_template {

struct RenderMessage {
  std::string role;  // system, user, assistant, tool, developer; any other is passed on as untrusted text
  std::string content;
  std::string name;             // empty: the message has no such member
  std::string tool_calls_json;  // a JSON array as in the OpenAI API; empty: none
  std::string tool_call_id;     // empty: none
};

// `developer` becomes `system` only where the template raises on it. Tool-call arguments that are JSON text are handed
// to the template as objects, and as text where it raises on objects.
struct RenderInput {
  std::vector<RenderMessage> messages;
  std::vector<std::string> tools_json;  // each one JSON object, key order is kept; empty: `tools` is none
  bool add_generation_prompt = true;
  WallTime now = 0;               // what strftime_now sees
  std::int32_t utc_offset_s = 0;  // local time of strftime_now minus UTC
};

struct RenderLimits {
  std::uint64_t max_steps = 4'000'000;  // evaluated nodes plus one per 64 bytes of text made
  std::uint32_t max_depth = 400;        // nested evaluations
  std::uint64_t max_output_bytes = std::uint64_t{16} << 20;
};

// Marked is what came from the request; ranges do not touch.
struct RenderedPrompt : MarkedText {
  // Cover the text without gaps, in order; token offsets are 0. Labels: "template", "system", "tool NAME",
  // "user message 3" (counted from 1 over all messages). Names and roles outside [A-Za-z0-9_.-]{1,64} are left out.
  std::vector<Section> sections;
  // Where what the last message adds may begin: behind the last request byte of everything before it, or at its own
  // first byte when nothing is before it. text.size() when no byte of it was rendered.
  std::uint32_t last_message_byte_begin = 0;
  bool volatile_time = false;  // strftime_now was asked: the prefix changes with the clock
};

// Whether adding a message leaves the text before it as it was (generation prompt off): what prefix reuse lives from.
enum class Appending : std::uint8_t { kYes, kNo, kUnknown };

class Program;

class ChatTemplate {
 public:
  // `source` up to 1 MiB. bos_token and eos_token are the vocabulary's texts, trusted; empty where there is none.
  static Result<std::shared_ptr<const ChatTemplate>> parse(std::string_view source, std::string bos_token,
                                                           std::string eos_token);
  ~ChatTemplate();
  ChatTemplate(const ChatTemplate&) = delete;
  ChatTemplate& operator=(const ChatTemplate&) = delete;

  Result<RenderedPrompt> render(const RenderInput& input, const RenderLimits& limits = {}) const;

  // Found at parse time by rendering a fixed conversation; kUnknown where the template refuses it.
  Appending appending() const { return appending_; }
  bool mentions_tools() const { return mentions_tools_; }  // the source reads `tools`; else tools would be dropped

 private:
  ChatTemplate(std::unique_ptr<const Program> program, std::string bos_token, std::string eos_token);

  std::unique_ptr<const Program> program_;
  std::string bos_token_;
  std::string eos_token_;
  Appending appending_ = Appending::kUnknown;
  bool mentions_tools_ = false;
};

}  // namespace larder::chat_template
