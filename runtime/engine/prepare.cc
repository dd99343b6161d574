// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/prepare.h"

#include <algorithm>
#include <ctime>

namespace larder::engine {
namespace {

std::int32_t utc_offset_s(WallTime now) {
  const std::time_t seconds = static_cast<std::time_t>(now / 1000);
  std::tm local{};
  return localtime_r(&seconds, &local) == nullptr ? 0 : static_cast<std::int32_t>(local.tm_gmtoff);
}

std::uint32_t token_at(const std::vector<std::uint32_t>& offsets, std::uint32_t byte) {
  return static_cast<std::uint32_t>(std::lower_bound(offsets.begin(), offsets.end(), byte) - offsets.begin());
}

chat_template::RenderInput render_input(const ChatPrompt& prompt, WallTime now) {
  chat_template::RenderInput input;
  for (const ChatMessage& message : prompt.messages) {
    input.messages.push_back(
        {message.role, message.content, message.name, message.tool_calls_json, message.tool_call_id});
  }
  input.tools_json = prompt.tools_json;
  input.add_generation_prompt = prompt.add_generation_prompt;
  input.now = now;
  input.utc_offset_s = utc_offset_s(now);
  return input;
}

Result<PreparedPrompt> prepare_chat(const LoadedModel& model, const ChatPrompt& prompt, WallTime now) {
  if (model.chat == nullptr) {
    return Error{ErrorCode::kInvalidArgument,
                 model.chat_error.empty()
                     ? "the model " + model.name + " has no chat template: use /v1/completions, or load a chat model"
                     : "the model's chat template was refused: " + model.chat_error,
                 model.name};
  }
  if (prompt.messages.empty()) {
    return Error{ErrorCode::kInvalidArgument, "messages is empty: send at least one message", "messages"};
  }
  if (!prompt.tools_json.empty() && prompt.tools_wanted && !model.chat->mentions_tools()) {
    return Error{ErrorCode::kUnsupported,
                 "the model " + model.name + " does not support tools: its chat template never shows them; send no " +
                     "tools, or tool_choice \"none\", or load a model made for tools",
                 "tools"};
  }
  ASSIGN_OR_RETURN(chat_template::RenderedPrompt rendered, model.chat->render(render_input(prompt, now)));
  ASSIGN_OR_RETURN(tokenizer::Encoding encoding, model.tokenizer->encode(rendered, tokenizer::BosRule::kOnce));
  PreparedPrompt prepared;
  prepared.sections = std::move(rendered.sections);
  for (Section& section : prepared.sections) {
    section.token_begin = token_at(encoding.offsets, section.byte_begin);
    section.token_end = token_at(encoding.offsets, section.byte_end);
  }
  prepared.last_message_begin = token_at(encoding.offsets, rendered.last_message_byte_begin);
  prepared.tokens = std::move(encoding.tokens);
  return prepared;
}

// A completion has no parts: a BOS the model wants is the template's, the rest is one section.
void label_plain(PreparedPrompt& prepared, std::uint32_t bos_tokens, std::uint32_t text_bytes) {
  const auto tokens = static_cast<std::uint32_t>(prepared.tokens.size());
  if (bos_tokens > 0) prepared.sections.push_back({SectionKind::kTemplate, "template", 0, 0, 0, bos_tokens});
  prepared.sections.push_back({SectionKind::kMessage, "prompt", 0, text_bytes, bos_tokens, tokens});
  prepared.last_message_begin = bos_tokens;
}

Result<PreparedPrompt> prepare_text(const LoadedModel& model, const TextPrompt& prompt) {
  PreparedPrompt prepared;
  ASSIGN_OR_RETURN(prepared.tokens, model.tokenizer->encode(prompt.text, false, tokenizer::BosRule::kOnce));
  const bool bos =
      model.tokenizer->add_bos() && !prepared.tokens.empty() && prepared.tokens.front() == model.tokenizer->bos();
  label_plain(prepared, bos ? 1 : 0, static_cast<std::uint32_t>(prompt.text.size()));
  return prepared;
}

Result<PreparedPrompt> prepare_tokens(const LoadedModel& model, const TokenPrompt& prompt) {
  const std::size_t vocab = model.tokenizer->vocab_size();
  for (const Token token : prompt.tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= vocab) {
      return Error{ErrorCode::kInvalidArgument,
                   "token id " + std::to_string(token) + " is not in 0.." + std::to_string(vocab - 1), "prompt"};
    }
  }
  PreparedPrompt prepared;
  prepared.tokens = prompt.tokens;
  const bool bos = !prompt.tokens.empty() && prompt.tokens.front() == model.tokenizer->bos();
  label_plain(prepared, bos ? 1 : 0, 0);
  return prepared;
}

Status check_length(const LoadedModel& model, const PreparedPrompt& prepared) {
  if (prepared.tokens.empty()) {
    return Error{ErrorCode::kInvalidArgument, "the prompt is empty: send at least one token", "prompt"};
  }
  const std::uint32_t longest = model.bounds->max_request_tokens.load();
  if (prepared.tokens.size() < longest) return {};
  const std::uint32_t half_pool = model.bounds->pool_blocks.load() / 2 * kernels::kBlockTokens;
  return Error{ErrorCode::kInvalidArgument,
               "the prompt has " + std::to_string(prepared.tokens.size()) + " tokens and must have fewer than " +
                   std::to_string(longest) + " (the model's context is " +
                   std::to_string(model.model->config().n_context) + ", half the pool holds " +
                   std::to_string(half_pool) + "): shorten it, or raise engine.max_tokens or pool.bytes",
               "context_length_exceeded"};
}

}  // namespace

