// SPDX-License-Identifier: Apache-2.0
// Client: larderctl's way to a larderd or a window that serves: one JSON request, one JSON answer, over libcurl.
// What it is not: a client for completions; it streams nothing and follows no redirect.
// Bounds:   answers up to 256 MiB; 5 s to connect, 30 s for an answer (10 minutes to load a model).
// Errors:   kIo (cannot reach), and the server's own by its status; the message is the server's, with control
//           characters replaced.
// Threads:  one.
#pragma once

#include <string>

#include "runtime/base/result.h"

namespace larder::larderctl {

struct Reply {
  long status = 0;
  std::string body;
};

class Client {
 public:
  // url: http://ADDR:PORT, a trailing slash is dropped. key: empty for keyless loopback.
  Client(std::string url, std::string key);

  // The answer whatever its status. Errors: kIo.
  Result<Reply> send(const std::string& method, const std::string& path, const std::string& body = "") const;

 private:
  const std::string url_;
  const std::string key_;
};

// Text of an error answer; for a body that is not the API's, a line about the status.
std::string error_message(const Reply& reply);
// 0 below 400; else larderctl's exit status, see main.cc.
int exit_status(long http_status);

// A text as it may be shown on a terminal: control characters become '?', so that a name cannot steer it.
std::string printable(const std::string& text);

}  // namespace larder::larderctl
