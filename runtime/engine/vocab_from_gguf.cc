// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/vocab_from_gguf.h"

#include <string>
#include <utility>

#include "runtime/tokenizer/pre_tokenizer.h"

namespace larder::engine {
namespace {

// An id key: -1 where the file has none, or where it says "none" with all bits set.
Status read_id(const gguf::File& file, std::string_view name, Token& id) {
  constexpr std::uint32_t kNone = 0xffffffffu;
  ASSIGN_OR_RETURN(const std::uint32_t value, file.find_u32("tokenizer.ggml." + std::string(name), kNone));
  if (value != kNone && value > 0x7fffffffu) {
    return Error{ErrorCode::kInvalidArgument,
                 "key 'tokenizer.ggml." + std::string(name) + "' is " + std::to_string(value) + ", not a token id",
                 file.path()};
  }
  id = value == kNone ? -1 : static_cast<Token>(value);
  return {};
}

template <typename T>
Status keep_if_there(Result<T> found, T& value) {
  if (found.ok()) {
    value = std::move(found).value();
    return {};
  }
  if (found.error().code == ErrorCode::kNotFound) return {};
  return found.error();
}

Status read_ids(const gguf::File& file, tokenizer::Vocab& vocab) {
  RETURN_IF_ERROR(read_id(file, "bos_token_id", vocab.bos));
  RETURN_IF_ERROR(read_id(file, "eos_token_id", vocab.eos));
  RETURN_IF_ERROR(read_id(file, "eot_token_id", vocab.eot));
  RETURN_IF_ERROR(read_id(file, "eom_token_id", vocab.eom));
  RETURN_IF_ERROR(read_id(file, "unknown_token_id", vocab.unknown));
  RETURN_IF_ERROR(read_id(file, "padding_token_id", vocab.padding));
  return keep_if_there(file.find_i32_array("tokenizer.ggml.eos_token_ids"), vocab.more_end_tokens);
}

}  // namespace

Result<tokenizer::Vocab> read_vocab(const gguf::File& file) {
  tokenizer::Vocab vocab;
  ASSIGN_OR_RETURN(vocab.model, file.find_string("tokenizer.ggml.model"));
  ASSIGN_OR_RETURN(vocab.pre, file.find_string("tokenizer.ggml.pre", ""));
  ASSIGN_OR_RETURN(vocab.tokens, file.find_string_array("tokenizer.ggml.tokens"));
  RETURN_IF_ERROR(keep_if_there(file.find_f32_array("tokenizer.ggml.scores"), vocab.scores));
  RETURN_IF_ERROR(keep_if_there(file.find_i32_array("tokenizer.ggml.token_type"), vocab.types));
  RETURN_IF_ERROR(keep_if_there(file.find_string_array("tokenizer.ggml.merges"), vocab.merges));
  RETURN_IF_ERROR(read_ids(file, vocab));
  // What holds for files that do not say: SentencePiece models begin with BOS and a space, BPE models with neither,
  // but for those whose tokenizer adds BOS by itself.
  const bool sentencepiece = vocab.model == "llama";
  const bool adds_bos = sentencepiece || tokenizer::begins_with_bos(vocab.pre);
  ASSIGN_OR_RETURN(vocab.add_bos, file.find_bool("tokenizer.ggml.add_bos_token", adds_bos));
  ASSIGN_OR_RETURN(vocab.add_eos, file.find_bool("tokenizer.ggml.add_eos_token", false));
  ASSIGN_OR_RETURN(vocab.add_space_prefix, file.find_bool("tokenizer.ggml.add_space_prefix", sentencepiece));
  return vocab;
}

}  // namespace larder::engine
