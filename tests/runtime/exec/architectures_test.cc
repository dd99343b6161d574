// SPDX-License-Identifier: Apache-2.0
// Truth for each architecture: tiny random models and what transformers computes from them in float32
// (tests/data/golden/make_architectures.py). That a warm start equals a cold one is executor_test's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

#include "runtime/gguf/file.h"
#include "test_paths.h"
#include "tests/runtime/exec/golden.h"
#include "tests/support/gguf_writer.h"

namespace larder::test {
namespace {

const std::string kFolder = LARDER_TEST_DATA "/golden/architectures/";

// A change of the file that its architecture must feel.
struct Case {
  const char* name;
  std::function<void(GgufWriter&)> change;
};

exec::ExecutorOptions options_of(const char* isa) {
  exec::ExecutorOptions options;
  options.block_count = 64;
  options.kv_type = kernels::KvType::kF32;
  options.threads = 2;
  options.max_rows = 512;
  options.isa = isa;
  options.arithmetic = "precise";
  return options;
}

class Architectures : public ::testing::TestWithParam<Case> {
 protected:
  const std::string path_ = kFolder + GetParam().name + ".gguf";
  const std::vector<GoldenPrompt> prompts_ = read_smollm2_golden(kFolder + GetParam().name + ".jsonl");
  static constexpr GoldenBound kBound = {1e-3, 0.05f, 1e9};
};

TEST_P(Architectures, LogitsAreThoseOfTransformers) {
  for (const char* isa : {"portable", "auto"}) {
    StepRunner runner(load_or_die(path_), options_of(isa));
    const GoldenReport report = compare_with_golden(runner, prompts_, kBound);
    for (const std::string& fault : report.faults) ADD_FAILURE() << isa << ": " << fault;
    std::printf("%s %s: relative error at most %.2e, top-1 compared %u times\n", GetParam().name, isa,
                report.worst_relative_error, report.compared_top1);
  }
}

TEST_P(Architectures, AWrongConstantIsSeen) {
  auto file = gguf::File::open(path_);
  ASSERT_TRUE(file.ok());
  GgufWriter writer = GgufWriter::from(*file.value());
  GetParam().change(writer);
  const std::string changed = ::testing::TempDir() + "changed_" + GetParam().name + std::to_string(getpid()) + ".gguf";
  ASSERT_TRUE(writer.build().save(changed));
  {
    StepRunner runner(load_or_die(changed), options_of("auto"));
    EXPECT_FALSE(compare_with_golden(runner, prompts_, kBound).faults.empty());
  }
  std::remove(changed.c_str());
}

// Positions are cut where blocks and windows do not: every piece goes on from what the one before it cached.
TEST_P(Architectures, PiecesOfAPromptGiveTheSameLogits) {
  const auto model = load_or_die(path_);
  StepRunner whole(model, options_of("auto"));
  StepRunner pieces(model, options_of("auto"));
  for (const GoldenPrompt& prompt : prompts_) {
    const auto length = static_cast<std::uint32_t>(prompt.tokens.size());
    Lane one = whole.open_lane(length);
    Lane many = pieces.open_lane(length);
    EXPECT_EQ(whole.feed(one, prompt.tokens, 512).logits, pieces.feed(many, prompt.tokens, 23).logits) << prompt.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Architectures,
    ::testing::Values(Case{"llama", [](GgufWriter& w) { w.remove_tensor("rope_freqs.weight"); }},
                      Case{"smollm3", [](GgufWriter& w) { w.set_f32("smollm3.rope.freq_base", 9000); }},
                      Case{"qwen2", [](GgufWriter& w) { w.set_f32("qwen2.rope.freq_base", 9000); }},
                      Case{"qwen3", [](GgufWriter& w) { w.set_f32("qwen3.rope.freq_base", 9000); }},
                      Case{"phi3", [](GgufWriter& w) { w.set_u32("phi3.attention.sliding_window", 51); }},
                      Case{"gemma3", [](GgufWriter& w) { w.set_u32("gemma3.attention.sliding_window", 41); }}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace larder::test
