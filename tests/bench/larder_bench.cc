// SPDX-License-Identifier: Apache-2.0
// larder_bench: how fast this machine runs a model through the CPU executor: prefill, decode at depth, batched steps.
// Prints a table, and JSON with --json FILE. With --serve it answers measurements one by one on stdin ("prefill N",
// "decode DEPTH COUNT", "streams N DEPTH COUNT", "greedy COUNT ID…", "logits N"), so that compare_llama.py can take
// turns with another program.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "runtime/base/rng.h"
#include "tests/runtime/exec/step_runner.h"

namespace larder::bench {
namespace {

struct Options {
  std::string model;
  std::string json;
  std::string isa = "auto";
  std::string arithmetic = "auto";
  std::string kv = "f16";
  std::uint32_t threads = 0;
  std::uint32_t chunk = 512;
  std::uint32_t max_tokens = 4096;
  std::uint32_t repeats = 5;
  bool serve = false;
};

double ms_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

class Bench {
 public:
  Bench(const Options& options, const std::shared_ptr<const model::Model>& model)
      : options_(options), n_vocab_(model->config().n_vocab), runner_(model, executor_options(options)) {}

  // The same ids for everybody: token i is a value of a counter, so compare_llama.py can make them too.
  Token token(std::uint64_t i) const { return static_cast<Token>(mix64(i) % (n_vocab_ - 100) + 50); }

  std::vector<Token> prompt(std::uint32_t count) const {
    std::vector<Token> tokens;
    for (std::uint32_t i = 0; i < count; ++i) tokens.push_back(token(i));
    return tokens;
  }

  double prefill_ms(std::uint32_t count) {
    runner_.close_lanes();
    test::Lane lane = runner_.open_lane(count);
    const std::vector<Token> tokens = prompt(count);
    return ms_of([&] { runner_.feed(lane, tokens, options_.chunk); });
  }

  std::vector<Token> greedy(const std::vector<Token>& tokens, std::uint32_t count) {
    runner_.close_lanes();
    test::Lane lane = runner_.open_lane(static_cast<std::uint32_t>(tokens.size()) + count);
    std::vector<Token> told = {runner_.feed(lane, tokens, options_.chunk).sampled.token};
    while (told.size() < count) told.push_back(runner_.feed(lane, std::vector<Token>{told.back()}, 1).sampled.token);
    return told;
  }

  // ms of each of `count` steps after `depth` tokens.
  std::vector<double> decode_ms(std::uint32_t depth, std::uint32_t count) {
    runner_.close_lanes();
    test::Lane lane = runner_.open_lane(depth + count + 1);
    Token next = runner_.feed(lane, prompt(depth), options_.chunk).sampled.token;
    std::vector<double> ms;
    for (std::uint32_t i = 0; i < count; ++i) {
      ms.push_back(ms_of([&] { next = runner_.feed(lane, std::vector<Token>{next}, 1).sampled.token; }));
    }
    return ms;
  }

  // ms of each of `count` steps of `streams` sequences, each after `depth` tokens of its own.
  std::vector<double> streams_ms(std::uint32_t streams, std::uint32_t depth, std::uint32_t count) {
    runner_.close_lanes();
    std::vector<test::Lane> lanes;
    std::vector<Token> next;
    for (std::uint32_t s = 0; s < streams; ++s) {
      lanes.push_back(runner_.open_lane(depth + count + 1));
      std::vector<Token> tokens;
      for (std::uint32_t i = 0; i < depth; ++i) tokens.push_back(token(std::uint64_t{s} * depth + i));
      next.push_back(runner_.feed(lanes.back(), tokens, options_.chunk).sampled.token);
    }
    std::vector<double> ms;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::vector<exec::SequenceRows> sequences;
      for (std::uint32_t s = 0; s < streams; ++s) {
        sequences.push_back(runner_.rows(lanes[s], std::vector<Token>{next[s]}));
        sequences.back().want_logits = false;
      }
      exec::StepResult result;
      ms.push_back(ms_of([&] { result = runner_.run(runner_.step(std::move(sequences))); }));
      for (std::uint32_t s = 0; s < streams; ++s) next[s] = result.outputs.at(s).sampled.token;
    }
    return ms;
  }

  // After a prompt of `count` tokens.
  std::vector<float> logits(std::uint32_t count) {
    runner_.close_lanes();
    test::Lane lane = runner_.open_lane(count);
    return runner_.feed(lane, prompt(count), options_.chunk).logits;
  }

  // One decode step of `rows` sequences that share `depth` tokens of prompt, as cached prefixes are shared.
  double batched_step_ms(std::uint32_t rows, std::uint32_t depth) {
    runner_.close_lanes();
    test::Lane shared = runner_.open_lane(depth);
    runner_.feed(shared, prompt(depth), options_.chunk);
    std::vector<exec::SequenceRows> sequences;
    for (std::uint32_t r = 0; r < rows; ++r) {
      test::Lane lane = runner_.open_lane(kernels::kBlockTokens);
      lane.table.insert(lane.table.begin(), shared.table.begin(), shared.table.end());
      lane.position = depth;
      sequences.push_back(runner_.rows(lane, std::vector<Token>{token(r)}));
      sequences.back().want_logits = false;
    }
    std::vector<double> ms;
    for (int i = 0; i < 7; ++i) ms.push_back(ms_of([&] { runner_.run(runner_.step(sequences)); }));
    return median(std::move(ms));
  }

