// SPDX-License-Identifier: Apache-2.0
// Any bytes as a chat template and any bytes as a conversation: parse and render end with a value or a typed error, and
// what they return keeps its contract: marks inside the text, sections that cover it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/chat_template/chat_template.h"

namespace {

using larder::chat_template::ChatTemplate;
using larder::chat_template::RenderedPrompt;
using larder::chat_template::RenderInput;
using larder::chat_template::RenderLimits;

// The input: template, then after each byte 0x1e one more part (contents, then a tool, then tool calls).
RenderInput conversation(std::string_view rest) {
  RenderInput input;
  const char* const roles[] = {"system", "user", "assistant", "tool", "developer", "odd"};
  std::size_t part = 0;
  while (!rest.empty() && part < 12) {
    const std::size_t end = rest.find('\x1e');
    const std::string text(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (part == 4) {
      input.tools_json.push_back(text);
    } else if (part == 5 && !input.messages.empty()) {
      input.messages.back().tool_calls_json = text;
    } else {
      input.messages.push_back({roles[part % 6], text, {}, {}, {}});
    }
    ++part;
  }
  return input;
}

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const RenderedPrompt& prompt) {
  std::uint32_t at = 0;
  for (const larder::ByteRange& range : prompt.untrusted) {
    require(range.begin >= at && range.end > range.begin && range.end <= prompt.text.size());
    at = range.end;
  }
  at = 0;
  for (const larder::Section& section : prompt.sections) {
    require(section.byte_begin == at && section.byte_end > at);
    at = section.byte_end;
  }
  require(at == prompt.text.size());
  require(prompt.last_message_byte_begin <= prompt.text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find('\x1e');
  const auto parsed = ChatTemplate::parse(bytes.substr(0, end), "<s>", "</s>");
  if (!parsed.ok()) return 0;
  RenderLimits limits;
  limits.max_steps = 100'000;
  limits.max_output_bytes = 1 << 20;
  const std::string_view rest = end == std::string_view::npos ? "a\x1e" "b\x1e" "c" : bytes.substr(end + 1);
  const auto prompt = parsed.value()->render(conversation(rest), limits);
  if (prompt.ok()) check(prompt.value());
  return 0;
}
