// SPDX-License-Identifier: Apache-2.0
// Outgoing: one answer as HTTP/1.1 bytes: status line, headers, Content-Length or chunks. Pure; the transport sends
// what take() gives.
// Requires: begin before the first add of each answer; nothing is added after done().
// Threads:  one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/http/message.h"

namespace larder::http {

class Outgoing {
 public:
  // http_1_1: chunks may be used; head_only: a HEAD request, bodies are measured but not sent.
  void begin(bool http_1_1, bool head_only, bool keep_alive);
  void add_whole(const Answer& answer);
  void add(const AnswerPart& part);
  void add_continue() { bytes_ += "HTTP/1.1 100 Continue\r\n\r\n"; }

  std::string take();
  std::size_t size() const { return bytes_.size(); }
  bool started() const { return started_; }  // the head is out
  bool done() const { return done_; }        // the whole answer was added
  bool keep_alive() const { return keep_alive_; }

 private:
  void add_head(const Answer& answer, bool length_known, std::size_t length);
  void add_chunk(std::string_view bytes);

  std::string bytes_;
  bool http_1_1_ = true;
  bool head_only_ = false;
  bool keep_alive_ = true;
  bool chunked_ = false;
  bool started_ = false;
  bool done_ = false;
};

}  // namespace larder::http
