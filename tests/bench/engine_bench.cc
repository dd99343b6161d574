// SPDX-License-Identifier: Apache-2.0
// engine_bench: what a user of the whole engine waits for, on a real model and this machine's processor.
//   gap   gaps between the tokens of a running answer, alone and beside the prefill of a long prompt
//   warm  time to the first token of 20 new tokens behind a cached prefix, against a 20-row step at that depth
//   cold  time to the first token of a cold prompt, alone and beside the niced busy loops of another program
//   move  gaps between the tokens of a running answer while a large subtree goes to disk and back, against the same
//         answer undisturbed; for a tiny model (stories260K)
// Each prints its figures, says whether they hold, and exits with 1 when one does not.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include "runtime/base/rng.h"
#include "runtime/engine/engine.h"
#include "runtime/settings/settings.h"
#include "tests/bench/engine_rig.h"
#include "tests/bench/move_bench.h"
#include "tests/bench/step_log.h"
#include "tests/runtime/exec/step_runner.h"

namespace larder::bench {
namespace {

struct Options {
  std::string model;
  std::uint32_t prefix = 2000;
  std::uint32_t prompt = 4000;
  std::uint32_t repeats = 9;
  std::uint32_t busy = 2;
  std::uint32_t busy_nice = 10;
};

std::vector<double> gaps_of(const std::vector<TimePoint>& tokens, TimePoint begin, TimePoint end) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (tokens[i - 1] >= begin && tokens[i] <= end) gaps.push_back(ms_since(tokens[i - 1], tokens[i]));
  }
  return gaps;
}

struct StepFacts {
  std::vector<double> step_ms;
  double decode_ms = 0;            // median of steps that ran one row through all layers
  std::uint32_t most_between = 0;  // steps between two of the answer's own
};

StepFacts facts_of(const std::vector<StepNote>& notes, std::uint32_t n_layers, SeqId stream) {
  StepFacts facts;
  std::vector<double> decode;
  std::uint32_t since = 0;
  for (const StepNote& note : notes) {
    facts.step_ms.push_back(note.compute_ms);
    if (note.rows == 1 && note.layers == n_layers) decode.push_back(note.compute_ms);
    since = note.holds(stream) ? 0 : since + 1;
    facts.most_between = std::max(facts.most_between, since);
  }
  facts.decode_ms = quantile(decode, 0.5);
  return facts;
}

void print_worst(std::vector<StepNote> notes) {
  std::sort(notes.begin(), notes.end(), [](const auto& a, const auto& b) { return a.compute_ms > b.compute_ms; });
  for (std::size_t i = 0; i < std::min<std::size_t>(5, notes.size()); ++i) {
    std::printf("  a long step: %.2f ms for %u rows of %u sequences through %u layers\n", notes[i].compute_ms,
                notes[i].rows, notes[i].sequences, notes[i].layers);
  }
}

