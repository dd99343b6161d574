// SPDX-License-Identifier: Apache-2.0
// Rig: a whole engine over a model file in a folder of its own, for benchmarks; answers as their reader sees them.
// Threads:  submit and ask from any; the rest one.    Errors: die().
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/rng.h"
#include "runtime/engine/engine.h"
#include "runtime/settings/settings.h"
#include "tests/bench/step_log.h"

namespace larder::bench {

[[noreturn]] inline void die(const std::string& text) {
  std::fprintf(stderr, "engine_bench: %s\n", text.c_str());
  std::_Exit(2);
}

inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  return values[at];
}

// One answer as its reader sees it.
struct Answer {
  TimePoint submitted{};
  std::vector<TimePoint> tokens;
  engine::Finished finished;
  double first_token_ms() const { return tokens.empty() ? 0 : ms_since(submitted, tokens.front()); }
};

class Rig {
 public:
  using Overrides = std::vector<std::pair<std::string, std::string>>;
  explicit Rig(const std::string& model, Overrides overrides = {}, std::uint32_t vocabulary = 20'000)
      : log_(std::make_shared<StepLog>()), vocabulary_(vocabulary) {
    folder_ = (std::filesystem::temp_directory_path() / ("larder_bench_" + std::to_string(getpid()))).string();
    engine::EngineOptions made;
    made.data_dir = folder_;
    made.overrides = std::move(overrides);
    made.make_executor = [log = log_](std::shared_ptr<const model::Model> loaded, exec::ExecutorOptions executor,
                                      exec::StepDone done) {
      return LoggedExecutor::create(log, std::move(loaded), std::move(executor), std::move(done));
    };
    auto opened = engine::Engine::open(std::move(made));
    if (!opened.ok()) die(to_string(opened.error()));
    engine_ = std::move(opened).value();
    std::promise<std::string> loaded;
    engine_->perform(engine_->local_admin(), engine::LoadModel{std::filesystem::absolute(model).string()},
                     [&loaded](const Result<engine::VerbResult>& result) {
                       loaded.set_value(result.ok() ? std::string() : to_string(result.error()));
                     });
    if (const std::string failure = loaded.get_future().get(); !failure.empty()) die(failure);
    std::printf("%s, KV f16, %u cores\n", device().c_str(), std::thread::hardware_concurrency());
    static_cast<void>(ask(prompt(512), 4));  // first touch of weights and pool; rates
  }
  ~Rig() {
    engine_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::vector<Token> prompt(std::uint32_t count) {
    std::vector<Token> tokens(count);
    for (Token& token : tokens) token = static_cast<Token>(50 + rng_.below(vocabulary_));
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

  // Reads to the end; `seen` counts tokens as they come.
  static void collect(engine::TokenStream& stream, Answer& answer, std::atomic<std::uint32_t>* seen = nullptr) {
    while (std::optional<engine::StreamEvent> event = stream.next(600'000)) {
      const TimePoint now = std::chrono::steady_clock::now();
      if (const auto* piece = std::get_if<engine::Piece>(&*event)) {
        answer.tokens.insert(answer.tokens.end(), piece->tokens.size(), now);
        if (seen != nullptr) seen->store(static_cast<std::uint32_t>(answer.tokens.size()));
      }
      if (const auto* error = std::get_if<Error>(&*event)) die(to_string(*error));
      if (auto* finished = std::get_if<engine::Finished>(&*event)) answer.finished = std::move(*finished);
    }
  }

  Answer ask(std::vector<Token> tokens, std::uint32_t max_tokens) {
    Answer answer;
    answer.submitted = std::chrono::steady_clock::now();
    collect(*submit(std::move(tokens), max_tokens), answer);
    return answer;
  }

  engine::Engine& engine() { return *engine_; }
  const StepLog& log() const { return *log_; }
  double step_ms() const { return static_cast<double>(engine_->settings().integer(settings::Key::kEngineStepMs)); }

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

  std::shared_ptr<StepLog> log_;
  const std::uint32_t vocabulary_;
  std::string folder_;
  std::unique_ptr<engine::Engine> engine_;
  Rng rng_{7};
};

inline bool holds(const char* what, double measured, double limit) {
  const bool good = measured <= limit;
  std::printf("%-58s %9.2f, at most %9.2f: %s\n", what, measured, limit, good ? "holds" : "DOES NOT HOLD");
  return good;
}

inline void print_gaps(const char* what, const std::vector<double>& gaps) {
  std::printf("%-58s p50 %.2f  p99 %.2f  max %.2f ms (%zu gaps)\n", what, quantile(gaps, 0.5), quantile(gaps, 0.99),
              quantile(gaps, 1), gaps.size());
}

}  // namespace larder::bench
