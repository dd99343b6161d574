// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/openai_request.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace larder::http {
namespace {

using Type = JsonValue::Type;

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();  // the body's own limit holds
constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMaxLabelBytes = 128;
constexpr std::size_t kMaxBiases = 1024;
constexpr std::int64_t kMaxAlternatives = 20;
constexpr std::int64_t kMaxDeadlineMs = 86'400'000;
constexpr std::int64_t kMaxTokens = std::numeric_limits<std::int32_t>::max();

std::string at(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

float to_float(double value) { return static_cast<float>(value); }

void read_stop(Fields& fields, engine::Request& request) {
  const JsonValue* stop = fields.any("stop");
  if (!stop) return;
  const auto add = [&](const JsonValue& value, const std::string& name) {
    if (value.type != Type::kText) return fields.wrong_type(name, "a string", value);
    if (value.text.empty() || value.text.size() > kMaxStopBytes) {
      return fields.fail(name, "must have 1 to " + std::to_string(kMaxStopBytes) + " bytes");
    }
    request.stop.push_back(value.text);
  };
  if (stop->type != Type::kArray) return add(*stop, "stop");
  if (stop->items.size() > kMaxStops) {
    return fields.fail("stop", "has more than " + std::to_string(kMaxStops) + " strings");
  }
  for (std::size_t i = 0; i < stop->items.size(); ++i) add(stop->items[i], at("stop", i));
}

void read_logit_bias(Fields& fields, engine::Request& request) {
  const JsonValue* bias = fields.object("logit_bias");
  if (!bias) return;
  if (bias->members.size() > kMaxBiases) {
    return fields.fail("logit_bias", "has more than " + std::to_string(kMaxBiases) + " tokens");
  }
  for (const auto& [name, value] : bias->members) {
    Token token = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), token);
    if (error != std::errc() || end != name.data() + name.size() || token < 0) {
      return fields.fail("logit_bias", "its names must be token ids");
    }
    const bool number = value.type == Type::kInteger || value.type == Type::kNumber;
    if (!number || !(value.number >= -100 && value.number <= 100)) {
      return fields.fail("logit_bias", "its values must be numbers from -100 to 100");
    }
    request.sampling.logit_bias.emplace_back(token, to_float(value.number));
  }
}

void read_sampling(Fields& fields, ParsedRequest& parsed) {
  sample::SamplingParams& sampling = parsed.request.sampling;
  if (const auto v = fields.number("temperature", 0, 2)) sampling.temperature = to_float(*v);
  if (const auto v = fields.number("top_p", 0, 1)) {
    sampling.top_p = to_float(*v);
    if (*v <= 0) fields.fail("top_p", "must be greater than 0");
  }
  if (const auto v = fields.number("min_p", 0, 1)) sampling.min_p = to_float(*v);
  if (const auto v = fields.integer("top_k", -1, 1'000'000)) {
    sampling.top_k = static_cast<std::uint32_t>(*v < 0 ? 0 : *v);  // -1 is off for some clients
  }
  if (const auto v = fields.number("repetition_penalty", 0.01, 10)) sampling.repetition_penalty = to_float(*v);
  if (const auto v = fields.number("frequency_penalty", -2, 2)) sampling.frequency_penalty = to_float(*v);
  if (const auto v = fields.number("presence_penalty", -2, 2)) sampling.presence_penalty = to_float(*v);
  constexpr auto kAny = std::numeric_limits<std::int64_t>::max();
  if (const auto v = fields.integer("seed", std::numeric_limits<std::int64_t>::min(), kAny)) {
    sampling.seed = static_cast<std::uint64_t>(*v);
    parsed.has_seed = true;
  }
  read_logit_bias(fields, parsed.request);
}

