// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels/layout/half.h"
#include "kernels/layout/quant_blocks.h"
#include "runtime/base/rng.h"
#include "tests/support/gguf_writer.h"

namespace larder::test {
namespace {

using kernels::WeightType;

constexpr std::uint32_t kEmbd = 256;
constexpr std::uint32_t kFf = 512;
constexpr std::uint32_t kHeads = 4;
constexpr std::uint32_t kKvHeads = 2;
constexpr std::uint32_t kHeadDim = kEmbd / kHeads;

// Scales that give weights of about 1/16, so that sums over 256 columns stay near 1.
void set_scales(WeightType type, Rng& rng, std::byte* block) {
  const auto put_half = [&](std::size_t at, float value) {
    const std::uint16_t half = kernels::f32_to_f16(value);
    std::memcpy(block + at, &half, sizeof half);
  };
  const auto around = [&rng](float value) { return value * static_cast<float>(0.5 + rng.unit()); };
  switch (type) {
    case WeightType::kQ4_0: return put_half(0, around(0.012f));
    case WeightType::kQ4_1: put_half(0, around(0.012f)); return put_half(2, -around(0.09f));
    case WeightType::kQ8_0: return put_half(0, around(0.0008f));
    case WeightType::kQ6_K:
      for (std::size_t i = 0; i < 16; ++i) block[192 + i] = static_cast<std::byte>(rng.below(16) - 8);
      return put_half(208, around(0.0006f));
    default: std::abort();
  }
}

std::vector<std::byte> random_matrix(Rng& rng, WeightType type, std::uint32_t rows, std::uint32_t cols) {
  const kernels::WeightTypeInfo info = kernels::weight_type_info(type);
  std::vector<std::byte> bytes(std::size_t{rows} * (cols / info.block_values) * info.block_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.below(256));
  for (std::size_t at = 0; at < bytes.size(); at += info.block_bytes) set_scales(type, rng, bytes.data() + at);
  return bytes;
}

class Builder {
 public:
  void matrix(const std::string& name, WeightType type, std::uint32_t rows, std::uint32_t cols) {
    writer_.add_tensor(name, static_cast<std::uint32_t>(type), {cols, rows}, random_matrix(rng_, type, rows, cols));
  }
  void norm(const std::string& name) {
    std::vector<float> values(kEmbd);
    for (float& value : values) value = static_cast<float>(0.75 + 0.5 * rng_.unit());
    writer_.add_f32(name, {kEmbd}, values);
  }
  void layer(std::uint32_t index) {
    const std::string at = "blk." + std::to_string(index) + ".";
    norm(at + "attn_norm.weight");
    matrix(at + "attn_q.weight", WeightType::kQ4_0, kEmbd, kEmbd);
    matrix(at + "attn_k.weight", WeightType::kQ4_1, kKvHeads * kHeadDim, kEmbd);
    matrix(at + "attn_v.weight", WeightType::kQ6_K, kKvHeads * kHeadDim, kEmbd);
    matrix(at + "attn_output.weight", WeightType::kQ8_0, kEmbd, kEmbd);
    norm(at + "ffn_norm.weight");
    matrix(at + "ffn_gate.weight", WeightType::kQ4_0, kFf, kEmbd);
    matrix(at + "ffn_up.weight", WeightType::kQ4_1, kFf, kEmbd);
    matrix(at + "ffn_down.weight", WeightType::kQ6_K, kEmbd, kFf);
  }
  GgufImage build() {
    writer_.set_string("general.architecture", "llama");
    writer_.set_u32("llama.context_length", 512);
    writer_.set_u32("llama.embedding_length", kEmbd);
    writer_.set_u32("llama.block_count", kRandomModelLayers);
    writer_.set_u32("llama.feed_forward_length", kFf);
    writer_.set_u32("llama.attention.head_count", kHeads);
    writer_.set_u32("llama.attention.head_count_kv", kKvHeads);
    writer_.set_u32("llama.rope.dimension_count", kHeadDim);
    writer_.set_u32("llama.vocab_size", kRandomModelVocab);
    writer_.set_f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    matrix("token_embd.weight", WeightType::kQ8_0, kRandomModelVocab, kEmbd);
    for (std::uint32_t i = 0; i < kRandomModelLayers; ++i) layer(i);
    norm("output_norm.weight");
    return writer_.build();
  }

 private:
  Rng rng_{20261201};
  GgufWriter writer_;
};

}  // namespace

const std::string& random_model_path() {
  static const std::string path = [] {
    std::string made = ::testing::TempDir() + "random_model_" + std::to_string(getpid()) + ".gguf";
    if (!Builder().build().save(made)) {
      std::fprintf(stderr, "cannot write %s\n", made.c_str());
      std::abort();
    }
    return made;
  }();
  return path;
}

}  // namespace larder::test
