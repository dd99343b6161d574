// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "runtime/gguf/file.h"
#include "runtime/model/load.h"
#include "test_paths.h"
#include "tests/support/gguf_writer.h"

namespace larder::model {
namespace {

constexpr const char* kF32 = LARDER_TEST_DATA "/models-tiny/stories260K-f32.gguf";
constexpr const char* kF16 = LARDER_TEST_DATA "/models-tiny/stories260K-f16.gguf";

std::shared_ptr<const gguf::File> open_or_die(const char* path) {
  auto file = gguf::File::open(path);
  EXPECT_TRUE(file.ok());
  return std::move(file).value();
}

// The tiny model with a change. Keeps the image that the parsed file points into.
class Changed {
 public:
  explicit Changed(const char* path = kF32) : writer(test::GgufWriter::from(*open_or_die(path))) {}

  Result<std::shared_ptr<const Model>> load(const LoadOptions& options = {}) {
    auto file = parse();
    if (!file.ok()) return file.error();
    return Model::from_file(std::move(file).value(), options);
  }

  Result<ModelConfig> config() {
    auto file = parse();
    if (!file.ok()) return file.error();
    return load_config(*file.value());
  }

  void expect_refused(ErrorCode code, const std::string& words) {
    const auto model = load();
    ASSERT_FALSE(model.ok()) << words;
    EXPECT_EQ(model.error().code, code) << to_string(model.error());
    EXPECT_EQ(model.error().message.rfind("model refused: ", 0), 0u) << model.error().message;
    EXPECT_NE(model.error().message.find(words), std::string::npos) << model.error().message;
  }

  test::GgufWriter writer;

 private:
  Result<std::shared_ptr<const gguf::File>> parse() {
    image_ = writer.build();
    // parse wants an address divisible by 32.
    aligned_.resize(image_.bytes.size() / sizeof(Line) + 1);
    std::memcpy(aligned_.data(), image_.bytes.data(), image_.bytes.size());
    return gguf::File::parse(std::as_bytes(std::span(aligned_)).first(image_.bytes.size()));
  }

