// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/tables.h"

namespace larder::tokenizer {
namespace {

constexpr std::size_t kMaxTokenBytes = 1024;
constexpr std::size_t kMaxMerges = std::size_t{1} << 21;
constexpr std::size_t kMaxEndTokens = 64;
constexpr std::string_view kSpelledSpace = "\xE2\x96\x81";  // U+2581

Error corrupt(std::string what) {
  return {ErrorCode::kCorrupt, std::move(what) + "; the file is damaged, download or convert it again", ""};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Tokens that end a turn in the common templates. Conversions often call them user-defined or leave them out of the
// end-token keys, and a model that writes one of them has finished its answer.
// Source: the chat templates and generation_config.json of the models that use them.
constexpr std::string_view kTurnEnds[] = {"<|im_end|>", "<|eot_id|>",    "<|eom_id|>",    "<|end|>",
                                          "<|eot|>",    "<end_of_turn>", "<|endoftext|>", "<EOT>"};

bool looks_like_control(std::string_view text) {
  if (text.size() > 4 && text.substr(0, 2) == "<|" && text.substr(text.size() - 2) == "|>") return true;
  if (text == "<s>" || text == "</s>" || text == "<start_of_turn>") return true;
  return std::find(std::begin(kTurnEnds), std::end(kTurnEnds), text) != std::end(kTurnEnds);
}

}  // namespace

int byte_of_spelling(std::string_view spelling) {
  if (spelling.size() != 6 || spelling.substr(0, 3) != "<0x" || spelling[5] != '>') return -1;
  const int high = hex_digit(spelling[3]);
  const int low = hex_digit(spelling[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

Status Tokenizer::Tables::fill() {
  RETURN_IF_ERROR(check_sizes());
  RETURN_IF_ERROR(fill_types());
  RETURN_IF_ERROR(fill_special());
  fill_ends();
  fill_index();
  fill_bytes();
  return vocab.model == "llama" ? fill_spm() : fill_bpe();
}

Status Tokenizer::Tables::check_sizes() const {
  if (vocab.model != "gpt2" && vocab.model != "llama") {
    return Error{ErrorCode::kUnsupported,
                 "the tokenizer (tokenizer.ggml.model) is '" + vocab.model.substr(0, 64) +
                     "'; byte-level BPE ('gpt2') and SentencePiece ('llama') are known",
                 ""};
  }
  const std::size_t n = vocab.tokens.size();
  if (n == 0 || n > kMaxVocabTokens) return corrupt("the vocabulary has " + std::to_string(n) + " tokens");
  if (vocab.merges.size() > kMaxMerges) return corrupt("there are " + std::to_string(vocab.merges.size()) + " merges");
  if (vocab.more_end_tokens.size() > kMaxEndTokens) {
    return corrupt("there are " + std::to_string(vocab.more_end_tokens.size()) + " end tokens");
  }
  for (std::size_t id = 0; id < n; ++id) {
    if (vocab.tokens[id].size() > kMaxTokenBytes) {
      return corrupt("token " + std::to_string(id) + " has " + std::to_string(vocab.tokens[id].size()) +
                     " bytes, at most " + std::to_string(kMaxTokenBytes) + " are read");
    }
  }
  RETURN_IF_ERROR(check_special("bos_token_id", vocab.bos));
  RETURN_IF_ERROR(check_special("eos_token_id", vocab.eos));
  RETURN_IF_ERROR(check_special("eot_token_id", vocab.eot));
  RETURN_IF_ERROR(check_special("eom_token_id", vocab.eom));
  RETURN_IF_ERROR(check_special("unknown_token_id", vocab.unknown));
  RETURN_IF_ERROR(check_special("padding_token_id", vocab.padding));
  for (const Token end : vocab.more_end_tokens) RETURN_IF_ERROR(check_special("eos_token_ids", end));
  return {};
}

Status Tokenizer::Tables::check_special(std::string_view name, Token id) const {
  if (id >= -1 && id < static_cast<std::int64_t>(vocab.tokens.size())) return {};
  return corrupt("tokenizer.ggml." + std::string(name) + " is " + std::to_string(id) + ", but the vocabulary has " +
                 std::to_string(vocab.tokens.size()) + " tokens");
}

Status Tokenizer::Tables::fill_types() {
  const std::size_t n = vocab.tokens.size();
  if (!vocab.types.empty() && vocab.types.size() != n) {
    return corrupt("tokenizer.ggml.token_type has " + std::to_string(vocab.types.size()) + " entries for " +
                   std::to_string(n) + " tokens");
  }
  types.assign(n, TokenType::kNormal);
  for (std::size_t id = 0; id < n; ++id) {
    if (!vocab.types.empty()) {
      const std::int32_t type = vocab.types[id];
      if (type < 0 || type > static_cast<std::int32_t>(TokenType::kByte)) {
        return corrupt("token " + std::to_string(id) + " has type " + std::to_string(type));
      }
      // Type 0, "undefined", is what some conversions write for ordinary tokens.
      if (type != 0) types[id] = static_cast<TokenType>(type);
    } else if (vocab.model == "llama" && byte_of_spelling(vocab.tokens[id]) >= 0) {
      types[id] = TokenType::kByte;
    }
    if (types[id] == TokenType::kByte && byte_of_spelling(vocab.tokens[id]) < 0) {
      return corrupt("token " + std::to_string(id) + " is a byte token, but is not spelled <0xNN>");
    }
  }
  return {};
}

Status Tokenizer::Tables::fill_special() {
  is_control.assign(types.size(), 0);
  for (std::size_t id = 0; id < types.size(); ++id) {
    const std::string& text = vocab.tokens[id];
    const bool user_defined = types[id] == TokenType::kUserDefined;
    is_control[id] = types[id] == TokenType::kControl || types[id] == TokenType::kUnknown ||
                     (user_defined && looks_like_control(text));
  }
  for (const Token id : {vocab.bos, vocab.eos, vocab.eot, vocab.eom}) {
    if (id >= 0) is_control[static_cast<std::size_t>(id)] = 1;
  }
  for (const Token id : vocab.more_end_tokens) {
    if (id >= 0) is_control[static_cast<std::size_t>(id)] = 1;
  }
  for (std::size_t id = 0; id < types.size(); ++id) {
    const std::string& text = vocab.tokens[id];
    if (!is_control[id] && types[id] != TokenType::kUserDefined) continue;
    if (text.empty()) continue;
    if (text.size() > kMaxSpecialBytes) {
      return corrupt("special token " + std::to_string(id) + " has " + std::to_string(text.size()) + " bytes");
    }
    cutter.add(text, static_cast<Token>(id), is_control[id] != 0);
  }
  return {};
}

void Tokenizer::Tables::fill_ends() {
  end_tokens = vocab.more_end_tokens;
  for (const Token id : {vocab.eos, vocab.eot, vocab.eom}) end_tokens.push_back(id);
  for (std::size_t id = 0; id < types.size(); ++id) {
    const bool named = std::find(std::begin(kTurnEnds), std::end(kTurnEnds), vocab.tokens[id]) != std::end(kTurnEnds);
    if (named && is_control[id]) end_tokens.push_back(static_cast<Token>(id));
  }
  std::erase_if(end_tokens, [](Token id) { return id < 0; });
  std::sort(end_tokens.begin(), end_tokens.end());
  end_tokens.erase(std::unique(end_tokens.begin(), end_tokens.end()), end_tokens.end());
}

void Tokenizer::Tables::fill_index() {
  all.reserve(types.size());
  mergeable.reserve(types.size());
  for (std::size_t id = 0; id < types.size(); ++id) {
    const auto token = static_cast<Token>(id);
    all.emplace(vocab.tokens[id], token);
    const bool text_token = types[id] == TokenType::kNormal || types[id] == TokenType::kUserDefined;
    if (text_token && !is_control[id] && !vocab.tokens[id].empty()) mergeable.emplace(vocab.tokens[id], token);
  }
}

Token Tokenizer::Tables::find_piece(std::string_view piece) const {
  if (piece.size() > kMaxTokenBytes) return -1;
  std::string spelling;
  for (const char c : piece) spelling += byte_spelling(static_cast<std::uint8_t>(c));
  const auto found = mergeable.find(spelling);
  return found != mergeable.end() ? found->second : -1;
}

std::string Tokenizer::Tables::bytes_of(std::size_t id) const {
  const std::string& text = vocab.tokens[id];
  if (is_control[id] || types[id] == TokenType::kUnused) return {};
  if (types[id] == TokenType::kUserDefined) return text;
  if (types[id] == TokenType::kByte) return std::string(1, static_cast<char>(byte_of_spelling(text)));
  if (vocab.model != "llama") return bytes_of_spelling(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool space = text.compare(at, kSpelledSpace.size(), kSpelledSpace) == 0;
    out += space ? ' ' : text[at];
    at += space ? kSpelledSpace.size() : 1;
  }
  return out;
}

void Tokenizer::Tables::fill_bytes() {
  bytes_at.reserve(types.size() + 1);
  bytes_at.push_back(0);
  for (std::size_t id = 0; id < types.size(); ++id) {
    bytes += bytes_of(id);
    bytes_at.push_back(static_cast<std::uint32_t>(bytes.size()));
  }
}

Status Tokenizer::Tables::fill_spm() {
  if (vocab.scores.size() != vocab.tokens.size()) {
    return corrupt("tokenizer.ggml.scores has " + std::to_string(vocab.scores.size()) + " entries for " +
                   std::to_string(vocab.tokens.size()) + " tokens");
  }
  for (std::size_t id = 0; id < vocab.scores.size(); ++id) {
    if (!std::isfinite(vocab.scores[id]))
      return corrupt("the score of token " + std::to_string(id) + " is not a number");
  }
  std::array<Token, 256> byte_tokens;
  byte_tokens.fill(-1);
  std::size_t longest = 1;
  for (std::size_t id = 0; id < types.size(); ++id) {
    longest = std::max(longest, vocab.tokens[id].size());
    if (types[id] != TokenType::kByte) continue;
    Token& token = byte_tokens[static_cast<std::size_t>(byte_of_spelling(vocab.tokens[id]))];
    if (token < 0) token = static_cast<Token>(id);
  }
  // Only a token made for it may stand for unknown text: an end token here would let a stranger's text end the turn.
  const bool usable = vocab.unknown >= 0 && types[static_cast<std::size_t>(vocab.unknown)] == TokenType::kUnknown;
  const bool ends = std::binary_search(end_tokens.begin(), end_tokens.end(), vocab.unknown);
  const Token unknown = usable && !ends ? vocab.unknown : -1;
  const bool every_byte = std::none_of(byte_tokens.begin(), byte_tokens.end(), [](Token id) { return id < 0; });
  if (!every_byte && unknown < 0) {
    return corrupt("the vocabulary has neither all 256 byte tokens nor an unknown token, so some text has no tokens");
  }
  spm.emplace(mergeable, vocab.scores, byte_tokens, unknown, longest);
  return {};
}

Status Tokenizer::Tables::fill_bpe() {
  if (vocab.merges.empty()) {
    return Error{ErrorCode::kCorrupt, "the file has no tokenizer.ggml.merges; convert the model again", ""};
  }
  ASSIGN_OR_RETURN(pre_tokenizer, PreTokenizer::create(vocab.pre));
  ASSIGN_OR_RETURN(bpe, Bpe::build(vocab.merges, mergeable, types.size()));
  return {};
}

}  // namespace larder::tokenizer
