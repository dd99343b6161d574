// SPDX-License-Identifier: Apache-2.0
// HolderSocket: answers on `holder.sock` in a data folder who holds it. One thread; a caller gets one short answer and
// is closed, so it cannot be held up.
// Shapes:   the answer is "larder holder 1\n<pid>\n<url>\n".    Errors: kIo.
// Owns:     the socket file and the thread.    Threads: set_url any.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/base/mutex.h"
#include "runtime/base/result.h"
#include "storage/data_dir.h"

namespace larder::storage {

class HolderSocket {
 public:
  // Requires: the folder's lock, so that a socket found there is stale and may be replaced.
  static Result<std::unique_ptr<HolderSocket>> listen(const std::string& folder);
  ~HolderSocket();
  HolderSocket(const HolderSocket&) = delete;
  HolderSocket& operator=(const HolderSocket&) = delete;

  void set_url(std::string_view url) EXCLUDES(mutex_);

 private:
  HolderSocket(std::string path, int socket_fd, int stop_fd);
  void serve();
  void answer(int connection) EXCLUDES(mutex_);

  const std::string path_;
  const int socket_fd_;
  const int stop_fd_;
  Mutex mutex_;
  std::string url_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace larder::storage