bool run_gap(const Options& options) {
  Rig rig(options.model);
  const Answer alone = rig.ask(rig.prompt(200), 300);
  const Answer cold = rig.ask(rig.prompt(options.prompt), 1);
  print_gaps("gaps alone", gaps_of(alone.tokens, alone.tokens.front(), alone.tokens.back()));

  Answer stream;
  std::atomic<std::uint32_t> seen{0};
  auto running = rig.submit(rig.prompt(200), 4000);
  std::thread reader([&] { Rig::collect(*running, stream, &seen); });
  while (seen.load() < 30) std::this_thread::yield();
  const Answer beside = rig.ask(rig.prompt(options.prompt), 1);
  running->cancel();
  reader.join();
  const TimePoint end = beside.tokens.front();
  const std::vector<double> gaps = gaps_of(stream.tokens, beside.submitted, end);
  const std::vector<StepNote> notes = rig.log().between(beside.submitted, end);
  std::uint32_t n_layers = 0;
  SeqId own{};
  for (const StepNote& note : notes) {
    if (note.rows == 1 && note.layers >= n_layers) {
      n_layers = note.layers;
      own = note.seqs.front();
    }
  }
  const StepFacts facts = facts_of(notes, n_layers, own);
  print_gaps(("gaps beside a prefill of " + std::to_string(options.prompt) + " tokens").c_str(), gaps);
  std::printf("first token of that prompt: alone %.0f ms, beside the answer %.0f ms\n", cold.first_token_ms(),
              beside.first_token_ms());
  std::printf("steps %zu, a decode step alone takes %.2f ms\n", notes.size(), facts.decode_ms);
  print_worst(notes);
  std::printf("steps while the answer runs: p50 %.2f  p99 %.2f  max %.2f ms\n", quantile(facts.step_ms, 0.5),
              quantile(facts.step_ms, 0.99), quantile(facts.step_ms, 1));
  // One step in a hundred may meet another program's turn on the processor.
  bool good = holds("p99 of steps while the answer runs, ms", quantile(facts.step_ms, 0.99), rig.step_ms());
  good &= holds("steps between two of the answer's own", facts.most_between, 2);
  good &= holds("longest gap, ms", quantile(gaps, 1), 2 * rig.step_ms() + facts.decode_ms);
  return good;
}

// A 20-row step behind `depth` tokens, on an executor of its own that runs when the engine is idle.
class StepTimer {
 public:
  StepTimer(const Options& options, const std::vector<Token>& prefix)
      : depth_(static_cast<std::uint32_t>(prefix.size())), runner_(test::load_or_die(options.model), executor(depth_)) {
    lane_ = runner_.open_lane(depth_ + 64);
    runner_.feed(lane_, prefix, 512);
  }
  double ms(const std::vector<Token>& tokens) {
    lane_.position = depth_;
    const TimePoint begin = std::chrono::steady_clock::now();
    runner_.feed(lane_, tokens, 64);
    return ms_since(begin, std::chrono::steady_clock::now());
  }

 private:
  static exec::ExecutorOptions executor(std::uint32_t depth) {
    exec::ExecutorOptions made;
    made.block_count = depth / kernels::kBlockTokens + 8;
    made.max_rows = 512;
    return made;
  }
  const std::uint32_t depth_;
  test::StepRunner runner_;
  test::Lane lane_;
};

bool run_warm(const Options& options) {
  constexpr std::uint32_t kNew = 20;
  Rig rig(options.model);
  const std::vector<Token> prefix = rig.prompt(options.prefix);
  const auto with_new = [&] {
    std::vector<Token> tokens = prefix;
    const std::vector<Token> more = rig.prompt(kNew);
    tokens.insert(tokens.end(), more.begin(), more.end());
    return tokens;
  };
  StepTimer timer(options, prefix);
  const Answer cold = rig.ask(with_new(), 1);
  std::vector<double> warm_ms;
  std::vector<double> step_ms;
  std::uint32_t most_rows = 0;
  for (std::uint32_t i = 0; i < options.repeats; ++i) {
    step_ms.push_back(timer.ms(rig.prompt(kNew)));
    const Answer warm = rig.ask(with_new(), 1);
    warm_ms.push_back(warm.first_token_ms());
    most_rows = std::max(most_rows, warm.finished.verdict.computed_tokens);
  }
  const double step = quantile(step_ms, 0.5);
  std::printf("first token of %u + %u tokens: cold %.1f ms, warm %.2f ms (median of %u; %.2f to %.2f)\n",
              options.prefix, kNew, cold.first_token_ms(), quantile(warm_ms, 0.5), options.repeats,
              quantile(warm_ms, 0), quantile(warm_ms, 1));
  std::printf("a step of %u rows at that depth: %.2f ms (%.2f to %.2f)\n", kNew, step, quantile(step_ms, 0),
              quantile(step_ms, 1));
  bool good = holds("rows computed, warm", most_rows, kNew + 1);
  good &= holds("warm first token, ms", quantile(warm_ms, 0.5), 1.2 * step + 10);
  return good;
}

