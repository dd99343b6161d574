// SPDX-License-Identifier: Apache-2.0
// Disk: every system call that the store and its catalog make on files, behind one interface, so that a test can fail
// the n-th call, cut the power between two, or keep everything in memory. DiskQueue is its asynchronous half: reads
// and writes of aligned pieces, several in flight.
// Requires: direct files: offsets, sizes and memory are multiples of kDiskAlign.
// Ensures:  a read or write is whole or an Error; a short one is an Error. A failed sync says that what was written
//           since the last good one may be lost.
// Errors:   kNotFound, kConflict (create: it is there), kResourceExhausted (no space, quota), kIo; with the path. For
//           want of memory a call throws std::bad_alloc and has opened and sent nothing; DiskQueue::wait answers kIo.
// Threads:  Disk any; a DiskFile one writer, any readers; a DiskQueue has one owner.    Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace larder::storage {

inline constexpr std::size_t kDiskAlign = 4096;
inline constexpr std::size_t kStagingPiece = 256u << 10;  // small enough for many in flight, large enough for the disk

struct FileSizes {
  std::uint64_t length = 0;
  std::uint64_t allocated = 0;  // real bytes; less than length where there are holes
};

class DiskFile {
 public:
  virtual ~DiskFile() = default;
  // May answer fewer bytes at the end of the file only.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual Status write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // For this descriptor alone, until it goes. A process that died may have left writes in flight, which hold its lock
  // until they are done: waits up to 2 s. Errors: kConflict.
  virtual Status lock() = 0;
  virtual Status sync() = 0;                                         // data and length
  virtual Status truncate(std::uint64_t length) = 0;
  virtual Status allocate(std::uint64_t offset, std::uint64_t bytes) = 0;  // real room, extends the file
  virtual Status punch(std::uint64_t offset, std::uint64_t bytes) = 0;     // gives real room back; reads zeros
  virtual Result<FileSizes> sizes() const = 0;
};

struct DiskOp {
  enum class Kind : std::uint8_t { kRead, kWrite };
  Kind kind = Kind::kRead;
  DiskFile* file = nullptr;       // of the same Disk, direct; outlives the operation
  std::uint64_t offset = 0;
  std::size_t piece = 0;          // which staging piece
  std::size_t bytes = 0;          // at most kStagingPiece
  std::uint64_t tag = 0;          // comes back
};

struct DiskDone {
  std::uint64_t tag = 0;
  std::size_t bytes = 0;  // of a read: fewer than asked for where the file ends
  Status status;
};

class DiskQueue {
 public:
  virtual ~DiskQueue() = default;
  virtual std::size_t pieces() const = 0;
  virtual std::span<std::byte> piece(std::size_t index) = 0;  // kStagingPiece each, aligned
  // Requires: the piece is not in flight.
  virtual void submit(const DiskOp& op) = 0;
  // The next completion, in any order. Blocks. Requires: something in flight.
  virtual DiskDone wait() = 0;
};

enum class OpenAs : std::uint8_t { kExisting, kCreateNew, kCreateOrExisting };

class Disk {
 public:
  virtual ~Disk() = default;
  virtual Result<std::unique_ptr<DiskFile>> open(const std::string& path, OpenAs as, bool direct) = 0;
  virtual Status make_folder(const std::string& path) = 0;  // ok when it is there
  virtual Status remove(const std::string& path) = 0;       // ok when it is not there
  virtual Status sync_folder(const std::string& path) = 0;
  virtual Result<std::vector<std::string>> list(const std::string& folder) = 0;  // names of files, sorted
  virtual Result<bool> exists(const std::string& path) = 0;
  struct Space {
    std::uint64_t total = 0;
    std::uint64_t free = 0;  // to us
  };
  virtual Result<Space> space(const std::string& path) = 0;
  // `pieces` of staging; the queue and its memory go together.
  virtual std::unique_ptr<DiskQueue> make_queue(std::size_t pieces) = 0;
  virtual std::string io_path() const = 0;  // "io_uring", or "threads" and why
};

enum class IoPath : std::uint8_t { kProbe, kUring, kThreads };

// Errors: kUnsupported (kUring where the kernel refuses it).
Result<std::unique_ptr<Disk>> open_disk(IoPath path);

}  // namespace larder::storage
