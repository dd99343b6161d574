// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/prompt_sections.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace larder::chat_template {
namespace {

bool plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

Section named(SectionKind kind, std::string label) {
  Section section;
  section.kind = kind;
  section.label = std::move(label);
  return section;
}

// Runs of one source, with template text between two runs of the same source counted to it.
struct Stretch {
  std::size_t begin;
  std::size_t end;
  Source source;
};

std::vector<Stretch> stretches_of(const MarkedString& text) {
  std::vector<Stretch> stretches;
  std::size_t begin = 0;
  for (const MarkedString::Run& run : text.runs()) {
    if (run.source != kTrusted) {
      if (!stretches.empty() && stretches.back().source == run.source) {
        stretches.back().end = run.end;
      } else {
        stretches.push_back(Stretch{begin, run.end, run.source});
      }
    }
    begin = run.end;
  }
  return stretches;
}

std::uint32_t offset(std::size_t byte) { return static_cast<std::uint32_t>(byte); }

void add_section(std::vector<Section>& sections, const Section& name, std::size_t begin, std::size_t end) {
  if (begin == end) return;
  sections.push_back(name);
  sections.back().byte_begin = offset(begin);
  sections.back().byte_end = offset(end);
}

}  // namespace

SourceNames name_sources(const std::vector<RenderMessage>& messages, const std::vector<std::string>& tool_names) {
  SourceNames names;
  names.messages = messages.size();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    const bool system = role == "system" || role == "developer";
    if (system && i == 0) {
      names.sections.push_back(named(SectionKind::kSystem, role));
    } else {
      const std::string label = (plain_name(role) ? role + " " : std::string()) + "message " + std::to_string(i + 1);
      names.sections.push_back(named(system ? SectionKind::kSystem : SectionKind::kMessage, label));
    }
  }
  for (std::size_t i = 0; i < tool_names.size(); ++i) {
    const std::string name = plain_name(tool_names[i]) ? tool_names[i] : std::to_string(i + 1);
    names.sections.push_back(named(SectionKind::kTool, "tool " + name));
  }
  return names;
}

RenderedPrompt make_prompt(const MarkedString& text, const SourceNames& sources) {
  RenderedPrompt prompt;
  prompt.text = text.bytes();
  std::size_t begin = 0;
  for (const MarkedString::Run& run : text.runs()) {
    if (run.source != kTrusted) {
      if (!prompt.untrusted.empty() && prompt.untrusted.back().end == begin) {
        prompt.untrusted.back().end = offset(run.end);
      } else {
        prompt.untrusted.push_back(ByteRange{offset(begin), offset(run.end)});
      }
    }
    begin = run.end;
  }
  const Section between = named(SectionKind::kTemplate, "template");
  const Source last = static_cast<Source>(sources.messages);
  std::size_t covered = 0;
  bool last_seen = false;
  std::size_t last_begin = text.size();
  for (const Stretch& stretch : stretches_of(text)) {
    if (stretch.source == last && !last_seen) {
      last_seen = true;
      last_begin = covered > 0 ? covered : stretch.begin;
    }
    add_section(prompt.sections, between, covered, stretch.begin);
    add_section(prompt.sections, sources.sections[stretch.source - 1], stretch.begin, stretch.end);
    covered = stretch.end;
  }
  add_section(prompt.sections, between, covered, text.size());
  prompt.last_message_byte_begin = offset(last_begin);
  return prompt;
}

}  // namespace larder::chat_template
