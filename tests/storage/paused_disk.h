// SPDX-License-Identifier: Apache-2.0
// PausedDisk: another Disk whose own allocations neither count nor fail, so that a campaign over failing memory meets
// the store's own only.
// Owns:     nothing; the other disk outlives it.    Threads: any, as the other one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/disk_io.h"
#include "tests/support/failing_memory.h"

namespace larder::storage::test {

using larder::test::MemoryPause;

class PausedFile final : public DiskFile {
 public:
  explicit PausedFile(std::unique_ptr<DiskFile> file) : file_(std::move(file)) {}
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    const MemoryPause pause;
    return file_->read(offset, into);
  }
  Status write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const MemoryPause pause;
    return file_->write(offset, bytes);
  }
  Status lock() override {
    const MemoryPause pause;
    return file_->lock();
  }
  Status sync() override {
    const MemoryPause pause;
    return file_->sync();
  }
  Status truncate(std::uint64_t length) override {
    const MemoryPause pause;
    return file_->truncate(length);
  }
  Status allocate(std::uint64_t offset, std::uint64_t bytes) override {
    const MemoryPause pause;
    return file_->allocate(offset, bytes);
  }
  Status punch(std::uint64_t offset, std::uint64_t bytes) override {
    const MemoryPause pause;
    return file_->punch(offset, bytes);
  }
  Result<FileSizes> sizes() const override {
    const MemoryPause pause;
    return file_->sizes();
  }
  DiskFile* inner() const { return file_.get(); }

 private:
  const std::unique_ptr<DiskFile> file_;
};

class PausedQueue final : public DiskQueue {
 public:
  explicit PausedQueue(std::unique_ptr<DiskQueue> queue) : queue_(std::move(queue)) {}
  std::size_t pieces() const override { return queue_->pieces(); }
  std::span<std::byte> piece(std::size_t index) override { return queue_->piece(index); }
  void submit(const DiskOp& op) override {
    const MemoryPause pause;
    DiskOp inner = op;
    inner.file = static_cast<PausedFile*>(op.file)->inner();
    queue_->submit(inner);
  }
  DiskDone wait() override {
    const MemoryPause pause;
    return queue_->wait();
  }

 private:
  const std::unique_ptr<DiskQueue> queue_;
};

class PausedDisk final : public Disk {
 public:
  explicit PausedDisk(Disk& disk) : disk_(disk) {}

  Result<std::unique_ptr<DiskFile>> open(const std::string& path, OpenAs as, bool direct) override {
    const MemoryPause pause;
    ASSIGN_OR_RETURN(std::unique_ptr<DiskFile> file, disk_.open(path, as, direct));
    return std::unique_ptr<DiskFile>(std::make_unique<PausedFile>(std::move(file)));
  }
  Status make_folder(const std::string& path) override {
    const MemoryPause pause;
    return disk_.make_folder(path);
  }
  Status remove(const std::string& path) override {
    const MemoryPause pause;
    return disk_.remove(path);
  }
  Status sync_folder(const std::string& path) override {
    const MemoryPause pause;
    return disk_.sync_folder(path);
  }
  Result<std::vector<std::string>> list(const std::string& folder) override {
    const MemoryPause pause;
    return disk_.list(folder);
  }
  Result<bool> exists(const std::string& path) override {
    const MemoryPause pause;
    return disk_.exists(path);
  }
  Result<Space> space(const std::string& path) override {
    const MemoryPause pause;
    return disk_.space(path);
  }
  std::unique_ptr<DiskQueue> make_queue(std::size_t pieces) override {
    const MemoryPause pause;
    return std::make_unique<PausedQueue>(disk_.make_queue(pieces));
  }
  std::string io_path() const override {
    const MemoryPause pause;
    return disk_.io_path();
  }

 private:
  Disk& disk_;
};

}  // namespace larder::storage::test
