// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/answer.h"

namespace larder::engine {
namespace {

std::string bytes_of(const tokenizer::Tokenizer& tokenizer, Token token) {
  const std::string_view bytes = tokenizer.token_bytes(token);
  return std::string(bytes.empty() ? tokenizer.token_text(token) : bytes);
}

}  // namespace

TokenText token_text(const tokenizer::Tokenizer& tokenizer, const sample::Sampled& sampled) {
  TokenText text{sampled.token, bytes_of(tokenizer, sampled.token), sampled.logprob, {}};
  for (const sample::Alternative& other : sampled.top) {
    text.top.emplace_back(bytes_of(tokenizer, other.token), other.logprob);
  }
  return text;
}

Answer::Answer(std::uint32_t choice, std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
               std::vector<std::string> stops, bool ignore_eos, bool want_tokens)
    : choice_(choice),
      tokenizer_(std::move(tokenizer)),
      ignore_eos_(ignore_eos),
      want_tokens_(want_tokens),
      stops_(std::move(stops)) {}

std::optional<Piece> Answer::piece_of(std::string text, bool last) {
  if (text.empty() && !(last && !waiting_.empty())) return std::nullopt;
  Piece piece{choice_, std::move(text), {}};
  piece.tokens.swap(waiting_);
  return piece;
}

Answer::Out Answer::push(const sample::Sampled& sampled) {
  Out out;
  if (!ignore_eos_ && tokenizer_->is_end_token(sampled.token)) {
    out.ended = true;
    out.piece = finish();
    return out;
  }
  if (want_tokens_) waiting_.push_back(token_text(*tokenizer_, sampled));
  sample::StopMatcher::Out matched = stops_.push(utf8_.push(tokenizer_->token_bytes(sampled.token)));
  out.ended = matched.stopped;
  if (matched.stopped) waiting_.clear();
  out.piece = piece_of(std::move(matched.text), false);
  return out;
}

std::optional<Piece> Answer::finish() {
  return piece_of(stops_.finish(), true);
}

}  // namespace larder::engine
