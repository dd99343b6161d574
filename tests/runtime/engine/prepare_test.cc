// SPDX-License-Identifier: Apache-2.0
// What a request's prompt becomes with a model's own template and vocabulary; neither weights nor an engine.
#include "runtime/engine/prepare.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace larder::engine {
namespace {

constexpr Token kBos = 1;

// SentencePiece: <unk>, <s>, </s>, then one token for each byte.
std::shared_ptr<const tokenizer::Tokenizer> tokenizer_of(bool add_bos) {
  tokenizer::Vocab vocab;
  vocab.model = "llama";
  vocab.tokens = {"<unk>", "<s>", "</s>"};
  vocab.types = {2, 3, 3};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    vocab.tokens.emplace_back(text);
    vocab.types.push_back(6);
  }
  vocab.scores.assign(vocab.tokens.size(), 0);
  vocab.bos = kBos;
  vocab.eos = 2;
  vocab.unknown = 0;
  vocab.add_bos = add_bos;
  vocab.add_space_prefix = false;
  return tokenizer::Tokenizer::create(std::move(vocab)).value();
}

LoadedModel model_of(const char* chat_template, bool add_bos) {
  LoadedModel model;
  model.name = "tiny";
  model.tokenizer = tokenizer_of(add_bos);
  model.chat = chat_template::ChatTemplate::parse(chat_template, "<s>", "</s>").value();
  model.bounds->max_request_tokens = 4096;
  return model;
}

ChatPrompt chat_of(const std::string& system, const std::string& user) {
  ChatPrompt prompt;
  prompt.messages.resize(2);
  prompt.messages[0].role = "system";
  prompt.messages[0].content = system;
  prompt.messages[1].role = "user";
  prompt.messages[1].content = user;
  return prompt;
}

constexpr const char* kTurns = "{% for m in messages %}[{{ m.content }}]{% endfor %}";
const std::string kWithBos = std::string("{{ bos_token }}") + kTurns;
const std::string kWithTwo = std::string("{{ bos_token }}<s>") + kTurns;

PreparedPrompt prepare_or_die(const LoadedModel& model, const Prompt& prompt) {
  auto prepared = prepare_prompt(model, prompt, 0);
  EXPECT_TRUE(prepared.ok()) << to_string(prepared.error());
  return prepared.ok() ? std::move(prepared).value() : PreparedPrompt{};
}

TEST(Prepare, NeverTwoBosWhateverTheTemplateAndTheFileSay) {
  for (const bool add_bos : {false, true}) {
    for (const std::string& source : {std::string(kTurns), kWithBos, kWithTwo}) {
      const bool bos = add_bos || source != kTurns;
      const PreparedPrompt prepared = prepare_or_die(model_of(source.c_str(), add_bos), chat_of("sys", "hi"));
      std::vector<Token> expected(bos ? 1 : 0, kBos);
      for (const char byte : std::string("[sys][hi]")) expected.push_back(3 + static_cast<unsigned char>(byte));
      EXPECT_EQ(prepared.tokens, expected) << source << (add_bos ? ", the file adds one" : "");
    }
  }
}

TEST(Prepare, SectionsCoverTheTokensWhoeverWroteTheBos) {
  for (const bool add_bos : {false, true}) {
    for (const std::string& source : {std::string(kTurns), kWithBos, kWithTwo}) {
      const std::uint32_t bos = add_bos || source != kTurns ? 1 : 0;
      const PreparedPrompt prepared = prepare_or_die(model_of(source.c_str(), add_bos), chat_of("sys", "hi"));
      std::uint32_t end = 0;
      std::string shown;
      for (const Section& section : prepared.sections) {
        EXPECT_EQ(section.token_begin, end) << source;
        end = section.token_end;
        if (section.kind == SectionKind::kSystem) {
          EXPECT_EQ(section.token_begin, bos + 1) << source;
          EXPECT_EQ(section.token_end, bos + 4) << source;
        }
      }
      EXPECT_EQ(end, prepared.tokens.size()) << source;
      EXPECT_EQ(prepared.last_message_begin, bos + 4) << source;
    }
  }
}

// The same text as a chat, as token ids and as plain text is the same prompt, so each finds what another kept.
TEST(Prepare, AChatAndACompletionOfTheSameTextAreTheSameTokens) {
  for (const bool add_bos : {false, true}) {
    const LoadedModel model = model_of(kTurns, add_bos);
    const PreparedPrompt chat = prepare_or_die(model, chat_of("sys", "hi"));
    EXPECT_EQ(prepare_or_die(model, TokenPrompt{chat.tokens}).tokens, chat.tokens);
    EXPECT_EQ(prepare_or_die(model, TextPrompt{"[sys][hi]"}).tokens, chat.tokens);
  }
  const PreparedPrompt printed = prepare_or_die(model_of(kWithBos.c_str(), true), chat_of("sys", "hi"));
  EXPECT_EQ(prepare_or_die(model_of(kTurns, true), TextPrompt{"[sys][hi]"}).tokens, printed.tokens);
}

TEST(Prepare, ToolsGoIntoThePromptOrAreRefused) {
  const char* with_tools = "{% for t in tools or [] %}{{ t.function.name }};{% endfor %}{{ messages[0].content }}";
  ChatPrompt prompt = chat_of("sys", "hi");
  prompt.tools_json = {R"({"type":"function","function":{"name":"lamp"}})"};
  const PreparedPrompt shown = prepare_or_die(model_of(with_tools, false), prompt);
  ASSERT_FALSE(shown.sections.empty());
  EXPECT_EQ(shown.sections[0].kind, SectionKind::kTool);
  EXPECT_EQ(shown.sections[0].label, "tool lamp");

  const LoadedModel without = model_of(kTurns, false);
  const auto refused = prepare_prompt(without, prompt, 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(refused.error().context, "tools");
  EXPECT_NE(refused.error().message.find("tiny does not support tools"), std::string::npos);
  prompt.tools_wanted = false;
  EXPECT_EQ(prepare_or_die(without, prompt).tokens, prepare_or_die(without, chat_of("sys", "hi")).tokens);
}

TEST(Prepare, ABosThatSomebodyTypedIsText) {
  const LoadedModel model = model_of("{% for m in messages %}{{ m.content }}{% endfor %}", true);
  const PreparedPrompt typed = prepare_or_die(model, chat_of("<s>", "<s>"));
  EXPECT_EQ(typed.tokens.size(), 7u);
  EXPECT_EQ(std::count(typed.tokens.begin(), typed.tokens.end(), kBos), 1);
}

}  // namespace
}  // namespace larder::engine
