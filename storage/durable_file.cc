// SPDX-License-Identifier: Apache-2.0
#include "storage/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace larder::storage {
namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

Error stopped(const char* step, const std::string& path) {
  return Error{ErrorCode::kIo, std::string("writing stopped before ") + step, path};
}

Status write_all(int fd, std::span<const std::uint8_t> bytes, const std::string& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return system_error("cannot write", path);
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

}  // namespace

Error system_error(const char* what, const std::string& path) {
  const std::string reason = std::generic_category().message(errno);
  return Error{ErrorCode::kIo, std::string(what) + ": " + reason, path};
}

Result<std::vector<std::uint8_t>> read_small_file(const std::string& path, std::size_t max_bytes) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.ok() && errno == ENOENT) return Error{ErrorCode::kNotFound, "no such file", path};
  if (!file.ok()) return system_error("cannot open", path);
  std::vector<std::uint8_t> bytes(max_bytes + 1);
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("cannot read", path);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  if (have > max_bytes) {
    return Error{ErrorCode::kCorrupt, "the file is longer than " + std::to_string(max_bytes) + " bytes", path};
  }
  bytes.resize(have);
  return bytes;
}

Status replace_file(const std::string& path, std::span<const std::uint8_t> bytes, const WriteGate& gate) {
  const std::string temporary = path + ".tmp";
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (gate && !gate("open")) return stopped("open", path);
  {
    const Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.ok()) return system_error("cannot create", temporary);
    if (gate && !gate("write")) {
      (void)write_all(file.get(), bytes.first(bytes.size() / 2), temporary);
      return stopped("write", path);
    }
    RETURN_IF_ERROR(write_all(file.get(), bytes, temporary));
    if (gate && !gate("fsync")) return stopped("fsync", path);
    if (::fsync(file.get()) != 0) return system_error("cannot make durable", temporary);
  }
  if (gate && !gate("rename")) return stopped("rename", path);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return system_error("cannot rename into place", path);
  if (gate && !gate("fsync_dir")) return stopped("fsync_dir", path);
  const Fd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.ok() || ::fsync(directory.get()) != 0) return system_error("cannot make the folder durable", folder);
  return {};
}

}  // namespace larder::storage
