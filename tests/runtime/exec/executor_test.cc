// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <future>
#include <thread>

#include "kernels/cpu/int8_set.h"
#include "kernels/layout/checksum.h"
#include "runtime/base/rng.h"
#include "runtime/exec/cpu_executor.h"
#include "test_paths.h"
#include "tests/runtime/exec/step_runner.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/random_model.h"

namespace larder::test {
namespace {

constexpr const char* kF32 = LARDER_TEST_DATA "/models-tiny/stories260K-f32.gguf";
constexpr const char* kF16 = LARDER_TEST_DATA "/models-tiny/stories260K-f16.gguf";

std::vector<Token> random_tokens(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Token> tokens;
  while (tokens.size() < count) tokens.push_back(static_cast<Token>(rng.below(512)));
  return tokens;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return !a.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Variant {
  const char* isa;
  const char* path;  // null: the quantised model
  kernels::KvType kv_type;
  const char* arithmetic = "precise";
  const char* architecture = nullptr;  // null: llama
};

// Tiny models of the other architectures (tests/data/golden/make_architectures.py), in the fastest tier. phi3 also with
// int8 products: its matrices are parts of quantised ones.
void add_architectures(std::vector<Variant>& all) {
  static const std::string folder = LARDER_TEST_DATA "/golden/architectures/";
  static const std::string paths[] = {folder + "smollm3.gguf", folder + "qwen2.gguf", folder + "qwen3.gguf",
                                      folder + "gemma3.gguf", folder + "phi3.gguf"};
  static const char* const names[] = {"smollm3", "qwen2", "qwen3", "gemma3", "phi3"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    all.push_back({"auto", paths[i].c_str(), kernels::KvType::kF16, "precise", names[i]});
  }
  if (kernels::select_int8_kernels(kernels::IsaRequest::kAuto) == nullptr) return;
  all.push_back({"auto", paths[4].c_str(), kernels::KvType::kF16, "int8", names[4]});
}

// Every tier this processor has with float and quantised weights, two KV types, and int8 products where it has them.
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const char* isa : {"portable", "avx2", "avx512"}) {
    const auto request = std::strcmp(isa, "portable") == 0 ? kernels::IsaRequest::kPortable
                         : std::strcmp(isa, "avx2") == 0   ? kernels::IsaRequest::kAvx2
                                                           : kernels::IsaRequest::kAvx512;
    if (kernels::select_kernels(request) == nullptr) continue;
    all.push_back({isa, kF32, kernels::KvType::kF32});
    all.push_back({isa, kF16, kernels::KvType::kF16});
    all.push_back({isa, nullptr, kernels::KvType::kF16});
    if (kernels::select_int8_kernels(request) != nullptr) all.push_back({isa, nullptr, kernels::KvType::kF16, "int8"});
  }
  add_architectures(all);
  return all;
}

exec::ExecutorOptions options_of(const Variant& variant, std::uint32_t threads = 2) {
  exec::ExecutorOptions options;
  options.block_count = 64;
  options.kv_type = variant.kv_type;
  options.threads = threads;
  options.max_rows = 256;
  options.isa = variant.isa;
  options.arithmetic = variant.arithmetic;
  return options;
}

class ExecutorBits : public ::testing::TestWithParam<Variant> {
 protected:
  const char* const path_ = GetParam().path != nullptr ? GetParam().path : random_model_path().c_str();
  const std::shared_ptr<const model::Model> model_ = load_or_die(path_);
  StepRunner runner_{model_, options_of(GetParam())};
  // 149 tokens: five blocks, none of the sizes below divides it.
  const std::vector<Token> prompt_ = random_tokens(149, 7);

