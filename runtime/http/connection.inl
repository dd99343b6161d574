// SPDX-License-Identifier: Apache-2.0
// Connection: one client's socket and its place in the exchange of requests and answers. Part of transport.cc alone, so
// that Beast and Asio are compiled once; the rules it keeps are transport.h's.
// Threads:  everything but the destructor and wake runs on the socket's strand.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "runtime/base/log.h"
#include "runtime/http/errors.h"
#include "runtime/http/outgoing.h"
#include "runtime/http/transport.h"

namespace larder::http {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
using tcp = net::ip::tcp;
using Parser = beast::http::request_parser<beast::http::string_body>;
using ErrorValue = boost::system::error_code;
using Instant = std::chrono::steady_clock::time_point;
using Milliseconds = std::chrono::milliseconds;

constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::size_t kIdleReadBytes = 2 * 1024;
constexpr std::size_t kLargeBody = 64 * 1024;   // parsed on the body thread, so that a probe never waits for it
constexpr std::size_t kSliceBytes = 64 * 1024;  // of a whole answer that one write deadline covers
constexpr std::size_t kLingerBytes = 64 << 20;  // of a refused body read and dropped, so that the refusal arrives
constexpr std::int64_t kLingerMs = 2000;      // also the header of a client over max_connections
constexpr int kSendBuffer = 128 * 1024;          // bounds what the kernel holds for a reader that has stopped
constexpr Instant kNever = Instant::max();

Instant after(std::int64_t ms) { return std::chrono::steady_clock::now() + Milliseconds(ms); }

net::ip::address plain(const net::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return net::ip::make_address_v4(net::ip::v4_mapped, address.to_v6());
}

// What connections share. They hold it, so it outlives every wake that an answer's producer may still send.
struct Floor {
  Floor(const TransportOptions& chosen, Handlers given) : options(chosen), handlers(std::move(given)) {}

  const TransportOptions options;
  const Handlers handlers;
  net::thread_pool bodies{1};
  std::atomic<std::size_t> bodies_bytes{0};
  std::atomic<bool> stopping{false};
  std::function<void(std::uint64_t)> left;  // a connection's id, once it is gone; from any thread
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Floor> floor, tcp::socket socket, std::uint64_t id, bool overloaded);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  void shut_down();  // ends after the answer under way, at once when there is none
  void close();
  auto executor() { return socket_.get_executor(); }

 private:
  // kAnswer: from the dispatch of a request until its last byte is written.
  enum class State { kIdle, kHeader, kBody, kAnswer, kLinger, kClosed };

  void read();
  void on_read(const ErrorValue& error, std::size_t bytes);
  void consume();
  void parse_header();
  void header_done();
  void parse_body();
  void parse_failed(const ErrorValue& error);
  RequestHead read_head() const;
  std::optional<Answer> unacceptable(const RequestHead& head) const;
  void begin_answer();
  void refuse(const Answer& answer);
  void dispatch();
  void on_reply(Reply reply);
  void wake();
  void pull();
  bool take(AnswerPart part);
  void write();
  void on_written(const ErrorValue& error, std::size_t bytes);
  void settle();
  void answered();
  void arm();
  void on_timer();
  void release_body();
  bool reserve_body();

  const std::shared_ptr<Floor> floor_;  // first: destroyed last
  const ServerLimits& limits_;
  const std::uint64_t id_;
  const bool overloaded_;
  tcp::socket socket_;
  net::steady_timer timer_;
  State state_ = State::kHeader;
  std::string arriving_;       // a read may be under way while buffer_ is parsed, so it goes here first
  beast::flat_buffer buffer_;  // read and not yet parsed
  std::optional<Parser> parser_;
  RequestHead head_;
  Outgoing outgoing_;
  std::unique_ptr<AnswerSource> source_;
  std::string writing_;  // being sent, from writing_at_
  std::size_t writing_at_ = 0;
  bool reading_ = false;
  bool write_busy_ = false;
  bool peer_closed_ = false;
  bool aborting_ = false;  // close once what is queued is written
  std::atomic<bool> wake_posted_{false};
  std::size_t body_reserved_ = 0;
  std::size_t lingered_ = 0;
  Instant read_deadline_ = kNever;
  Instant write_deadline_ = kNever;
  Instant ping_at_ = kNever;
  Instant retry_at_ = kNever;
  Instant armed_for_ = kNever;
};

