// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/transport.h"

#include <thread>
#include <unordered_map>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include "runtime/base/mutex.h"
#include "runtime/http/connection.inl"

namespace larder::http {

class Transport::Core : public Floor, public std::enable_shared_from_this<Transport::Core> {
 public:
  Core(const TransportOptions& chosen, Handlers given)
      : Floor(chosen, std::move(given)),
        io(static_cast<int>(chosen.io_threads)),
        busy(net::make_work_guard(io)),
        acceptor(net::make_strand(io)),
        accept_pause(acceptor.get_executor()) {}

  Status listen();
  void run();
  void accept();
  void stop();
  void accepted(tcp::socket socket);
  std::vector<std::shared_ptr<Connection>> all() EXCLUDES(mutex_);
  void remove(std::uint64_t id) EXCLUDES(mutex_);
  bool wait_empty(Instant deadline) EXCLUDES(mutex_);

  net::io_context io;
  net::executor_work_guard<net::io_context::executor_type> busy;
  tcp::acceptor acceptor;
  net::steady_timer accept_pause;
  std::atomic<std::size_t> open{0};
  std::uint16_t port = 0;
  std::vector<std::thread> threads;

 private:
  std::uint64_t next_id_ = 0;  // on the acceptor's strand
  Mutex mutex_;
  CondVar emptied_;
  std::unordered_map<std::uint64_t, std::weak_ptr<Connection>> connections_ GUARDED_BY(mutex_);
};

Status Transport::Core::listen() {
  ErrorValue error;
  const net::ip::address address = net::ip::make_address(options.address, error);
  if (error) {
    return Error{ErrorCode::kInvalidArgument, "cannot listen on '" + options.address + "': give a numeric address",
                 "api.listen"};
  }
  const tcp::endpoint endpoint(address, options.port);
  const std::string name = options.address + ":" + std::to_string(options.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(net::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (error == net::error::address_in_use) {
    return Error{ErrorCode::kConflict, "port taken: another program listens on " + name + "; choose another port or 0",
                 "api.listen"};
  }
  if (!error) acceptor.listen(net::socket_base::max_listen_connections, error);
  if (error) return Error{ErrorCode::kIo, "cannot listen on " + name + ": " + error.message(), "api.listen"};
  port = acceptor.local_endpoint(error).port();
  return {};
}

void Transport::Core::run() {
  for (;;) {
    try {
      io.run();
      return;
    } catch (const std::exception& failure) {  // its connection ends with it; the others go on
      log::error("http", std::string("a connection failed: ") + failure.what());
    }
  }
}

// Over the limit a client is still taken in to be told so; far over it, the kernel's queue has to hold them.
void Transport::Core::accept() {
  const std::size_t most = options.limits.max_connections + options.limits.max_connections / 4 + 16;
  if (open >= most) {
    accept_pause.expires_after(Milliseconds(20));
    accept_pause.async_wait([self = shared_from_this()](const ErrorValue& error) {
      if (!error) self->accept();
    });
    return;
  }
  acceptor.async_accept(net::make_strand(io), [self = shared_from_this()](const ErrorValue& error, tcp::socket socket) {
    if (error == net::error::operation_aborted || self->stopping) return;
    if (!error) {
      self->accepted(std::move(socket));
      return self->accept();
    }
    self->accept_pause.expires_after(Milliseconds(100));  // no descriptors left: let some close
    self->accept_pause.async_wait([self](const ErrorValue& stopped) {
      if (!stopped) self->accept();
    });
  });
}

void Transport::Core::accepted(tcp::socket socket) {
  const bool overloaded = open >= options.limits.max_connections;
  const std::uint64_t id = ++next_id_;
  open.fetch_add(1);
  auto connection = std::make_shared<Connection>(shared_from_this(), std::move(socket), id, overloaded);
  {
    MutexLock lock(mutex_);
    connections_.emplace(id, connection);
  }
  net::post(connection->executor(), [connection] { connection->start(); });
}

void Transport::Core::remove(std::uint64_t id) {
  {
    MutexLock lock(mutex_);
    connections_.erase(id);
  }
  open.fetch_sub(1);
  emptied_.notify_all();
}

std::vector<std::shared_ptr<Connection>> Transport::Core::all() {
  std::vector<std::shared_ptr<Connection>> alive;
  MutexLock lock(mutex_);
  for (const auto& [id, weak] : connections_) {
    if (auto connection = weak.lock()) alive.push_back(std::move(connection));
  }
  return alive;
}

bool Transport::Core::wait_empty(Instant deadline) {
  MutexLock lock(mutex_);
  while (!connections_.empty()) {
    if (!emptied_.wait_until(mutex_, deadline)) return connections_.empty();
  }
  return true;
}

void Transport::Core::stop() {
  if (stopping.exchange(true)) return;
  net::post(acceptor.get_executor(), [self = shared_from_this()] {
    ErrorValue ignored;
    self->acceptor.close(ignored);
    self->accept_pause.cancel();
  });
  for (const auto& connection : all()) net::post(connection->executor(), [connection] { connection->shut_down(); });
  if (!wait_empty(after(options.limits.drain_ms))) {
    for (const auto& connection : all()) net::post(connection->executor(), [connection] { connection->close(); });
  }
  bodies.join();
  busy.reset();
  for (std::thread& thread : threads) thread.join();
}

Transport::Transport(std::shared_ptr<Core> core) : core_(std::move(core)) {}

Transport::~Transport() { stop(); }

Result<std::unique_ptr<Transport>> Transport::start(const TransportOptions& options, Handlers handlers) {
  auto core = std::make_shared<Core>(options, std::move(handlers));
  core->left = [raw = core.get()](std::uint64_t id) { raw->remove(id); };
  RETURN_IF_ERROR(core->listen());
  net::post(core->acceptor.get_executor(), [core] { core->accept(); });
  for (unsigned i = 0; i < std::max(1u, options.io_threads); ++i) core->threads.emplace_back([core] { core->run(); });
  return std::unique_ptr<Transport>(new Transport(std::move(core)));
}

std::uint16_t Transport::port() const { return core_->port; }

std::size_t Transport::connections() const { return core_->open; }

void Transport::stop() { core_->stop(); }

}  // namespace larder::http
