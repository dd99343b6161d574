// SPDX-License-Identifier: Apache-2.0
// MappedFile: a whole regular file, mapped private and read-only. It checks nothing about the contents.
// Errors:  kIo (cannot open, stat, map or read; changed), kInvalidArgument (not a regular file), kCorrupt (empty).
//          Context: the path.
// Owns:    the mapping and one descriptor.    Threads: const after open; any.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "runtime/base/result.h"
#include "runtime/gguf/file.h"

namespace larder::gguf {

class MappedFile {
 public:
  static Result<std::unique_ptr<MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {begin_, size_}; }
  const FileStamp& stamp() const { return stamp_; }
  Status read(std::uint64_t offset, std::span<std::byte> out) const;
  Status check_unchanged() const;
  // Whole pages inside these bytes leave memory; touched again, they are read again.
  void leave_pages(std::span<const std::byte> bytes) const;

 private:
  MappedFile() = default;

  std::string path_;
  int descriptor_ = -1;
  const std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
  FileStamp stamp_;
};

}  // namespace larder::gguf
