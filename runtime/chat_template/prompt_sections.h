// SPDX-License-Identifier: Apache-2.0
// From marked text to a RenderedPrompt: which bytes are untrusted, which section each byte belongs to, and where the
// last message begins. What it is not: it makes no tokens and looks at no content, only at marks.
// Units:   bytes.    Errors: none.    Threads: any.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/base/section.h"
#include "runtime/chat_template/chat_template.h"
#include "runtime/chat_template/marked_string.h"

namespace larder::chat_template {

// Sources of a render: message i is 1 + i, tool j is 1 + messages + j.
struct SourceNames {
  std::vector<Section> sections;  // by source - 1; kind and label filled, offsets 0
  std::size_t messages = 0;
};

// `tool_names` in the order of the tools; a name outside [A-Za-z0-9_.-]{1,64} is replaced by its number.
SourceNames name_sources(const std::vector<RenderMessage>& messages, const std::vector<std::string>& tool_names);

RenderedPrompt make_prompt(const MarkedString& text, const SourceNames& sources);

}  // namespace larder::chat_template
