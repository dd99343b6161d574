// SPDX-License-Identifier: Apache-2.0
#include "storage/posix_file.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "runtime/base/out_of_memory.h"

namespace larder::storage {

Error disk_error(const char* what, const std::string& path, int number) {
  ErrorCode code = ErrorCode::kIo;
  if (number == ENOENT) code = ErrorCode::kNotFound;
  if (number == EEXIST) code = ErrorCode::kConflict;
  if (number == ENOSPC || number == EDQUOT || number == EFBIG) code = ErrorCode::kResourceExhausted;
  return Error{code, std::string(what) + ": " + std::system_category().message(number), path};
}

PosixFile::~PosixFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool PosixFile::open(int flags) {
  fd_ = ::open(path_.c_str(), flags, 0600);
  return fd_ >= 0;
}

Result<std::size_t> PosixFile::read(std::uint64_t offset, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(fd_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return disk_error("cannot read", path_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Status PosixFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::pwrite(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return disk_error("cannot write", path_, put < 0 ? errno : EIO);
    done += static_cast<std::size_t>(put);
  }
  return {};
}

Status PosixFile::lock() {
  constexpr int kTries = 200;
  constexpr int kWaitMs = 10;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK && errno != EINTR) return disk_error("cannot lock", path_, errno);
    ::poll(nullptr, 0, kWaitMs);
  }
  return Error{ErrorCode::kConflict, "another process holds the file; stop it", path_};
}

Status PosixFile::sync() {
  if (::fdatasync(fd_) != 0) return disk_error("cannot sync", path_, errno);
  return {};
}

Status PosixFile::truncate(std::uint64_t length) {
  if (::ftruncate(fd_, static_cast<off_t>(length)) != 0) return disk_error("cannot set the length of", path_, errno);
  return {};
}

Status PosixFile::allocate(std::uint64_t offset, std::uint64_t bytes) {
  const int failed = ::posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (failed != 0) return disk_error("cannot get room for", path_, failed);
  return {};
}

Status PosixFile::punch(std::uint64_t offset, std::uint64_t bytes) {
  const int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (::fallocate(fd_, how, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) {
    return disk_error("cannot give back room of", path_, errno);
  }
  return {};
}

Result<FileSizes> PosixFile::sizes() const {
  struct stat facts {};
  if (::fstat(fd_, &facts) != 0) return disk_error("cannot measure", path_, errno);
  return FileSizes{static_cast<std::uint64_t>(facts.st_size), static_cast<std::uint64_t>(facts.st_blocks) * 512};
}

Staging::Staging(std::size_t pieces) : pieces_(pieces) {
  void* memory = ::mmap(nullptr, pieces * kStagingPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  INVARIANT(memory != MAP_FAILED);
  base_ = static_cast<std::byte*>(memory);
}

Staging::~Staging() { ::munmap(base_, pieces_ * kStagingPiece); }

DiskDone run_blocking(const DiskOp& op, std::span<std::byte> piece, std::size_t done_bytes) {
  DiskDone done{op.tag, done_bytes, Error{ErrorCode::kIo, "out of memory", ""}};
  const std::span<std::byte> rest = piece.first(op.bytes).subspan(done_bytes);
  static_cast<void>(had_memory([&] {
    if (op.kind == DiskOp::Kind::kWrite) {
      done.status = op.file->write(op.offset + done_bytes, rest);
      done.bytes = op.bytes;
      return;
    }
    Result<std::size_t> got = op.file->read(op.offset + done_bytes, rest);
    done.bytes += got.ok() ? *got : 0;
    done.status = got.ok() ? Status{} : Status{std::move(got).error()};
  }));
  return done;
}

}  // namespace larder::storage
