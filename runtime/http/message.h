// SPDX-License-Identifier: Apache-2.0
// Request and Answer: what the transport hands to the routes and takes back, free of sockets and of JSON. An answer is
// either whole or an AnswerSource that the connection pulls pieces from when its outgoing queue has room.
// Threads:  values; an AnswerSource is used by one connection at a time, its wake may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace larder::http {

struct RequestHead {
  std::string method;
  std::string path;   // as sent, still percent-encoded
  std::string query;  // after '?', still encoded
  std::string host;
  std::uint32_t host_count = 0;
  bool has_origin = false;
  std::string origin;
  std::string fetch_site;        // Sec-Fetch-Site, which browsers add to requests that carry no Origin
  std::string content_type;
  std::string content_encoding;
  std::string authorization;
  std::string api_key;           // x-api-key
  bool has_body = false;
  bool peer_is_loopback = false;
  std::string local_address;     // literal the client connected to, without port
};

struct Request {
  RequestHead head;
  std::string body;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Headers headers;
  bool close = false;  // end the connection after it
};

// What an AnswerSource had ready.
struct AnswerPart {
  bool has_head = false;
  Answer head;             // the first part that is not empty carries it; head.body comes before `bytes`
  std::string bytes;
  bool last = false;       // together with the head: sent with Content-Length; else chunked
  bool abort = false;      // end the connection after this part: the answer broke off
  std::int64_t retry_ms = 0;  // nothing ready: pull again after this time even without a wake; 0: only on wake
};

// An answer that comes in pieces or later. Destroyed before its last part: the client is gone, whatever runs for it is
// cancelled at once.
class AnswerSource {
 public:
  virtual ~AnswerSource() = default;
  // Called once, before the first pull. `wake` asks for another pull; it never blocks.
  virtual void start(std::function<void()> wake) = 0;
  virtual AnswerPart pull() = 0;
  // Called after a time of silence; what it answers is sent as it is (a comment in an event stream).
  virtual AnswerPart ping() { return {}; }
};

using Reply = std::variant<Answer, std::unique_ptr<AnswerSource>>;

}  // namespace larder::http
