// SPDX-License-Identifier: Apache-2.0
// restart_bench: what a restart costs, on a real model and this machine's processor and disk.
//   prefix  what reading a prefix back from disk adds to the first token of 20 new tokens behind it, against its bytes
//           at the rate that the store measured
//   many    from opening to ready, and to the first token of a restored prompt, with --blocks blocks on disk (a tiny
//           model; --folder keeps them, so that a second run only measures)
// Each prints its figures, says whether they hold, and exits with 1 when one does not.
#include <CLI/CLI.hpp>

#include "tests/bench/engine_rig.h"

namespace larder::bench {
namespace {

struct Options {
  std::string model;
  std::uint32_t prefix = 2000;
  std::uint32_t repeats = 5;
  std::uint32_t vocab = 20'000;
  std::uint32_t blocks = 100'000;
  std::string folder;
};

// A whole engine over one data folder, opened again as often as wanted.
class RestartRig {
 public:
  explicit RestartRig(const Options& options) : options_(options) {
    folder_ = options.folder;
    if (folder_.empty()) {
      folder_ = (std::filesystem::temp_directory_path() / ("larder_bench_" + std::to_string(getpid()))).string();
    }
    open();
    std::printf("%s, KV f16, %u cores\n", device().c_str(), std::thread::hardware_concurrency());
    touch();  // weights and pool; rates
  }
  ~RestartRig() {
    engine_.reset();
    if (options_.folder.empty()) std::filesystem::remove_all(folder_);
  }

  void touch() { static_cast<void>(ask(prompt(std::min<std::uint32_t>(512, options_.prefix)), 4)); }

  // The engine anew over the same folder; how long until it answers.
  double reopen() {
    engine_.reset();
    const TimePoint begin = std::chrono::steady_clock::now();
    open();
    return ms_since(begin, std::chrono::steady_clock::now());
  }

  // As of now: the second snapshot after this one was not begun before.
  engine::StoreInfo store() const {
    const std::uint64_t before = engine_->snapshot(engine_->local_admin(), 0)->epoch;
    while (true) {
      const auto snapshot = engine_->snapshot(engine_->local_admin(), 0);
      if (snapshot->epoch >= before + 2) return snapshot->store;
      std::this_thread::yield();
    }
  }
  // Everything that was cached is on disk.
  void wait_stored(std::uint64_t blocks) const {
    while (store().blocks < blocks || store().queued_blocks > 0) std::this_thread::yield();
  }
  void wait_identity() const {
    while (engine_->snapshot(engine_->local_admin(), 0)->models.front().identity != engine::ModelInfo::Identity::kKnown)
      std::this_thread::yield();
  }

  void open() {
    engine::EngineOptions made;
    made.data_dir = folder_;
    auto opened = engine::Engine::open(std::move(made));
    if (!opened.ok()) die(to_string(opened.error()));
    engine_ = std::move(opened).value();
    std::promise<std::string> loaded;
    engine_->perform(engine_->local_admin(), engine::LoadModel{std::filesystem::absolute(options_.model).string()},
                     [&loaded](const Result<engine::VerbResult>& result) {
                       loaded.set_value(result.ok() ? std::string() : to_string(result.error()));
                     });
    if (const std::string failure = loaded.get_future().get(); !failure.empty()) die(failure);
  }

  std::vector<Token> prompt(std::uint32_t count) { return prompt(count, rng_); }
  std::vector<Token> prompt(std::uint32_t count, Rng& rng) const {
    std::vector<Token> tokens(count);
    for (Token& token : tokens) token = static_cast<Token>(50 + rng.below(options_.vocab));
    return tokens;
  }

  std::shared_ptr<engine::TokenStream> submit(std::vector<Token> tokens, std::uint32_t max_tokens) {
    engine::Request request;
    request.prompt = engine::TokenPrompt{std::move(tokens)};
    request.max_tokens = max_tokens;
    request.sampling.temperature = 0;
    request.sampling.logprobs = true;
    request.ignore_eos = true;
    auto stream = engine_->submit(engine_->local_admin(), std::move(request));
    if (!stream.ok()) die(to_string(stream.error()));
    return std::move(stream).value();
  }

  Answer ask(std::vector<Token> tokens, std::uint32_t max_tokens) {
    Answer answer;
    answer.submitted = std::chrono::steady_clock::now();
    Rig::collect(*submit(std::move(tokens), max_tokens), answer);
    return answer;
  }

 private:
  std::string device() {
    while (true) {
      const auto snapshot = engine_->snapshot(engine_->local_admin(), 0);
      if (!snapshot->models.empty() && !snapshot->device.empty()) {
        return snapshot->device + ", " + snapshot->models.front().arithmetic_id;
      }
      std::this_thread::yield();
    }
  }

