// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/chat_template.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/chat_template/interpreter.h"
#include "runtime/chat_template/json_value.h"
#include "runtime/chat_template/parser.h"
#include "runtime/chat_template/prompt_sections.h"

namespace larder::chat_template {
namespace {

constexpr std::size_t kMaxSourceBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxMessages = 8192;  // as many as the API takes
constexpr std::size_t kMaxTools = 1024;
constexpr std::uint64_t kMaxInputBytes = std::uint64_t{32} << 20;

// How the conversation is handed over; tried in order until the template does not refuse.
struct Handover {
  bool developer_as_system = false;
  bool arguments_as_text = false;
};

bool known_role(std::string_view role) {
  constexpr std::array<std::string_view, 5> kRoles = {"system", "user", "assistant", "tool", "developer"};
  return std::find(kRoles.begin(), kRoles.end(), role) != kRoles.end();
}

// Arguments of tool calls come as JSON text; templates expect the object.
Status open_arguments(const Value& calls, Source source, Heap& heap) {
  for (const Value& call : calls.as_list().items) {
    const Value* function = call.is(Kind::kDict) ? call.as_dict().find("function") : nullptr;
    const Value* arguments = function != nullptr && function->is(Kind::kDict) ? function->as_dict().find("arguments")
                                                                             : nullptr;
    if (arguments == nullptr || !arguments->is(Kind::kString)) continue;
    Result<Value> opened = parse_json(arguments->as_text().bytes(), source, heap);
    if (!opened.ok() || !opened->is(Kind::kDict)) continue;  // stays text
    RETURN_IF_ERROR(function->as_dict().set(Value::text("arguments", source), std::move(opened).value()));
  }
  return {};
}

Result<Value> message_value(const RenderMessage& message, Source source, const Handover& handover, Heap& heap) {
  Dict* dict = heap.dict();
  const std::string role = handover.developer_as_system && message.role == "developer" ? "system" : message.role;
  RETURN_IF_ERROR(dict->set(Value::text("role"), Value::text(role, known_role(role) ? kTrusted : source)));
  RETURN_IF_ERROR(dict->set(Value::text("content"), Value::text(message.content, source)));
  if (!message.name.empty()) RETURN_IF_ERROR(dict->set(Value::text("name"), Value::text(message.name, source)));
  if (!message.tool_call_id.empty()) {
    RETURN_IF_ERROR(dict->set(Value::text("tool_call_id"), Value::text(message.tool_call_id, source)));
  }
  if (!message.tool_calls_json.empty()) {
    ASSIGN_OR_RETURN(Value calls, parse_json(message.tool_calls_json, source, heap));
    if (!calls.is(Kind::kList)) {
      return Error{ErrorCode::kInvalidArgument, "tool_calls must be a JSON array", "tool_calls"};
    }
    if (!handover.arguments_as_text) RETURN_IF_ERROR(open_arguments(calls, source, heap));
    RETURN_IF_ERROR(dict->set(Value::text("tool_calls"), std::move(calls)));
  }
  return Value::object(Kind::kDict, dict);
}

// The tool's name where the OpenAI form or a bare function object has it.
std::string tool_name(const Value& tool) {
  if (!tool.is(Kind::kDict)) return {};
  const Value* function = tool.as_dict().find("function");
  const Dict& holder = function != nullptr && function->is(Kind::kDict) ? function->as_dict() : tool.as_dict();
  const Value* name = holder.find("name");
  return name != nullptr && name->is(Kind::kString) ? name->as_text().bytes() : std::string();
}

Status check_input(const RenderInput& input) {
  std::uint64_t bytes = 0;
  for (const RenderMessage& message : input.messages) {
    bytes += message.role.size() + message.content.size() + message.name.size() + message.tool_calls_json.size() +
             message.tool_call_id.size();
  }
  for (const std::string& tool : input.tools_json) bytes += tool.size();
  if (input.messages.size() > kMaxMessages || input.tools_json.size() > kMaxTools || bytes > kMaxInputBytes) {
    return Error{ErrorCode::kResourceExhausted,
                 "a conversation of " + std::to_string(input.messages.size()) + " messages, " +
                     std::to_string(input.tools_json.size()) + " tools and " + std::to_string(bytes) +
                     " bytes is over the limit of " + std::to_string(kMaxMessages) + ", " + std::to_string(kMaxTools) +
                     " or " + std::to_string(kMaxInputBytes),
                 "conversation"};
  }
  return {};
}

struct Environment {
  const Program& program;
  const std::string& bos_token;
  const std::string& eos_token;
};

Result<RenderedPrompt> render_once(const Environment& environment, const RenderInput& input,
                                   const RenderLimits& limits, const Handover& handover) {
  const Meter meter(limits.max_steps, limits.max_depth, limits.max_output_bytes);
  Interpreter run(environment.program, meter, LocalTime{input.now, input.utc_offset_s});
  std::vector<Value> messages;
  for (const RenderMessage& message : input.messages) {
    const Source source = static_cast<Source>(messages.size() + 1);
    ASSIGN_OR_RETURN(Value value, message_value(message, source, handover, run.heap()));
    messages.push_back(std::move(value));
  }
  std::vector<Value> tools;
  std::vector<std::string> tool_names;
  for (const std::string& json : input.tools_json) {
    const Source source = static_cast<Source>(messages.size() + tools.size() + 1);
    ASSIGN_OR_RETURN(Value value, parse_json(json, source, run.heap()));
    if (!value.is(Kind::kDict)) return Error{ErrorCode::kInvalidArgument, "a tool must be a JSON object", "tools"};
    tool_names.push_back(tool_name(value));
    tools.push_back(std::move(value));
  }
  run.define("messages", run.heap().list(std::move(messages)));
  run.define("tools", tools.empty() ? Value::none() : run.heap().list(std::move(tools)));
  run.define("documents", Value::none());
  run.define("add_generation_prompt", Value::boolean(input.add_generation_prompt));
  run.define("bos_token", Value::text(environment.bos_token));
  run.define("eos_token", Value::text(environment.eos_token));
  ASSIGN_OR_RETURN(const MarkedString text, run.run());
  RenderedPrompt prompt = make_prompt(text, name_sources(input.messages, tool_names));
  prompt.volatile_time = run.time_was_read();
  return prompt;
}

RenderInput probe(std::size_t length) {
  RenderInput input;
  input.add_generation_prompt = false;
  for (const auto& [role, content] : {std::pair("user", "one"), std::pair("assistant", "two"),
                                      std::pair("user", "three"), std::pair("assistant", "four")}) {
    if (input.messages.size() == length) break;
    RenderMessage message;
    message.role = role;
    message.content = content;
    input.messages.push_back(std::move(message));
  }
  return input;
}

Appending find_appending(const ChatTemplate& chat_template) {
  RenderLimits limits;
  limits.max_steps = 200'000;
  std::string before;
  for (std::size_t length = 1; length <= 4; ++length) {
    const Result<RenderedPrompt> prompt = chat_template.render(probe(length), limits);
    if (!prompt.ok()) return Appending::kUnknown;
    if (prompt.value().text.compare(0, before.size(), before) != 0) return Appending::kNo;
    before = prompt.value().text;
  }
  return Appending::kYes;
}

}  // namespace

ChatTemplate::ChatTemplate(std::unique_ptr<const Program> program, std::string bos_token, std::string eos_token)
    : program_(std::move(program)), bos_token_(std::move(bos_token)), eos_token_(std::move(eos_token)) {}

ChatTemplate::~ChatTemplate() = default;

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::parse(std::string_view source, std::string bos_token,
                                                                std::string eos_token) {
  if (source.size() > kMaxSourceBytes) {
    return Error{ErrorCode::kInvalidArgument,
                 "a chat template of " + std::to_string(source.size()) + " bytes is over the limit of " +
                     std::to_string(kMaxSourceBytes),
                 "chat template"};
  }
  ASSIGN_OR_RETURN(std::unique_ptr<const Program> program, Parser::parse(source));
  const bool mentions_tools = program->reads_tools;
  std::shared_ptr<ChatTemplate> parsed(
      new ChatTemplate(std::move(program), std::move(bos_token), std::move(eos_token)));
  parsed->mentions_tools_ = mentions_tools;
  parsed->appending_ = find_appending(*parsed);
  return std::shared_ptr<const ChatTemplate>(std::move(parsed));
}

Result<RenderedPrompt> ChatTemplate::render(const RenderInput& input, const RenderLimits& limits) const {
  RETURN_IF_ERROR(check_input(input));
  const Environment environment{*program_, bos_token_, eos_token_};
  const auto any = [&input](auto holds) { return std::any_of(input.messages.begin(), input.messages.end(), holds); };
  const bool developer = any([](const RenderMessage& message) { return message.role == "developer"; });
  const bool calls = any([](const RenderMessage& message) { return !message.tool_calls_json.empty(); });
  Result<RenderedPrompt> first = render_once(environment, input, limits, Handover{});
  if (first.ok() || first.error().code != ErrorCode::kInvalidArgument) return first;
  for (const Handover handover : {Handover{true, false}, Handover{false, true}, Handover{true, true}}) {
    if ((handover.developer_as_system && !developer) || (handover.arguments_as_text && !calls)) continue;
    Result<RenderedPrompt> other = render_once(environment, input, limits, handover);
    if (other.ok()) return other;
  }
  return first;
}

}  // namespace larder::chat_template
