// SPDX-License-Identifier: Apache-2.0
// RawClient: a TCP client that sends exactly the bytes it is told, for tests of what no well-behaved client sends.
// Reads wait at most 20 s.    Threads: one.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace larder::test {

struct WireAnswer {
  int status = 0;  // 0: the connection ended before a whole head
  std::string head;
  std::string body;  // chunks joined
  bool complete = false;
  bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval wait{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  void close_sending() { ::shutdown(socket_, SHUT_WR); }
  void reset() {
    const linger now{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

  // Sends a byte every 20 ms until the server says something.
  void trickle_until_answered() {
    pollfd readable{socket_, POLLIN, 0};
    while (::poll(&readable, 1, 20) == 0 && send("x")) {
    }
  }

  // The next answer; `head_only` after a HEAD request.
  WireAnswer answer(bool head_only = false) {
    WireAnswer out;
    if (!fill_until("\r\n\r\n")) return out;
    const std::size_t end = buffer_.find("\r\n\r\n") + 4;
    out.head = buffer_.substr(0, end);
    buffer_.erase(0, end);
    out.status = std::atoi(out.head.c_str() + 9);
    if (out.status == 100) return out;
    if (head_only || out.status == 204) {
      out.complete = true;
    } else if (out.has("Transfer-Encoding: chunked")) {
      out.complete = read_chunks(out.body);
    } else if (const std::size_t at = out.head.find("Content-Length: "); at != std::string::npos) {
      const auto length = static_cast<std::size_t>(std::atoll(out.head.c_str() + at + 16));
      while (buffer_.size() < length && fill()) {
      }
      out.complete = buffer_.size() >= length;
      out.body = buffer_.substr(0, length);
      buffer_.erase(0, out.body.size());
    } else {
      while (fill()) {
      }
      out.complete = !timed_out_;
      out.body.swap(buffer_);
    }
    return out;
  }

  // Reads until `text` was received; false when the connection ended before.
  bool fill_until(std::string_view text) {
    while (buffer_.find(text) == std::string::npos) {
      if (!fill()) return false;
    }
    return true;
  }
  // True when the server ends the connection, dropping what it still sends.
  bool ended() {
    while (fill()) {
    }
    return !timed_out_;
  }
  const std::string& received() const { return buffer_; }

 private:
  bool fill() {
    char bytes[16384];
    const ssize_t n = ::recv(socket_, bytes, sizeof bytes, 0);
    if (n <= 0) {
      timed_out_ = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
      return false;
    }
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  bool read_chunks(std::string& body) {
    for (;;) {
      if (!fill_until("\r\n")) return false;
      const std::size_t line = buffer_.find("\r\n");
      const auto size = static_cast<std::size_t>(std::strtoull(buffer_.c_str(), nullptr, 16));
      while (buffer_.size() < line + 2 + size + 2) {
        if (!fill()) return false;
      }
      body += buffer_.substr(line + 2, size);
      buffer_.erase(0, line + 2 + size + 2);
      if (size == 0) return true;
    }
  }

  int socket_;
  bool connected_ = false;
  bool timed_out_ = false;
  std::string buffer_;
};

}  // namespace larder::test