  struct alignas(64) Line {
    std::byte bytes[64];
  };
  test::GgufImage image_;
  std::vector<Line> aligned_;
};

TEST(Model, LoadsTheTinyStory) {
  std::vector<double> progress;
  LoadOptions options;
  options.progress = [&](double done) { progress.push_back(done); };
  const auto loaded = Model::load(kF32, options);
  ASSERT_TRUE(loaded.ok()) << to_string(loaded.error());
  const ModelConfig& config = loaded.value()->config();
  EXPECT_EQ(config.architecture, "llama");
  EXPECT_EQ(config.n_layers, 5u);
  EXPECT_EQ(config.n_embd, 64u);
  EXPECT_EQ(config.n_heads, 8u);
  EXPECT_EQ(config.n_kv_heads, 4u);
  EXPECT_EQ(config.d_head, 8u);
  EXPECT_EQ(config.n_ff, 172u);
  EXPECT_EQ(config.n_vocab, 512u);
  EXPECT_EQ(config.n_context, 512u);
  EXPECT_EQ(config.n_rot, 8u);
  EXPECT_FLOAT_EQ(config.rms_eps, 1e-5f);
  EXPECT_EQ(loaded.value()->quantisation(), "F32");
  EXPECT_EQ(loaded.value()->path(), kF32);
  EXPECT_EQ(loaded.value()->file_bytes(), 1'185'568u);
  ASSERT_FALSE(progress.empty());
  EXPECT_DOUBLE_EQ(progress.back(), 1.0);
}

TEST(Model, CountsTheBytesOfItsTensorsOnce) {
  const auto loaded = Model::load(kF16, {});
  ASSERT_TRUE(loaded.ok());
  std::uint64_t bytes = 0;
  for (const gguf::TensorInfo& tensor : loaded.value()->file().tensors()) bytes += tensor.bytes;
  EXPECT_EQ(loaded.value()->weight_bytes(), bytes);
  EXPECT_EQ(loaded.value()->quantisation(), "F16");
}

TEST(Model, TakesTheEmbeddingAsHeadWhereTheFileHasNone) {
  Changed changed;
  changed.writer.remove_tensor("output.weight");
  const auto loaded = changed.load();
  ASSERT_TRUE(loaded.ok()) << to_string(loaded.error());
  EXPECT_EQ(loaded.value()->weights().output.data, loaded.value()->weights().token_embd.data);
}

TEST(Model, TakesAPerLayerArrayWhoseValuesAreEqual) {
  Changed changed;
  const std::vector<std::uint32_t> heads(5, 4);
  changed.writer.set_u32_array("llama.attention.head_count_kv", heads);
  EXPECT_TRUE(changed.load().ok());
  const std::vector<std::uint32_t> different = {4, 4, 2, 4, 4};
  changed.writer.set_u32_array("llama.attention.head_count_kv", different);
  changed.expect_refused(ErrorCode::kUnsupported, "llama.attention.head_count_kv differs between layers");
}

TEST(Model, ReadsLinearRopeScalingAndDivisors) {
  Changed changed;
  changed.writer.set_string("llama.rope.scaling.type", "linear");
  changed.writer.set_f32("llama.rope.scaling.factor", 4.0f);
  const std::vector<float> divisors = {1, 1, 2, 8};
  changed.writer.add_f32("rope_freqs.weight", {4}, divisors);
  const auto loaded = changed.load();
  ASSERT_TRUE(loaded.ok()) << to_string(loaded.error());
  EXPECT_FLOAT_EQ(loaded.value()->config().rope_scale, 0.25f);
  EXPECT_EQ(loaded.value()->weights().rope_divisors, divisors);
}

TEST(Model, RefusesOtherArchitecturesAndFeatures) {
  const auto refuses = [](auto change, const std::string& words) {
    Changed changed;
    change(changed.writer);
    changed.expect_refused(ErrorCode::kUnsupported, words);
  };
  refuses([](auto& w) { w.set_string("general.architecture", "mamba"); }, "\"mamba\"; supported are llama, ");
  refuses([](auto& w) { w.set_u32("llama.expert_count", 8); }, "8 experts");
  refuses([](auto& w) { w.set_string("llama.rope.scaling.type", "yarn"); }, "RoPE scaling \"yarn\"");
  refuses([](auto& w) { w.set_u32("llama.attention.sliding_window", 128); }, "sliding-window");
  refuses([](auto& w) { w.set_u32("llama.attention.value_length", 16); }, "value_length 16 differs from key_length 8");
  refuses([](auto& w) { w.set_u16("split.count", 3); }, "part 1 of 3");
  refuses([](auto& w) { w.set_f32("llama.final_logit_softcapping", 30.0f); }, "final_logit_softcapping");
  refuses([](auto& w) { w.set_string("llama.rope.scaling.type", "longrope"); }, "RoPE scaling \"longrope\"");
  refuses([](auto& w) { w.add_f32("blk.0.attn_q.bias", {64}, std::vector<float>(64)); }, "blk.0.attn_q.bias");
}

TEST(Model, NamesTheKeyItsValueAndTheRange) {
  const auto refuses = [](auto change, const std::string& words) {
    Changed changed;
    change(changed.writer);
    changed.expect_refused(ErrorCode::kCorrupt, words);
  };
  refuses([](auto& w) { w.remove("llama.block_count"); }, "llama.block_count is missing");
  refuses([](auto& w) { w.set_u32("llama.block_count", 0); }, "llama.block_count is 0, expected 1 to 1024");
  refuses([](auto& w) { w.set_u32("llama.block_count", 6); }, "blk.5.attn_norm.weight is missing");
  refuses([](auto& w) { w.set_u32("llama.attention.head_count", 7); }, "no multiple of head_count_kv 4");
  refuses([](auto& w) { w.set_u32("llama.attention.head_count", 12); }, "no multiple of head_count 12");
  refuses([](auto& w) { w.set_u32("llama.context_length", 0xffffffffu); }, "llama.context_length is 4294967295");
  refuses([](auto& w) { w.set_string("llama.embedding_length", "64"); }, "llama.embedding_length");
  refuses([](auto& w) { w.set_f32("llama.attention.layer_norm_rms_epsilon", 0.0f); }, "layer_norm_rms_epsilon is 0.0");
  refuses([](auto& w) { w.set_u32("llama.rope.dimension_count", 3); }, "expected an even number");
  refuses([](auto& w) { w.set_u32("llama.rope.dimension_count", 10); }, "rope.dimension_count is 10");
  refuses([](auto& w) { w.set_u32("llama.vocab_size", 511); }, "vocab_size is 511");
}

std::string architecture_path(const char* name) {
  return std::string(LARDER_TEST_DATA "/golden/architectures/") + name + ".gguf";
}

std::shared_ptr<const Model> load_architecture(const char* name) {
  auto loaded = Model::load(architecture_path(name), {});
  EXPECT_TRUE(loaded.ok()) << to_string(loaded.error());
  return std::move(loaded).value();
}

TEST(Model, LayersOfGemmaAreLocalButEverySixth) {
  const auto model = load_architecture("gemma3");
  const ModelConfig& config = model->config();
  EXPECT_EQ(config.window, 40u);
  for (std::uint32_t i = 0; i < config.n_layers; ++i) EXPECT_EQ(config.is_local(i), i != 5) << "layer " << i;
  EXPECT_FLOAT_EQ(config.rope_base, 1e6f);
  EXPECT_FLOAT_EQ(config.rope_scale, 0.125f);
  EXPECT_FLOAT_EQ(config.local_rope_base, 1e4f);
  EXPECT_FLOAT_EQ(config.local_rope_scale, 1.0f);
  EXPECT_FLOAT_EQ(config.embedding_scale, std::sqrt(32.0f));
  EXPECT_FLOAT_EQ(config.attention_scale, 0.25f);
  EXPECT_EQ(model->weights().layers[6].attn_q_norm.size(), 16u);
  EXPECT_EQ(model->weights().layers[6].ffn_post_norm.size(), 32u);
}

TEST(Model, AttentionIsScaledAsTheFileSaysAndInTheLargestGemmaByItsWidth) {
  Changed changed(architecture_path("gemma3").c_str());
  changed.writer.set_u32("gemma3.block_count", 62);
  const auto largest = changed.config();
  ASSERT_TRUE(largest.ok()) << to_string(largest.error());
  EXPECT_FLOAT_EQ(largest->attention_scale, 1 / std::sqrt(32.0f / 4));
  changed.writer.set_f32("gemma3.attention.scale", 0.5f);
  const auto told = changed.config();
  ASSERT_TRUE(told.ok()) << to_string(told.error());
  EXPECT_FLOAT_EQ(told->attention_scale, 0.5f);
}

TEST(Model, FusedMatricesAreSeenAsTheirRows) {
  const auto model = load_architecture("phi3");
  const LayerWeights& layer = model->weights().layers[1];
  EXPECT_EQ(layer.attn_q.rows, 64u);
  EXPECT_EQ(layer.attn_k.rows, 32u);
  EXPECT_EQ(layer.attn_v.rows, 32u);
  EXPECT_EQ(layer.attn_k.data, layer.attn_q.data + 64 * layer.attn_q.row_bytes());
  EXPECT_EQ(layer.attn_v.data, layer.attn_k.data + 32 * layer.attn_k.row_bytes());
  EXPECT_EQ(layer.ffn_gate.rows, 64u);
  EXPECT_EQ(layer.ffn_up.data, layer.ffn_gate.data + 64 * layer.ffn_gate.row_bytes());
  EXPECT_EQ(model->config().window, 50u);
  EXPECT_TRUE(model->config().is_local(3));
}

TEST(Model, TheLongDivisorsAreTakenWhereTheContextGoesPastTheOriginalOne) {
  EXPECT_EQ(load_architecture("phi3")->weights().rope_divisors.back(), 11.0f);
  Changed changed(architecture_path("phi3").c_str());
  changed.writer.set_u32("phi3.rope.scaling.original_context_length", 512);
  changed.writer.set_string("phi3.rope.scaling.type", "longrope");
  const auto loaded = changed.load();
  ASSERT_TRUE(loaded.ok()) << to_string(loaded.error());
  EXPECT_EQ(loaded.value()->weights().rope_divisors.back(), 1.4f);
}

TEST(Model, EveryFourthLayerOfSmolLM3HasNoRope) {
  const auto model = load_architecture("smollm3");
  EXPECT_TRUE(model->config().has_rope(0));
  EXPECT_TRUE(model->config().has_rope(2));
  EXPECT_FALSE(model->config().has_rope(3));
  EXPECT_TRUE(load_architecture("qwen2")->config().has_rope(3));
}

TEST(Model, RefusesFilesThatLackWhatTheirArchitectureHas) {
  const auto refuses = [](const char* name, ErrorCode code, auto change, const std::string& words) {
    Changed changed(architecture_path(name).c_str());
    change(changed.writer);
    changed.expect_refused(code, words);
  };
  const ErrorCode damaged = ErrorCode::kCorrupt;
  refuses("gemma3", damaged, [](auto& w) { w.remove("gemma3.attention.sliding_window"); }, "sliding_window is missing");
  refuses("gemma3", damaged, [](auto& w) { w.set_u32("gemma3.attention.sliding_window", 0); },
          "sliding_window is 0, expected 1 to");
  refuses("gemma3", damaged, [](auto& w) { w.remove_tensor("blk.2.post_ffw_norm.weight"); },
          "blk.2.post_ffw_norm.weight is missing");
  refuses("gemma3", damaged, [](auto& w) { w.set_f32("gemma3.rope.freq_base_swa", -1.0f); }, "freq_base_swa is -1");
  refuses("gemma3", damaged, [](auto& w) { w.set_f32("gemma3.attention.scale", 0.0f); }, "attention.scale is 0");
  refuses("qwen2", damaged, [](auto& w) { w.remove_tensor("blk.3.attn_k.bias"); }, "blk.3.attn_k.bias is missing");
  refuses("qwen2", ErrorCode::kUnsupported, [](auto& w) { w.set_u32("qwen2.attention.sliding_window", 64); },
          "sliding-window attention of 64 tokens in a qwen2 model");
  refuses("qwen2", ErrorCode::kUnsupported,
          [](auto& w) { w.add_f32("blk.0.attn_q_norm.weight", {16}, std::vector<float>(16, 1.0f)); },
          "blk.0.attn_q_norm.weight is none that a qwen2 model is known to have");
  refuses("qwen3", damaged,
          [](auto& w) {
            w.remove_tensor("blk.0.attn_q_norm.weight");
            w.add_f32("blk.0.attn_q_norm.weight", {64}, std::vector<float>(64, 1.0f));
          },
          "blk.0.attn_q_norm.weight is [64], expected [16]");
  refuses("phi3", damaged, [](auto& w) { w.set_u32("phi3.attention.head_count_kv", 4); },
          "blk.0.attn_qkv.weight is [128, 64], expected [192, 64]");
  refuses("phi3", damaged, [](auto& w) { w.remove_tensor("rope_factors_short.weight"); },
          "rope_factors_short.weight is missing");
  refuses("phi3", damaged,
          [](auto& w) {
            w.remove_tensor("rope_factors_long.weight");
            w.add_f32("rope_factors_long.weight", {6}, std::vector<float>(6, 0.0f));
          },
          "rope_factors_long.weight holds 0");
  refuses("phi3", damaged, [](auto& w) { w.set_f32("phi3.rope.scaling.attn_factor", -2.0f); }, "attn_factor is -2");
}

TEST(Model, NamesTheTensorItsShapeAndTheShapeExpected) {
  Changed changed;
  changed.writer.remove_tensor("blk.3.attn_k.weight");
  changed.writer.add_f32("blk.3.attn_k.weight", {64, 64}, std::vector<float>(64 * 64));
  changed.expect_refused(ErrorCode::kCorrupt,
                         "tensor blk.3.attn_k.weight is [64, 64], expected [32, 64]; the file is damaged or of another "
                         "architecture");
  changed.writer.remove_tensor("blk.3.attn_k.weight");
  changed.expect_refused(ErrorCode::kCorrupt, "tensor blk.3.attn_k.weight is missing");
}

TEST(Model, RefusesTypesWithoutKernelsAndNormsThatAreNoNumbers) {
  Changed changed;
  changed.writer.remove_tensor("blk.0.attn_q.weight");
  changed.writer.add_tensor("blk.0.attn_q.weight", 28, {64, 64}, std::vector<std::byte>(64 * 64 * 8));  // F64
  changed.expect_refused(ErrorCode::kUnsupported, "tensor blk.0.attn_q.weight has type");

  Changed norm;
  std::vector<float> values(64, 1.0f);
  values[9] = std::nanf("");
  norm.writer.remove_tensor("output_norm.weight");
  norm.writer.add_f32("output_norm.weight", {64}, values);
  norm.expect_refused(ErrorCode::kCorrupt, "output_norm.weight holds a value that is not a number");
}

TEST(Model, StopsLoadingWhenCancelled) {
  const std::atomic<bool> cancel{true};
  LoadOptions options;
  options.cancel = &cancel;
  const auto loaded = Model::load(kF32, options);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kCancelled);
}

TEST(Model, NamesAMissingFile) {
  const auto loaded = Model::load("/nowhere/model.gguf", {});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().context, "/nowhere/model.gguf");
}

}  // namespace
}  // namespace larder::model
