// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/rng.h"
#include "runtime/http/routes.h"
#include "runtime/http/transport.h"
#include "runtime/settings/settings.h"

namespace larder::http {
namespace {

struct Listen {
  std::string address;
  std::uint16_t port = 0;
  bool loopback = false;
};

bool is_loopback(const std::string& address) {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

Result<Listen> parse_listen(const std::string& text) {
  const Error bad{ErrorCode::kInvalidArgument, "cannot listen on '" + text.substr(0, 80) +
                                                   "': give ADDR:PORT, as in 127.0.0.1:4114 or [::1]:4114",
                  "api.listen"};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return bad;
  Listen listen;
  listen.address = text.substr(0, colon);
  if (listen.address.size() > 2 && listen.address.front() == '[' && listen.address.back() == ']') {
    listen.address = listen.address.substr(1, listen.address.size() - 2);
  } else if (listen.address.find(':') != std::string::npos) {
    return bad;
  }
  if (listen.address == "localhost") listen.address = "127.0.0.1";
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, listen.port);
  if (error != std::errc() || rest != end) return bad;
  listen.loopback = is_loopback(listen.address);
  return listen;
}

Status may_listen(const Listen& listen, const ServerOptions& options) {
  if (listen.loopback) return {};
  if (!options.lan) {
    return Error{ErrorCode::kForbidden,
                 listen.address + " is reachable from other machines: set api.lan = true to allow it, or listen on "
                                  "127.0.0.1",
                 "api.lan"};
  }
  if (!options.has_key) {
    return Error{ErrorCode::kForbidden,
                 listen.address + " is reachable from other machines and no key exists: create one first", "api.lan"};
  }
  return {};
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : text + ' ') {
    if (c != ' ' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, {}));
    }
  }
  return out;
}

std::string lowered(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

GuardRules rules_of(const ServerOptions& options) {
  GuardRules rules;
  rules.lan = options.lan;
  rules.allowed_hosts = options.allowed_hosts;
  rules.allowed_origins = options.allowed_origins;
  std::array<char, 256> name{};
  if (options.lan && gethostname(name.data(), name.size() - 1) == 0) {
    const std::string lower = lowered(name.data());
    rules.allowed_hosts.push_back(lower);
    rules.allowed_hosts.push_back(lower + ".local");
  }
  return rules;
}

// Of unseeded sampling: differs from run to run, and is no secret.
std::uint64_t run_seed(const Clock& clock) {
  return mix64(static_cast<std::uint64_t>(clock.wall()) ^ mix64(static_cast<std::uint64_t>(clock.now())));
}

}  // namespace

class Server::Core {
 public:
  Core(engine::Engine& engine, const ServerOptions& options)
      : routes(engine, rules_of(options), JsonLimits{options.limits.max_json_depth, JsonLimits{}.values},
               run_seed(SystemClock())) {}

  Routes routes;
  std::unique_ptr<Transport> transport;  // last: its threads use the routes
  std::string address;
};

ServerOptions options_from(const settings::Settings& settings) {
  using settings::Key;
  ServerOptions options;
  options.listen = settings.text(Key::kApiListen);
  options.lan = settings.flag(Key::kApiLan);
  options.allowed_hosts = words(lowered(settings.text(Key::kApiAllowedHosts)));
  options.allowed_origins = words(settings.text(Key::kApiAllowedOrigins));
  options.io_threads = static_cast<unsigned>(settings.integer(Key::kApiThreads));
  options.limits.max_connections = static_cast<std::size_t>(settings.integer(Key::kApiMaxConnections));
  options.limits.max_body_bytes = static_cast<std::size_t>(settings.integer(Key::kApiMaxBodyBytes));
  options.limits.max_bodies_bytes = std::max(options.limits.max_bodies_bytes, 2 * options.limits.max_body_bytes);
  options.limits.max_json_depth = static_cast<std::size_t>(settings.integer(Key::kApiMaxDepth));
  options.limits.header_ms = settings.integer(Key::kApiHeaderTimeoutMs);
  options.limits.body_ms = settings.integer(Key::kApiBodyTimeoutMs);
  options.limits.idle_ms = settings.integer(Key::kApiIdleTimeoutMs);
  options.limits.write_ms = settings.integer(Key::kApiWriteTimeoutMs);
  return options;
}

Result<std::unique_ptr<Server>> Server::start(engine::Engine& engine, ServerOptions options) {
  ASSIGN_OR_RETURN(const Listen listen, parse_listen(options.listen));
  RETURN_IF_ERROR(may_listen(listen, options));
  auto core = std::make_unique<Core>(engine, options);
  Routes* routes = &core->routes;
  Handlers handlers;
  handlers.screen = [routes](const RequestHead& head) { return routes->screen(head); };
  handlers.handle = [routes](Request request) { return routes->handle(std::move(request)); };
  const TransportOptions wanted{listen.address, listen.port, options.io_threads, options.limits};
  ASSIGN_OR_RETURN(core->transport, Transport::start(wanted, std::move(handlers)));
  const bool v6 = listen.address.find(':') != std::string::npos;
  core->address = (v6 ? "[" + listen.address + "]" : listen.address) + ":" + std::to_string(core->transport->port());
  log::info("http", "listens on " + core->address);
  return std::unique_ptr<Server>(new Server(std::move(core)));
}

Server::Server(std::unique_ptr<Core> core) : core_(std::move(core)) {}

Server::~Server() { stop(); }

const std::string& Server::address() const { return core_->address; }

void Server::stop() { core_->transport->stop(); }

}  // namespace larder::http