// Another program that wants the processor: niced loops in one session of their own, of the same weight as ours. A
// kernel that groups by session (sched_autogroup_enabled) shares between sessions, whatever their niceness.
class BusyLoops {
 public:
  BusyLoops(std::uint32_t count, std::uint32_t niceness) {
    if (count == 0) return;
    int weight = 0;  // "/autogroup-N nice W"
    std::string word;
    std::ifstream("/proc/self/autogroup") >> word >> word >> weight;
    leader_ = fork();
    if (leader_ < 0) die("no child could be made");
    if (leader_ == 0) lead(count, static_cast<int>(niceness), std::to_string(weight));
  }
  ~BusyLoops() {
    if (leader_ <= 0) return;
    kill(-leader_, SIGKILL);
    waitpid(leader_, nullptr, 0);
  }

 private:
  [[noreturn]] static void lead(std::uint32_t count, int niceness, const std::string& weight) {
    setsid();
    std::ofstream("/proc/self/autogroup") << weight << std::flush;
    for (std::uint32_t i = 1; i < count; ++i) {
      if (fork() == 0) break;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nice(niceness) == -1) _exit(1);
    for (volatile std::uint64_t turns = 0;;) turns = turns + 1;
  }
  pid_t leader_ = 0;
};

bool run_cold(const Options& options) {
  Rig rig(options.model);
  std::vector<double> quiet;
  std::vector<double> loaded;
  for (std::uint32_t i = 0; i < options.repeats; ++i) {
    quiet.push_back(rig.ask(rig.prompt(options.prefix), 1).first_token_ms());
    const BusyLoops loops(options.busy, options.busy_nice);
    loaded.push_back(rig.ask(rig.prompt(options.prefix), 1).first_token_ms());
  }
  std::printf("first token of %u cold tokens, alone: %.0f ms (%.0f to %.0f)\n", options.prefix, quantile(quiet, 0.5),
              quantile(quiet, 0), quantile(quiet, 1));
  std::printf("beside %u busy loops at nice %u: %.0f ms (%.0f to %.0f)\n", options.busy, options.busy_nice,
              quantile(loaded, 0.5), quantile(loaded, 0), quantile(loaded, 1));
  return holds("cost of the foreign load, times", quantile(loaded, 0.5) / quantile(quiet, 0.5), 2.2);
}

}  // namespace
}  // namespace larder::bench

int main(int argc, char** argv) {
  larder::bench::Options options;
  larder::bench::MoveOptions moves;
  CLI::App app("what a user of the engine waits for");
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--model", options.model, "a GGUF file")->required();
  app.add_option("--prefix", options.prefix, "tokens of the shared or cold prompt");
  app.add_option("--prompt", options.prompt, "tokens of the long prompt of gap");
  app.add_option("--repeats", options.repeats, "median of so many");
  app.add_option("--busy", options.busy, "busy loops of cold");
  app.add_option("--busy-nice", options.busy_nice, "their niceness");
  const CLI::App* gap = app.add_subcommand("gap", "gaps of a running answer beside a long prefill");
  const CLI::App* warm = app.add_subcommand("warm", "time to first token behind a cached prefix");
  app.add_option("--blocks", moves.blocks, "blocks of the subtree of move");
  app.add_option("--rounds", moves.rounds, "how often it moves down and up");
  app.add_option("--threads", moves.threads, "engine.threads of move; 0: as set");
  const CLI::App* moved = app.add_subcommand("move", "gaps of a running answer while a subtree moves to disk and back");
  app.add_subcommand("cold", "time to first token beside a foreign load");
  CLI11_PARSE(app, argc, argv);
  moves.model = options.model;
  const bool good = gap->parsed()     ? larder::bench::run_gap(options)
                    : warm->parsed()  ? larder::bench::run_warm(options)
                    : moved->parsed() ? larder::bench::run_move(moves)
                                      : larder::bench::run_cold(options);
  return good ? 0 : 1;
}
