// SPDX-License-Identifier: Apache-2.0
#include "storage/disk_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <new>
#include <optional>
#include <string_view>
#include <thread>

#include "runtime/base/inbox.h"
#include "storage/posix_file.h"

namespace larder::storage {
namespace {

constexpr std::size_t kThreads = 4;  // of a queue without io_uring

// Operations done by blocking calls on a few threads.
class ThreadQueue final : public DiskQueue {
 public:
  explicit ThreadQueue(std::size_t pieces) : staging_(pieces), waiting_(pieces), done_(pieces), threads_(waiting_) {
    const std::size_t count = std::min(pieces, kThreads);
    threads_.all.reserve(count);
    for (std::size_t i = 0; i < count; ++i) threads_.all.emplace_back([this] { work(); });
  }
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;

  std::size_t pieces() const override { return staging_.pieces(); }
  std::span<std::byte> piece(std::size_t index) override { return staging_.piece(index); }
  void submit(const DiskOp& op) override { waiting_.push_reserved(op); }
  DiskDone wait() override {
    std::optional<DiskDone> done;
    while (!done) done = done_.pop_for(std::chrono::hours(1));
    return std::move(*done);
  }

 private:
  // They end, without memory, also where the last of them could not be started.
  struct Threads {
    explicit Threads(Inbox<DiskOp>& its_work) : work(its_work) {}
    ~Threads() {
      stopping = true;
      work.close();
      for (std::thread& thread : all) thread.join();
    }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    Inbox<DiskOp>& work;
    std::atomic<bool> stopping{false};
    std::vector<std::thread> all;
  };

  void work() {
    for (;;) {
      const std::optional<DiskOp> op = waiting_.pop_for(std::chrono::hours(1));
      if (!op && threads_.stopping) return;
      if (!op) continue;
      DiskDone done = run_blocking(*op, staging_.piece(op->piece), 0);
      while (!answer(done)) std::this_thread::yield();
    }
  }

  bool answer(DiskDone& done) {
    try {
      Inbox<DiskDone>::Place place{DiskDone(done)};
      done_.push_reserved(std::move(place));
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  Staging staging_;
  Inbox<DiskOp> waiting_;
  Inbox<DiskDone> done_;
  Threads threads_;
};

class PosixDisk final : public Disk {
 public:
  PosixDisk(bool use_uring, std::string io_path) : use_uring_(use_uring), io_path_(std::move(io_path)) {}

  Result<std::unique_ptr<DiskFile>> open(const std::string& path, OpenAs as, bool direct) override;
  Status make_folder(const std::string& path) override;
  Status remove(const std::string& path) override;
  Status sync_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& folder) override;
  Result<bool> exists(const std::string& path) override;
  Result<Space> space(const std::string& path) override;
  std::unique_ptr<DiskQueue> make_queue(std::size_t pieces) override;
  std::string io_path() const override { return io_path_; }

 private:
  const bool use_uring_;
  const std::string io_path_;
};

Result<std::unique_ptr<DiskFile>> PosixDisk::open(const std::string& path, OpenAs as, bool direct) {
  int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  if (as == OpenAs::kCreateNew) flags |= O_CREAT | O_EXCL;
  if (as == OpenAs::kCreateOrExisting) flags |= O_CREAT;
  auto file = std::make_unique<PosixFile>(path);
  bool opened = file->open(flags | (direct ? O_DIRECT : 0));
  // Some file systems know no direct access: the same calls then go through the page cache. The failed try may have
  // made the file already.
  if (!opened && errno == EINVAL && direct) opened = file->open(flags & ~O_EXCL);
  if (!opened) return disk_error("cannot open", path, errno);
  return std::unique_ptr<DiskFile>(std::move(file));
}

Status PosixDisk::make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return disk_error("cannot make the folder", path, errno);
  return {};
}

Status PosixDisk::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return disk_error("cannot remove", path, errno);
  return {};
}

Status PosixDisk::sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return disk_error("cannot open the folder", path, errno);
  const int failed = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (failed != 0) return disk_error("cannot sync the folder", path, failed);
  return {};
}

Result<std::vector<std::string>> PosixDisk::list(const std::string& folder) {
  struct Close {
    void operator()(DIR* dir) const { ::closedir(dir); }
  };
  const std::unique_ptr<DIR, Close> dir(::opendir(folder.c_str()));
  if (dir == nullptr) return disk_error("cannot list", folder, errno);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int failed = errno;
  if (failed != 0) return disk_error("cannot list", folder, failed);
  std::sort(names.begin(), names.end());
  return names;
}

Result<bool> PosixDisk::exists(const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0) return true;
  if (errno == ENOENT) return false;
  return disk_error("cannot look at", path, errno);
}

Result<Disk::Space> PosixDisk::space(const std::string& path) {
  struct statvfs facts {};
  if (::statvfs(path.c_str(), &facts) != 0) return disk_error("cannot measure the free space at", path, errno);
  return Space{std::uint64_t{facts.f_blocks} * facts.f_frsize, std::uint64_t{facts.f_bavail} * facts.f_frsize};
}

std::unique_ptr<DiskQueue> PosixDisk::make_queue(std::size_t pieces) {
  std::string why;
  std::unique_ptr<DiskQueue> queue = use_uring_ ? make_uring_queue(pieces, why) : nullptr;
  if (queue == nullptr) queue = std::make_unique<ThreadQueue>(pieces);
  return queue;
}

}  // namespace

Result<std::unique_ptr<Disk>> open_disk(IoPath path) {
  if (path == IoPath::kThreads) return std::unique_ptr<Disk>(std::make_unique<PosixDisk>(false, "threads (chosen)"));
  std::string why;
  if (make_uring_queue(1, why) != nullptr) return std::unique_ptr<Disk>(std::make_unique<PosixDisk>(true, "io_uring"));
  if (path == IoPath::kUring) return Error{ErrorCode::kUnsupported, "io_uring cannot be used: " + why, {}};
  return std::unique_ptr<Disk>(std::make_unique<PosixDisk>(false, "threads (io_uring: " + why + ")"));
}

}  // namespace larder::storage
