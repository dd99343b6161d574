// SPDX-License-Identifier: Apache-2.0
// codec_bench: what the KV codecs lose on a model. Windows of real text (this checkout's documents and packs, or
// --text) each have a prefix computed exactly; its blocks are coded and decoded in place and the rest is computed on
// top of them and on top of the exact ones. Prints per scheme: bytes against exact, largest and mean difference of K
// and of V, mean and largest KLD of the next token's distribution. Exits with 1 when int8 takes more than 0.54 of the
// bytes or has a mean KLD above 0.002.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/layout/kv_kept.h"
#include "test_paths.h"
#include "tests/runtime/exec/codec_meter.h"

namespace larder::bench {
namespace {

constexpr double kMostInt8Bytes = 0.54;
constexpr double kMostInt8Kld = 0.002;

struct Options {
  std::string model;
  std::vector<std::string> texts;
  std::uint32_t prefix = 1024;
  std::uint32_t rest = 128;
  std::uint32_t windows = 8;
  std::uint32_t threads = 0;
};

std::string read_texts(const std::vector<std::string>& paths) {
  std::ostringstream all;
  for (const std::string& path : paths) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "codec_bench: %s cannot be read\n", path.c_str());
      std::_Exit(2);
    }
    all << in.rdbuf() << "\n\n";
  }
  return all.str();
}

struct Row {
  const char* name;
  kernels::KvScheme scheme;
  kernels::KvScheme first;  // of a window's first block
  double most_bytes;
  double most_kld;
};
constexpr double kNoLimit = 1e9;
constexpr Row kRows[] = {{"exact", kernels::KvScheme::kExact, kernels::KvScheme::kExact, 1.0, 0.0},
                         {"int8", kernels::KvScheme::kInt8, kernels::KvScheme::kInt8, kMostInt8Bytes, kMostInt8Kld},
                         {"int4", kernels::KvScheme::kInt4, kernels::kept_scheme(kernels::KvScheme::kInt4, 0),
                          kNoLimit, kNoLimit},
                         {"all int4", kernels::KvScheme::kInt4, kernels::KvScheme::kInt4, kNoLimit, kNoLimit}};

void print(const char* name, double bytes, const test::CodecReport& report, double seconds) {
  std::printf("%-9s %7.4f | %9.4f %9.6f %8.5f | %9.4f %9.6f %8.5f | %10.7f %9.5f %7.4f | %5.1f\n", name, bytes,
              report.loss.k.largest, report.loss.k.mean(), report.loss.k.relative(), report.loss.v.largest,
              report.loss.v.mean(), report.loss.v.relative(), report.mean_kld, report.max_kld, report.same_top1,
              seconds);
  std::fflush(stdout);
}

// What it costs to sample the loss of a resident block from every eighth of its slices.
void print_sample_cost(exec::KvRoundTrip& trip, const char* name, const std::vector<std::byte>& block) {
  std::vector<double> us;
  for (std::size_t i = 0; i < 101; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const exec::KvLoss loss = trip.measure(block, kernels::kBlockTokens, i % 8, 8);
    us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    if (loss.k.values == 0) return;
  }
  std::sort(us.begin(), us.end());
  std::printf("%-9s sampled on every eighth slice of a block of %zu KiB: %.0f us (median of 101)\n", name,
              block.size() / 1024, us[us.size() / 2]);
}

void print_sample_costs(const kernels::KvCodecKernels& codec, const kernels::KvLayout& layout,
                        const std::vector<std::byte>& block) {
  for (const kernels::KvScheme scheme : {kernels::KvScheme::kInt8, kernels::KvScheme::kInt4}) {
    auto trip = exec::KvRoundTrip::create(codec, scheme, layout);
    if (trip.ok()) print_sample_cost(*trip, kernels::kv_scheme_name(scheme), block);
  }
}

