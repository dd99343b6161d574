// SPDX-License-Identifier: Apache-2.0
// The executor with int8 products: its arithmetic, its twin, and weights that are packed while it runs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "kernels/reference/reference.h"
#include "runtime/base/rng.h"
#include "runtime/exec/packed_weights.h"
#include "tests/runtime/exec/step_runner.h"
#include "tests/support/random_model.h"

namespace larder::test {
namespace {

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return !a.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class Int8Products : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kernels::select_int8_kernels(kernels::IsaRequest::kAuto) == nullptr) {
      GTEST_SKIP() << "this processor has no int8 kernels";
    }
  }
  static exec::ExecutorOptions options(const char* arithmetic) {
    exec::ExecutorOptions options;
    options.block_count = 64;
    options.threads = 2;
    options.max_rows = 256;
    options.arithmetic = arithmetic;
    return options;
  }
  static std::vector<float> logits(StepRunner& runner) {
    Lane lane = runner.open_lane(64);
    Rng rng(5);
    std::vector<Token> tokens;
    while (tokens.size() < 50) tokens.push_back(static_cast<Token>(rng.below(kRandomModelVocab)));
    return runner.feed(lane, tokens, 256).logits;
  }
};

TEST_F(Int8Products, AreTheDefaultAndAnArithmeticOfTheirOwn) {
  const auto model = load_or_die(random_model_path());
  StepRunner chosen(model, options("auto"));
  StepRunner precise(model, options("precise"));
  EXPECT_NE(chosen.executor().info().arithmetic_id, precise.executor().info().arithmetic_id);
  EXPECT_NE(chosen.executor().info().arithmetic_id.find("/int8/"), std::string::npos);
  EXPECT_FALSE(same_bits(logits(chosen), logits(precise))) << "both computed the same way";
}

// Against the definition: the reference's int8 products inside the tier's own everything else.
TEST_F(Int8Products, AreNearTheirTwinAndFartherFromPrecise) {
  const auto model = load_or_die(random_model_path());
  StepRunner tier(model, options("int8"));
  StepRunner twin(model, options("int8"), *kernels::select_kernels(kernels::IsaRequest::kAuto),
                  &kernels::reference::kReferenceInt8);
  StepRunner precise(model, options("precise"));
  const std::vector<float> got = logits(tier);
  const auto distance = [&got](const std::vector<float>& other) {
    double difference = 0;
    double size = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      difference += std::pow(static_cast<double>(got[i]) - other[i], 2);
      size += std::pow(static_cast<double>(other[i]), 2);
    }
    return std::sqrt(difference / size);
  };
  const double from_precise = distance(logits(precise));
  // A sum that differs in its last bit may round another activation the other way, one step of 127 in a group.
  EXPECT_LT(distance(logits(twin)), from_precise / 2);
  EXPECT_LT(from_precise, 0.05);
}

// Steps before, while and after the weights are packed give the same bits; packed weights leave the file.
TEST_F(Int8Products, PackingChangesNoBit) {
  const auto model = load_or_die(random_model_path());
  const kernels::KernelSet& kernels = *kernels::select_kernels(kernels::IsaRequest::kAuto);
  kernels::Int8Kernels unpacked = *kernels::select_int8_kernels(kernels::IsaRequest::kAuto);
  unpacked.packed_bytes = [](const kernels::WeightView&) { return std::size_t{0}; };
  StepRunner in_file_order(model, options("int8"), kernels, &unpacked);
  const std::vector<float> expected = logits(in_file_order);
  StepRunner packing(model, options("int8"));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(same_bits(logits(packing), expected)) << i;
}

TEST_F(Int8Products, WeightsThatMayNotBePackedGiveTheSameBits) {
  const auto model = load_or_die(random_model_path());
  exec::ExecutorOptions unpacked = options("int8");
  unpacked.pack_weights = false;
  StepRunner in_file_order(model, unpacked);
  StepRunner packed(model, options("int8"));
  EXPECT_TRUE(same_bits(logits(in_file_order), logits(packed)));
}

TEST_F(Int8Products, EveryQuantisedMatrixIsPackedOnceAndFound) {
  const auto model = load_or_die(random_model_path());
  const kernels::Int8Kernels& kernels = *kernels::select_int8_kernels(kernels::IsaRequest::kAuto);
  const exec::PackedWeights packed(model, kernels);
  while (!packed.done()) std::this_thread::yield();
  const model::Weights& weights = model->weights();
  for (const model::LayerWeights& layer : weights.layers) {
    for (const kernels::WeightView* w : {&layer.attn_q, &layer.attn_k, &layer.attn_v, &layer.attn_output,
                                         &layer.ffn_gate, &layer.ffn_up, &layer.ffn_down}) {
      const std::byte* const bytes = packed.find(*w);
      ASSERT_NE(bytes, nullptr);
      std::vector<std::byte> again(kernels.packed_bytes(*w));
      kernels.pack(*w, 0, (w->rows + kernels::kPanelWeightRows - 1) / kernels::kPanelWeightRows, again.data());
      EXPECT_EQ(std::memcmp(bytes, again.data(), again.size()), 0);
    }
  }
  EXPECT_NE(packed.find(weights.output), nullptr);
  EXPECT_EQ(packed.find({}), nullptr);
}

TEST_F(Int8Products, AModelThatGoesWhileItIsPackedEndsTheThread) {
  const auto model = load_or_die(random_model_path());
  for (int i = 0; i < 20; ++i) {
    const exec::PackedWeights packed(model, *kernels::select_int8_kernels(kernels::IsaRequest::kAuto));
  }
}

}  // namespace
}  // namespace larder::test
