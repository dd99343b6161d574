// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/move_bench.h"

#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "tests/bench/engine_rig.h"

namespace larder::bench {
namespace {

// The tiny model with room for longer prompts, in a file of its own.
std::string with_context(const std::string& path, std::uint32_t tokens) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string key = "llama.context_length";
  const std::size_t at = bytes.find(key);
  if (at == std::string::npos) die(path + " has no " + key);
  std::memcpy(bytes.data() + at + key.size() + 4, &tokens, sizeof tokens);  // behind the value's type
  const std::string made =
      (std::filesystem::temp_directory_path() / ("larder_bench_" + std::to_string(getpid()) + ".gguf")).string();
  std::ofstream(made, std::ios::binary) << bytes;
  return made;
}

// Answers one after the other, as a program that never stops asking reads them; gaps within each.
class EndlessReader {
 public:
  explicit EndlessReader(Rig& rig) : rig_(rig), thread_([this] { run(); }) {}
  ~EndlessReader() {
    stop_.store(true);
    thread_.join();
  }
  // Those whose both tokens came between the two moments.
  std::vector<double> gaps(TimePoint begin, TimePoint end) {
    const std::lock_guard lock(mutex_);
    std::vector<double> found;
    for (const auto& [at, gap] : gaps_) {
      if (at >= begin && at <= end) found.push_back(gap);
    }
    return found;
  }

 private:
  void run() {
    while (!stop_.load()) {
      const Answer answer = rig_.ask(prompt_, 1500);
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 1; i < answer.tokens.size(); ++i) {
        gaps_.emplace_back(answer.tokens[i - 1], ms_since(answer.tokens[i - 1], answer.tokens[i]));
      }
    }
  }
  Rig& rig_;
  const std::vector<Token> prompt_ = rig_.prompt(200);
  std::mutex mutex_;
  std::vector<std::pair<TimePoint, double>> gaps_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

double cpu_ms() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

// A figure over a span of time needs that span.
void let_pass(std::chrono::milliseconds span) { std::promise<void>().get_future().wait_for(span); }

// The run that most others hang on.
NodeId trunk_of(engine::Engine& engine) {
  std::map<std::uint64_t, std::uint32_t> children;
  const auto snapshot = engine.snapshot(engine.local_admin(), 0);
  for (const engine::TreeNode& node : *snapshot->tree) ++children[node.parent.value];
  children.erase(0);
  const auto most = std::max_element(children.begin(), children.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == children.end() ? NodeId{} : NodeId{most->first};
}

template <typename Seen>
void wait_for(engine::Engine& engine, Seen seen) {
  while (!seen(*engine.snapshot(engine.local_admin(), 0))) let_pass(std::chrono::milliseconds(250));
}

engine::JobInfo move(engine::Engine& engine, NodeId node, const char* to) {
  std::promise<Result<engine::VerbResult>> begun;
  engine.perform(engine.local_admin(), engine::MoveBlocks{{node, false, 0, 0}, to, false, false},
                 [&begun](Result<engine::VerbResult> result) { begun.set_value(std::move(result)); });
  const Result<engine::VerbResult> answer = begun.get_future().get();
  if (!answer.ok()) die(to_string(answer.error()));
  engine::JobInfo job;
  wait_for(engine, [&](const engine::Snapshot& seen) {
    for (const engine::JobInfo& each : seen.jobs) {
      if (each.id == answer->job->id) job = each;
    }
    return job.done;
  });
  if (job.state != engine::JobInfo::State::kDone) die("the job ended early: " + job.error);
  return job;
}

void grow_tree(Rig& rig, std::uint32_t blocks) {
  constexpr std::uint32_t kBranchTokens = 60 * kernels::kBlockTokens;
  const std::vector<Token> trunk = rig.prompt(kernels::kBlockTokens);
  for (std::uint32_t made = 1; made < blocks; made += 60) {
    std::vector<Token> tokens = trunk;
    const std::vector<Token> more = rig.prompt(kBranchTokens);
    tokens.insert(tokens.end(), more.begin(), more.end());
    static_cast<void>(rig.ask(std::move(tokens), 1));
  }
}

}  // namespace

bool run_move(const MoveOptions& options) {
  const std::string model = with_context(options.model, 2048);
  Rig::Overrides overrides{{"pool.bytes", std::to_string(std::uint64_t{options.blocks + 2000} * 20'480)},
                           {"store.keep_free_bytes", "4096"}};
  if (options.threads > 0) overrides.emplace_back("engine.threads", std::to_string(options.threads));
  Rig rig(model, std::move(overrides), 450);
  engine::Engine& engine = rig.engine();
  grow_tree(rig, options.blocks);
  wait_for(engine, [&](const engine::Snapshot& seen) {  // durable, as this picture of the tree shows
    std::uint64_t stored = 0;
    for (const engine::TreeNode& node : *seen.tree) stored += node.stored_blocks;
    return stored >= options.blocks;
  });
  const NodeId trunk = trunk_of(engine);
  static_cast<void>(move(engine, trunk, "pool"));  // without copies on disk, so that a move down writes
  std::vector<double> alone;
  std::vector<double> beside;
  double cpu_alone = 0, cpu_beside = 0, ms_alone = 0, ms_beside = 0;
  {
    EndlessReader reader(rig);
    const auto now = [] { return std::chrono::steady_clock::now(); };
    let_pass(std::chrono::seconds(2));
    for (std::uint32_t round = 0; round < options.rounds; ++round) {
      const TimePoint quiet = now();
      double cpu = cpu_ms();
      for (int look = 0; look < 20; ++look) {  // asked for its picture as often as while it moves
        static_cast<void>(engine.snapshot(engine.local_admin(), 0));
        let_pass(std::chrono::milliseconds(250));
      }
      const TimePoint begin = now();
      cpu_alone += cpu_ms() - cpu;
      ms_alone += ms_since(quiet, begin);
      cpu = cpu_ms();
      const engine::JobInfo down = move(engine, trunk, "disk");
      const TimePoint half = now();
      const engine::JobInfo up = move(engine, trunk, "pool");
      const TimePoint end = now();
      cpu_beside += cpu_ms() - cpu;
      ms_beside += ms_since(begin, end);
      std::printf("down in %.1f s: %s\nup in %.1f s: %s\n", ms_since(begin, half) * 1e-3, down.detail.c_str(),
                  ms_since(half, end) * 1e-3, up.detail.c_str());
      let_pass(std::chrono::seconds(2));  // the answer that was running is whole
      for (const double gap : reader.gaps(quiet, begin)) alone.push_back(gap);
      for (const double gap : reader.gaps(begin, end)) beside.push_back(gap);
    }
  }
  std::filesystem::remove(model);
  print_gaps("gaps undisturbed", alone);
  print_gaps("gaps while blocks move to disk and back", beside);
  std::printf("processor time of the process: undisturbed %.2f cores, while blocks move %.2f cores\n",
              cpu_alone / ms_alone, cpu_beside / ms_beside);
  return holds("p99 of the gaps while blocks move, times undisturbed", quantile(beside, 0.99) / quantile(alone, 0.99),
               1.2);
}

}  // namespace larder::bench
