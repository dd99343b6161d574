// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/outgoing.h"

#include <array>
#include <charconv>

#include "runtime/http/errors.h"

namespace larder::http {

void Outgoing::begin(bool http_1_1, bool head_only, bool keep_alive) {
  http_1_1_ = http_1_1;
  head_only_ = head_only;
  keep_alive_ = keep_alive;
  chunked_ = started_ = done_ = false;
}

std::string Outgoing::take() {
  std::string bytes;
  bytes.swap(bytes_);
  return bytes;
}

void Outgoing::add_head(const Answer& answer, bool length_known, std::size_t length) {
  started_ = true;
  chunked_ = !length_known && http_1_1_;
  if (answer.close || (!length_known && !http_1_1_)) keep_alive_ = false;
  bytes_ += "HTTP/1.1 " + std::to_string(answer.status) + ' ';
  bytes_ += reason_phrase(answer.status);
  bytes_ += "\r\nServer: larder\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  if (!answer.content_type.empty() && answer.status != 204) bytes_ += "Content-Type: " + answer.content_type + "\r\n";
  for (const auto& [name, value] : answer.headers) bytes_ += name + ": " + value + "\r\n";
  if (length_known && answer.status != 204) bytes_ += "Content-Length: " + std::to_string(length) + "\r\n";
  if (chunked_) bytes_ += "Transfer-Encoding: chunked\r\n";
  bytes_ += keep_alive_ ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
}

void Outgoing::add_chunk(std::string_view bytes) {
  if (bytes.empty() || head_only_) return;
  if (!chunked_) {
    bytes_ += bytes;
    return;
  }
  std::array<char, 17> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), bytes.size(), 16);
  bytes_.append(digits.data(), result.ptr);
  bytes_ += "\r\n";
  bytes_ += bytes;
  bytes_ += "\r\n";
}

void Outgoing::add_whole(const Answer& answer) {
  add_head(answer, true, answer.body.size());
  if (!head_only_) bytes_ += answer.body;
  done_ = true;
}

void Outgoing::add(const AnswerPart& part) {
  if (part.has_head && part.last) {
    add_head(part.head, true, part.head.body.size() + part.bytes.size());
    if (!head_only_) bytes_ += part.head.body + part.bytes;
    done_ = true;
    return;
  }
  if (part.has_head) {
    add_head(part.head, false, 0);
    add_chunk(part.head.body);
  }
  add_chunk(part.bytes);
  if (part.last) {
    if (chunked_ && !head_only_) bytes_ += "0\r\n\r\n";
    done_ = true;
  }
}

}  // namespace larder::http
