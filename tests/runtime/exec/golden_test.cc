// SPDX-License-Identifier: Apache-2.0
// Truth: our logits and greedy tokens against llama2.c (stories260K) and transformers in float32 (SmolLM2).
#include "tests/runtime/exec/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>

#include "test_paths.h"
#include "tests/support/starter_model.h"

namespace larder::test {
namespace {

constexpr const char* kTiny = LARDER_TEST_DATA "/models-tiny/";

// Under a sanitizer a row takes some fifteen times as long, and the same kernels run on short prompts.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kLongestPrompt = 30;
#else
constexpr std::size_t kLongestPrompt = std::numeric_limits<std::size_t>::max();
#endif

struct Tier {
  const char* isa;
  kernels::IsaRequest request;
};

std::vector<Tier> tiers() {
  std::vector<Tier> here;
  for (const Tier& tier : {Tier{"portable", kernels::IsaRequest::kPortable}, Tier{"avx2", kernels::IsaRequest::kAvx2},
                           Tier{"avx512", kernels::IsaRequest::kAvx512}}) {
    if (kernels::select_kernels(tier.request) != nullptr) here.push_back(tier);
  }
  return here;
}

exec::ExecutorOptions options_of(const Tier& tier, kernels::KvType kv_type) {
  exec::ExecutorOptions options;
  options.block_count = 64;
  options.kv_type = kv_type;
  options.threads = 2;
  options.max_rows = 256;
  options.isa = tier.isa;
  options.arithmetic = "precise";
  return options;
}

void expect_no_faults(const GoldenReport& report) {
  for (const std::string& fault : report.faults) ADD_FAILURE() << fault;
}

class Stories : public ::testing::TestWithParam<Tier> {
 protected:
  const std::vector<GoldenPrompt> prompts_ =
      read_stories_golden(std::string(kTiny) + "stories260K-greedy-reference.jsonl");

  void expect_truth(const char* file, kernels::KvType kv_type, double bound) {
    const auto model = load_or_die(std::string(kTiny) + file);
    StepRunner runner(model, options_of(GetParam(), kv_type));
    const GoldenReport report = compare_with_golden(runner, prompts_, {bound, 0, 1e9});
    expect_no_faults(report);
    RecordProperty("worst_relative_error", std::to_string(report.worst_relative_error));
    for (const GoldenPrompt& prompt : prompts_) expect_greedy(model, kv_type, prompt);
  }

  void expect_greedy(const std::shared_ptr<const model::Model>& model, kernels::KvType kv_type,
                     const GoldenPrompt& prompt) {
    StepRunner runner(model, options_of(GetParam(), kv_type));
    Lane lane = runner.open_lane(static_cast<std::uint32_t>(prompt.tokens.size() + prompt.greedy.size()));
    std::vector<Token> told;
    Token next = runner.feed(lane, prompt.tokens, 256).sampled.token;
    while (told.size() + 1 < prompt.greedy.size()) {
      told.push_back(next);
      next = runner.feed(lane, std::vector<Token>{next}, 1).sampled.token;
    }
    told.push_back(next);
    EXPECT_EQ(told, prompt.greedy) << prompt.name;
  }
};

TEST_P(Stories, F32WeightsAndF32KvAreWithinOneThousandth) {
  expect_truth("stories260K-f32.gguf", kernels::KvType::kF32, 1e-3);
}

TEST_P(Stories, F32WeightsAndF16KvTellTheSameStory) {
  expect_truth("stories260K-f32.gguf", kernels::KvType::kF16, 2e-2);
}

TEST_P(Stories, F16WeightsTellTheSameStory) { expect_truth("stories260K-f16.gguf", kernels::KvType::kF16, 2e-2); }

TEST_P(Stories, KeysRotatedOnePositionTooFarAreSeen) {
  const auto model = load_or_die(std::string(kTiny) + "stories260K-f32.gguf");
  const kernels::KernelSet faulty = with_keys_rotated_too_far(*kernels::select_kernels(GetParam().request),
                                                              model->config().n_kv_heads, model->config().rope_base);
  StepRunner runner(model, options_of(GetParam(), kernels::KvType::kF32), faulty);
  EXPECT_FALSE(compare_with_golden(runner, prompts_, {2e-2, 0, 1e9}).faults.empty());
}

INSTANTIATE_TEST_SUITE_P(Tiers, Stories, ::testing::ValuesIn(tiers()),
                         [](const auto& tier) { return std::string(tier.param.isa); });

class SmolLM2 : public ::testing::TestWithParam<Tier> {
 protected:
  void SetUp() override {
    if (!have_starter_model("the comparison of SmolLM2 with transformers")) GTEST_SKIP();
    model_ = load_or_die(starter_model_path());
    prompts_ = read_smollm2_golden(LARDER_TEST_DATA "/golden/smollm2.jsonl");
    std::erase_if(prompts_, [](const GoldenPrompt& prompt) { return prompt.tokens.size() > kLongestPrompt; });
    for (const GoldenPrompt& prompt : prompts_) rows_ += prompt.tokens.size();
  }