// Larder's own members: {"larder": {"cache": "bypass", "label": "…", "deadline_ms": 1000}}.
void read_larder(Fields& fields, engine::Request& request, std::optional<Fault>& fault) {
  if (fields.flag("cache_prompt") == false) request.cache = engine::CachePolicy::kBypass;
  const JsonValue* larder = fields.object("larder");
  if (!larder) return;
  Fields own(*larder, "larder.", fault);
  if (const auto cache = own.text("cache", kMaxNameBytes)) {
    if (*cache == "bypass") {
      request.cache = engine::CachePolicy::kBypass;
    } else if (*cache != "default") {
      own.fail("cache", "must be \"default\" or \"bypass\"");
    }
  }
  if (const auto label = own.text("label", kMaxLabelBytes)) request.label = *label;
  if (const auto ms = own.integer("deadline_ms", 0, kMaxDeadlineMs)) request.deadline_ms = *ms;
}

void read_response_format(Fields& fields) {
  const JsonValue* format = fields.object("response_format");
  if (!format) return;
  const JsonValue* type = format->find("type");
  if (!type || type->type != Type::kText) return fields.fail("response_format", "needs a member type");
  if (type->text != "text") {
    fields.fail("response_format", "only {\"type\": \"text\"} is supported, not " + type->text.substr(0, 32),
                ErrorCode::kUnsupported);
  }
}

// What chat and plain completions have in common.
void read_shared(Fields& fields, ParsedRequest& parsed, std::optional<Fault>& fault) {
  engine::Request& request = parsed.request;
  if (const auto model = fields.text("model", kMaxNameBytes)) request.model = *model;
  parsed.stream = fields.flag("stream").value_or(false);
  if (const JsonValue* options = fields.object("stream_options")) {
    parsed.include_usage = Fields(*options, "stream_options.", fault).flag("include_usage").value_or(false);
  }
  if (const auto n = fields.integer("n", 1, kMaxChoices)) request.n = static_cast<std::uint32_t>(*n);
  request.ignore_eos = fields.flag("ignore_eos").value_or(false);
  read_stop(fields, request);
  read_sampling(fields, parsed);
  read_response_format(fields);
  read_larder(fields, request, fault);
}

// A message's content: a string, or an array of text parts, which are joined by a line break.
std::string read_content(Fields& message, const JsonValue& content) {
  if (content.type == Type::kText) return content.text;
  if (content.type != Type::kArray) {
    message.wrong_type("content", "a string or an array of parts", content);
    return {};
  }
  std::string joined;
  for (std::size_t i = 0; i < content.items.size(); ++i) {
    const JsonValue& part = content.items[i];
    const std::string name = at("content", i);
    if (part.type != Type::kObject) {
      message.wrong_type(name, "an object", part);
      return {};
    }
    const JsonValue* type = part.find("type");
    if (!type || type->type != Type::kText) {
      message.fail(name, "needs a member type");
      return {};
    }
    if (type->text != "text") {
      const std::string kind = type->text.substr(0, 32);
      message.fail(name, "parts of type " + kind + " are not supported: this server reads text only",
                   ErrorCode::kUnsupported);
      return {};
    }
    const JsonValue* text = part.find("text");
    if (!text || text->type != Type::kText) {
      message.fail(name, "needs a member text that is a string");
      return {};
    }
    if (i > 0) joined += '\n';
    joined += text->text;
  }
  return joined;
}

void read_tool_calls(Fields& message, engine::ChatMessage& out) {
  const JsonValue* calls = message.array("tool_calls", kMaxTools);
  if (!calls || calls->items.empty()) return;
  for (std::size_t i = 0; i < calls->items.size(); ++i) {
    const JsonValue& call = calls->items[i];
    const JsonValue* function = call.type == Type::kObject ? call.find("function") : nullptr;
    const JsonValue* name = function && function->type == Type::kObject ? function->find("name") : nullptr;
    if (!name || name->type != Type::kText) {
      return message.fail(at("tool_calls", i), "needs a member function with a name that is a string");
    }
    const JsonValue* arguments = function->find("arguments");
    if (arguments && arguments->type != Type::kText && arguments->type != Type::kObject) {
      return message.wrong_type(at("tool_calls", i) + ".function.arguments", "a string or an object", *arguments);
    }
  }
  out.tool_calls_json = to_json(*calls);
}

