// SPDX-License-Identifier: Apache-2.0
// larderd: the engine without a screen. Prints `larderd key K` when asked and `larderd ready http://ADDR:PORT` when it
// can answer, both on stdout; logs go to stderr. Ends on SIGTERM or SIGINT. Exit codes: 0 ok, 2 usage, 3 model refused,
// 4 port taken, 5 data folder refused.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <future>
#include <string>

#include "runtime/base/log.h"
#include "runtime/engine/engine.h"
#include "runtime/entry/pack.h"
#include "runtime/http/server.h"
#include "runtime/larderd/options.h"
#include "storage/data_dir.h"

namespace larder::larderd {
namespace {

int refuse(ExitCode code, const Error& error) {
  std::fprintf(stderr, "larderd: %s\n", error.message.c_str());
  return code;
}

sigset_t end_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

// One answer of the engine, or nothing when a signal asks to end first.
std::optional<Result<engine::VerbResult>> perform_or_end(engine::Engine& engine, engine::Verb verb) {
  auto promise = std::make_shared<std::promise<Result<engine::VerbResult>>>();
  auto future = promise->get_future();
  engine.perform(engine.local_admin(), std::move(verb),
                 [promise](Result<engine::VerbResult> result) { promise->set_value(std::move(result)); });
  const sigset_t signals = end_signals();
  while (future.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const timespec at_once{0, 0};
    if (sigtimedwait(&signals, nullptr, &at_once) > 0) return std::nullopt;
  }
  return future.get();
}

// The first run's way in: an admin key in a file that only its owner reads.
Status write_first_key(engine::Engine& engine, const std::string& folder) {
  if (!engine.snapshot(engine.local_admin(), 0)->keys.empty()) return {};
  const auto made = perform_or_end(engine, engine::CreateKey{{}, "first key", true, false});
  if (!made) return {};
  if (!made->ok()) return made->error();
  const std::string path = folder + "/first.key";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const std::string line = (*made)->secret + "\n";
  const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (file >= 0) ::close(file);
  if (!written) return Error{ErrorCode::kIo, "cannot write " + path + ": check the data folder", path};
  log::info("larderd", "a first key with the admin right lies in " + path + ": read it, then delete the file");
  return {};
}

Result<std::unique_ptr<http::Server>> start_server(engine::Engine& engine, bool has_key) {
  http::ServerOptions options = http::options_from(engine.settings());
  options.has_key = has_key;
  return http::Server::start(engine, std::move(options));
}

void wait_for_end() {
  const sigset_t signals = end_signals();
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
}

int serve(const Options& options, engine::Engine& engine, const std::string& folder) {
  if (options.print_key) {
    const auto key = perform_or_end(engine, engine::CreateKey{{}, "--print-key", true, true});
    if (!key) return kOk;
    if (!key->ok()) return refuse(kDataRefused, key->error());
    std::printf("larderd key %s\n", (*key)->secret.c_str());
    std::fflush(stdout);
  } else if (const Status first = write_first_key(engine, folder); !first.ok()) {
    return refuse(kDataRefused, first.error());
  }
  auto server = start_server(engine, true);
  if (!server.ok()) {
    return refuse(server.error().code == ErrorCode::kConflict ? kPortTaken : kUsage, server.error());
  }
  const std::string url = "http://" + (*server)->address();
  engine.announce(url);
  if (!options.model.empty()) {
    std::error_code failed;
    const std::string path = std::filesystem::absolute(options.model, failed).string();
    const auto loaded = perform_or_end(engine, engine::LoadModel{path});
    if (!loaded) return kOk;
    if (!loaded->ok()) return refuse(kModelRefused, loaded->error());
  }
  std::printf("larderd ready %s\n", url.c_str());
  std::fflush(stdout);
  wait_for_end();
  (*server)->stop();
  return kOk;
}

int run(int argc, char** argv) {
  const Result<Options> options = parse_options(argc, argv);
  if (!options.ok()) return refuse(kUsage, options.error());
  if (options->help) {
    std::fputs(options->text.c_str(), stdout);
    return kOk;
  }
  if (options->version) {
    std::printf("larderd %s\n", LARDER_VERSION);
    return kOk;
  }
  std::string folder = options->data;
  if (folder.empty()) {
    Result<std::string> found = storage::default_data_dir();
    if (!found.ok()) return refuse(kDataRefused, found.error());
    folder = std::move(found).value();
  }
  engine::EngineOptions engine_options;
  engine_options.data_dir = folder;
  engine_options.overrides = options->overrides;
  std::error_code failed;
  engine_options.packs_dir = entry::find_packs_folder(std::filesystem::read_symlink("/proc/self/exe", failed).string());
  auto engine = engine::Engine::open(std::move(engine_options));
  if (!engine.ok()) return refuse(kDataRefused, engine.error());
  return serve(*options, **engine, folder);
}

}  // namespace
}  // namespace larder::larderd

int main(int argc, char** argv) {
  // Blocked before any thread starts, so that only the main thread takes them, by waiting.
  const sigset_t signals = larder::larderd::end_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return larder::larderd::run(argc, argv);
}
