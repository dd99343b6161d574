// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/openai_answer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <type_traits>
#include <utility>

#include "runtime/http/errors.h"
#include "runtime/http/verdict_text.h"

namespace larder::http {
namespace {

using engine::FinishReason;

constexpr double kLowestLogprob = -9999.0;  // stands for minus infinity, as OpenAI's does

double finite(float logprob) { return logprob > kLowestLogprob ? static_cast<double>(logprob) : kLowestLogprob; }

std::string_view finish_word(FinishReason reason) { return reason == FinishReason::kLength ? "length" : "stop"; }

Error cancelled_error() {
  return {ErrorCode::kCancelled, "the request was cancelled before its answer was complete", ""};
}

void write_token(JsonWriter& out, std::string_view text, float logprob) {
  out.member("token", text).member("logprob", finite(logprob)).key("bytes").begin_array();
  for (const char c : text) out.integer(static_cast<int>(static_cast<unsigned char>(c)));
  out.end_array();
}

void write_chat_logprobs(JsonWriter& out, const std::vector<engine::TokenText>& tokens) {
  out.begin_object().key("content").begin_array();
  for (const engine::TokenText& token : tokens) {
    out.begin_object();
    write_token(out, token.text, token.logprob);
    out.key("top_logprobs").begin_array();
    for (const auto& [text, logprob] : token.top) {
      out.begin_object();
      write_token(out, text, logprob);
      out.end_object();
    }
    out.end_array().end_object();
  }
  out.end_array().key("refusal").null().end_object();
}

void write_top_map(JsonWriter& out, const engine::TokenText& token) {
  out.begin_object();
  std::set<std::string> seen;  // as written: parts of different characters look the same
  for (const auto& [text, logprob] : token.top) {
    std::string written;
    append_escaped(written, text);
    if (seen.insert(std::move(written)).second) out.member(text, finite(logprob));
  }
  out.end_object();
}

}  // namespace

std::string sse(std::string_view json) {
  std::string line = "data: ";
  line += json;
  line += "\n\n";
  return line;
}

void AnswerCodec::started(const engine::Started& event) { started_ = event; }

void AnswerCodec::write_top(JsonWriter& out, std::string_view object) const {
  std::array<char, 48> id;
  std::snprintf(id.data(), id.size(), "%s-%llx-%llu", shape_.chat ? "chatcmpl" : "cmpl",
                static_cast<unsigned long long>(shape_.created_s),
                static_cast<unsigned long long>(started_.request.value));
  out.begin_object()
      .member("id", id.data())
      .member("object", object)
      .member("created", shape_.created_s)
      .member("model", started_.model);
}

void AnswerCodec::write_usage(JsonWriter& out, const engine::Usage& usage) const {
  const std::uint32_t written = shape_.no_new_text ? 0 : usage.completion_tokens;
  out.begin_object()
      .member("prompt_tokens", usage.prompt_tokens)
      .member("completion_tokens", written)
      .member("total_tokens", usage.prompt_tokens + written)
      .key("prompt_tokens_details")
      .begin_object()
      .member("cached_tokens", usage.cached_tokens)
      .end_object()
      .end_object();
}

void AnswerCodec::write_logprobs(JsonWriter& out, Choice& choice, const std::vector<engine::TokenText>& tokens) const {
  if (!shape_.logprobs || tokens.empty()) {
    out.null();
    return;
  }
  if (shape_.chat) return write_chat_logprobs(out, tokens);
  out.begin_object().key("tokens").begin_array();
  for (const engine::TokenText& token : tokens) out.text(token.text);
  out.end_array().key("token_logprobs").begin_array();
  // Nothing comes before a prompt's first token, so it has no log-probability.
  const bool unscored_first = shape_.echo && choice.text_at == 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    unscored_first && i == 0 ? out.null() : out.number(finite(tokens[i].logprob));
  }
  out.end_array().key("top_logprobs").begin_array();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    unscored_first && i == 0 ? static_cast<void>(out.null()) : write_top_map(out, tokens[i]);
  }
  out.end_array().key("text_offset").begin_array();
  for (const engine::TokenText& token : tokens) {
    out.integer(choice.text_at);
    choice.text_at += static_cast<std::uint32_t>(token.text.size());
  }
  out.end_array().end_object();
}

StreamCodec::StreamCodec(AnswerShape shape) : AnswerCodec(std::move(shape)), choices_(shape_.choices) {}

std::string StreamCodec::on(const engine::StreamEvent& event) {
  if (done_) return {};
  return std::visit(
      [this](const auto& e) -> std::string {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, engine::Started>) {
          started(e);
          return {};
        } else if constexpr (std::is_same_v<E, engine::Piece>) {
          return on_piece(e);
        } else if constexpr (std::is_same_v<E, engine::ChoiceDone>) {
          return on_choice_done(e);
        } else if constexpr (std::is_same_v<E, engine::Finished>) {
          return on_finished(e);
        } else {
          return on_error(e);
        }
      },
      event);
}

std::string StreamCodec::chunk(std::uint32_t index, const std::string* text,
                               const std::vector<engine::TokenText>& tokens, const FinishReason* finish,
                               const engine::Finished* end) {
  Choice& choice = choices_[index];
  JsonWriter out;
  write_top(out, shape_.chat ? "chat.completion.chunk" : "text_completion");
  out.key("choices").begin_array().begin_object().member("index", index);
  if (shape_.chat) {
    out.key("delta").begin_object();
    if (!choice.opened) out.member("role", "assistant").member("content", "");
    if (text) out.member("content", *text);
    out.end_object();
  } else {
    out.member("text", text ? std::string_view(*text) : std::string_view());
  }
  choice.opened = true;
  out.key("logprobs");
  write_logprobs(out, choice, tokens);
  out.key("finish_reason");
  finish ? out.text(finish_word(*finish)) : out.null();
  out.end_object().end_array();
  if (shape_.include_usage) {
    out.key("usage").null();
  } else if (end) {
    out.key("larder");
    write_larder(out, started_.request, end->verdict, started_.sections, end->timings);
  }
  out.end_object();
  return sse(out.take());
}

