// SPDX-License-Identifier: Apache-2.0
// Writes small GGUF files of several kinds into a folder: the corpus a fuzzer starts from.
#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/gguf_writer.h"

namespace {

using larder::test::GgufWriter;

void add_tokenizer(GgufWriter& writer, bool sentencepiece) {
  std::vector<std::string> tokens{"<unk>", "<s>", "</s>", "a", "b", "ab", "aa"};
  std::vector<std::int32_t> types{2, 3, 3, 1, 1, 1, 4};
  writer.set_string("tokenizer.ggml.model", sentencepiece ? "llama" : "gpt2");
  writer.set_string("tokenizer.ggml.pre", sentencepiece ? "default" : "smollm");
  writer.set_string_array("tokenizer.ggml.tokens", tokens);
  writer.set_i32_array("tokenizer.ggml.token_type", types);
  if (sentencepiece) {
    writer.set_f32_array("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, -1, -2, -3, -4});
  } else {
    writer.set_string_array("tokenizer.ggml.merges", std::vector<std::string>{"a b", "a a"});
  }
  writer.set_u32("tokenizer.ggml.bos_token_id", 1);
  writer.set_u32("tokenizer.ggml.eos_token_id", 2);
  writer.set_u32("tokenizer.ggml.unknown_token_id", 0);
  writer.set_bool("tokenizer.ggml.add_bos_token", true);
}

GgufWriter model() {
  GgufWriter writer;
  writer.set_string("general.architecture", "llama");
  writer.set_u32("llama.block_count", 1);
  writer.set_u32("llama.context_length", 16);
  writer.set_u32("llama.embedding_length", 4);
  writer.set_u32("llama.feed_forward_length", 4);
  writer.set_u32("llama.attention.head_count", 2);
  writer.set_u32("llama.attention.head_count_kv", 1);
  writer.set_f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.add_f32("token_embd.weight", {4, 7}, std::vector<float>(28, 0.5f));
  writer.add_f32("output_norm.weight", {4}, std::vector<float>(4, 1.0f));
  for (const char* name : {"attn_norm", "ffn_norm"}) {
    writer.add_f32(std::string("blk.0.") + name + ".weight", {4}, std::vector<float>(4, 1.0f));
  }
  for (const char* name : {"attn_q", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}) {
    writer.add_f32(std::string("blk.0.") + name + ".weight", {4, 4}, std::vector<float>(16, 0.25f));
  }
  for (const char* name : {"attn_k", "attn_v"}) {
    writer.add_f32(std::string("blk.0.") + name + ".weight", {4, 2}, std::vector<float>(8, 0.25f));
  }
  return writer;
}

GgufWriter every_value_type() {
  GgufWriter writer;
  writer.set_u8("u8", 1);
  writer.set_u16("u16", 2);
  writer.set_u32("u32", 3);
  writer.set_i32("i32", -4);
  writer.set_u64("u64", 5);
  writer.set_i64("i64", -6);
  writer.set_f32("f32", 7.5f);
  writer.set_f64("f64", 8.5);
  writer.set_bool("bool", true);
  writer.set_string("string", "text");
  writer.set_string_array("strings", std::vector<std::string>{"", "b"});
  writer.set_f32_array("floats", std::vector<float>{1, 2});
  writer.set_u32_array("numbers", std::vector<std::uint32_t>{1, 2});
  writer.add_tensor("q4", 2, {32, 2}, std::vector<std::byte>(36));
  writer.add_tensor("k", 12, {256}, std::vector<std::byte>(144));
  writer.set_alignment(64);
  return writer;
}

bool save(const std::string& folder, const char* name, const GgufWriter& writer) {
  return writer.build().save(folder + "/" + name + ".gguf");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_gguf_seeds FOLDER\n");
    return 2;
  }
  GgufWriter sentencepiece = model();
  add_tokenizer(sentencepiece, true);
  GgufWriter bytes = model();
  add_tokenizer(bytes, false);
  GgufWriter second = model();
  second.set_version(2);
  second.set_layout(true, 40);
  const bool saved = save(argv[1], "empty", GgufWriter()) && save(argv[1], "values", every_value_type()) &&
                     save(argv[1], "sentencepiece", sentencepiece) && save(argv[1], "bytes", bytes) &&
                     save(argv[1], "version2", second);
  return saved ? 0 : 1;
}