bool is_role(std::string_view role) {
  constexpr std::array<std::string_view, 5> kRoles{"system", "user", "assistant", "tool", "developer"};
  for (const std::string_view known : kRoles) {
    if (role == known) return true;
  }
  return false;
}

engine::ChatMessage read_message(Fields& message) {
  engine::ChatMessage out;
  const std::optional<std::string> role = message.text("role", kMaxNameBytes);
  if (!role) {
    message.missing("role");
    return out;
  }
  if (!is_role(*role)) message.fail("role", "must be system, developer, user, assistant or tool");
  out.role = *role;
  out.name = message.text("name", kMaxNameBytes).value_or("");
  out.tool_call_id = message.text("tool_call_id", kMaxNameBytes).value_or("");
  read_tool_calls(message, out);
  if (const JsonValue* content = message.any("content")) {
    out.content = read_content(message, *content);
  } else if (out.role != "assistant") {
    message.missing("content");
  }
  return out;
}

void read_messages(Fields& fields, engine::ChatPrompt& prompt, std::optional<Fault>& fault) {
  const JsonValue* messages = fields.array("messages", kMaxMessages);
  if (!messages) return fields.missing("messages");
  if (messages->items.empty()) return fields.fail("messages", "must hold at least one message");
  for (std::size_t i = 0; i < messages->items.size() && !fault; ++i) {
    const JsonValue& item = messages->items[i];
    if (item.type != Type::kObject) return fields.wrong_type(at("messages", i), "an object", item);
    Fields message(item, at("messages", i) + ".", fault);
    prompt.messages.push_back(read_message(message));
  }
}

void read_tools(Fields& fields, engine::ChatPrompt& prompt) {
  if (const JsonValue* tools = fields.array("tools", kMaxTools)) {
    for (std::size_t i = 0; i < tools->items.size(); ++i) {
      const JsonValue& tool = tools->items[i];
      if (tool.type != Type::kObject) return fields.wrong_type(at("tools", i), "an object", tool);
      const JsonValue* function = tool.find("function");
      const JsonValue* name = function && function->type == Type::kObject ? function->find("name") : nullptr;
      if (!name || name->type != Type::kText) {
        return fields.fail(at("tools", i), "needs a member function with a name that is a string");
      }
      prompt.tools_json.push_back(to_json(tool));
    }
  }
  const JsonValue* choice = fields.any("tool_choice");
  if (!choice) return;
  const bool free = choice->type == Type::kText && (choice->text == "auto" || choice->text == "none");
  if (!free) fields.fail("tool_choice", "only \"auto\" and \"none\" are supported", ErrorCode::kUnsupported);
  prompt.tools_wanted = choice->text != "none";
}

void read_chat_lengths(Fields& fields, engine::Request& request) {
  const auto older = fields.integer("max_tokens", 1, kMaxTokens);
  const auto newer = fields.integer("max_completion_tokens", 1, kMaxTokens);
  if (const auto tokens = newer ? newer : older) request.max_tokens = static_cast<std::uint32_t>(*tokens);
  request.sampling.logprobs = fields.flag("logprobs").value_or(false);
  if (const auto top = fields.integer("top_logprobs", 0, kMaxAlternatives)) {
    request.sampling.top_logprobs = static_cast<std::uint32_t>(*top);
    if (*top > 0 && !request.sampling.logprobs) fields.fail("top_logprobs", "needs logprobs: true");
  }
}

void read_token_prompt(Fields& fields, const JsonValue& ids, const std::string& name, engine::Request& request) {
  engine::TokenPrompt prompt;
  prompt.tokens.reserve(ids.items.size());
  for (std::size_t i = 0; i < ids.items.size(); ++i) {
    const JsonValue& id = ids.items[i];
    if (id.type != Type::kInteger) return fields.wrong_type(at(name, i), "a token id", id);
    if (id.integer < 0 || id.integer > std::numeric_limits<Token>::max()) {
      return fields.fail(at(name, i), "is no token id: " + std::to_string(id.integer));
    }
    prompt.tokens.push_back(static_cast<Token>(id.integer));
  }
  request.prompt = std::move(prompt);
}

