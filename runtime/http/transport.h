// SPDX-License-Identifier: Apache-2.0
// Transport: sockets in, Requests out; Answers in, bytes out. Knows HTTP/1.1 and the limits, and nothing of engines or
// JSON bodies. The only room that includes Beast and Asio is transport.cc.
// Bounds:   ServerLimits; over them the client gets its error (errors.h) or is closed. Pipelined requests are answered
//           one after the other; what a client sends ahead is kept up to max_header_bytes, then not read.
// Ensures:  an AnswerSource is destroyed at once when its client closes, half-closes, or lets a write block too long.
// Threads:  handlers run on an I/O thread, or on the body thread for large bodies; they must not block.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/base/result.h"
#include "runtime/http/message.h"
#include "runtime/http/server.h"

namespace larder::http {

struct TransportOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  unsigned io_threads = 2;
  ServerLimits limits;
};

struct Handlers {
  // Before the body is read: a refusal, or nothing.
  std::function<std::optional<Answer>(const RequestHead&)> screen;
  // The whole request. Foreign exceptions end in a 500 for this request only.
  std::function<Reply(Request)> handle;
};

class Transport {
 public:
  // Errors: kInvalidArgument (address), kConflict (port taken), kIo.
  static Result<std::unique_ptr<Transport>> start(const TransportOptions& options, Handlers handlers);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;
  // As Server::stop.
  void stop();

 private:
  class Core;
  explicit Transport(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

}  // namespace larder::http