  const exec::DeviceInfo& device() { return runner_.executor().info(); }

 private:
  static exec::ExecutorOptions executor_options(const Options& options) {
    exec::ExecutorOptions made;
    made.block_count = options.max_tokens / kernels::kBlockTokens + 384;
    made.kv_type = options.kv == "f32" ? kernels::KvType::kF32 : kernels::KvType::kF16;
    made.threads = options.threads;
    made.max_rows = std::max(options.chunk, 128u);
    made.isa = options.isa;
    made.arithmetic = options.arithmetic;
    return made;
  }

  const Options options_;
  const std::uint32_t n_vocab_;
  test::StepRunner runner_;
};

void serve(Bench& bench) {
  std::printf("ready %s\n", bench.device().arithmetic_id.c_str());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what;
    std::uint32_t first = 0, count = 0;
    words >> what >> first;
    std::vector<Token> ids;
    for (Token id = 0; words >> id;) ids.push_back(id);
    if (ids.size() == 1) count = static_cast<std::uint32_t>(ids.front());
    if (what == "prefill" && first > 0) {
      std::printf("%.4f\n", bench.prefill_ms(first));
    } else if (what == "decode" && first > 0 && count > 0) {
      std::printf("%.4f\n", median(bench.decode_ms(first, count)));
    } else if (what == "streams" && first > 0 && ids.size() == 2 && ids[0] > 0 && ids[1] > 0) {
      std::printf("%.4f\n", median(bench.streams_ms(first, static_cast<std::uint32_t>(ids[0]),
                                                    static_cast<std::uint32_t>(ids[1]))));
    } else if (what == "logits" && first > 0) {
      for (const float logit : bench.logits(first)) std::printf("%.6g ", static_cast<double>(logit));
      std::printf("\n");
    } else if (what == "greedy" && first > 0 && !ids.empty()) {
      for (const Token token : bench.greedy(ids, first)) std::printf("%d ", token);
      std::printf("\n");
    } else {
      return;
    }
    std::fflush(stdout);
  }
}

void run_table(Bench& bench, const Options& options) {
  nlohmann::json out = {{"processor", bench.device().description},
                        {"arithmetic", bench.device().arithmetic_id},
                        {"model", options.model},
                        {"kv", options.kv},
                        {"cores", std::thread::hardware_concurrency()},
                        {"threads", options.threads}};
  std::printf("%s, %s, KV %s\n", bench.device().description.c_str(), bench.device().arithmetic_id.c_str(),
              options.kv.c_str());
  bench.prefill_ms(128);
  for (const std::uint32_t count : {128u, 512u, 2048u, 4096u}) {
    if (count > options.max_tokens) break;
    std::vector<double> ms;
    for (std::uint32_t i = 0; i < options.repeats; ++i) ms.push_back(bench.prefill_ms(count));
    const double middle = median(ms);
    std::printf("prefill %5u tokens  %9.2f ms  %8.1f tokens/s\n", count, middle, count * 1000.0 / middle);
    out["prefill"].push_back({{"tokens", count}, {"ms", middle}, {"tokens_per_s", count * 1000.0 / middle}});
  }
  for (const std::uint32_t depth : {1u, 1024u, 4096u}) {
    if (depth > options.max_tokens) break;
    const double ms = median(bench.decode_ms(depth, 32));
    std::printf("decode at depth %4u  %8.3f ms  %8.1f tokens/s\n", depth, ms, 1000.0 / ms);
    out["decode"].push_back({{"depth", depth}, {"ms", ms}, {"tokens_per_s", 1000.0 / ms}});
  }
  for (const std::uint32_t rows : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
    const double ms = bench.batched_step_ms(rows, 256);
    std::printf("step of %2u sequences at depth 256  %8.3f ms  %8.1f tokens/s\n", rows, ms, rows * 1000.0 / ms);
    out["step"].push_back({{"rows", rows}, {"depth", 256}, {"ms", ms}});
  }
  if (!options.json.empty()) std::ofstream(options.json) << out.dump(2) << '\n';
}

}  // namespace
}  // namespace larder::bench

int main(int argc, char** argv) {
  larder::bench::Options options;
  CLI::App app("speed of the CPU executor");
  app.add_option("model", options.model, "a GGUF file")->required();
  app.add_option("--json", options.json, "also write the figures here");
  app.add_option("--isa", options.isa, "auto, portable, avx2 or avx512");
  app.add_option("--arithmetic", options.arithmetic, "auto, precise or int8");
  app.add_option("--kv", options.kv, "f16 or f32");
  app.add_option("--threads", options.threads, "0: as the engine chooses");
  app.add_option("--chunk", options.chunk, "rows of a prefill step");
  app.add_option("--max-tokens", options.max_tokens, "longest prompt");
  app.add_option("--repeats", options.repeats, "median of so many");
  app.add_flag("--serve", options.serve, "measure what stdin asks for");
  CLI11_PARSE(app, argc, argv);
  larder::bench::Bench bench(options, larder::test::load_or_die(options.model));
  if (options.serve) {
    serve(bench);
  } else {
    run_table(bench, options);
  }
  return 0;
}