int run(Options options) {
  if (options.texts.empty()) {
    for (const char* name : {"/ARCHITECTURE.md", "/resources/packs/home-en.md", "/resources/packs/casa-it.md",
                             "/README.md", "/storage/FORMAT.md", "/kernels/README.md", "/CONTRIBUTING.md"}) {
      options.texts.push_back(std::string(LARDER_SOURCE_DIR) + name);
    }
  }
  const auto model = test::load_or_die(options.model);
  const std::vector<Token> text = test::tokens_of(*model, read_texts(options.texts));
  const std::uint32_t each = (options.prefix + options.rest + kernels::kBlockTokens - 1) / kernels::kBlockTokens;
  exec::ExecutorOptions executor;
  executor.block_count = each * options.windows;
  executor.threads = options.threads;
  executor.max_rows = std::max(256u, options.windows);
  executor.arithmetic = "precise";  // rounded activations would add a noise of their own
  test::StepRunner runner(model, executor);
  test::CodecMeter meter(runner, text, options.prefix, options.rest, options.windows);
  if (meter.windows() == 0) {
    std::fprintf(stderr, "codec_bench: the texts have %zu tokens, one window needs %u\n", text.size(),
                 options.prefix + options.rest);
    return 2;
  }
  const kernels::KvLayout layout = runner.executor().layout();
  std::printf("%s on %s\n%u windows of %u + %u tokens, KV f16, d_head %u\n", model->config().name.c_str(),
              runner.executor().info().description.c_str(), meter.windows(), options.prefix, options.rest,
              layout.d_head);
  std::printf(
      "scheme      bytes |     K max      mean relative |     V max      mean relative |   KLD mean       max"
      "    top1 |     s\n");
  const kernels::KvCodecKernels codec = kernels::select_kernels(kernels::IsaRequest::kAuto)->codec;
  bool good = true;
  for (const Row& row : kRows) {
    auto trip = exec::KvRoundTrip::create(codec, row.scheme, layout);
    auto first = exec::KvRoundTrip::create(codec, row.first, layout);
    if (!trip.ok()) {
      std::printf("%-9s %s\n", row.name, to_string(trip.error()).c_str());
      continue;
    }
    const auto begin = std::chrono::steady_clock::now();
    const test::CodecReport report = meter.measure([&](std::span<std::byte> block, std::size_t number) {
      return (number == 0 ? *first : *trip).apply(block, kernels::kBlockTokens);
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const double blocks = options.prefix / kernels::kBlockTokens;
    const double bytes = (static_cast<double>(coded_block_bytes(row.scheme, layout)) * (blocks - 1) +
                          static_cast<double>(coded_block_bytes(row.first, layout))) /
                         (static_cast<double>(layout.block_bytes()) * blocks);
    print(row.name, bytes, report, took.count());
    good = good && report.loss.dropped == 0 && bytes <= row.most_bytes && report.mean_kld <= row.most_kld;
  }
  print_sample_costs(codec, layout, runner.block_bytes(BlockId{0}));
  std::printf("%s: exact loses nothing; int8 takes at most %.2f of the bytes, mean KLD at most %.3f\n",
              good ? "good" : "DOES NOT HOLD", kMostInt8Bytes, kMostInt8Kld);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace larder::bench

int main(int argc, char** argv) {
  larder::bench::Options options;
  CLI::App app("What the KV codecs lose on a model", "codec_bench");
  app.add_option("model", options.model, "model file (GGUF)")->required();
  app.add_option("--text", options.texts, "text files instead of this checkout's own");
  app.add_option("--prefix", options.prefix, "tokens of a window whose KV is coded, a multiple of 32");
  app.add_option("--rest", options.rest, "tokens of a window computed on top");
  app.add_option("--windows", options.windows, "windows at most");
  app.add_option("--threads", options.threads, "worker threads, 0: one per core");
  CLI11_PARSE(app, argc, argv);
  if (options.prefix == 0 || options.prefix % larder::kernels::kBlockTokens != 0) {
    std::fprintf(stderr, "codec_bench: --prefix %u is no multiple of %u\n", options.prefix,
                 larder::kernels::kBlockTokens);
    return 2;
  }
  return larder::bench::run(options);
}