  void print(const char* what, const GoldenReport& report) const {
    std::printf("%s %s: relative error at most %.2e, log-probabilities within %.4f, top-1 compared %u times\n",
                GetParam().isa, what, report.worst_relative_error, report.worst_logprob_error, report.compared_top1);
  }

  std::shared_ptr<const model::Model> model_;
  std::vector<GoldenPrompt> prompts_;
  std::size_t rows_ = 0;
};

TEST_P(SmolLM2, WithF32KvLogitsAreWithinOneThousandthOfTransformers) {
  StepRunner runner(model_, options_of(GetParam(), kernels::KvType::kF32));
  const GoldenReport report = compare_with_golden(runner, prompts_, {1e-3, 0.05f, 0.005});
  print("f32 KV", report);
  expect_no_faults(report);
  EXPECT_GT(report.compared_top1, rows_ * 2 / 3) << "most rows have a clear first";
}

TEST_P(SmolLM2, WithF16KvTheLikeliestTokenIsTheSame) {
  StepRunner runner(model_, options_of(GetParam(), kernels::KvType::kF16));
  const GoldenReport report = compare_with_golden(runner, prompts_, {2e-2, 0.05f, 0.05});
  print("f16 KV", report);
  expect_no_faults(report);
}

TEST_P(SmolLM2, KeysRotatedOnePositionTooFarAreSeen) {
  const kernels::KernelSet faulty = with_keys_rotated_too_far(*kernels::select_kernels(GetParam().request),
                                                              model_->config().n_kv_heads, model_->config().rope_base);
  StepRunner runner(model_, options_of(GetParam(), kernels::KvType::kF32), faulty);
  EXPECT_FALSE(compare_with_golden(runner, std::span(prompts_).first(1), {2e-2, 0.05f, 1e9}).faults.empty());
}

TEST_P(SmolLM2, WithInt8ProductsTheLikeliestTokenIsTheSameWhereItIsClear) {
  if (kernels::select_int8_kernels(GetParam().request) == nullptr) GTEST_SKIP() << "this tier has no int8 kernels";
  exec::ExecutorOptions options = options_of(GetParam(), kernels::KvType::kF16);
  options.arithmetic = "int8";
  StepRunner runner(model_, options);
  GoldenReport report = compare_with_golden(runner, prompts_, {0.12, 0.30f, 1.0});
  print("int8", report);
  expect_no_faults(report);
  std::vector<double>& errors = report.first_logprob_errors;
  ASSERT_FALSE(errors.empty());
  std::sort(errors.begin(), errors.end());
  std::printf("the likeliest token's log-probability is off by %.4f in the median, %.4f at most\n",
              errors[errors.size() / 2], errors.back());
  EXPECT_LE(errors[errors.size() / 2], 0.044) << "llama.cpp's on this file (README.md)";
}

INSTANTIATE_TEST_SUITE_P(Tiers, SmolLM2, ::testing::ValuesIn(tiers()),
                         [](const auto& tier) { return std::string(tier.param.isa); });

}  // namespace
}  // namespace larder::test
