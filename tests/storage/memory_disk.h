// SPDX-License-Identifier: Apache-2.0
// MemoryDisk: a Disk in memory that knows what would survive a power cut, and that fails when a test says so. Calls are
// counted in order; a test names one by its number.
// Shapes:   a file has the bytes as they are now, the bytes as of its last good sync, and the changes in between; a
//           folder has its names now and as of its last sync.
// Ensures:  a failed sync loses the changes for good, as file systems do that mark the pages clean.
// Threads:  any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/rng.h"
#include "storage/disk_io.h"

namespace larder::storage::test {

enum class Fault : std::uint8_t {
  kNone,
  kError,    // nothing is done, the call fails
  kShort,    // half of it is done, the call fails
  kNoSpace,  // of calls that take room
};

class MemoryDisk final : public Disk {
 public:
  struct Node;

  static constexpr std::uint64_t kEndless = std::uint64_t{1} << 40;

  MemoryDisk() = default;
  explicit MemoryDisk(std::uint64_t capacity) : capacity_(capacity) {}

  // The call of this number (from 1), and with `and_after` every later one, fails.
  void fail(std::uint64_t call, Fault fault, bool and_after) EXCLUDES(mutex_);
  // From this call on nothing happens any more and every call fails.
  void cut_power(std::uint64_t call) EXCLUDES(mutex_);
  std::uint64_t calls() const EXCLUDES(mutex_);
  void set_capacity(std::uint64_t bytes) EXCLUDES(mutex_);
  std::uint64_t used() const EXCLUDES(mutex_);

  // What may be found after the power came back; each seed gives one of the possible states.
  std::unique_ptr<MemoryDisk> after_power_cut(std::uint64_t seed) EXCLUDES(mutex_);

  Result<std::unique_ptr<DiskFile>> open(const std::string& path, OpenAs as, bool direct) override EXCLUDES(mutex_);
  Status make_folder(const std::string& path) override EXCLUDES(mutex_);
  Status remove(const std::string& path) override EXCLUDES(mutex_);
  Status sync_folder(const std::string& path) override EXCLUDES(mutex_);
  Result<std::vector<std::string>> list(const std::string& folder) override EXCLUDES(mutex_);
  Result<bool> exists(const std::string& path) override EXCLUDES(mutex_);
  Result<Space> space(const std::string& path) override EXCLUDES(mutex_);
  std::unique_ptr<DiskQueue> make_queue(std::size_t pieces) override;
  std::string io_path() const override { return "memory"; }

 private:
  friend class MemoryFile;
  Status begin_call(bool takes_room, Fault& fault) REQUIRES(mutex_);
  std::uint64_t used_locked() const REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::uint64_t capacity_ GUARDED_BY(mutex_) = kEndless;
  std::uint64_t calls_ GUARDED_BY(mutex_) = 0;
  std::uint64_t fail_at_ GUARDED_BY(mutex_) = 0;
  Fault fault_ GUARDED_BY(mutex_) = Fault::kNone;
  bool fail_after_ GUARDED_BY(mutex_) = false;
  std::uint64_t cut_at_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::shared_ptr<Node>> now_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<Node>> durable_ GUARDED_BY(mutex_);
};

}  // namespace larder::storage::test
