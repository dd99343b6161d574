// SPDX-License-Identifier: Apache-2.0
// Every allocation of parsing and rendering a template fails once: nothing is left behind (the sanitizer build counts),
// and the same template goes on to render as ever.
#include <gtest/gtest.h>

#include "runtime/chat_template/chat_template.h"
#include "tests/support/failing_memory.h"

namespace larder::chat_template {
namespace {

const std::string kSource =
    "{{ bos_token }}{% macro tool(t) %}{{ t.function.name }}: {{ t.function | tojson(indent=2) }}{% endmacro %}"
    "{% set ns = namespace(count=0) %}{% if tools %}{% for t in tools %}{{ tool(t) }}{% endfor %}{% endif %}"
    "{% for m in messages %}{% set ns.count = ns.count + 1 %}<|{{ m['role'] | upper }}|>\n"
    "{% if m.tool_calls %}{% for call in m.tool_calls %}{{ call.function.arguments | tojson }}{% endfor %}{% endif %}"
    "{{ m['content'] | trim | replace('jar', 'pot') }} {{ ns.count ~ ' of ' ~ messages | length }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}";

RenderInput conversation() {
  RenderInput input;
  input.messages.push_back({"system", "you know where everything is in this house, and say it", {}, {}, {}});
  input.messages.push_back({"user", "where are the jars that were put away last autumn?   ", {}, {}, {}});
  input.messages.push_back({"assistant", "", {}, R"([{"id":"1","type":"function","function":{"name":"look",)"
                                                  R"("arguments":"{\"shelf\": 3}"}}])", {}});
  input.tools_json.push_back(R"({"type":"function","function":{"name":"look","parameters":{"type":"object"}}})");
  return input;
}

std::string render(const ChatTemplate& parsed) {
  const Result<RenderedPrompt> rendered = parsed.render(conversation());
  return rendered.ok() ? rendered->text : std::string(error_code_name(rendered.error().code));
}

TEST(TemplateMemory, EveryAllocationOfParsingAndRenderingMayFail) {
  const auto parsed = ChatTemplate::parse(kSource, "<s>", "</s>");
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  const std::string control = render(**parsed);
  ASSERT_NE(control.find("the pots that were put away"), std::string::npos) << control;

  std::string rendered;
  std::uint64_t after = 0;
  const std::uint64_t renders =
      larder::test::each_allocation([&] { rendered = render(**parsed); }, [&] {
        if (++after % 16 == 0) {
          EXPECT_EQ(render(**parsed), control);
        }
      });
  EXPECT_EQ(rendered, control);
  EXPECT_GT(renders, 100u);

  std::string fresh;
  const std::uint64_t parses = larder::test::each_allocation(
      [&] {
        const auto again = ChatTemplate::parse(kSource, "<s>", "</s>");
        if (again.ok()) fresh = render(**again);
      },
      [] {});
  EXPECT_EQ(fresh, control);
  EXPECT_GT(parses, renders);
}

}  // namespace
}  // namespace larder::chat_template
