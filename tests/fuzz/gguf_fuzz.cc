// SPDX-License-Identifier: Apache-2.0
// A model file as a stranger may send it: parse it, ask for its keys, build config, weights and tokenizer from it.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/engine/vocab_from_gguf.h"
#include "runtime/gguf/file.h"
#include "runtime/model/load.h"
#include "runtime/tokenizer/tokenizer.h"

namespace {

using namespace larder;

void read_every_key(const gguf::File& file) {
  for (const gguf::Entry& entry : file.entries()) {
    (void)file.find_u32(entry.key);
    (void)file.find_u64(entry.key);
    (void)file.find_f32(entry.key);
    (void)file.find_bool(entry.key);
    (void)file.find_string(entry.key);
    (void)file.find_string_array(entry.key);
    (void)file.find_f32_array(entry.key);
    (void)file.find_i32_array(entry.key);
    (void)file.find_u32_array(entry.key);
  }
}

void touch_every_tensor(const gguf::File& file) {
  unsigned sum = 0;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    const auto bytes = file.tensor_bytes(tensor);
    if (!bytes.empty()) sum += std::to_integer<unsigned>(bytes.front()) + std::to_integer<unsigned>(bytes.back());
    sum += static_cast<unsigned>(tensor.type_name().size());
  }
  volatile unsigned sink = sum;
  (void)sink;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (size != 0) std::memcpy(bytes.data(), data, size);
  const auto file = gguf::File::parse(bytes, "fuzz");
  if (!file.ok()) {
    INVARIANT(!file.error().message.empty());
    return 0;
  }
  read_every_key(**file);
  touch_every_tensor(**file);
  if (const auto config = model::load_config(**file); config.ok()) (void)model::load_weights(**file, *config);
  auto vocab = engine::read_vocab(**file);
  if (!vocab.ok()) return 0;
  const auto tokenizer = tokenizer::Tokenizer::create(std::move(vocab).value());
  if (!tokenizer.ok()) return 0;
  const auto tokens = (*tokenizer)->encode("Ciao <s></s><|im_end|> aab\xFF", /*parse_special=*/true);
  if (tokens.ok()) (void)(*tokenizer)->decode(*tokens);
  return 0;
}
