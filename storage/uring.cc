// SPDX-License-Identifier: Apache-2.0
// DiskQueue over io_uring with registered staging. The only file that knows liburing.
#include <liburing.h>
#include <sys/uio.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "runtime/base/invariant.h"
#include "runtime/base/out_of_memory.h"
#include "storage/posix_file.h"

namespace larder::storage {
namespace {

class UringQueue final : public DiskQueue {
 public:
  explicit UringQueue(std::size_t pieces) : staging_(pieces), ops_(pieces) {}
  ~UringQueue() override {
    if (started_) io_uring_queue_exit(&ring_);
  }
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;

  // 0, or the system's number.
  int start() {
    const int failed = io_uring_queue_init(static_cast<unsigned>(staging_.pieces()), &ring_, 0);
    if (failed < 0) return -failed;
    started_ = true;
    std::vector<iovec> memory;
    for (std::size_t i = 0; i < staging_.pieces(); ++i) {
      memory.push_back({staging_.piece(i).data(), staging_.piece(i).size()});
    }
    // Where locked memory is scarce the same operations run on memory that is not registered.
    registered_ = io_uring_register_buffers(&ring_, memory.data(), static_cast<unsigned>(memory.size())) == 0;
    return 0;
  }

  std::size_t pieces() const override { return staging_.pieces(); }
  std::span<std::byte> piece(std::size_t index) override { return staging_.piece(index); }

  void submit(const DiskOp& op) override {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    INVARIANT(entry != nullptr);  // as many entries as pieces, and a piece is in flight once
    const int fd = static_cast<const PosixFile*>(op.file)->fd();
    void* memory = staging_.piece(op.piece).data();
    const auto bytes = static_cast<unsigned>(op.bytes);
    const int index = static_cast<int>(op.piece);
    const bool reads = op.kind == DiskOp::Kind::kRead;
    if (registered_ && reads) io_uring_prep_read_fixed(entry, fd, memory, bytes, op.offset, index);
    if (registered_ && !reads) io_uring_prep_write_fixed(entry, fd, memory, bytes, op.offset, index);
    if (!registered_ && reads) io_uring_prep_read(entry, fd, memory, bytes, op.offset);
    if (!registered_ && !reads) io_uring_prep_write(entry, fd, memory, bytes, op.offset);
    io_uring_sqe_set_data64(entry, op.piece);
    ops_[op.piece] = op;
    int sent = io_uring_submit(&ring_);
    while (sent == -EINTR || sent == -EAGAIN || sent == -EBUSY) sent = io_uring_submit(&ring_);
    INVARIANT(sent >= 0);
  }

  DiskDone wait() override {
    io_uring_cqe* entry = nullptr;
    int failed = io_uring_wait_cqe(&ring_, &entry);
    while (failed == -EINTR) failed = io_uring_wait_cqe(&ring_, &entry);
    INVARIANT(failed == 0);
    const DiskOp op = ops_[io_uring_cqe_get_data64(entry)];
    const int result = entry->res;
    io_uring_cqe_seen(&ring_, entry);
    if (result < 0 && result != -EINTR && result != -EAGAIN) {
      const char* what = op.kind == DiskOp::Kind::kRead ? "cannot read" : "cannot write";
      DiskDone failed_op{op.tag, 0, Error{ErrorCode::kIo, "out of memory", ""}};
      static_cast<void>(had_memory([&] {
        failed_op.status = disk_error(what, static_cast<const PosixFile*>(op.file)->path(), -result);
      }));
      return failed_op;
    }
    const std::size_t done = result < 0 ? 0 : static_cast<std::size_t>(result);
    if (done == op.bytes) return DiskDone{op.tag, done, {}};
    return run_blocking(op, staging_.piece(op.piece), done);  // short: the end of the file, or the rest in a second go
  }

 private:
  Staging staging_;
  io_uring ring_{};
  bool started_ = false;
  bool registered_ = false;
  std::vector<DiskOp> ops_;  // by piece
};

}  // namespace

std::unique_ptr<DiskQueue> make_uring_queue(std::size_t pieces, std::string& why) {
  auto queue = std::make_unique<UringQueue>(pieces);
  const int failed = queue->start();
  if (failed == 0) return queue;
  why = std::system_category().message(failed);
  return nullptr;
}

}  // namespace larder::storage