  const Options options_;
  std::string folder_;
  std::unique_ptr<engine::Engine> engine_;
  Rng rng_{7};
};

bool run_restart(const Options& options) {
  constexpr std::uint32_t kNew = 20;
  RestartRig rig(options);
  rig.wait_identity();
  const std::vector<Token> prefix = rig.prompt(options.prefix);
  const auto with_new = [&] {
    std::vector<Token> tokens = prefix;
    const std::vector<Token> more = rig.prompt(kNew);
    tokens.insert(tokens.end(), more.begin(), more.end());
    return tokens;
  };
  const Answer cold = rig.ask(with_new(), 1);
  std::vector<double> warm_ms;
  for (std::uint32_t i = 0; i < options.repeats; ++i) warm_ms.push_back(rig.ask(with_new(), 1).first_token_ms());
  const double warm = quantile(warm_ms, 0.5);
  rig.wait_stored(options.prefix / kernels::kBlockTokens);
  std::vector<double> added_ms;
  std::vector<double> times;
  bool all_restored = true;
  for (std::uint32_t i = 0; i < options.repeats; ++i) {
    const double ready_ms = rig.reopen();
    rig.touch();
    const std::uint64_t before = rig.store().read_bytes;
    const Answer restored = rig.ask(with_new(), 1);
    const kv::Restored& note = restored.finished.verdict.restored;
    all_restored &= note.tokens + kernels::kBlockTokens > options.prefix;
    const engine::StoreInfo store = rig.store();
    const double bytes = static_cast<double>(store.read_bytes - before);
    const double read_ms = bytes / store.read_bytes_per_s * 1e3;
    added_ms.push_back(restored.first_token_ms() - warm);
    times.push_back(added_ms.back() / read_ms);
    std::printf(
        "  ready %.0f ms; first token %.1f ms, %u tokens restored in %.1f ms: %.1f MB at %.0f MB/s are %.1f ms\n",
        ready_ms, restored.first_token_ms(), note.tokens, note.ms, bytes * 1e-6, store.read_bytes_per_s * 1e-6,
        read_ms);
  }
  std::printf(
      "first token of %u + %u tokens: cold %.1f ms, warm %.2f ms (median of %u), after a restart %.2f ms more\n",
      options.prefix, kNew, cold.first_token_ms(), warm, options.repeats, quantile(added_ms, 0.5));
  if (!all_restored) std::printf("NOT ALL OF THE PREFIX WAS RESTORED\n");
  return holds("time added by reading, against bytes / rate, times", quantile(times, 0.5), 1.3) && all_restored;
}

// Fills the folder as far as it is not filled yet.
void fill(RestartRig& rig, const Options& options) {
  std::uint64_t blocks = rig.store().blocks;
  Rng rng(blocks);
  while (blocks < options.blocks) {
    std::vector<std::shared_ptr<engine::TokenStream>> streams;
    for (int i = 0; i < 16; ++i) streams.push_back(rig.submit(rig.prompt(options.prefix, rng), 1));
    for (const auto& stream : streams) {
      Answer answer;
      Rig::collect(*stream, answer);
    }
    blocks += 16 * (options.prefix / kernels::kBlockTokens);
    while (rig.store().blocks + 2048 < blocks) std::this_thread::yield();  // the disk keeps up
  }
  rig.wait_stored(options.blocks);
}

bool run_many(Options options) {
  options.vocab = std::min<std::uint32_t>(options.vocab, 450);
  options.prefix = std::min<std::uint32_t>(options.prefix, 480);
  RestartRig rig(options);
  rig.wait_identity();
  Rng rng(99);
  const std::vector<Token> known = rig.prompt(options.prefix, rng);
  static_cast<void>(rig.ask(known, 1));
  fill(rig, options);
  std::vector<double> ready_ms;
  std::vector<double> hit_ms;
  bool all_restored = true;
  for (std::uint32_t i = 0; i < options.repeats; ++i) {
    ready_ms.push_back(rig.reopen());
    const Answer answer = rig.ask(known, 1);
    hit_ms.push_back(ready_ms.back() + answer.first_token_ms());
    all_restored &= answer.finished.verdict.reused_tokens + 1 == options.prefix;
    std::printf("  %llu blocks: ready %.0f ms after opening, first hit %.0f ms\n",
                static_cast<unsigned long long>(rig.store().blocks), ready_ms.back(), hit_ms.back());
  }
  if (!all_restored) std::printf("THE KNOWN PROMPT WAS NOT FOUND\n");
  bool good = holds("restart to ready, ms", quantile(ready_ms, 0.5), 2000);
  good &= holds("restart to the first hit's first token, ms", quantile(hit_ms, 0.5), 3000);
  return good && all_restored;
}

}  // namespace
}  // namespace larder::bench

int main(int argc, char** argv) {
  larder::bench::Options options;
  CLI::App app("what a restart costs");
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--model", options.model, "a GGUF file")->required();
  app.add_option("--prefix", options.prefix, "tokens of the shared prompt");
  app.add_option("--repeats", options.repeats, "median of so many");
  app.add_option("--blocks", options.blocks, "blocks on disk of many");
  app.add_option("--folder", options.folder, "a data folder to use and keep");
  const CLI::App* prefix = app.add_subcommand("prefix", "what a restored prefix adds to the first token");
  app.add_subcommand("many", "restart with many blocks on disk");
  CLI11_PARSE(app, argc, argv);
  return (prefix->parsed() ? larder::bench::run_restart(options) : larder::bench::run_many(options)) ? 0 : 1;
}
