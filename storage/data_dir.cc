// SPDX-License-Identifier: Apache-2.0
#include "storage/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "storage/durable_file.h"
#include "storage/holder_socket.h"
#include "storage/keyring_file.h"

namespace larder::storage {
namespace {

Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return system_error("cannot make", path);
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) return system_error("cannot look at", path);
  if (!S_ISDIR(there.st_mode)) return Error{ErrorCode::kIo, "this is not a folder; move it away", path};
  return {};
}

Error held_by_another(const std::string& path) {
  const Result<Holder> holder = ask_holder(path);
  std::string who = "another process holds the data folder";
  std::string context = path;
  if (holder.ok()) {
    who += " (process " + std::to_string(holder->pid) + (holder->url.empty() ? "" : ", " + holder->url) + ")";
    if (!holder->url.empty()) context = holder->url;
  }
  return Error{ErrorCode::kConflict, who + "; attach to it, stop it, or name another folder with --data", context};
}

}  // namespace

DataDir::DataDir(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

DataDir::~DataDir() {
  socket_.reset();
  ::close(lock_fd_);  // the lock goes with its descriptor
}

Result<std::unique_ptr<DataDir>> DataDir::open(const std::string& path) {
  if (path.empty()) return Error{ErrorCode::kInvalidArgument, "the data folder's name is empty", {}};
  std::error_code failed;
  const std::filesystem::path parent = std::filesystem::absolute(path, failed).parent_path();
  if (!failed) std::filesystem::create_directories(parent, failed);
  if (failed) return Error{ErrorCode::kIo, "cannot make the folder above: " + failed.message(), path};
  RETURN_IF_ERROR(make_folder(path));
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return system_error("cannot open the data folder", path);
  std::unique_ptr<DataDir> dir(new DataDir(path, fd));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return held_by_another(path);
    return system_error("cannot lock the data folder", path);
  }
  RETURN_IF_ERROR(check_keyring_version(path));
  for (const char* name : {"models", "packs", "logs"}) RETURN_IF_ERROR(make_folder(dir->file(name)));
  ASSIGN_OR_RETURN(dir->socket_, HolderSocket::listen(path));
  return dir;
}

std::string DataDir::file(std::string_view name) const { return path_ + "/" + std::string(name); }

void DataDir::set_url(std::string_view url) { socket_->set_url(url); }

Result<std::string> default_data_dir() {
  const char* data_home = std::getenv("XDG_DATA_HOME");
  if (data_home != nullptr && data_home[0] == '/') return std::string(data_home) + "/larder";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.local/share/larder";
  return Error{ErrorCode::kNotFound, "neither XDG_DATA_HOME nor HOME names a folder; use --data", {}};
}

}  // namespace larder::storage
