// SPDX-License-Identifier: Apache-2.0
// PoolLimit: how many blocks the pool of one model may use, changed while it serves. A higher limit holds at once. A
// lower one takes the free blocks at once; cached ones leave a slice at a time, once what is sealed has its copy below
// or could not get one in kLongestWaitNs, so that they stay findable; used ones go as their requests end. The memory of
// whatever left goes back to the system.
// Bounds:   kSliceBlocks evicted and kSliceBytes given back in a turn.
// Units:    blocks.    Threads: engine thread.
#pragma once

#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/result.h"
#include "runtime/exec/executor.h"
#include "runtime/kv/prefix_cache.h"

namespace larder::engine {

class PoolLimit {
 public:
  static constexpr Ticks kLongestWaitNs = 5'000'000'000;
  static constexpr std::uint32_t kSliceBlocks = 64;
  static constexpr std::uint64_t kSliceBytes = 32u << 20;

  // Both outlive this.
  PoolLimit(kv::PrefixCache& cache, exec::Executor& executor, const Clock& clock);

  // Errors: kResourceExhausted where the device has no more; the limit is as it was then.    Requires: at least 1.
  Status set(std::uint32_t blocks);
  // durable: everything sealed has its copy below, or nothing lies below.
  void turn(bool durable);

  std::uint32_t blocks() const { return cache_.pool().limit(); }
  // Blocks beyond the limit that have not left yet.
  std::uint32_t excess() const { return cache_.pool().excess(); }
  // The next turn has something to do.
  bool busy() const { return (excess() > 0 && trims_) || cache_.pool().has_withheld(); }

 private:
  kv::PrefixCache& cache_;
  exec::Executor& executor_;
  const Clock& clock_;
  Ticks lowered_ = 0;
  bool trims_ = false;  // the last slice found something to evict, or none was cut yet
};

}  // namespace larder::engine
