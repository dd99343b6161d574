// SPDX-License-Identifier: Apache-2.0
// Section: a labelled part of one prompt, with where it lies in bytes and tokens; verdicts speak in sections.
// Units:   byte offsets into the rendered text, token offsets into the prompt; end exclusive.    Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/ids.h"

namespace larder {

enum class SectionKind : std::uint8_t { kTemplate, kSystem, kTool, kDocument, kMessage };

struct Section {
  SectionKind kind = SectionKind::kTemplate;
  std::string label;  // "system", "tool turn_on", "user message 3"; made of roles, names and numbers, never of content
  std::uint32_t byte_begin = 0;
  std::uint32_t byte_end = 0;
  std::uint32_t token_begin = 0;
  std::uint32_t token_end = 0;
};

// A prompt after preparation: what sched and kv see. Requires: sections ordered, not overlapping.
struct PreparedPrompt {
  std::vector<Token> tokens;
  std::vector<Section> sections;
  std::uint32_t last_message_begin = 0;  // token where the last message starts; full prefix means reuse up to here
};

}  // namespace larder
