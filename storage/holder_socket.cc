// SPDX-License-Identifier: Apache-2.0
#include "storage/holder_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "storage/durable_file.h"

namespace larder::storage {
namespace {

constexpr std::string_view kHead = "larder holder 1\n";
constexpr std::size_t kMaxUrl = 512;
constexpr int kPatienceSeconds = 2;

// A socket address holds 107 characters and a data folder may be deeper, so the folder is named by its descriptor.
struct Address {
  int folder_fd = -1;
  sockaddr_un name{};

  explicit Address(const std::string& folder) : folder_fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    const std::string path = "/proc/self/fd/" + std::to_string(folder_fd) + "/holder.sock";
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  }
  ~Address() {
    if (folder_fd >= 0) ::close(folder_fd);
  }
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Result<Holder> parse(std::string_view answer) {
  const Error strange{ErrorCode::kIo, "the folder's holder gave a strange answer", {}};
  if (answer.substr(0, kHead.size()) != kHead) return strange;
  answer.remove_prefix(kHead.size());
  Holder holder;
  const auto [end, error] = std::from_chars(answer.data(), answer.data() + answer.size(), holder.pid);
  if (error != std::errc{} || end == answer.data() + answer.size() || *end != '\n') return strange;
  answer.remove_prefix(static_cast<std::size_t>(end - answer.data()) + 1);
  const std::size_t line = answer.find('\n');
  if (line == std::string_view::npos) return strange;
  holder.url = answer.substr(0, line);
  return holder;
}

}  // namespace

HolderSocket::HolderSocket(std::string path, int socket_fd, int stop_fd)
    : path_(std::move(path)), socket_fd_(socket_fd), stop_fd_(stop_fd), thread_([this] { serve(); }) {}

Result<std::unique_ptr<HolderSocket>> HolderSocket::listen(const std::string& folder) {
  const std::string path = folder + "/holder.sock";
  const Address address(folder);
  if (address.folder_fd < 0) return system_error("cannot open the data folder", folder);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_error("cannot replace", path);
  const int socket_fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_fd < 0) return system_error("cannot make a socket", path);
  const int stop_fd = ::eventfd(0, EFD_CLOEXEC);
  const bool listening = stop_fd >= 0 && ::bind(socket_fd, address.get(), sizeof address.name) == 0 &&
                         ::listen(socket_fd, 8) == 0;
  if (!listening) {
    const Error error = system_error("cannot listen on", path);
    ::close(socket_fd);
    if (stop_fd >= 0) ::close(stop_fd);
    return error;
  }
  return std::unique_ptr<HolderSocket>(new HolderSocket(path, socket_fd, stop_fd));
}

HolderSocket::~HolderSocket() {
  const std::uint64_t one = 1;
  while (::write(stop_fd_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
  ::unlink(path_.c_str());
  ::close(socket_fd_);
  ::close(stop_fd_);
}

void HolderSocket::set_url(std::string_view url) {
  MutexLock lock(mutex_);
  url_ = url.substr(0, kMaxUrl);
}

void HolderSocket::serve() {
  while (true) {
    pollfd waiting[2] = {{socket_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
    if (::poll(waiting, 2, -1) < 0 && errno != EINTR) return;
    if (waiting[1].revents != 0) return;
    if (waiting[0].revents == 0) continue;
    const int connection = ::accept4(socket_fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) continue;
    answer(connection);
    ::close(connection);
  }
}

// Shorter than any socket buffer, so it never waits for the reader.
void HolderSocket::answer(int connection) {
  std::string text(kHead);
  text += std::to_string(::getpid()) + "\n";
  {
    MutexLock lock(mutex_);
    text += url_ + "\n";
  }
  (void)::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}

Result<Holder> ask_holder(const std::string& folder) {
  const Address address(folder);
  if (address.folder_fd < 0) return system_error("cannot open the data folder", folder);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return system_error("cannot make a socket", folder);
  const timeval patience{kPatienceSeconds, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(fd, address.get(), sizeof address.name) != 0) {
    ::close(fd);
    return Error{ErrorCode::kNotFound, "nobody answers for the data folder", folder};
  }
  std::string answer;
  char part[1024];
  ssize_t got = 0;
  while (answer.size() < 2048 && (got = ::recv(fd, part, sizeof part, 0)) > 0) {
    answer.append(part, static_cast<std::size_t>(got));
  }
  ::close(fd);
  return parse(answer);
}

}  // namespace larder::storage
