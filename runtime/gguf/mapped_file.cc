// SPDX-License-Identifier: Apache-2.0
#include "runtime/gguf/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace larder::gguf {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Error io_error(const char* what, const std::string& path) {
  return {ErrorCode::kIo, std::string(what) + ": " + std::generic_category().message(errno), path};
}

std::int64_t to_ns(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

}  // namespace

Result<std::unique_ptr<MappedFile>> MappedFile::open(const std::string& path) {
  // Non-blocking, so that a pipe under this name cannot hold the caller.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return io_error("cannot open the model file", path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return io_error("cannot read the model file's size", path);
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorCode::kInvalidArgument, "this is not a regular file; give the path of a .gguf file", path};
  }
  if (status.st_size <= 0) {
    return Error{ErrorCode::kCorrupt, "the model file is empty (0 bytes); download it again", path};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (begin == MAP_FAILED) return io_error("cannot map the model file", path);
  FileStamp stamp;
  stamp.device = status.st_dev;
  stamp.inode = status.st_ino;
  stamp.bytes = size;
  stamp.modified_ns = to_ns(status.st_mtim);
  stamp.changed_ns = to_ns(status.st_ctim);
  return std::unique_ptr<MappedFile>(new MappedFile(static_cast<const std::byte*>(begin), size, stamp));
}

MappedFile::~MappedFile() {
  // munmap takes a void*; the pages were mapped read-only and are not written.
  ::munmap(const_cast<std::byte*>(begin_), size_);
}

}  // namespace larder::gguf
