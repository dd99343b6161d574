// SPDX-License-Identifier: Apache-2.0
// DataDir: one process's exclusive hold on a data folder. Locks the folder itself (flock), makes the layout (0700) and
// answers on a unix socket in it who holds it, so that a second program can reach the first one's URL.
// Layout:   storage/FORMAT.md.
// Ensures:  a folder whose keyring is of a newer version is left untouched, down to the list of its files.
// Errors:   kConflict (held; the context names pid and URL), kUnsupported (newer), kIo (cannot make or write it).
// Owns:     the lock, the socket and its thread.    Threads: open once; set_url any; the rest immutable.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace larder::storage {

struct Holder {
  int pid = 0;
  std::string url;  // empty: serves nobody over HTTP
};

class HolderSocket;  // holder_socket.h, inside this room

class DataDir {
 public:
  static Result<std::unique_ptr<DataDir>> open(const std::string& path);
  ~DataDir();
  DataDir(const DataDir&) = delete;
  DataDir& operator=(const DataDir&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const;

  // What the socket answers from now on.
  void set_url(std::string_view url);

 private:
  DataDir(std::string path, int lock_fd);

  std::string path_;
  int lock_fd_;
  std::unique_ptr<HolderSocket> socket_;
};

// Asks who holds the folder. Errors: kNotFound (nobody answers), kIo.    Blocks: at most 2 s.
Result<Holder> ask_holder(const std::string& path);

// XDG_DATA_HOME/larder, else HOME/.local/share/larder.    Errors: kNotFound (neither is set to an absolute path).
Result<std::string> default_data_dir();

}  // namespace larder::storage
