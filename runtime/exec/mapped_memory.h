// SPDX-License-Identifier: Apache-2.0
// MappedMemory: zeroed anonymous pages straight from the kernel; untouched pages cost nothing. For the block arena and
// the planes of activations.
// Errors:  kResourceExhausted with the size asked for.    Owns: the pages; move-only.    Threads: value.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "runtime/base/result.h"

namespace larder::exec {

class MappedMemory {
 public:
  // 0 bytes is allowed and maps nothing. Large mappings ask for huge pages. `what` names the use in the error. Nothing
  // is set aside for the pages: a mapping may be larger than what will ever be touched of it.
  static Result<MappedMemory> map(std::size_t bytes, const char* what);
  MappedMemory() = default;
  ~MappedMemory();
  MappedMemory(MappedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  // The whole pages inside the range go back to the kernel; they read as zeros afterwards.
  // Requires: offset + length <= bytes().
  void give_back(std::size_t offset, std::size_t length) const;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace larder::exec
