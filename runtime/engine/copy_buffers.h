// SPDX-License-Identifier: Apache-2.0
// CopyBuffers: memory for copies of blocks on their way between the tiers, lent out and kept for the next.
// Bounds:   lent and kept ones are together at most kBytes, or one larger one.
// Errors:   take: std::bad_alloc; nothing has changed then. Giving back needs no memory.
// Owns:     what is not lent out; it outlives what is.    Threads: one owner.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace larder::engine {

class CopyBuffers {
 public:
  static constexpr std::size_t kBytes = 8u << 20;
  using Buffer = std::vector<std::byte>;
  struct GiveBack {
    CopyBuffers* owner = nullptr;
    void operator()(Buffer* buffer) const noexcept { owner->give_back(buffer); }
  };
  using Lent = std::unique_ptr<Buffer, GiveBack>;

  CopyBuffers() = default;
  CopyBuffers(const CopyBuffers&) = delete;
  CopyBuffers& operator=(const CopyBuffers&) = delete;

  // Of exactly these many bytes; null while as much is lent as may be. One is always to be had.
  Lent take(std::size_t bytes);
  bool has(std::size_t bytes) const { return bytes_lent_ == 0 || bytes_lent_ + bytes <= kBytes; }
  std::size_t bytes_lent() const { return bytes_lent_; }
  std::size_t bytes_kept() const { return bytes_kept_; }

 private:
  void give_back(Buffer* buffer) noexcept;

  std::vector<std::unique_ptr<Buffer>> kept_;  // with room for all that are lent
  std::size_t lent_ = 0;
  std::size_t bytes_lent_ = 0;
  std::size_t bytes_kept_ = 0;
};

}  // namespace larder::engine
