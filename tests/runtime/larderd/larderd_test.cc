// SPDX-License-Identifier: Apache-2.0
// larderd as a script sees it: its lines on stdout, its exit codes, its end on SIGTERM.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/larderd/options.h"
#include "test_paths.h"

extern char** environ;

namespace larder::larderd {
namespace {

// One run of the program, its stdout read line by line.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments) {
    int out[2];
    int err[2];
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(err, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    arguments.insert(arguments.begin(), LARDERD);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, LARDERD, &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  ~Process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
  }

  // The next line of stdout; "" at its end or after 60 s.
  std::string line() { return read_line(out_); }
  void signal(int number) { ::kill(pid_, number); }

  // Exit code, and what stood on stderr.
  int wait() {
    while (true) {
      const std::string text = read_line(err_);
      if (text.empty()) break;
      errors_ += text + "\n";
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  const std::string& errors() const { return errors_; }

 private:
  static std::string read_line(int file) {
    std::string text;
    while (true) {
      pollfd ready{file, POLLIN, 0};
      if (::poll(&ready, 1, 60'000) <= 0) return "";
      char c = 0;
      if (::read(file, &c, 1) != 1) return text;
      if (c == '\n') return text;
      text += c;
    }
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string errors_;
};

class Larderd : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() /
        ("larderd_" + std::to_string(getpid()) + "_" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string data() const { return (folder_ / "data").string(); }
  std::filesystem::path folder_;
  const std::string model_ = LARDER_TEST_DATA "/models-tiny/stories260K-f16.gguf";
};

TEST(LarderdOptions, AreReadAndChecked) {
  const char* good[] = {"larderd",           "--model",     "m.gguf",
                        "--listen",          "127.0.0.1:0", "--set",
                        "engine.step_ms=20", "--set",       "api.keyless_loopback=true",
                        "--print-key"};
  const auto options = parse_options(10, good);
  ASSERT_TRUE(options.ok()) << to_string(options.error());
  EXPECT_EQ(options->model, "m.gguf");
  EXPECT_EQ(options->overrides.size(), 3u);
  EXPECT_TRUE(options->print_key);
  const char* unknown[] = {"larderd", "--set", "engine.step=20"};
  EXPECT_FALSE(parse_options(3, unknown).ok());
  const char* shapeless[] = {"larderd", "--set", "engine.step_ms"};
  EXPECT_FALSE(parse_options(3, shapeless).ok());
  const char* option[] = {"larderd", "--modle", "x"};
  EXPECT_FALSE(parse_options(3, option).ok());
}

TEST_F(Larderd, PrintsKeyAndReadyAndEndsOnSigterm) {
  Process run(
      {"--model", model_, "--data", data(), "--listen", "127.0.0.1:0", "--print-key", "--set", "pool.bytes=8388608"});
  EXPECT_EQ(run.line().rfind("larderd key lk-", 0), 0u);
  const std::string ready = run.line();
  EXPECT_EQ(ready.rfind("larderd ready http://127.0.0.1:", 0), 0u) << ready;
  EXPECT_NE(ready, "larderd ready http://127.0.0.1:0");
  const auto begun = std::chrono::steady_clock::now();
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), kOk) << run.errors();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

// A file of 64 GiB, of which all but the weights is a hole: its digest takes most of a minute.
TEST_F(Larderd, IsReadyBeforeTheModelsDigestAndEndsWithoutIt) {
  const std::string large = (folder_ / "large.gguf").string();
  std::filesystem::copy_file(model_, large);
  std::filesystem::permissions(large, std::filesystem::perms::owner_all);
  std::filesystem::resize_file(large, std::uintmax_t{64} << 30);
  Process run({"--model", large, "--data", data(), "--listen", "127.0.0.1:0", "--set", "pool.bytes=8388608"});
  EXPECT_EQ(run.line().rfind("larderd ready http://127.0.0.1:", 0), 0u);
  EXPECT_FALSE(std::filesystem::exists(data() + "/digests"));
  const auto begun = std::chrono::steady_clock::now();
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), kOk) << run.errors();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  EXPECT_FALSE(std::filesystem::exists(data() + "/digests"));
}

TEST_F(Larderd, WithoutAModelItStartsAndLeavesAFirstKey) {
  Process run({"--data", data(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(run.line().rfind("larderd ready http://", 0), 0u);
  std::ifstream key(data() + "/first.key");
  std::string text;
  EXPECT_TRUE(std::getline(key, text));
  EXPECT_EQ(text.rfind("lk-", 0), 0u);
  run.signal(SIGINT);
  EXPECT_EQ(run.wait(), kOk);
}

TEST_F(Larderd, EachRefusalHasItsCodeAndSaysWhatToDo) {
  {
    Process usage({"--set", "engine.step_mss=4"});
    EXPECT_EQ(usage.wait(), kUsage);
    EXPECT_NE(usage.errors().find("engine.step_ms"), std::string::npos) << usage.errors();
  }
  {
    Process model({"--model", folder_.string() + "/none.gguf", "--data", data(), "--listen", "127.0.0.1:0"});
    EXPECT_EQ(model.wait(), kModelRefused) << model.errors();
  }
  {
    const std::string bad = folder_.string() + "/bad.gguf";
    std::ofstream(bad) << "no model";
    Process model({"--model", bad, "--data", data(), "--listen", "127.0.0.1:0"});
    EXPECT_EQ(model.wait(), kModelRefused) << model.errors();
  }
  {
    std::ofstream(folder_ / "file") << "x";
    Process folder({"--data", (folder_ / "file").string(), "--listen", "127.0.0.1:0"});
    EXPECT_EQ(folder.wait(), kDataRefused) << folder.errors();
  }
  Process first({"--data", data(), "--listen", "127.0.0.1:0"});
  const std::string ready = first.line();
  ASSERT_EQ(ready.rfind("larderd ready http://", 0), 0u);
  {
    Process held({"--data", data(), "--listen", "127.0.0.1:0"});
    EXPECT_EQ(held.wait(), kDataRefused) << held.errors();
  }
  {
    Process port({"--data", data() + "2", "--listen", ready.substr(std::string("larderd ready http://").size())});
    EXPECT_EQ(port.wait(), kPortTaken) << port.errors();
  }
  {
    Process lan({"--data", data() + "3", "--listen", "0.0.0.0:0"});
    EXPECT_EQ(lan.wait(), kUsage) << lan.errors();
  }
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), kOk);
}

}  // namespace
}  // namespace larder::larderd
