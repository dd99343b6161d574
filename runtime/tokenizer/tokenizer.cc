// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "runtime/tokenizer/tables.h"

namespace larder::tokenizer {
namespace {

Status check_text(std::string_view text, std::span<const ByteRange> untrusted) {
  if (text.size() > kMaxTextBytes) {
    return Error{ErrorCode::kResourceExhausted,
                 "the text has " + std::to_string(text.size()) + " bytes, at most " + std::to_string(kMaxTextBytes) +
                     " are tokenized; shorten it",
                 ""};
  }
  std::uint32_t last = 0;
  for (const ByteRange& range : untrusted) {
    if (range.begin < last || range.begin >= range.end || range.end > text.size()) {
      return Error{ErrorCode::kInvalidArgument,
                   "marked range " + std::to_string(range.begin) + " to " + std::to_string(range.end) +
                       " of a text of " + std::to_string(text.size()) + " bytes is out of order or out of the text",
                   ""};
    }
    last = range.end;
  }
  return {};
}

void push(Encoding& out, Token token, std::uint32_t offset) {
  out.tokens.push_back(token);
  out.offsets.push_back(offset);
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> Tokenizer::create(Vocab vocab) {
  auto tables = std::make_unique<Tables>(std::move(vocab));
  RETURN_IF_ERROR(tables->fill());
  return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(tables)));
}

Tokenizer::Tokenizer(std::unique_ptr<const Tables> tables) : tables_(std::move(tables)) {}
Tokenizer::~Tokenizer() = default;

Status Tokenizer::encode_plain(std::string_view text, std::uint32_t origin, bool space_before, Encoding& out) const {
  if (text.empty()) return {};
  if (tables_->spm) {
    tables_->spm->encode(text, origin, space_before, out);
    return {};
  }
  std::vector<Piece> pieces;
  RETURN_IF_ERROR(tables_->pre_tokenizer->split(text, pieces));
  const bool whole_first = tables_->vocab.ignore_merges || tables_->pre_tokenizer->ignore_merges();
  for (const Piece piece : pieces) {
    const std::string_view bytes = text.substr(piece.begin, piece.end - piece.begin);
    if (whole_first) {
      if (const Token token = tables_->find_piece(bytes); token >= 0) {
        push(out, token, origin + piece.begin);
        continue;
      }
    }
    tables_->bpe->encode(bytes, origin + piece.begin, out);
  }
  return {};
}

Result<Encoding> Tokenizer::encode_ranges(std::string_view text, std::span<const ByteRange> untrusted,
                                          BosRule rule) const {
  RETURN_IF_ERROR(check_text(text, untrusted));
  std::vector<Cut> cuts;
  tables_->cutter.find(text, untrusted, cuts);
  Encoding out;
  out.tokens.reserve(text.size() / 3 + 8);
  out.offsets.reserve(text.size() / 3 + 8);
  // Behind the ones that the text itself begins with.
  std::size_t next = 0;
  std::uint32_t at = 0;
  if (rule == BosRule::kOnce && bos() >= 0) {
    while (next < cuts.size() && cuts[next].begin == at && cuts[next].token == bos()) at = cuts[next++].end;
    if (next > 0 || add_bos()) push(out, bos(), 0);
  }
  // A space stands before the first text and before text behind a cut token; that is how these models were trained.
  const bool space_before = tables_->vocab.add_space_prefix;
  for (const Cut& cut : std::span(cuts).subspan(next)) {
    RETURN_IF_ERROR(encode_plain(text.substr(at, cut.begin - at), at, space_before, out));
    push(out, cut.token, cut.begin);
    at = cut.end;
  }
  RETURN_IF_ERROR(encode_plain(text.substr(at), at, space_before, out));
  return out;
}

Result<Encoding> Tokenizer::encode(const MarkedText& text, BosRule rule) const {
  return encode_ranges(text.text, text.untrusted, rule);
}

Result<std::vector<Token>> Tokenizer::encode(std::string_view text, bool parse_special, BosRule rule) const {
  const ByteRange whole{0, static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), 0xffffffffu))};
  const bool mark = !parse_special && !text.empty();
  ASSIGN_OR_RETURN(Encoding encoding,
                   encode_ranges(text, mark ? std::span(&whole, 1) : std::span<const ByteRange>(), rule));
  return std::move(encoding.tokens);
}

std::string_view Tokenizer::token_bytes(Token id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= vocab_size()) return {};
  const auto i = static_cast<std::size_t>(id);
  const std::uint32_t begin = tables_->bytes_at[i];
  return std::string_view(tables_->bytes).substr(begin, tables_->bytes_at[i + 1] - begin);
}

std::string_view Tokenizer::token_text(Token id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= vocab_size()) return {};
  return tables_->vocab.tokens[static_cast<std::size_t>(id)];
}

std::string Tokenizer::decode(std::span<const Token> tokens, bool with_control) const {
  std::string out;
  bool after_cut = true;
  for (const Token token : tokens) {
    const bool control = is_control(token);
    std::string_view bytes = control && with_control ? token_text(token) : token_bytes(token);
    const bool spaced = after_cut && tables_->spm && tables_->vocab.add_space_prefix;
    if (spaced && !control && bytes.starts_with(' ')) bytes.remove_prefix(1);
    out += bytes;
    after_cut = tables_->is_cut(token);
  }
  return out;
}

bool Tokenizer::is_end_token(Token id) const {
  return std::binary_search(tables_->end_tokens.begin(), tables_->end_tokens.end(), id);
}

bool Tokenizer::is_control(Token id) const {
  return id >= 0 && static_cast<std::size_t>(id) < vocab_size() &&
         tables_->is_control[static_cast<std::size_t>(id)] != 0;
}

std::span<const Token> Tokenizer::end_tokens() const { return tables_->end_tokens; }

Token Tokenizer::find_token(std::string_view text) const {
  const auto found = tables_->all.find(text);
  return found != tables_->all.end() ? found->second : -1;
}

std::size_t Tokenizer::vocab_size() const { return tables_->vocab.tokens.size(); }
Token Tokenizer::bos() const { return tables_->vocab.bos; }
Token Tokenizer::eos() const { return tables_->vocab.eos; }
bool Tokenizer::add_bos() const { return tables_->vocab.add_bos; }

}  // namespace larder::tokenizer
