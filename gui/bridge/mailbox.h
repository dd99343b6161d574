// SPDX-License-Identifier: GPL-3.0-or-later
// Mailbox: how other threads reach an object of the GUI thread that may be gone by then. What is posted after close()
// is dropped.
// Owns:    nothing.    Threads: post from any; close from the receiver's thread.
#pragma once

#include <QObject>
#include <functional>
#include <utility>

#include "runtime/base/mutex.h"

namespace larder::gui {

class Mailbox {
 public:
  explicit Mailbox(QObject* receiver) : receiver_(receiver) {}

  void post(std::function<void()> call) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (receiver_ != nullptr) QMetaObject::invokeMethod(receiver_, std::move(call), Qt::QueuedConnection);
  }

  void close() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    receiver_ = nullptr;
  }

 private:
  Mutex mutex_;
  QObject* receiver_ GUARDED_BY(mutex_);
};

}  // namespace larder::gui
