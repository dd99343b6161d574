// SPDX-License-Identifier: Apache-2.0
// Codec of OpenAI's answers: engine::StreamEvents in, JSON or server-sent events out. Pure; one object per answer.
// Shapes:   streamed chat: a chunk with the role first, one chunk per piece, one with finish_reason per choice, then
//           with include_usage a chunk whose choices are empty, then [DONE]. The last chunk and a whole answer carry
//           the member `larder` (verdict_text.h).
// Bounds:   a whole answer holds at most max_tokens x n pieces.
// Source:   OpenAI's API reference; what the openai package of PyPI parses.
// Errors:   those of the stream, as they came; kCancelled for an answer that was stopped before its end.
// Threads:  one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/token_stream.h"
#include "runtime/http/json_writer.h"

namespace larder::http {

struct AnswerShape {
  bool chat = true;
  bool include_usage = false;
  bool logprobs = false;
  bool echo = false;
  bool no_new_text = false;
  std::uint32_t choices = 1;
  std::string echo_text;     // completions with a text prompt: what echo prints
  std::int64_t created_s = 0;  // Unix time
};

// What both forms of an answer share.
class AnswerCodec {
 public:
  explicit AnswerCodec(AnswerShape shape) : shape_(std::move(shape)) {}

 protected:
  struct Choice {
    std::string text;
    std::vector<engine::TokenText> tokens;
    std::optional<engine::FinishReason> finish;
    std::uint32_t text_at = 0;  // completions: offset of the next token's text, in bytes
    bool opened = false;
  };

  void started(const engine::Started& event);
  void write_top(JsonWriter& out, std::string_view object) const;
  void write_usage(JsonWriter& out, const engine::Usage& usage) const;
  void write_logprobs(JsonWriter& out, Choice& choice, const std::vector<engine::TokenText>& tokens) const;

  AnswerShape shape_;
  engine::Started started_;
};

// Server-sent events.
class StreamCodec : private AnswerCodec {
 public:
  explicit StreamCodec(AnswerShape shape);
  // What to send for this event, possibly nothing. After Finished or Error, done().
  std::string on(const engine::StreamEvent& event);
  bool done() const { return done_; }
  // A comment that keeps proxies and clients from giving up.
  static std::string ping() { return ": still working\n\n"; }

 private:
  std::string on_piece(const engine::Piece& piece);
  std::string on_choice_done(const engine::ChoiceDone& event);
  std::string on_finished(const engine::Finished& event);
  std::string on_error(const Error& error);
  std::string open_choice(std::uint32_t index);
  std::string chunk(std::uint32_t index, const std::string* text, const std::vector<engine::TokenText>& tokens,
                    const engine::FinishReason* finish, const engine::Finished* end);

  std::vector<Choice> choices_;
  std::optional<std::uint32_t> held_;  // the last choice that ended: its chunk waits for the figures
  std::uint32_t ended_ = 0;
  bool cancelled_ = false;
  bool done_ = false;
};

// One JSON object.
class WholeCodec : private AnswerCodec {
 public:
  explicit WholeCodec(AnswerShape shape);
  // The answer's text once it is complete. An Error event is the caller's to answer.
  std::optional<Result<std::string>> on(const engine::StreamEvent& event);

 private:
  std::string finish(const engine::Finished& event);
  void write_choice(JsonWriter& out, std::uint32_t index, const engine::Finished& event);

  std::vector<Choice> choices_;
};

std::string sse(std::string_view json);

}  // namespace larder::http