std::string StreamCodec::open_choice(std::uint32_t index) {
  if (choices_[index].opened) return {};
  if (shape_.chat) return chunk(index, nullptr, {}, nullptr, nullptr);
  choices_[index].opened = true;
  if (!shape_.echo || shape_.echo_text.empty()) return {};
  choices_[index].text_at = static_cast<std::uint32_t>(shape_.echo_text.size());
  return chunk(index, &shape_.echo_text, {}, nullptr, nullptr);
}

std::string StreamCodec::on_piece(const engine::Piece& piece) {
  if (piece.choice >= choices_.size()) return {};
  std::string out = open_choice(piece.choice);
  if (shape_.no_new_text || (piece.text.empty() && piece.tokens.empty())) return out;
  return out + chunk(piece.choice, &piece.text, piece.tokens, nullptr, nullptr);
}

std::string StreamCodec::on_choice_done(const engine::ChoiceDone& event) {
  if (event.choice >= choices_.size()) return {};
  std::string out = open_choice(event.choice);
  choices_[event.choice].finish = event.reason;
  cancelled_ = cancelled_ || event.reason == FinishReason::kCancelled;
  if (cancelled_) return out;
  if (++ended_ < choices_.size()) return out + chunk(event.choice, nullptr, {}, &event.reason, nullptr);
  held_ = event.choice;
  return out;
}

std::string StreamCodec::on_finished(const engine::Finished& event) {
  if (cancelled_) return on_error(cancelled_error());
  done_ = true;
  std::string out;
  if (held_) {
    const FinishReason reason = shape_.no_new_text ? FinishReason::kLength : *choices_[*held_].finish;
    out = chunk(*held_, nullptr, {}, &reason, &event);
  }
  if (shape_.include_usage) {
    JsonWriter last;
    write_top(last, shape_.chat ? "chat.completion.chunk" : "text_completion");
    last.key("choices").begin_array().end_array().key("usage");
    write_usage(last, event.usage);
    last.key("larder");
    write_larder(last, started_.request, event.verdict, started_.sections, event.timings);
    last.end_object();
    out += sse(last.take());
  }
  return out + sse("[DONE]");
}

std::string StreamCodec::on_error(const Error& error) {
  done_ = true;
  return sse(error_body(error));
}

WholeCodec::WholeCodec(AnswerShape shape) : AnswerCodec(std::move(shape)), choices_(shape_.choices) {}

std::optional<Result<std::string>> WholeCodec::on(const engine::StreamEvent& event) {
  if (const auto* start = std::get_if<engine::Started>(&event)) {
    started(*start);
  } else if (const auto* piece = std::get_if<engine::Piece>(&event)) {
    if (piece->choice < choices_.size()) {
      Choice& choice = choices_[piece->choice];
      choice.text += piece->text;
      choice.tokens.insert(choice.tokens.end(), piece->tokens.begin(), piece->tokens.end());
    }
  } else if (const auto* done = std::get_if<engine::ChoiceDone>(&event)) {
    if (done->choice < choices_.size()) choices_[done->choice].finish = done->reason;
  } else if (const auto* finished = std::get_if<engine::Finished>(&event)) {
    const bool cancelled = std::any_of(choices_.begin(), choices_.end(),
                                       [](const Choice& c) { return c.finish == FinishReason::kCancelled; });
    if (cancelled) return Result<std::string>(cancelled_error());
    return Result<std::string>(finish(*finished));
  } else {
    return Result<std::string>(std::get<Error>(event));
  }
  return std::nullopt;
}

void WholeCodec::write_choice(JsonWriter& out, std::uint32_t index, const engine::Finished& event) {
  Choice& choice = choices_[index];
  if (shape_.no_new_text) {
    choice.text.clear();
    choice.tokens.clear();
    choice.finish = FinishReason::kLength;
  }
  std::string text;
  std::vector<engine::TokenText> tokens;
  if (shape_.echo) {
    text = shape_.echo_text;
    if (text.empty()) {
      for (const engine::TokenText& token : event.prompt_logprobs) text += token.text;
    }
    tokens = event.prompt_logprobs;
  }
  text += choice.text;
  tokens.insert(tokens.end(), choice.tokens.begin(), choice.tokens.end());
  out.begin_object().member("index", index);
  if (shape_.chat) {
    out.key("message").begin_object().member("role", "assistant").member("content", text).key("refusal").null();
    out.end_object();
  } else {
    out.member("text", text);
  }
  out.key("logprobs");
  write_logprobs(out, choice, tokens);
  out.member("finish_reason", finish_word(choice.finish.value_or(FinishReason::kStop))).end_object();
}

std::string WholeCodec::finish(const engine::Finished& event) {
  JsonWriter out;
  write_top(out, shape_.chat ? "chat.completion" : "text_completion");
  out.key("choices").begin_array();
  for (std::uint32_t i = 0; i < choices_.size(); ++i) write_choice(out, i, event);
  out.end_array().key("usage");
  write_usage(out, event.usage);
  out.key("larder");
  write_larder(out, started_.request, event.verdict, started_.sections, event.timings);
  out.end_object();
  return out.take();
}

}  // namespace larder::http
