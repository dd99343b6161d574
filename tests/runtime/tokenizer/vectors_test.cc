// SPDX-License-Identifier: Apache-2.0
// Public vectors: the 47 texts and the further lines of each vocabulary, ids equal in every place.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/engine/vocab_from_gguf.h"
#include "runtime/gguf/file.h"
#include "runtime/tokenizer/tokenizer.h"
#include "test_paths.h"

namespace larder::tokenizer {
namespace {

const std::string kVectors = LARDER_TEST_DATA "/tokenizer-vectors/";

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> read_texts(const std::string& path) {
  const std::string mark = "\n__ggml_vocab_test__\n";
  const std::string all = read_all(path);
  std::vector<std::string> texts;
  std::size_t at = 0;
  for (std::size_t end = all.find(mark); end != std::string::npos; end = all.find(mark, at)) {
    texts.push_back(all.substr(at, end - at));
    at = end + mark.size();
  }
  texts.push_back(all.substr(at));
  return texts;
}

std::vector<std::vector<Token>> read_ids(const std::string& path) {
  std::istringstream lines(read_all(path));
  std::vector<std::vector<Token>> ids;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    ids.emplace_back();
    for (Token id = 0; numbers >> id;) ids.back().push_back(id);
  }
  return ids;
}

std::shared_ptr<const Tokenizer> load(const std::string& path) {
  auto file = gguf::File::open(path);
  if (!file.ok()) ADD_FAILURE() << to_string(file.error());
  if (!file.ok()) return nullptr;
  auto vocab = engine::read_vocab(**file);
  if (!vocab.ok()) ADD_FAILURE() << to_string(vocab.error());
  if (!vocab.ok()) return nullptr;
  auto tokenizer = Tokenizer::create(std::move(vocab).value());
  if (!tokenizer.ok()) ADD_FAILURE() << to_string(tokenizer.error());
  return tokenizer.ok() ? std::move(tokenizer).value() : nullptr;
}

// A vocabulary of which the file keeps what the texts touch (make_partial_vocabulary.py).
std::shared_ptr<const Tokenizer> load_part(const std::string& name) {
  const auto part = nlohmann::json::parse(read_all(kVectors + name + "-part.json"));
  Vocab vocab;
  vocab.model = "gpt2";
  vocab.pre = name;
  vocab.tokens.resize(part.at("size"));
  vocab.types.assign(vocab.tokens.size(), static_cast<std::int32_t>(TokenType::kUnused));
  for (const auto& [id, spelling] : part.at("tokens").items()) {
    vocab.tokens.at(std::stoul(id)) = spelling;
    vocab.types.at(std::stoul(id)) = static_cast<std::int32_t>(TokenType::kNormal);
  }
  vocab.merges = part.at("merges").get<std::vector<std::string>>();
  auto tokenizer = Tokenizer::create(std::move(vocab));
  if (!tokenizer.ok()) ADD_FAILURE() << to_string(tokenizer.error());
  return tokenizer.ok() ? std::move(tokenizer).value() : nullptr;
}

struct Vocabulary {
  const char* name;
  const char* file;  // whose vocabulary is used; null: a part of the name's own
  bool has_further_lines;
};

class Vectors : public testing::TestWithParam<Vocabulary> {
 protected:
  const std::string base_ = kVectors + "ggml-vocab-" + GetParam().name + ".gguf";
  static std::shared_ptr<const Tokenizer> make_tokenizer() {
    if (GetParam().file == nullptr) return load_part(GetParam().name);
    return load(kVectors + "ggml-vocab-" + GetParam().file + ".gguf");
  }
};

TEST_P(Vectors, All47TextsGiveTheListedIds) {
  const auto tokenizer = make_tokenizer();
  ASSERT_NE(tokenizer, nullptr);
  const auto texts = read_texts(base_ + ".inp");
  auto ids = read_ids(base_ + ".out");
  ASSERT_EQ(texts.size(), 47u);
  ASSERT_TRUE(texts.back().empty());
  ids.emplace_back();  // the last text is empty, and the file of ids has no line for it
  ASSERT_EQ(ids.size(), 47u);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto tokens = tokenizer->encode(texts[i], /*parse_special=*/false);
    ASSERT_TRUE(tokens.ok()) << to_string(tokens.error());
    EXPECT_EQ(*tokens, ids[i]) << "text " << i << ": " << texts[i];
  }
}

TEST_P(Vectors, EveryFurtherLineGivesTheListedIds) {
  if (!GetParam().has_further_lines) GTEST_SKIP() << "there are none for this vocabulary";
  const auto tokenizer = make_tokenizer();
  ASSERT_NE(tokenizer, nullptr);
  std::istringstream lines(read_all(kVectors + "extra-" + GetParam().name + ".jsonl"));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto record = nlohmann::json::parse(line);
    const std::string text = record.at("text");
    const auto tokens = tokenizer->encode(text, /*parse_special=*/false);
    ASSERT_TRUE(tokens.ok()) << to_string(tokens.error());
    EXPECT_EQ(*tokens, record.at("ids").get<std::vector<Token>>()) << "line " << count << ": " << text;
  }
  EXPECT_GE(count, 57u);
}

TEST_P(Vectors, DecodingGivesTheTextBack) {
  const auto tokenizer = make_tokenizer();
  ASSERT_NE(tokenizer, nullptr);
  for (const std::string& text : read_texts(base_ + ".inp")) {
    const auto tokens = tokenizer->encode(text, /*parse_special=*/false);
    ASSERT_TRUE(tokens.ok());
    EXPECT_EQ(tokenizer->decode(*tokens), text);
  }
}

// phi-3 took llama's vocabulary and put its own tokens behind it.
INSTANTIATE_TEST_SUITE_P(Vocabularies, Vectors,
                         testing::Values(Vocabulary{"gpt-2", "gpt-2", true}, Vocabulary{"phi-3", "phi-3", true},
                                         Vocabulary{"mpt", "mpt", true}, Vocabulary{"falcon", "falcon", true},
                                         Vocabulary{"llama-spm", "phi-3", false},
                                         Vocabulary{"qwen2", nullptr, false}),
                         [](const auto& param) {
                           std::string name = param.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace larder::tokenizer
