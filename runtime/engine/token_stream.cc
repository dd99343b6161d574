// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/token_stream.h"

#include <chrono>

namespace larder::engine {

std::optional<StreamEvent> TokenStream::next(std::int64_t wait_ms) {
  const auto deadline = deadline_after(std::chrono::milliseconds(wait_ms));
  std::optional<StreamEvent> event;
  std::function<void()> drained;
  {
    MutexLock lock(mutex_);
    while (pending_.empty() && !ended_ && wait_ms > 0) {
      if (!arrived_.wait_until(mutex_, deadline)) break;
    }
    if (pending_.empty()) return std::nullopt;
    const bool was_full = pending_.size() >= kMaxPending;
    event.emplace(std::move(pending_.front()));
    pending_.pop_front();
    if (was_full && pending_.size() < kMaxPending) drained = on_room_;
  }
  if (drained) drained();
  return event;
}

void TokenStream::set_wake(std::function<void()> wake) {
  MutexLock lock(mutex_);
  wake_ = std::move(wake);
  if (!pending_.empty() && wake_) wake_();
}

void TokenStream::cancel() {
  std::function<void()> tell;
  {
    MutexLock lock(mutex_);
    if (cancelled_ || ended_) return;
    cancelled_ = true;
    tell = on_cancel_;
  }
  if (tell) tell();
}

void TokenStream::set_writer_hooks(std::function<void()> on_room, std::function<void()> on_cancel) {
  MutexLock lock(mutex_);
  on_room_ = std::move(on_room);
  on_cancel_ = std::move(on_cancel);
}

bool TokenStream::writable() const {
  MutexLock lock(mutex_);
  return pending_.size() < kMaxPending;
}

bool TokenStream::cancelled() const {
  MutexLock lock(mutex_);
  return cancelled_;
}

void TokenStream::write(StreamEvent event) {
  const bool last = std::holds_alternative<Finished>(event) || std::holds_alternative<Error>(event);
  {
    MutexLock lock(mutex_);
    INVARIANT(!ended_);
    const bool was_empty = pending_.empty();
    pending_.push_back(std::move(event));
    if (last) {
      ended_ = true;
      on_room_ = nullptr;
      on_cancel_ = nullptr;
    }
    if (was_empty && wake_) wake_();
  }
  arrived_.notify_one();
}

}  // namespace larder::engine