  std::vector<float> whole(StepRunner& runner) {
    Lane lane = runner.open_lane(160);
    return runner.feed(lane, prompt_, 256).logits;
  }
};

TEST_P(ExecutorBits, DecodeEqualsPrefill) {
  const std::vector<float> expected = whole(runner_);
  Lane lane = runner_.open_lane(160);
  EXPECT_TRUE(same_bits(runner_.feed(lane, prompt_, 1).logits, expected));
}

TEST_P(ExecutorBits, OddChunksEqualTheWhole) {
  const std::vector<float> expected = whole(runner_);
  for (const std::uint32_t chunk : {2u, 7u, 31u, 33u, 100u}) {
    StepRunner runner(model_, options_of(GetParam()));
    Lane lane = runner.open_lane(160);
    EXPECT_TRUE(same_bits(runner.feed(lane, prompt_, chunk).logits, expected)) << "chunks of " << chunk;
  }
}

TEST_P(ExecutorBits, AloneEqualsBatched) {
  std::vector<std::vector<Token>> prompts = {random_tokens(1, 1), random_tokens(45, 2), random_tokens(64, 3),
                                             random_tokens(17, 4)};
  std::vector<Lane> lanes;
  std::vector<exec::SequenceRows> sequences;
  for (const std::vector<Token>& prompt : prompts) {
    lanes.push_back(runner_.open_lane(64));
    sequences.push_back(runner_.rows(lanes.back(), prompt));
  }
  const exec::StepResult together = runner_.run(runner_.step(sequences));
  ASSERT_TRUE(together.status.ok());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Lane lane = runner_.open_lane(64);
    const exec::SequenceOutput alone = runner_.feed(lane, prompts[i], 256);
    EXPECT_TRUE(same_bits(alone.logits, together.outputs[i].logits)) << "sequence " << i;
    EXPECT_EQ(alone.sampled.token, together.outputs[i].sampled.token);
  }
}

TEST_P(ExecutorBits, LayerRangesEqualTheWholeWithADecodeStepBetween) {
  const std::vector<float> expected = whole(runner_);
  const std::vector<Token> other_prompt = random_tokens(20, 9);
  Lane alone = runner_.open_lane(32);
  const std::vector<float> other_expected = runner_.feed(alone, other_prompt, 256).logits;

  Lane lane = runner_.open_lane(160);
  Lane other = runner_.open_lane(32);
  const exec::SequenceRows rows = runner_.rows(lane, prompt_);
  std::vector<float> got;
  for (const auto& [begin, end] : {std::pair{0u, 2u}, {2u, 2u}, {2u, 3u}, {3u, runner_.n_layers()}}) {
    exec::Step part = runner_.step({rows});
    part.layer_begin = begin;
    part.layer_end = end;
    exec::StepResult result = runner_.run(std::move(part));
    ASSERT_TRUE(result.status.ok());
    if (end == runner_.n_layers()) got = result.outputs.at(0).logits;
    if (end == 2 && begin == 0) {
      exec::Step between = runner_.step({runner_.rows(other, other_prompt)});
      between.hidden_slot = 1;
      EXPECT_TRUE(same_bits(runner_.run(std::move(between)).outputs.at(0).logits, other_expected));
    }
  }
  EXPECT_TRUE(same_bits(got, expected));
}

TEST_P(ExecutorBits, ThreadsChangeNoBit) {
  const std::vector<float> expected = whole(runner_);
  for (const std::uint32_t threads : {1u, 3u}) {
    StepRunner runner(model_, options_of(GetParam(), threads));
    EXPECT_TRUE(same_bits(whole(runner), expected)) << threads << " threads";
  }
}

TEST_P(ExecutorBits, ACopiedTailEqualsCold) {
  Lane donor = runner_.open_lane(160);
  runner_.feed(donor, prompt_, 256);
  // Shares 77 tokens: two whole blocks and 13 tokens of the third, which is copied; then another ending.
  std::vector<Token> prompt(prompt_.begin(), prompt_.begin() + 77);
  const std::vector<Token> ending = random_tokens(30, 11);
  prompt.insert(prompt.end(), ending.begin(), ending.end());
  Lane cold = runner_.open_lane(128);
  const std::vector<float> expected = runner_.feed(cold, prompt, 256).logits;

  Lane warm = runner_.open_lane(128);
  warm.table[0] = donor.table[0];
  warm.table[1] = donor.table[1];
  warm.position = 77;
  exec::Step step = runner_.step({runner_.rows(warm, ending)});
  // Dirt in the fresh block must not survive its preparation.
  step.copies = {
      {donor.table[3], warm.table[3], 32}, {donor.table[2], warm.table[2], 13}, {kNoBlock, warm.table[3], 0}};
  const exec::StepResult result = runner_.run(std::move(step));
  ASSERT_TRUE(result.status.ok());
  EXPECT_TRUE(same_bits(result.outputs.at(0).logits, expected));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(runner_.block_bytes(warm.table[i]), runner_.block_bytes(cold.table[i])) << "block " << i;
  }
}

