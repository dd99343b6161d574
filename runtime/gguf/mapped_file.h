// SPDX-License-Identifier: Apache-2.0
// MappedFile: a whole regular file, mapped private and read-only. It checks nothing about the contents.
// Errors:  kIo (cannot open, stat or map), kInvalidArgument (not a regular file), kCorrupt (empty). Context: the path.
// Owns:    the mapping; the descriptor is closed at once.    Threads: const after open; any.
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

 private:
  MappedFile(const std::byte* begin, std::size_t size, const FileStamp& stamp)
      : begin_(begin), size_(size), stamp_(stamp) {}

  const std::byte* begin_;
  std::size_t size_;
  FileStamp stamp_;
};

}  // namespace larder::gguf
