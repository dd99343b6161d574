// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/token_stream.h"

#include <chrono>

#include "runtime/base/out_of_memory.h"

namespace larder::engine {

std::optional<StreamEvent> TokenStream::next(std::int64_t wait_ms) {
  const auto deadline = deadline_after(std::chrono::milliseconds(wait_ms));
  std::optional<StreamEvent> event;
  std::function<void()> drained;
  {
    MutexLock lock(mutex_);
    while (empty() && !ended_ && wait_ms > 0) {
      if (!arrived_.wait_until(mutex_, deadline)) break;
    }
    if (pending_.empty()) return std::exchange(last_, std::nullopt);
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
  if (!empty() && wake_) wake_();
}

void TokenStream::wake() {
  owes_wake_ = true;
  if (wake_) wake_();
  owes_wake_ = false;
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
  if (std::holds_alternative<Finished>(event) || std::holds_alternative<Error>(event)) {
    static_cast<void>(end(std::move(event)));
    return;
  }
  {
    MutexLock lock(mutex_);
    INVARIANT(!ended_);
    const bool was_empty = empty();
    pending_.push_back(std::move(event));
    if (was_empty || owes_wake_) wake();
  }
  arrived_.notify_one();
}

bool TokenStream::end(StreamEvent event) noexcept {
  bool woken = true;
  {
    MutexLock lock(mutex_);
    INVARIANT(!ended_);
    const bool was_empty = empty();
    last_ = std::move(event);
    ended_ = true;
    on_room_ = nullptr;
    on_cancel_ = nullptr;
    if (was_empty || owes_wake_) woken = had_memory([this]() NO_THREAD_SAFETY_ANALYSIS { wake(); });
  }
  arrived_.notify_one();
  return woken;
}

bool TokenStream::wake_again() noexcept {
  MutexLock lock(mutex_);
  return !owes_wake_ || had_memory([this]() NO_THREAD_SAFETY_ANALYSIS { wake(); });
}

}  // namespace larder::engine
