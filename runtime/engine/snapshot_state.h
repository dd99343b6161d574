// SPDX-License-Identifier: Apache-2.0
// SnapshotState: one whole picture as the engine thread made it; view_for cuts what one reader may see, and only what
// is newer than its last one, on the reader's own thread. SnapshotSlot: where the newest state is found. Threads:
// SnapshotState immutable; the slot any.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/engine/request.h"
#include "runtime/engine/snapshot.h"

namespace larder::engine {

struct SnapshotState {
  Snapshot all;                                                // requests empty, tree set
  std::vector<std::shared_ptr<const RequestRecord>> requests;  // oldest first
  std::uint64_t tree_epoch = 0;                                // when the tree last changed
};

// DESIGN.md contract 8: an admin sees all; others see their own tenant, and causes as kv::redact leaves them.
std::shared_ptr<const Snapshot> view_for(const SnapshotState& state, const Principal& who, std::uint64_t since);

class SnapshotSlot {
 public:
  std::shared_ptr<const SnapshotState> get() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return state_;
  }
  void set(std::shared_ptr<const SnapshotState> state) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    state_.swap(state);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const SnapshotState> state_ GUARDED_BY(mutex_);
};

}  // namespace larder::engine
