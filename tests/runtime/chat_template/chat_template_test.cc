// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/chat_template.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace larder::chat_template {
namespace {

RenderInput talk(std::vector<RenderMessage> messages) {
  RenderInput input;
  input.messages = std::move(messages);
  return input;
}

RenderMessage user(std::string content) { return RenderMessage{"user", std::move(content), {}, {}, {}}; }

Result<RenderedPrompt> render(const std::string& source, const RenderInput& input, const RenderLimits& limits = {}) {
  ASSIGN_OR_RETURN(const auto parsed, ChatTemplate::parse(source, "<s>", "</s>"));
  return parsed->render(input, limits);
}

std::string untrusted_text(const RenderedPrompt& prompt) {
  std::string out;
  for (const ByteRange& range : prompt.untrusted) {
    out += "[" + prompt.text.substr(range.begin, range.end - range.begin) + "]";
  }
  return out;
}

// What is untrusted after a template did this to the content "Abc <|im_start|> d".
std::string marked(const std::string& expression) {
  const auto prompt = render("{% set c = messages[0].content %}" + expression, talk({user("Abc <|im_start|> d")}));
  EXPECT_TRUE(prompt.ok()) << expression << to_string(prompt.error());
  return prompt.ok() ? untrusted_text(prompt.value()) : std::string();
}

TEST(ChatTemplate, ContentStaysUntrustedThroughEveryPath) {
  EXPECT_EQ(marked("<|im_start|>{{ c }}<|im_end|>"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{{ '<|im_start|>' + c + 'x' }}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{{ 'a' ~ c ~ 'b' }}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{{ c|trim|upper }}"), "[ABC <|IM_START|> D]");
  EXPECT_EQ(marked("{{ c[4:16] }}!"), "[<|im_start|>]");
  EXPECT_EQ(marked("{{ c[::-1] }}"), "[d >|trats_mi|< cbA]");
  EXPECT_EQ(marked("{{ c.split(' ')[1] }}"), "[<|im_start|>]");
  EXPECT_EQ(marked("{{ c|replace('b', '-') }}"), "[A][c <|im_start|> d]") << "the template's own text is trusted";
  EXPECT_EQ(marked("{{ 'x'|replace('x', c) }}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{{ [c, 'y']|join(', ') }}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{{ c.split(' ')|join('_') }}"), "[Abc][<|im_start|>][d]");
  EXPECT_EQ(marked("{{ ['y']|join(c) }}{{ ['y', 'z']|join(c) }}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{{ c|tojson }}"), "[\"Abc <|im_start|> d\"]");
  EXPECT_EQ(marked("{{ {'k': c}|tojson }}"), "[{\"][\": \"Abc <|im_start|> d\"}]") << "but for the template's key";
  EXPECT_EQ(marked("{{ [c] }}"), "['Abc <|im_start|> d']");
  EXPECT_EQ(marked("{{ messages }}").find("[Abc") == std::string::npos, true);
  EXPECT_EQ(marked("{% set x %}({{ c }}){% endset %}{{ x|indent(2, true) }}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{% macro m(v) %}<{{ v }}>{% endmacro %}{{ m(c) }}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{% filter upper %}x{{ c }}{% endfilter %}"), "[ABC <|IM_START|> D]");
  EXPECT_EQ(marked("{% for ch in c %}{{ ch }}{% endfor %}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{{ c|list|join }}{{ c|first }}{{ c|capitalize|last }}"), "[Abc <|im_start|> dAd]");
  EXPECT_EQ(marked("{{ {c: 1}|dictsort|first|first }}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{{ ('[' ~ c|tojson ~ ']')|from_json|first }}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{{ c * 2 }}"), "[Abc <|im_start|> dAbc <|im_start|> d]");
  EXPECT_EQ(marked("{{ c|default('x') }}{{ none or c }}"), "[Abc <|im_start|> dAbc <|im_start|> d]");
  EXPECT_EQ(marked("{{ strftime_now(c) }}"), "[Abc <|im_start|> d]");
  EXPECT_EQ(marked("{{ {'content': 'z'}.content }}{{ 5 }}"), "");
}

TEST(ChatTemplate, NamesIdsToolsAndOddRolesAreUntrusted) {
  RenderInput input = talk({RenderMessage{"wizard", "c", "<|n|>", R"([{"function": {"name": "<|f|>"}}])", "<|id|>"}});
  input.tools_json = {R"({"name": "<|t|>", "deep": {"<|k|>": ["<|v|>"]}})"};
  const auto prompt = render(
      "{{ messages[0].role }} {{ messages[0].name }} {{ messages[0].tool_call_id }} "
      "{{ messages[0].tool_calls[0].function.name }} {{ tools|tojson }}{{ bos_token }}",
      input);
  ASSERT_TRUE(prompt.ok()) << to_string(prompt.error());
  EXPECT_EQ(untrusted_text(prompt.value()),
            "[wizard][<|n|>][<|id|>][<|f|>][[{\"name\": \"<|t|>\", \"deep\": {\"<|k|>\": [\"<|v|>\"]}}]]");
  EXPECT_EQ(prompt.value().sections.back().kind, SectionKind::kTemplate);
  EXPECT_EQ(render("{{ messages[0].role }}", talk({user("x")})).value().untrusted.size(), 0u)
      << "the roles of the API are words of the template";
}

TEST(ChatTemplate, LabelsNeverHoldContent) {
  RenderInput input = talk({RenderMessage{"sys<tem", "one", {}, {}, {}}, user("two")});
  input.tools_json = {R"({"type": "function", "function": {"name": "bad name\n<|im_start|>"}})"};
  const auto prompt = render("{% for m in messages %}{{ m.content }};{% endfor %}{{ tools[0]|tojson }}", input);
  ASSERT_TRUE(prompt.ok());
  ASSERT_EQ(prompt.value().sections.size(), 5u);
  EXPECT_EQ(prompt.value().sections[0].label, "message 1");
  EXPECT_EQ(prompt.value().sections[1].label, "template");
  EXPECT_EQ(prompt.value().sections[2].label, "user message 2");
  EXPECT_EQ(prompt.value().sections[4].label, "tool 1");
}

TEST(ChatTemplate, SystemTextIsASystemSection) {
  const auto prompt = render("{% for m in messages %}<{{ m.content }}>{% endfor %}",
                             talk({RenderMessage{"system", "house", {}, {}, {}}, user("hi")}));
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(prompt.value().sections[1].label, "system");
  EXPECT_EQ(prompt.value().sections[1].kind, SectionKind::kSystem);
  EXPECT_EQ(prompt.value().sections[1].byte_begin, 1u);
  EXPECT_EQ(prompt.value().sections[1].byte_end, 6u);
}

TEST(ChatTemplate, TheLastMessageBeginsBehindWhatCameBefore) {
  const std::string source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}go";
  const auto two = render(source, talk({RenderMessage{"system", "house", {}, {}, {}}, user("hi")}));
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two.value().text.substr(two.value().last_message_byte_begin), "</><user>hi</>go");
  const auto one = render(source, talk({user("hi")}));
  EXPECT_EQ(one.value().text.substr(one.value().last_message_byte_begin), "hi</>go");
  const auto none = render("fixed", talk({user("hi")}));
  EXPECT_EQ(none.value().last_message_byte_begin, 5u);
}

TEST(ChatTemplate, DeveloperBecomesSystemOnlyWhereTheTemplateRaises) {
  const RenderInput input = talk({RenderMessage{"developer", "d", {}, {}, {}}, user("u")});
  EXPECT_EQ(render("{% for m in messages %}{{ m.role }} {% endfor %}", input).value().text, "developer user ");
  const std::string strict =
      "{% for m in messages %}{% if m.role not in ['system', 'user'] %}{{ raise_exception('role') }}{% endif %}"
      "{{ m.role }} {% endfor %}";
  EXPECT_EQ(render(strict, input).value().text, "system user ");
  EXPECT_FALSE(render(strict, talk({RenderMessage{"critic", "d", {}, {}, {}}})).ok());
}

TEST(ChatTemplate, CallArgumentsAreObjectsAndTextWhereThatRaises) {
  RenderInput input =
      talk({RenderMessage{"assistant", "", {}, R"([{"function":{"name":"f","arguments":"{\"a\": 1}"}}])", {}}});
  EXPECT_EQ(render("{{ messages[0].tool_calls[0].function.arguments.a + 1 }}", input).value().text, "2");
  EXPECT_EQ(render("{{ '>' + messages[0].tool_calls[0].function.arguments }}", input).value().text, ">{\"a\": 1}");
  input.messages[0].tool_calls_json = "{}";
  EXPECT_FALSE(render("x", input).ok()) << "tool_calls is a list";
  input.messages[0].tool_calls_json = "[";
  EXPECT_EQ(render("x", input).error().code, ErrorCode::kInvalidArgument);
  RenderInput bad_tool = talk({user("x")});
  bad_tool.tools_json = {"[]"};
  EXPECT_FALSE(render("x", bad_tool).ok());
}

TEST(ChatTemplate, TheClockMakesAPromptVolatile) {
  RenderInput input = talk({user("x")});
  input.now = 1'709'164'799'000;  // 28 Feb 2024, 23:59:59 UTC
  EXPECT_FALSE(render("{{ messages[0].content }}", input).value().volatile_time);
  const auto prompt = render("{{ strftime_now('%-d %b %Y %H:%M:%S %j') }}", input);
  EXPECT_EQ(prompt.value().text, "28 Feb 2024 23:59:59 059");
  EXPECT_TRUE(prompt.value().volatile_time);
  input.utc_offset_s = 3600;
  EXPECT_EQ(render("{{ strftime_now('%A %d %B %Y %I %p') }}", input).value().text, "Thursday 29 February 2024 12 AM");
  input.now = -1000;
  input.utc_offset_s = 0;
  EXPECT_EQ(render("{{ strftime_now('%Y-%m-%d %H:%M:%S') }}", input).value().text, "1969-12-31 23:59:59");
  EXPECT_FALSE(render("{{ strftime_now('%Q') }}", input).ok());
}

TEST(ChatTemplate, UnknownConstructsAreNamedWithTheirLine) {
  const auto error_of = [](const std::string& source) {
    const auto parsed = ChatTemplate::parse(source, "", "");
    return parsed.ok() ? Error{} : parsed.error();
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a\n{% include 'x' %}", "line 2: the statement 'include'"},
      {"\n\n{{ x|nofilter }}", "line 3: the filter 'nofilter'"},
      {"{{ x is strange }}", "line 1: the test 'strange'"},
      {"{{ x.format(1) }}", "line 1: the method 'format'"},
      {"\n{{ lipsum() }}", "line 2: the function 'lipsum'"},
      {"{% for x in y recursive %}{% endfor %}", "line 1: a recursive loop"},
      {"{% for x in y %}{{ loop.cycle }}{% endfor %}", "line 1: 'loop.cycle'"},
      {"{{ 2 ** 3 }}", "line 1: the operator '**'"},
      {"{{ f(*x) }}{% macro f() %}{% endmacro %}", "line 1: a call with *"},
      {"{{ x[1, 2] }}", "line 1: a subscript with a comma"},
  };
  for (const auto& [source, message] : cases) {
    const Error error = error_of(source);
    EXPECT_EQ(error.code, ErrorCode::kUnsupported) << source;
    EXPECT_NE(error.message.find(message), std::string::npos) << error.message;
  }
  for (const char* source :
       {"{{ 1", "{% if x %}", "{% endfor %}", "{{ ) }}", "{% set loop = 1 %}", "{% break %}", "{# open", "{% raw %}",
        "{{ 'x }}", "{{ $ }}", "{% for x y %}{% endfor %}", "{{ 99999999999999999999 }}"}) {
    EXPECT_EQ(error_of(source).code, ErrorCode::kInvalidArgument) << source;
  }
}

TEST(ChatTemplate, ErrorsNameTheLineAndNeverShowContent) {
  const auto raised =
      render("\n{% for m in messages %}\n{{ raise_exception('no: ' + m.content + ' here') }}{% endfor %}",
             talk({user("my secret")}));
  ASSERT_FALSE(raised.ok());
  EXPECT_EQ(raised.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(raised.error().message.find("line 3"), std::string::npos) << raised.error().message;
  EXPECT_NE(raised.error().message.find("no: … here"), std::string::npos) << raised.error().message;
  EXPECT_EQ(to_string(raised.error()).find("secret"), std::string::npos);
  const auto typed = render("{{ messages[0].content + 1 }}", talk({user("my secret")}));
  ASSERT_FALSE(typed.ok());
  EXPECT_EQ(to_string(typed.error()).find("secret"), std::string::npos);
}

TEST(ChatTemplate, LimitsEndWithATypedError) {
  const RenderInput input = talk({user(std::string(1000, 'x'))});
  const std::vector<std::string> sources = {
      "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor "
      "%}",
      "{% set ns = namespace(t='x') %}{% for a in range(99) %}{% set ns.t = ns.t + ns.t %}{% endfor %}",
      "{% set ns = namespace(t=[1]) %}{% for a in range(99) %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.t }}",
      "{% set ns = namespace(t=[1]) %}{% for a in range(60) %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.t|tojson "
      "}}",
      "{% set ns = namespace(t=[1], u=[1]) %}{% for a in range(60) %}{% set ns.t = [ns.t, ns.t] %}{% set ns.u = [ns.u, "
      "ns.u] %}"
      "{% endfor %}{{ ns.t == ns.u }}",
      "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
      "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
      "{{ 'x' * 99999999999 }}",
      "{{ '' * 9223372036854775807 }}",
      "{{ [0] * 9223372036854775807 }}",
      "{{ range(99999999)|list }}",
      "{% for a in range(90000) %}{{ messages[0].content }}{% endfor %}",
      "{% set l = [1] %}{% for a in range(50) %}{% set _ = l.append(l) %}{% endfor %}{{ l }}",
      "{% set l = [1] %}{% set _ = l.append(l) %}{{ l == l }}{{ l|tojson }}",
      "{% for a in range(9999) %}{{ messages[0].content|replace('', messages[0].content) }}{% endfor %}",
      "{% for a in range(99999) %}{% for c in messages[0].content %}{% endfor %}{% endfor %}",
      "{{ range(0, 9223372036854775807) }}"};
  RenderLimits limits;
  limits.max_steps = 500'000;
  for (const std::string& source : sources) {
    const auto begin = std::chrono::steady_clock::now();
    const auto prompt = render(source, input, limits);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    ASSERT_FALSE(prompt.ok()) << source;
    EXPECT_EQ(prompt.error().code, ErrorCode::kResourceExhausted) << source << to_string(prompt.error());
    EXPECT_LT(took.count(), 60) << source;
  }
}

TEST(ChatTemplate, ListsThatHoldThemselvesEnd) {
  const auto prompt = render("{% set l = [1] %}{% set _ = l.append(l) %}{{ l|length }}{{ 1 in l }}", talk({user("x")}));
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(prompt.value().text, "2True");
}

TEST(ChatTemplate, DeepNestingIsRefusedAtParseTime) {
  const auto code = [](const std::string& source) {
    const auto parsed = ChatTemplate::parse(source, "", "");
    return parsed.ok() ? ErrorCode::kInternal : parsed.error().code;
  };
  const auto times = [](int n, const std::string& text) {
    std::string out;
    for (int i = 0; i < n; ++i) out += text;
    return out;
  };
  EXPECT_EQ(code("{{ " + times(5000, "(") + "1" + times(5000, ")") + " }}"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("{{ " + times(5000, "[") + times(5000, "]") + " }}"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("{{ " + times(5000, "not ") + "1 }}"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("{{ " + times(5000, "-") + "1 }}"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("{{ 1" + times(5000, " + 1") + " }}"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("{{ x" + times(5000, ".a") + " }}"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("{{ x" + times(5000, "|trim") + " }}"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("{{ 1" + times(5000, " if 1 else 2") + " }}"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(times(5000, "{% if 1 %}") + times(5000, "{% endif %}")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("{{ 1" + times(100, " + 1") + " }}"), ErrorCode::kInternal) << "which stands for no error here";
  EXPECT_EQ(code(std::string((1 << 20) + 1, 'x')), ErrorCode::kInvalidArgument);
}

TEST(ChatTemplate, ALongConversationRendersWithinItsLimits) {
  RenderInput input;
  for (int i = 0; i < 1000; ++i) input.messages.push_back(user(std::string(1000, 'a')));
  const auto prompt = render(
      "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content|trim + '<|im_end|>\n' }}{% endfor %}",
      input);
  ASSERT_TRUE(prompt.ok()) << to_string(prompt.error());
  EXPECT_GT(prompt.value().text.size(), 1'000'000u);
  EXPECT_EQ(prompt.value().untrusted.size(), 1000u);
  input.messages.resize(8192, user("x"));
  EXPECT_TRUE(render("x", input).ok());
  input.messages.push_back(user("x"));
  EXPECT_EQ(render("x", input).error().code, ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace larder::chat_template
