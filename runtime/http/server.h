// SPDX-License-Identifier: Apache-2.0
// Server: the loopback API in front of one engine (runtime/http/API.md). It parses, asks the engine and prints; it
// decides nothing about scheduling, quota or rights. What it is not: a web server; it serves no files.
// Bounds:   every size, count and time in ServerLimits; over them a client gets a typed error or is closed.
// Threads:  start, address and stop from the owner's thread. Own threads: io_threads for sockets, one for large bodies;
//           none of them ever waits for the engine.
// Requires: the engine outlives the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace larder::engine {
class Engine;
}
namespace larder::settings {
class Settings;
}

namespace larder::http {

// Units: as named. Source: limits N1, N2 and N4 of the project's reliability goals; API.md lists them for clients.
struct ServerLimits {
  std::size_t max_connections = 256;           // one more is answered 503 with Retry-After
  std::size_t max_header_bytes = 16 * 1024;    // request line and headers; over: 431
  std::size_t max_headers = 100;               // over: 431
  std::size_t max_target_bytes = 8 * 1024;     // over: 414
  std::size_t max_body_bytes = 16 << 20;       // over: 413
  std::size_t max_bodies_bytes = 128 << 20;    // of all requests being read at once; over: 503
  std::size_t max_json_depth = 64;             // over: 400
  std::size_t max_outgoing_bytes = 64 * 1024;  // queued per connection; a fuller queue pauses the answer
  std::int64_t header_ms = 10'000;             // whole header, from its first byte or from accept
  std::int64_t body_ms = 30'000;               // whole body
  std::int64_t idle_ms = 60'000;               // between requests
  std::int64_t write_ms = 30'000;              // one queue's worth blocked in the socket
  std::int64_t ping_ms = 15'000;               // silence in an event stream before a comment is sent
  std::int64_t drain_ms = 2'500;               // stop(): answers under way may end
};

struct ServerOptions {
  std::string listen = "127.0.0.1:4114";     // ADDR:PORT or [V6]:PORT; port 0 takes a free one
  bool lan = false;                          // api.lan: allows an address beyond loopback
  bool has_key = false;                      // a key exists; an address beyond loopback needs one
  std::vector<std::string> allowed_hosts;    // more names for the Host header (a NAS's own name)
  std::vector<std::string> allowed_origins;  // web pages that may call; empty: none
  unsigned io_threads = 2;
  ServerLimits limits;
};

// Reads what the settings table knows (api.*); the rest keeps its default.
ServerOptions options_from(const settings::Settings& settings);

class Server {
 public:
  // Listens and serves at once. Errors: kInvalidArgument (address), kForbidden (beyond loopback without api.lan or
  // without a key), kConflict (port taken), kIo.
  static Result<std::unique_ptr<Server>> start(engine::Engine& engine, ServerOptions options);
  ~Server();  // stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "127.0.0.1:4114", with the real port.
  const std::string& address() const;
  // Takes no new request, lets answers under way end for drain_ms, cancels the rest and joins its threads. Idempotent.
  void stop();

 private:
  class Core;
  explicit Server(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace larder::http