Connection::Connection(std::shared_ptr<Floor> floor, tcp::socket socket, std::uint64_t id, bool overloaded)
    : floor_(std::move(floor)),
      limits_(floor_->options.limits),
      id_(id),
      overloaded_(overloaded),
      socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      buffer_(floor_->options.limits.max_header_bytes + kReadBytes) {}

Connection::~Connection() {
  release_body();
  floor_->left(id_);
}

void Connection::start() {
  ErrorValue ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.set_option(net::socket_base::send_buffer_size(kSendBuffer), ignored);
  const tcp::endpoint remote = socket_.remote_endpoint(ignored);
  if (ignored) return close();
  head_.peer_is_loopback = plain(remote.address()).is_loopback();
  head_.local_address = plain(socket_.local_endpoint(ignored).address()).to_string();
  read_deadline_ = after(overloaded_ ? std::min(kLingerMs, limits_.header_ms) : limits_.header_ms);
  arm();
  read();
}

void Connection::shut_down() {
  if (state_ != State::kAnswer && state_ != State::kLinger) close();
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  source_.reset();
  release_body();
  timer_.cancel();
  ErrorValue ignored;
  socket_.close(ignored);
}

// While an answer is under way the read stays open to see the client leave; what it sends ahead waits in the buffer.
void Connection::read() {
  if (reading_ || state_ == State::kClosed) return;
  if (state_ == State::kAnswer && buffer_.size() >= limits_.max_header_bytes) return;
  reading_ = true;
  arriving_.resize(state_ == State::kBody || state_ == State::kLinger ? kReadBytes : kIdleReadBytes);
  socket_.async_read_some(net::buffer(arriving_), [self = shared_from_this()](const ErrorValue& error, std::size_t n) {
    self->on_read(error, n);
  });
}

void Connection::on_read(const ErrorValue& error, std::size_t bytes) {
  reading_ = false;
  if (state_ == State::kClosed) return;
  buffer_.commit(net::buffer_copy(buffer_.prepare(bytes), net::buffer(arriving_, bytes)));
  if (error) {
    peer_closed_ = true;
    const bool whole_on_its_way = state_ == State::kAnswer && outgoing_.done() && error == net::error::eof;
    return whole_on_its_way ? void() : close();
  }
  if (state_ == State::kLinger) {
    lingered_ += buffer_.size();
    buffer_.consume(buffer_.size());
    if (lingered_ > kLingerBytes) return close();
  } else if (state_ != State::kAnswer) {
    consume();
  }
  read();
}

void Connection::consume() {
  if (state_ == State::kIdle && buffer_.size() > 0) {
    state_ = State::kHeader;
    read_deadline_ = after(limits_.header_ms);
    arm();
  }
  if (state_ == State::kHeader && buffer_.size() > 0) parse_header();
  if (state_ == State::kBody) parse_body();
}

void Connection::parse_header() {
  if (!parser_) {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(limits_.max_header_bytes));
    parser_->body_limit(limits_.max_body_bytes);
  }
  ErrorValue error;
  buffer_.consume(parser_->put(buffer_.data(), error));
  if (error == beast::http::error::need_more) {
    if (buffer_.size() > limits_.max_header_bytes) parse_failed(beast::http::error::header_limit);
    return;
  }
  if (error) return parse_failed(error);
  if (parser_->is_header_done()) header_done();
}

void Connection::parse_failed(const ErrorValue& error) {
  if (error == beast::http::error::header_limit) {
    const std::string limit = std::to_string(limits_.max_header_bytes);
    return refuse(plain_error(431, "headers_too_large", "the request's headers are longer than " + limit + " bytes"));
  }
  if (error == beast::http::error::body_limit) {
    const std::string limit = std::to_string(limits_.max_body_bytes);
    return refuse(plain_error(413, "body_too_large",
                              "the body is longer than " + limit + " bytes: send less, or raise api.max_body_bytes"));
  }
  if (error == beast::http::error::bad_version) return refuse(plain_error(505, "http_version", "use HTTP/1.1"));
  refuse(plain_error(400, "bad_request", "this is not an HTTP/1.1 request: " + error.message()));
}

