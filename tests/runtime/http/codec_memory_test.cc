// SPDX-License-Identifier: Apache-2.0
// Every allocation of reading a request and of writing an answer fails once: the call is broken off and leaves nothing
// behind (the sanitizer build counts), and made again it gives what it gives where nothing fails.
#include <gtest/gtest.h>

#include "runtime/http/openai_answer.h"
#include "runtime/http/openai_request.h"
#include "tests/support/failing_memory.h"

namespace larder::http {
namespace {

const JsonLimits kLimits{64, 20'000};

const std::string kBody =
    R"({"model":"a model whose name is longer than a short string","messages":[{"role":"system","content":)"
    R"("you are a careful housekeeper, and you know where everything is"},{"role":"user","content":[{"type":"text",)"
    R"("text":"where are the jars of plums that were put away last autumn?"}]},{"role":"assistant","content":null,)"
    R"("tool_calls":[{"id":"call_0123456789abcdef","type":"function","function":{"name":"look_into_the_larder",)"
    R"("arguments":"{\"shelf\": 3}"}}]},{"role":"tool","tool_call_id":"call_0123456789abcdef","content":"twelve"}],)"
    R"("tools":[{"type":"function","function":{"name":"look_into_the_larder","parameters":{"type":"object",)"
    R"("properties":{"shelf":{"type":"integer","description":"counted from the floor"}}}}}],)"
    R"("stop":["a stop string that is rather long","another one of that kind"],"temperature":0.5,)"
    R"("logit_bias":{"17":-5,"18":3},"logprobs":true,"top_logprobs":3,"max_tokens":12,"stream":true})";

template <typename Call>
std::uint64_t all_fail(Call call) {
  std::uint64_t broken = 0;
  const std::uint64_t failures = larder::test::each_allocation(call, [&] { ++broken; });
  EXPECT_EQ(failures, broken);
  return broken;
}

TEST(CodecMemory, EveryAllocationOfReadingARequestMayFail) {
  const auto control = parse_chat(kBody, kLimits);
  ASSERT_TRUE(std::holds_alternative<ParsedRequest>(control));
  const auto& wanted = std::get<engine::ChatPrompt>(std::get<ParsedRequest>(control).request.prompt);
  std::optional<std::variant<ParsedRequest, Fault>> read;
  const std::uint64_t failures = all_fail([&] { read = parse_chat(kBody, kLimits); });
  EXPECT_GT(failures, 60u);
  ASSERT_TRUE(read && std::holds_alternative<ParsedRequest>(*read));
  const auto& got = std::get<engine::ChatPrompt>(std::get<ParsedRequest>(*read).request.prompt);
  ASSERT_EQ(got.messages.size(), wanted.messages.size());
  for (std::size_t i = 0; i < got.messages.size(); ++i) {
    EXPECT_EQ(got.messages[i].content, wanted.messages[i].content);
    EXPECT_EQ(got.messages[i].tool_calls_json, wanted.messages[i].tool_calls_json);
  }
  EXPECT_EQ(got.tools_json, wanted.tools_json);
}

TEST(CodecMemory, EveryAllocationOfRefusingARequestMayFail) {
  const std::string bad = kBody.substr(0, kBody.size() - 40) + ",\"n\": 1000}";
  std::optional<std::variant<ParsedRequest, Fault>> read;
  EXPECT_GT(all_fail([&] { read = parse_chat(bad, kLimits); }), 10u);
  EXPECT_TRUE(read && std::holds_alternative<Fault>(*read));
}

std::vector<engine::StreamEvent> events() {
  engine::Started started;
  started.request = RequestId{5127};
  started.model = "a model whose name is longer than a short string";
  engine::Piece piece{0, "twelve jars of plums, on the third shelf from the floor", {}};
  piece.tokens.push_back({7, "twelve", -0.25f, {{"eleven", -1.5f}, {"thirteen", -2.5f}}});
  return {started, piece, engine::ChoiceDone{0, engine::FinishReason::kStop}, engine::Finished{}};
}

AnswerShape shape() {
  AnswerShape made;
  made.logprobs = true;
  made.include_usage = true;
  return made;
}

TEST(CodecMemory, EveryAllocationOfAnAnswerMayFail) {
  const auto write_all = [] {
    StreamCodec streamed(shape());
    WholeCodec whole(shape());
    std::string all;
    for (const engine::StreamEvent& event : events()) {
      all += streamed.on(event);
      if (auto text = whole.on(event)) all += std::move(*text).value();
    }
    return all;
  };
  const std::string control = write_all();
  ASSERT_NE(control.find("third shelf"), std::string::npos);
  std::string written;
  EXPECT_GT(all_fail([&] { written = write_all(); }), 60u);
  EXPECT_EQ(written, control);
}

}  // namespace
}  // namespace larder::http
