// SPDX-License-Identifier: Apache-2.0
// PosixFile: a DiskFile on a descriptor, and the staging memory and completions that both kinds of DiskQueue share.
// Inside this room only; the store knows disk_io.h.
// Errors:   as disk_io.h.    Owns: the descriptor.    Threads: as DiskFile.
#pragma once

#include <memory>
#include <string>

#include "storage/disk_io.h"

namespace larder::storage {

// From errno, or from the number given.
Error disk_error(const char* what, const std::string& path, int number);

class PosixFile final : public DiskFile {
 public:
  explicit PosixFile(std::string path) : path_(std::move(path)) {}
  ~PosixFile() override;
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  // False: errno says why. Needs no memory, so that nothing is made which is not held.
  bool open(int flags);

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override;
  Status write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  Status lock() override;
  Status sync() override;
  Status truncate(std::uint64_t length) override;
  Status allocate(std::uint64_t offset, std::uint64_t bytes) override;
  Status punch(std::uint64_t offset, std::uint64_t bytes) override;
  Result<FileSizes> sizes() const override;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  int fd_ = -1;
  const std::string path_;
};

// Page-aligned memory for a queue's pieces.
class Staging {
 public:
  explicit Staging(std::size_t pieces);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::size_t pieces() const { return pieces_; }
  std::span<std::byte> piece(std::size_t index) const { return {base_ + index * kStagingPiece, kStagingPiece}; }

 private:
  const std::size_t pieces_;
  std::byte* base_;
};

// Runs the operation, or what is left of it after `bytes` of it were done, on the calling thread. A lack of memory is
// an operation that failed.
DiskDone run_blocking(const DiskOp& op, std::span<std::byte> piece, std::size_t done_bytes);

// uring.cc. Null where the kernel refuses; `why` says so.
std::unique_ptr<DiskQueue> make_uring_queue(std::size_t pieces, std::string& why);

}  // namespace larder::storage
