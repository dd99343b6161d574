// SPDX-License-Identifier: Apache-2.0
// Every template and snippet of tests/data/templates against what jinja2 made of it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/chat_template/chat_template.h"
#include "runtime/chat_template/json_value.h"
#include "test_paths.h"

namespace larder::chat_template {
namespace {

const std::string kFolder = std::string(LARDER_TEST_DATA) + "/templates/";
constexpr WallTime kNow = 1'795'961'109'000;  // 29 Nov 2026, 14:05:09

std::string read_file(const std::string& name) {
  std::ifstream file(kFolder + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The lines of a JSON lines file, each a dict.
std::vector<Dict*> read_lines(const std::string& name, Heap& heap) {
  std::ifstream file(kFolder + name);
  std::vector<Dict*> lines;
  for (std::string line; std::getline(file, line);) {
    Result<Value> value = parse_json(line, kTrusted, heap);
    EXPECT_TRUE(value.ok()) << name;
    if (value.ok()) lines.push_back(&value->as_dict());
  }
  return lines;
}

std::string text_member(const Dict& dict, std::string_view key) {
  const Value* value = dict.find(key);
  return value != nullptr && value->is(Kind::kString) ? value->as_text().bytes() : std::string();
}

bool flag_member(const Dict& dict, std::string_view key) {
  const Value* value = dict.find(key);
  return value != nullptr && truthy(*value);
}

class Golden : public testing::Test {
 protected:
  void SetUp() override {
    for (Dict* line : read_lines("conversations.jsonl", heap_)) {
      std::vector<RenderMessage>& messages = conversations_[text_member(*line, "name")];
      for (const Value& value : line->find("messages")->as_list().items) {
        const Dict& dict = value.as_dict();
        messages.push_back(RenderMessage{text_member(dict, "role"), text_member(dict, "content"),
                                         text_member(dict, "name"), text_member(dict, "tool_calls_json"),
                                         text_member(dict, "tool_call_id")});
      }
    }
    for (Dict* line : read_lines("tools.jsonl", heap_)) tools_.push_back(text_member(*line, "json"));
    ASSERT_GE(conversations_.size(), 15u);
    ASSERT_EQ(tools_.size(), 2u);
  }

  RenderInput input(const std::string& conversation, bool tools, bool generate) const {
    RenderInput made;
    made.messages = conversations_.at(conversation);
    if (tools) made.tools_json = tools_;
    made.add_generation_prompt = generate;
    made.now = kNow;
    return made;
  }

  Heap heap_;
  std::map<std::string, std::vector<RenderMessage>> conversations_;
  std::vector<std::string> tools_;
};

TEST_F(Golden, EveryTemplateRendersAsJinja2Does) {
  std::map<std::string, std::shared_ptr<const ChatTemplate>> templates;
  int compared = 0;
  for (const Dict* line : read_lines("golden.jsonl", heap_)) {
    const std::string name = text_member(*line, "template");
    if (!templates.contains(name)) {
      auto parsed = ChatTemplate::parse(read_file(name), "<s>", "</s>");
      ASSERT_TRUE(parsed.ok()) << name << ": " << to_string(parsed.error());
      templates[name] = *parsed;
    }
    const std::string conversation = text_member(*line, "conversation");
    const RenderInput made = input(conversation, flag_member(*line, "tools"), flag_member(*line, "generate"));
    const Result<RenderedPrompt> prompt = templates[name]->render(made);
    const std::string where = name + ", " + conversation;
    ++compared;
    if (line->find("expected") == nullptr) {
      ASSERT_FALSE(prompt.ok()) << where;
      EXPECT_EQ(prompt.error().code, ErrorCode::kInvalidArgument) << where;
      continue;
    }
    ASSERT_TRUE(prompt.ok()) << where << ": " << to_string(prompt.error());
    ASSERT_EQ(prompt.value().text, text_member(*line, "expected")) << where;
  }
  EXPECT_EQ(templates.size(), 7u);
  EXPECT_GE(compared, 400);
}

TEST_F(Golden, EverySnippetRendersAsJinja2Does) {
  int compared = 0;
  for (const Dict* line : read_lines("snippets.jsonl", heap_)) {
    const std::string source = text_member(*line, "source");
    const auto parsed = ChatTemplate::parse(source, "<s>", "</s>");
    ++compared;
    if (line->find("expected") == nullptr) {
      EXPECT_FALSE(parsed.ok() && parsed.value()->render(input("calls", true, true)).ok()) << source;
      continue;
    }
    if (!parsed.ok()) {
      ADD_FAILURE() << source << "\n" << to_string(parsed.error());
      continue;
    }
    const Result<RenderedPrompt> prompt = parsed.value()->render(input("calls", true, true));
    if (!prompt.ok()) {
      ADD_FAILURE() << source << "\n" << to_string(prompt.error());
      continue;
    }
    EXPECT_EQ(prompt.value().text, text_member(*line, "expected")) << source;
  }
  EXPECT_GE(compared, 100);
}

// The untrusted ranges are exact where the template copies content as it is.
TEST_F(Golden, MarksCoverExactlyTheContents) {
  const auto parsed = ChatTemplate::parse(read_file("smollm2.jinja"), "<|im_start|>", "<|im_end|>");
  ASSERT_TRUE(parsed.ok());
  for (const auto& [name, messages] : conversations_) {
    const Result<RenderedPrompt> prompt = parsed.value()->render(input(name, false, true));
    ASSERT_TRUE(prompt.ok()) << name;
    std::vector<std::string> contents;
    for (const RenderMessage& message : messages) {
      if (message.role == "critic") contents.push_back(message.role);
      if (!message.content.empty()) contents.push_back(message.content);
    }
    std::vector<std::string> marked;
    for (const ByteRange& range : prompt.value().untrusted) {
      marked.push_back(prompt.value().text.substr(range.begin, range.end - range.begin));
    }
    EXPECT_EQ(marked, contents) << name;
  }
}

TEST_F(Golden, SectionsCoverEveryByteOnceInOrder) {
  for (const char* name : {"smollm2.jinja", "chatml_tools.jinja", "headers.jinja", "inst.jinja", "hermes.jinja",
                           "turns.jinja", "deep.jinja"}) {
    const auto parsed = ChatTemplate::parse(read_file(name), "<s>", "</s>");
    ASSERT_TRUE(parsed.ok());
    for (const auto& [conversation, messages] : conversations_) {
      const Result<RenderedPrompt> prompt = parsed.value()->render(input(conversation, true, true));
      if (!prompt.ok()) continue;
      std::uint32_t at = 0;
      for (const Section& section : prompt.value().sections) {
        ASSERT_EQ(section.byte_begin, at);
        ASSERT_GT(section.byte_end, at);
        at = section.byte_end;
      }
      ASSERT_EQ(at, prompt.value().text.size());
      for (const ByteRange& range : prompt.value().untrusted) {
        ASSERT_LT(range.begin, range.end);
        for (const Section& section : prompt.value().sections) {
          if (section.kind == SectionKind::kTemplate) {
            ASSERT_TRUE(section.byte_end <= range.begin || section.byte_begin >= range.end);
          }
        }
      }
    }
  }
}

TEST_F(Golden, ToolsAndMessagesAreSectionsByName) {
  const auto parsed = ChatTemplate::parse(read_file("chatml_tools.jinja"), "", "");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed.value()->mentions_tools());
  const Result<RenderedPrompt> prompt = parsed.value()->render(input("call", true, true));
  ASSERT_TRUE(prompt.ok());
  std::vector<std::string> labels;
  for (const Section& section : prompt.value().sections) {
    if (section.kind != SectionKind::kTemplate) labels.push_back(section.label);
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"tool turn_on", "tool set_heat", "user message 1", "assistant message 2",
                                              "tool message 3", "assistant message 4", "user message 5"}));
  const Section& tool = prompt.value().sections[1];
  EXPECT_EQ(prompt.value().text.substr(tool.byte_begin, 10), "{\"type\": \"");
  EXPECT_EQ(prompt.value().text.substr(tool.byte_end - 2, 2), "}}");
}

TEST_F(Golden, AppendingIsFoundOut) {
  const auto appending = [](const std::string& name) {
    const auto parsed = ChatTemplate::parse(read_file(name), "", "");
    EXPECT_TRUE(parsed.ok());
    return parsed.value()->appending();
  };
  EXPECT_EQ(appending("smollm2.jinja"), Appending::kYes);
  EXPECT_EQ(appending("chatml_tools.jinja"), Appending::kYes);
  EXPECT_EQ(appending("headers.jinja"), Appending::kYes);
  EXPECT_EQ(appending("hermes.jinja"), Appending::kNo) << "it drops the thinking block of older answers";
  const auto refusing = ChatTemplate::parse("{{ raise_exception('never') }}", "", "");
  EXPECT_EQ(refusing.value()->appending(), Appending::kUnknown);
}

}  // namespace
}  // namespace larder::chat_template
