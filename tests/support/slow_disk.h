// SPDX-License-Identifier: Apache-2.0
// SlowDisk: a Disk whose queued reads, of all queues together, are answered one after the other in the order in which
// they were asked for, and take the time that a test says, or wait until it lets them through; its queued writes can be
// held too; all else is the inner disk's. The inner disk may be opened again through another SlowDisk, as after a
// restart. Threads:  knobs from any thread. A store over it can only be closed while all are let through.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/base/mutex.h"
#include "storage/disk_io.h"

namespace larder::test {

class SlowDiskKnobs {
 public:
  // Reads are answered only as far as let_through allows, until release.
  void hold() EXCLUDES(mutex_);
  void let_through(std::uint32_t reads) EXCLUDES(mutex_);
  // And writes; those that were begun too.
  void hold_writes() EXCLUDES(mutex_);
  void release() EXCLUDES(mutex_);
  void set_delay_us(std::int64_t each_read) EXCLUDES(mutex_);
  // On the reading or writing thread: a read was asked for, and before it or a write is answered.
  std::uint64_t next_turn() EXCLUDES(mutex_);
  void pass(std::uint64_t turn) EXCLUDES(mutex_);
  void pass_write() EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  CondVar changed_;
  bool held_ GUARDED_BY(mutex_) = false;
  bool writes_held_ GUARDED_BY(mutex_) = false;
  std::uint32_t passes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t asked_ GUARDED_BY(mutex_) = 0;
  std::uint64_t answered_ GUARDED_BY(mutex_) = 0;
  std::int64_t delay_us_ GUARDED_BY(mutex_) = 0;
};

// An opener of the engine: each call gives a SlowDisk over the same inner disk.
std::function<Result<std::unique_ptr<storage::Disk>>()> slow_disk_over(std::shared_ptr<storage::Disk> inner,
                                                                       std::shared_ptr<SlowDiskKnobs> knobs);

}  // namespace larder::test
