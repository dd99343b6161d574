// SPDX-License-Identifier: Apache-2.0
// SmolLM2's vocabulary against Hugging Face `tokenizers` on 5,000 strings; make_smollm2_golden.py made the file and
// says what a record holds.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/engine/vocab_from_gguf.h"
#include "runtime/gguf/file.h"
#include "runtime/tokenizer/tokenizer.h"
#include "test_paths.h"
#include "tests/support/starter_model.h"

namespace larder::tokenizer {
namespace {

struct Golden {
  bool parse_special = false;
  std::string text;
  std::size_t n_tokens = 0;
  std::uint64_t digest = 0;
};

template <typename T>
T take(std::ifstream& in) {
  T value{};
  in.read(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

std::vector<Golden> read_golden() {
  std::ifstream in(LARDER_TEST_DATA "/tokenizer-vectors/smollm2-golden.bin", std::ios::binary);
  std::vector<Golden> records;
  while (in.peek() != std::ifstream::traits_type::eof()) {
    Golden record;
    record.parse_special = take<std::uint8_t>(in) != 0;
    record.text.resize(take<std::uint16_t>(in));
    in.read(record.text.data(), static_cast<std::streamsize>(record.text.size()));
    record.n_tokens = take<std::uint16_t>(in);
    record.digest = take<std::uint64_t>(in);
    EXPECT_TRUE(in.good());
    records.push_back(std::move(record));
  }
  return records;
}

std::uint64_t fnv1a(const std::vector<Token>& ids) {
  std::uint64_t digest = 0xCBF29CE484222325u;
  for (const Token id : ids) {
    for (int shift = 0; shift < 32; shift += 8) {
      digest = (digest ^ ((static_cast<std::uint32_t>(id) >> shift) & 0xFFu)) * 0x100000001B3u;
    }
  }
  return digest;
}

TEST(SmolLM2Tokenizer, FiveThousandStringsGiveTheIdsOfHuggingFace) {
  if (!test::have_starter_model("the comparison with Hugging Face tokenizers")) GTEST_SKIP();
  auto file = gguf::File::open(test::starter_model_path());
  ASSERT_TRUE(file.ok()) << to_string(file.error());
  auto vocab = engine::read_vocab(**file);
  ASSERT_TRUE(vocab.ok()) << to_string(vocab.error());
  auto tokenizer = Tokenizer::create(std::move(vocab).value());
  ASSERT_TRUE(tokenizer.ok()) << to_string(tokenizer.error());
  const auto records = read_golden();
  ASSERT_EQ(records.size(), 5000u);
  std::size_t equal = 0;
  for (const Golden& record : records) {
    const auto ids = (*tokenizer)->encode(record.text, record.parse_special);
    ASSERT_TRUE(ids.ok()) << to_string(ids.error());
    const bool same = ids->size() == record.n_tokens && fnv1a(*ids) == record.digest;
    equal += same;
    EXPECT_TRUE(same) << testing::PrintToString(record.text) << " gives " << testing::PrintToString(*ids);
  }
  std::printf("%zu of %zu strings equal\n", equal, records.size());
}

}  // namespace
}  // namespace larder::tokenizer
