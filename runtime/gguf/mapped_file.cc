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

Error io_error(const char* what, const std::string& path) {
  return {ErrorCode::kIo, std::string(what) + ": " + std::generic_category().message(errno), path};
}

Error changed(const std::string& path) {
  return {ErrorCode::kIo, "the model file was changed while it was open; load it again when it is whole", path};
}

std::int64_t to_ns(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

}  // namespace

Result<std::unique_ptr<MappedFile>> MappedFile::open(const std::string& path) {
  std::unique_ptr<MappedFile> file(new MappedFile);
  file->path_ = path;
  // Non-blocking, so that a pipe under this name cannot hold the caller.
  file->descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->descriptor_ < 0) return io_error("cannot open the model file", path);
  struct stat status {};
  if (::fstat(file->descriptor_, &status) != 0) return io_error("cannot read the model file's size", path);
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorCode::kInvalidArgument, "this is not a regular file; give the path of a .gguf file", path};
  }
  if (status.st_size <= 0) {
    return Error{ErrorCode::kCorrupt, "the model file is empty (0 bytes); download it again", path};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->descriptor_, 0);
  if (begin == MAP_FAILED) return io_error("cannot map the model file", path);
  file->begin_ = static_cast<const std::byte*>(begin);
  file->size_ = size;
  file->stamp_.device = status.st_dev;
  file->stamp_.inode = status.st_ino;
  file->stamp_.bytes = size;
  file->stamp_.modified_ns = to_ns(status.st_mtim);
  file->stamp_.changed_ns = to_ns(status.st_ctim);
  return file;
}

MappedFile::~MappedFile() {
  // munmap takes a void*; the pages were mapped read-only and are not written.
  if (begin_ != nullptr) ::munmap(const_cast<std::byte*>(begin_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status MappedFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("cannot read the model file", path_);
    if (count == 0) return changed(path_);  // it has become shorter
    out = out.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

void MappedFile::leave_pages(std::span<const std::byte> bytes) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::size_t>(bytes.data() - begin_);
  const std::size_t first = (offset + page - 1) / page * page;
  const std::size_t end = (offset + bytes.size()) / page * page;
  // The pages hold what the file holds; refused, they stay.
  if (first < end) static_cast<void>(::madvise(const_cast<std::byte*>(begin_) + first, end - first, MADV_DONTNEED));
}

// A file that was replaced by rename has another change time and the same bytes.
Status MappedFile::check_unchanged() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return io_error("cannot read the model file's times", path_);
  const bool same =
      static_cast<std::uint64_t>(status.st_size) == stamp_.bytes && to_ns(status.st_mtim) == stamp_.modified_ns;
  return same ? Status{} : Status{changed(path_)};
}

}  // namespace larder::gguf