Result<PreparedPrompt> prepare_prompt(const LoadedModel& model, const Prompt& prompt, WallTime now) {
  PreparedPrompt prepared;
  if (const auto* chat = std::get_if<ChatPrompt>(&prompt)) {
    ASSIGN_OR_RETURN(prepared, prepare_chat(model, *chat, now));
  } else if (const auto* text = std::get_if<TextPrompt>(&prompt)) {
    ASSIGN_OR_RETURN(prepared, prepare_text(model, *text));
  } else {
    ASSIGN_OR_RETURN(prepared, prepare_tokens(model, std::get<TokenPrompt>(prompt)));
  }
  RETURN_IF_ERROR(check_length(model, prepared));
  return prepared;
}

namespace {

Prepared with_keys(const LoadedModel& model, PreparedPrompt tokens, tenant::Scope scope, Ticks begun,
                   const Clock& clock) {
  Prepared prepared;
  prepared.keys = std::make_shared<kv::PromptKeys>(kv::chain_keys(std::move(scope), model.identity, "", tokens.tokens));
  prepared.prompt = std::make_shared<PreparedPrompt>(std::move(tokens));
  prepared.prepare_ms = ms_between(begun, clock.now());
  return prepared;
}

}  // namespace

Result<Prepared> prepare(const LoadedModel& model, const Prompt& prompt, tenant::Scope scope, const Clock& clock) {
  const Ticks begun = clock.now();
  ASSIGN_OR_RETURN(PreparedPrompt tokens, prepare_prompt(model, prompt, clock.wall()));
  return with_keys(model, std::move(tokens), std::move(scope), begun, clock);
}

Result<Prepared> prepare_warm(const LoadedModel& model, const ChatPrompt& prompt, tenant::Scope scope,
                              const Clock& clock) {
  const Ticks begun = clock.now();
  ASSIGN_OR_RETURN(PreparedPrompt tokens, prepare_prefix(model, prompt, clock.wall()));
  return with_keys(model, std::move(tokens), std::move(scope), begun, clock);
}

Result<PreparedPrompt> prepare_prefix(const LoadedModel& model, const ChatPrompt& prompt, WallTime now) {
  ASSIGN_OR_RETURN(PreparedPrompt prepared, prepare_prompt(model, Prompt(prompt), now));
  const std::uint32_t end = prepared.last_message_begin;
  if (end == 0) {
    return Error{ErrorCode::kUnsupported, "the chat template of " + model.name + " puts nothing before a message",
                 model.name};
  }
  prepared.tokens.resize(end);
  std::vector<Section> kept;
  for (Section section : prepared.sections) {
    if (section.token_begin >= end) break;
    section.token_end = std::min(section.token_end, end);
    kept.push_back(std::move(section));
  }
  prepared.sections = std::move(kept);
  prepared.last_message_begin = end;
  return prepared;
}

}  // namespace larder::engine
