// SPDX-License-Identifier: Apache-2.0
#include "runtime/larderctl/watch.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

namespace larder::larderctl {
namespace {

using Json = nlohmann::json;

constexpr auto kLookEvery = std::chrono::milliseconds(200);

double number(const Json& job, const char* name) {
  const auto found = job.find(name);
  return found != job.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text(const Json& job, const char* name) {
  const auto found = job.find(name);
  return found != job.end() && found->is_string() ? printable(found->get<std::string>()) : std::string();
}

}  // namespace

std::string progress_line(const std::string& body) {
  const Json job = Json::parse(body, nullptr, false);
  if (!job.is_object()) return {};
  const std::string to = text(job, "to");
  std::array<char, 160> counts;
  std::snprintf(counts.data(), counts.size(), ": %.0f of %.0f blocks, %.1f MiB, %.0f %%", number(job, "blocks_done"),
                number(job, "blocks_total"), number(job, "bytes_moved") / (1 << 20), 100 * number(job, "progress"));
  return text(job, "verb") + (to.empty() ? "" : " to " + to) + counts.data();
}

std::string ended_as(const std::string& body) {
  const Json job = Json::parse(body, nullptr, false);
  if (!job.is_object() || job.value("done", Json(false)) != true) return {};
  const std::string state = text(job, "state");
  return state.empty() ? "failed" : state;
}

Result<Reply> watch_job(const Client& client, const std::string& path) {
  const bool shows = ::isatty(STDERR_FILENO) != 0;
  while (true) {
    ASSIGN_OR_RETURN(Reply reply, client.send("GET", path));
    if (reply.status != 200) return reply;
    if (!Json::parse(reply.body, nullptr, false).is_object()) {
      return Error{ErrorCode::kCorrupt, "the server's answer is no job", ""};
    }
    const bool over = !ended_as(reply.body).empty();
    if (shows) std::fprintf(stderr, "\r\x1b[K%s%s", progress_line(reply.body).c_str(), over ? "\n" : "");
    if (over) return reply;
    std::this_thread::sleep_for(kLookEvery);
  }
}

}  // namespace larder::larderctl