RequestHead Connection::read_head() const {
  const auto& message = parser_->get();
  const auto field = [&](beast::http::field name) { return std::string(message[name]); };
  RequestHead head = head_;
  head.method = std::string(message.method_string());
  const std::string target(message.target());
  const std::size_t question = std::min(target.find('?'), target.size());
  head.path = target.substr(0, question);
  head.query = target.substr(std::min(question + 1, target.size()));
  head.host = field(beast::http::field::host);
  head.host_count = static_cast<std::uint32_t>(message.count(beast::http::field::host));
  head.has_origin = message.count(beast::http::field::origin) > 0;
  head.origin = field(beast::http::field::origin);
  head.fetch_site = std::string(message["Sec-Fetch-Site"]);
  head.content_type = field(beast::http::field::content_type);
  head.content_encoding = field(beast::http::field::content_encoding);
  head.authorization = field(beast::http::field::authorization);
  head.api_key = std::string(message["x-api-key"]);
  head.has_body = parser_->chunked() || parser_->content_length().value_or(0) > 0;
  return head;
}

std::optional<Answer> Connection::unacceptable(const RequestHead& head) const {
  const auto& message = parser_->get();
  if (overloaded_) return plain_error(503, "too_many_connections", "too many open connections: try again in a second");
  if (static_cast<std::size_t>(std::distance(message.begin(), message.end())) > limits_.max_headers) {
    const std::string limit = std::to_string(limits_.max_headers);
    return plain_error(431, "too_many_headers", "the request has more than " + limit + " headers");
  }
  if (message.target().size() > limits_.max_target_bytes) {
    return plain_error(414, "target_too_long", "the request's path is too long");
  }
  if (head.path.empty() || (head.path.front() != '/' && head.path != "*")) {
    return plain_error(400, "bad_target", "the request's target must be a path, as in GET /v1/models");
  }
  const auto expect = message[beast::http::field::expect];
  if (!expect.empty() && !beast::iequals(expect, "100-continue")) {
    return plain_error(417, "bad_expectation", "the only Expect this server knows is 100-continue");
  }
  return floor_->handlers.screen(head);
}

// A body's bytes count against all bodies together from before it is read until its handler is done.
bool Connection::reserve_body() {
  const std::uint64_t announced = parser_->content_length().value_or(0);
  body_reserved_ = parser_->chunked() ? limits_.max_body_bytes : static_cast<std::size_t>(announced);
  return floor_->bodies_bytes.fetch_add(body_reserved_) + body_reserved_ <= limits_.max_bodies_bytes;
}

void Connection::release_body() {
  floor_->bodies_bytes.fetch_sub(body_reserved_);
  body_reserved_ = 0;
}

void Connection::header_done() {
  head_ = read_head();
  if (const std::optional<Answer> refusal = unacceptable(head_)) return refuse(*refusal);
  if (!reserve_body()) {
    return refuse(plain_error(503, "too_many_bodies", "too many large requests at once: try again in a second"));
  }
  state_ = State::kBody;
  read_deadline_ = after(limits_.body_ms);
  arm();
  if (!parser_->is_done() && !parser_->get()[beast::http::field::expect].empty()) {
    outgoing_.add_continue();
    write();
  }
}

void Connection::parse_body() {
  parser_->eager(true);
  ErrorValue error;
  if (!parser_->is_done() && buffer_.size() > 0) buffer_.consume(parser_->put(buffer_.data(), error));
  if (error && error != beast::http::error::need_more) return parse_failed(error);
  if (parser_->is_done()) dispatch();
}

void Connection::begin_answer() {
  state_ = State::kAnswer;
  read_deadline_ = kNever;
  const bool known = parser_ && parser_->is_header_done();
  outgoing_.begin(known && parser_->get().version() == 11, head_.method == "HEAD", known && parser_->keep_alive());
}

// A refusal; when the body was not read, the connection cannot go on.
void Connection::refuse(const Answer& answer) {
  begin_answer();
  Answer whole = answer;
  whole.close = whole.close || overloaded_ || !parser_ || !parser_->is_done();
  outgoing_.add_whole(whole);
  write();
}

void Connection::dispatch() {
  begin_answer();
  auto request = std::make_shared<Request>();
  request->head = head_;
  request->body = std::move(parser_->get().body());
  const auto handle = [self = shared_from_this(), request]() -> Reply {
    try {
      return self->floor_->handlers.handle(std::move(*request));
    } catch (const std::exception& failure) {  // foreign: bad_alloc and its like
      log::error("http", std::string("a request failed: ") + failure.what());
      return error_answer({ErrorCode::kInternal, "the server could not handle this request", ""});
    }
  };
  if (request->body.size() <= kLargeBody) return on_reply(handle());
  net::post(floor_->bodies, [self = shared_from_this(), handle] {
    auto reply = std::make_shared<Reply>(handle());
    net::post(self->executor(), [self, reply] { self->on_reply(std::move(*reply)); });
  });
}