TEST_P(ExecutorBits, SealsAreChecksumsOfTheBytes) {
  Lane lane = runner_.open_lane(160);
  exec::Step step = runner_.step({runner_.rows(lane, prompt_)});
  step.seals = {lane.table[0], lane.table[3], lane.table[4]};
  const exec::StepResult result = runner_.run(std::move(step));
  ASSERT_EQ(result.seal_checksums.size(), 3u);
  EXPECT_EQ(result.seal_checksums[0],
            kernels::block_checksum(runner_.executor().layout(), runner_.block_bytes(lane.table[0]).data()));
  EXPECT_EQ(result.seal_checksums[2],
            kernels::block_checksum(runner_.executor().layout(), runner_.block_bytes(lane.table[4]).data()));
  EXPECT_NE(result.seal_checksums[0], result.seal_checksums[1]);
}

TEST_P(ExecutorBits, ScoredRowsAreLogSoftmaxOfTheirLogits) {
  const std::vector<Token> prompt(prompt_.begin(), prompt_.begin() + 100);
  Lane lane = runner_.open_lane(128);
  exec::SequenceRows rows = runner_.rows(lane, prompt);
  rows.output = exec::OutputKind::kLogProbs;
  rows.sampling.forced_next.assign(prompt.begin() + 1, prompt.end());
  const exec::StepResult result = runner_.run(runner_.step({rows}));
  ASSERT_TRUE(result.status.ok());
  ASSERT_EQ(result.outputs.at(0).scored.size(), 99u);
  Lane again = runner_.open_lane(128);
  for (const std::size_t at : {0u, 40u, 98u}) {
    again.position = 0;
    const std::vector<float> logits = runner_.feed(again, std::span(prompt).first(at + 1), 256).logits;
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    const Token next = prompt[at + 1];
    EXPECT_EQ(result.outputs[0].scored[at].token, next);
    EXPECT_NEAR(result.outputs[0].scored[at].logprob, logits[static_cast<std::size_t>(next)] - std::log(sum), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiers, ExecutorBits, ::testing::ValuesIn(variants()), [](const auto& variant) {
  const Variant& v = variant.param;
  const char* weights = v.path == nullptr ? "quantised" : v.kv_type == kernels::KvType::kF32 ? "f32" : "f16";
  return std::string(v.isa) + "_" + (v.architecture == nullptr ? weights : v.architecture) + "_" + v.arithmetic;
});

// Holds the executor inside the completion of its first step until the test lets it go.
class HeldExecutor {
 public:
  explicit HeldExecutor(std::shared_ptr<const model::Model> model) {
    exec::ExecutorOptions options;
    options.block_count = 8;
    options.threads = 2;
    options.max_rows = 64;
    auto made = exec::make_cpu_executor(std::move(model), options, [this](exec::StepResult result) {
      MutexLock lock(mutex_);
      results_.push_back(std::move(result));
      changed_.notify_all();
      while (held_) changed_.wait(mutex_);
    });
    executor = std::move(made).value();
  }
  void wait_for(std::size_t results) {
    MutexLock lock(mutex_);
    while (results_.size() < results) changed_.wait(mutex_);
  }
  void let_go() {
    MutexLock lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  const exec::StepResult& result(std::size_t i) {
    MutexLock lock(mutex_);
    return results_.at(i);
  }
  std::unique_ptr<exec::Executor> executor;

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<exec::StepResult> results_ GUARDED_BY(mutex_);
  bool held_ GUARDED_BY(mutex_) = true;
};

exec::Step small_step(std::uint64_t id) {
  exec::Step step;
  step.id = id;
  exec::SequenceRows rows;
  rows.block_table = {BlockId{0}};
  rows.tokens = {1, 2, 3};
  step.sequences = {rows};
  step.layer_end = 5;
  return step;
}

TEST(CpuExecutor, AnAbortedStepIsCancelledAndTheNextRuns) {
  HeldExecutor held(load_or_die(kF32));
  for (const std::uint64_t id : {1u, 2u, 3u}) held.executor->submit(small_step(id));
  held.wait_for(1);
  held.executor->abort(2);
  held.executor->abort(99);
  held.let_go();
  held.wait_for(3);
  EXPECT_TRUE(held.result(0).status.ok());
  ASSERT_FALSE(held.result(1).status.ok());
  EXPECT_EQ(held.result(1).status.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(held.result(1).id, 2u);
  EXPECT_TRUE(held.result(2).status.ok());
}

// Every step that runs is followed by another one, so that some are pending whenever the closing is seen.
TEST(CpuExecutor, PendingStepsOfAClosingExecutorCompleteAsCancelled) {
  exec::ExecutorOptions options;
  options.block_count = 8;
  options.threads = 2;
  options.max_rows = 64;
  exec::Executor* running = nullptr;
  std::vector<exec::StepResult> results;  // the executor's own thread writes, which is gone when they are read
  std::promise<void> submitted;
  std::promise<void> begun;
  std::unique_ptr<exec::Executor> executor =
      exec::make_cpu_executor(load_or_die(kF32), options, [&](exec::StepResult result) {
        if (results.empty()) submitted.get_future().wait();
        if (result.status.ok()) running->submit(small_step(result.id + 3));
        results.push_back(std::move(result));
        if (results.size() == 1) begun.set_value();
      }).value();
  running = executor.get();
  for (const std::uint64_t id : {1u, 2u, 3u}) running->submit(small_step(id));
  submitted.set_value();
  begun.get_future().wait();
  executor.reset();
  const auto first = std::find_if(results.begin(), results.end(), [](const auto& each) { return !each.status.ok(); });
  EXPECT_GE(results.end() - first, 2);
  for (auto each = first; each != results.end(); ++each) {
    ASSERT_FALSE(each->status.ok()) << "step " << each->id << " ran after one that did not";
    EXPECT_EQ(each->status.error().code, ErrorCode::kCancelled);
  }
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].id, i + 1);
}

// An attention kernel that waits, once, until the test has aborted the step it runs in. Kernels are plain functions, so
// its state lies here.
struct WaitingAttention {
  void (*real)(const kernels::AttentionArgs&) = nullptr;
  std::atomic<bool> entered{false};
  std::atomic<bool> go_on{false};
  std::atomic<std::uint32_t> last_layer{0};
};
WaitingAttention waiting;

void wait_then_attend(const kernels::AttentionArgs& args) {
  waiting.entered.store(true);
  while (!waiting.go_on.load()) std::this_thread::yield();
  waiting.last_layer.store(args.layer);
  waiting.real(args);
}

TEST(CpuExecutor, AnAbortIsSeenAtTheNextLayer) {
  kernels::KernelSet kernels = *kernels::select_kernels(kernels::IsaRequest::kAuto);
  waiting.real = kernels.attention;
  kernels.attention = wait_then_attend;
  waiting.entered.store(false);
  waiting.go_on.store(false);
  StepRunner runner(load_or_die(kF32), options_of({"auto", kF32, kernels::KvType::kF16}), kernels);
  Lane lane = runner.open_lane(32);
  exec::Step step = runner.step({runner.rows(lane, random_tokens(20, 1))});
  const std::uint64_t id = step.id;
  std::thread aborting([&] {
    while (!waiting.entered.load()) std::this_thread::yield();
    runner.executor().abort(id);
    waiting.go_on.store(true);
  });
  const exec::StepResult result = runner.run(std::move(step));
  aborting.join();
  ASSERT_FALSE(result.status.ok());
  EXPECT_EQ(result.status.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(waiting.last_layer.load(), 0u);
  EXPECT_TRUE(result.outputs.empty());
}

TEST(CpuExecutor, LogitsThatAreNoNumbersFailTheStep) {
  auto file = gguf::File::open(kF32);
  ASSERT_TRUE(file.ok());
  GgufWriter writer = GgufWriter::from(*file.value());
  std::vector<float> head(512 * 64, 0.5f);
  head[300 * 64 + 7] = std::nanf("");
  writer.remove_tensor("output.weight");
  writer.add_f32("output.weight", {64, 512}, head);
  const std::string path = ::testing::TempDir() + "/larder_nan_head.gguf";
  ASSERT_TRUE(writer.build().save(path));
  StepRunner runner(load_or_die(path), options_of({"auto", kF32, kernels::KvType::kF16}));
  Lane lane = runner.open_lane(32);
  const exec::StepResult result = runner.run(runner.step({runner.rows(lane, std::vector<Token>{1, 2, 3})}));
  ASSERT_FALSE(result.status.ok());
  EXPECT_EQ(result.status.error().code, ErrorCode::kCorrupt);
  std::remove(path.c_str());
}

TEST(CpuExecutor, CopiesKeepTheirValidTokensAndZeroTheRest) {
  StepRunner runner(load_or_die(kF32), options_of({"auto", kF32, kernels::KvType::kF16}));
  const std::vector<Token> prompt = random_tokens(32, 5);
  Lane donor = runner.open_lane(32);
  runner.feed(donor, prompt, 32);
  // What lay in the blocks before must not show.
  Lane copies = runner.open_lane(5 * 32);
  runner.feed(copies, random_tokens(5 * 32, 6), 32);
  exec::Step step = runner.step({});
  step.copies.push_back({kNoBlock, copies.table[4], 0});
  for (std::uint32_t i = 0; i < 4; ++i) step.copies.push_back({donor.table[0], copies.table[i], 8 * i + 1});
  ASSERT_TRUE(runner.run(std::move(step)).status.ok());
  for (std::uint32_t i = 0; i < 4; ++i) {
    Lane cold = runner.open_lane(32);
    runner.feed(cold, std::span(prompt).first(8 * i + 1), 32);
    EXPECT_EQ(runner.block_bytes(copies.table[i]), runner.block_bytes(cold.table[0])) << 8 * i + 1 << " tokens";
  }
  const std::vector<std::byte> fresh = runner.block_bytes(copies.table[4]);
  EXPECT_EQ(fresh, std::vector<std::byte>(fresh.size()));
}

TEST(CpuExecutor, GivesLogitsWithoutSamplingAndNothingUnasked) {
  StepRunner runner(load_or_die(kF32), options_of({"auto", kF32, kernels::KvType::kF16}));
  Lane lane = runner.open_lane(32);
  exec::SequenceRows rows = runner.rows(lane, std::vector<Token>{1, 2, 3});
  rows.output = exec::OutputKind::kNone;
  rows.sampling.params = nullptr;
  lane.position = 0;
  exec::SequenceRows silent = runner.rows(lane, std::vector<Token>{1, 2, 3});
  silent.output = exec::OutputKind::kNone;
  silent.want_logits = false;
  const exec::StepResult asked = runner.run(runner.step({rows}));
  ASSERT_TRUE(asked.status.ok());
  EXPECT_EQ(asked.outputs.at(0).logits.size(), 512u);
  EXPECT_EQ(asked.outputs.at(0).sampled.token, -1);
  const exec::StepResult unasked = runner.run(runner.step({silent}));
  EXPECT_TRUE(unasked.outputs.at(0).logits.empty());
}

TEST(CpuExecutor, RefusesOptionsItCannotServe) {
  const auto model = load_or_die(kF32);
  const auto code = [&](exec::ExecutorOptions options) {
    return exec::make_cpu_executor(model, options, [](exec::StepResult) {}).error().code;
  };
  exec::ExecutorOptions options;
  options.block_count = 1;
  options.isa = "sse9";
  EXPECT_EQ(code(options), ErrorCode::kInvalidArgument);
  options.isa = "auto";
  options.arithmetic = "int7";
  EXPECT_EQ(code(options), ErrorCode::kInvalidArgument);
  options.arithmetic = "int8";
  options.isa = "portable";
  EXPECT_EQ(code(options), ErrorCode::kUnsupported);
  options.isa = "auto";
  options.arithmetic = "auto";
  options.kv_type = kernels::KvType::kI8;
  EXPECT_EQ(code(options), ErrorCode::kUnsupported);
  options.kv_type = kernels::KvType::kF16;
  options.max_rows = 0;
  EXPECT_EQ(code(options), ErrorCode::kInvalidArgument);
}

TEST(CpuExecutor, SaysWhichArithmeticItUses) {
  StepRunner runner(load_or_die(kF32), options_of({"portable", kF32, kernels::KvType::kF16}));
  EXPECT_EQ(runner.executor().info().device, "cpu");
  EXPECT_EQ(runner.executor().info().arithmetic_id.rfind("cpu/portable/", 0), 0u);
  EXPECT_EQ(runner.executor().info().arithmetic_id.find("int8"), std::string::npos);
  EXPECT_FALSE(runner.executor().info().description.empty());
}

TEST(CudaExecutor, IsUnavailableWithAReasonWhereThereIsNone) {
  const auto made = exec::make_cuda_executor(load_or_die(kF32), {}, [](exec::StepResult) {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(made.error().message.find("CUDA"), std::string::npos);
}

}  // namespace
}  // namespace larder::test
