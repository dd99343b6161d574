// SPDX-License-Identifier: Apache-2.0
// Answer: the text of one choice while it is drawn: token bytes to whole UTF-8, stop strings across tokens, end tokens.
// Ensures:  pieces in order give the whole answer; no piece cuts a character or holds part of a stop string; a
//           character that the answer's end cuts is left out.
// Threads:  engine thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/loaded_model.h"
#include "runtime/engine/token_stream.h"
#include "runtime/sample/sampler.h"
#include "runtime/sample/stop.h"
#include "runtime/tokenizer/utf8_stream.h"

namespace larder::engine {

class Answer {
 public:
  Answer(std::uint32_t choice, std::shared_ptr<const tokenizer::Tokenizer> tokenizer, std::vector<std::string> stops,
         bool ignore_eos, bool want_tokens);

  // One drawn token. `piece`: what may be shown now; `ended`: an end token or a stop string.
  struct Out {
    std::optional<Piece> piece;
    bool ended = false;
  };
  Out push(const sample::Sampled& sampled);
  // What was held back and is text, when the answer ends otherwise.
  std::optional<Piece> finish();

 private:
  std::optional<Piece> piece_of(std::string text, bool last);

  const std::uint32_t choice_;
  const std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  const bool ignore_eos_;
  const bool want_tokens_;
  tokenizer::Utf8Stream utf8_;
  sample::StopMatcher stops_;
  std::vector<TokenText> waiting_;  // tokens whose text is still held back
};

// A token with its own bytes, or its spelling where it stands for none.
TokenText token_text(const tokenizer::Tokenizer& tokenizer, const sample::Sampled& sampled);

}  // namespace larder::engine