void read_prompt(Fields& fields, engine::Request& request) {
  const JsonValue* prompt = fields.any("prompt");
  if (!prompt) return fields.missing("prompt");
  std::string name = "prompt";
  if (prompt->type == Type::kArray) {
    if (prompt->items.empty()) return fields.fail("prompt", "must not be empty");
    if (prompt->items.front().type == Type::kInteger) return read_token_prompt(fields, *prompt, name, request);
    if (prompt->items.size() > 1) {
      return fields.fail("prompt", "holds more than one prompt: send one request for each", ErrorCode::kUnsupported);
    }
    prompt = &prompt->items.front();
    name = "prompt[0]";
    if (prompt->type == Type::kArray) {
      if (prompt->items.empty()) return fields.fail(name, "must not be empty");
      return read_token_prompt(fields, *prompt, name, request);
    }
  }
  if (prompt->type != Type::kText) return fields.wrong_type(name, "a string or an array of token ids", *prompt);
  request.prompt = engine::TextPrompt{prompt->text};
}

void read_completion_lengths(Fields& fields, ParsedRequest& parsed) {
  engine::Request& request = parsed.request;
  parsed.echo = fields.flag("echo").value_or(false);
  if (const auto top = fields.integer("logprobs", 0, kMaxAlternatives)) {
    request.sampling.logprobs = true;
    request.sampling.top_logprobs = static_cast<std::uint32_t>(*top);
  }
  // The prompt's texts come from scoring it: the only way to print token ids, and wanted with logprobs.
  const bool ids = std::holds_alternative<engine::TokenPrompt>(request.prompt);
  request.echo_logprobs = parsed.echo && (request.sampling.logprobs || ids);
  if (parsed.stream && request.echo_logprobs) {
    fields.fail("echo", "with stream it is supported for text prompts without logprobs only", ErrorCode::kUnsupported);
  }
  request.max_tokens = 16;  // OpenAI's default for plain completions
  if (const auto tokens = fields.integer("max_tokens", 0, kMaxTokens)) {
    request.max_tokens = static_cast<std::uint32_t>(*tokens);
    if (*tokens == 0 && !parsed.echo) fields.fail("max_tokens", "must be at least 1 without echo");
    parsed.no_new_text = *tokens == 0;
    if (parsed.no_new_text) request.max_tokens = 1;  // 0 means no bound to the engine
  }
  if (const auto best = fields.integer("best_of", 1, kMaxChoices)) {
    if (*best != request.n) fields.fail("best_of", "is not supported beyond n", ErrorCode::kUnsupported);
  }
  if (const auto suffix = fields.text("suffix", kNoLimit); suffix && !suffix->empty()) {
    fields.fail("suffix", "filling in the middle is not supported", ErrorCode::kUnsupported);
  }
}

}  // namespace

std::variant<ParsedRequest, Fault> parse_chat(std::string_view body, const JsonLimits& limits) {
  Result<JsonValue> json = parse_object(body, limits);
  if (!json.ok()) return Fault{json.error(), ""};
  std::optional<Fault> fault;
  Fields fields(*json, "", fault);
  ParsedRequest parsed;
  engine::ChatPrompt prompt;
  read_messages(fields, prompt, fault);
  read_tools(fields, prompt);
  read_shared(fields, parsed, fault);
  read_chat_lengths(fields, parsed.request);
  if (fault) return std::move(*fault);
  parsed.request.prompt = std::move(prompt);
  return parsed;
}

std::variant<ParsedRequest, Fault> parse_completion(std::string_view body, const JsonLimits& limits) {
  Result<JsonValue> json = parse_object(body, limits);
  if (!json.ok()) return Fault{json.error(), ""};
  std::optional<Fault> fault;
  Fields fields(*json, "", fault);
  ParsedRequest parsed;
  parsed.chat = false;
  read_prompt(fields, parsed.request);
  read_shared(fields, parsed, fault);
  read_completion_lengths(fields, parsed);
  if (fault) return std::move(*fault);
  return parsed;
}

}  // namespace larder::http