void Connection::on_reply(Reply reply) {
  release_body();
  if (state_ == State::kClosed) return;
  parser_.reset();
  if (const Answer* whole = std::get_if<Answer>(&reply)) {
    outgoing_.add_whole(*whole);
    return write();
  }
  source_ = std::move(std::get<std::unique_ptr<AnswerSource>>(reply));
  ping_at_ = after(limits_.ping_ms);
  source_->start([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->wake();
  });
  pull();
  read();
}

// From any thread, perhaps under a lock of the answer's producer: so the last reference is let go on the strand.
void Connection::wake() {
  if (wake_posted_.exchange(true)) return;
  auto self = floor_->stopping ? nullptr : shared_from_this();
  net::post(socket_.get_executor(), [weak = weak_from_this(), self = std::move(self)] {
    if (const auto alive = weak.lock()) {
      alive->wake_posted_ = false;
      alive->pull();
    }
  });
}

void Connection::pull() {
  retry_at_ = kNever;
  try {
    while (source_ && !outgoing_.done() && outgoing_.size() < limits_.max_outgoing_bytes) {
      if (!take(source_->pull())) break;
    }
  } catch (const std::exception& failure) {
    log::error("http", std::string("an answer broke off: ") + failure.what());
    return close();
  }
  write();
  arm();
}

// Answers false when nothing more is ready.
bool Connection::take(AnswerPart part) {
  if (part.retry_ms > 0) retry_at_ = after(part.retry_ms);
  if (!part.has_head && part.bytes.empty() && !part.last && !part.abort) return false;
  outgoing_.add(part);
  aborting_ = part.abort;
  if (part.last || part.abort) source_.reset();
  return !part.last && !part.abort;
}

void Connection::write() {
  if (write_busy_ || state_ == State::kClosed) return;
  if (writing_at_ == writing_.size()) {
    writing_ = outgoing_.take();
    writing_at_ = 0;
  }
  if (writing_.empty()) return settle();
  write_busy_ = true;
  write_deadline_ = after(limits_.write_ms);
  arm();
  const std::size_t size = std::min(kSliceBytes, writing_.size() - writing_at_);
  net::async_write(socket_, net::buffer(writing_.data() + writing_at_, size),
                   [self = shared_from_this()](const ErrorValue& error, std::size_t n) { self->on_written(error, n); });
}

void Connection::on_written(const ErrorValue& error, std::size_t bytes) {
  write_busy_ = false;
  write_deadline_ = kNever;
  if (state_ == State::kClosed) return;
  if (error) return close();
  writing_at_ += bytes;
  if (!source_) return write();
  ping_at_ = after(limits_.ping_ms);
  pull();
}

// Nothing is left to write for now; an answer's end may have had no bytes of its own.
void Connection::settle() {
  if (state_ != State::kAnswer) return;
  if (aborting_) return close();
  if (outgoing_.done()) answered();
}

void Connection::answered() {
  ping_at_ = kNever;
  parser_.reset();
  if (peer_closed_) return close();
  if (!outgoing_.keep_alive() || floor_->stopping) {
    ErrorValue ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    state_ = State::kLinger;
    buffer_.consume(buffer_.size());
    read_deadline_ = after(kLingerMs);
  } else {
    outgoing_.begin(true, false, true);
    state_ = State::kIdle;
    read_deadline_ = after(limits_.idle_ms);
    consume();
  }
  arm();
  read();
}

void Connection::arm() {
  const Instant next = std::min({read_deadline_, write_deadline_, ping_at_, retry_at_});
  if (state_ == State::kClosed || next >= armed_for_) return;
  armed_for_ = next;
  timer_.expires_at(next);
  timer_.async_wait([self = shared_from_this()](const ErrorValue& error) {
    if (error || self->state_ == State::kClosed) return;
    self->armed_for_ = kNever;
    self->on_timer();
  });
}

void Connection::on_timer() {
  const Instant now = std::chrono::steady_clock::now();
  if (now >= write_deadline_) return close();
  if (now >= read_deadline_) {
    read_deadline_ = kNever;
    const bool partial = (state_ == State::kHeader && buffer_.size() > 0) || state_ == State::kBody;
    if (!partial) return close();
    refuse(plain_error(408, "request_timeout", "the request did not arrive in time"));
  }
  if (now >= ping_at_) {
    ping_at_ = after(limits_.ping_ms);
    if (source_ && !write_busy_) take(source_->ping());
    write();
  }
  if (now >= retry_at_) pull();
  arm();
}

}  // namespace
}  // namespace larder::http
