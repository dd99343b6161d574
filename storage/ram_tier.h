// SPDX-License-Identifier: Apache-2.0
// RamTier: copies in memory of blocks that lie on disk, sealed and in the scheme in which they lie there, so that what
// left the pool comes back without a read. It is a cache of the disk: nothing is here alone, and who reads a copy
// proves it as if it came from there.
// Rules:    what is kept because it left the pool is the newest; what was read from here is in the pool again and goes
//           first; what was just written is kept while there is room that nobody has, and goes first too.
// Bounds:   cap bytes of copies, and what was dropped and not taken; in pages of their own, so that the system has them
//           back at once.
// Errors:   keep throws std::bad_alloc and has changed nothing then.
// Threads:  one at a time (the store's mutex); what take_dropped answers is destroyed outside of it.    Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"

namespace larder::storage {

// The bytes of one extent.
class RamCopy {
 public:
  static std::shared_ptr<RamCopy> make(std::size_t bytes);  // null: the system has no memory for it
  RamCopy() = default;
  ~RamCopy();
  RamCopy(const RamCopy&) = delete;
  RamCopy& operator=(const RamCopy&) = delete;

  std::span<std::byte> bytes() { return {data_, bytes_}; }
  std::span<const std::byte> bytes() const { return {data_, bytes_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class RamTier {
 public:
  enum class Because : std::uint8_t { kWritten, kLeftPool };
  using Copy = std::shared_ptr<const RamCopy>;
  struct Kept {
    BlockKey key{};
    Copy copy;
  };
  using Dropped = std::list<Kept>;

  void set_cap(std::uint64_t bytes);
  // Whether a copy of so many bytes would be kept.
  bool takes(std::uint64_t bytes, Because why) const;
  // Where takes says no, nothing.  Requires: it is not here.
  void keep(const BlockKey& key, Copy copy, Because why);
  bool left_pool(const BlockKey& key);  // it is the newest now; false: it is not here
  void read(const BlockKey& key);       // it is in the pool again
  void erase(const BlockKey& key);      // no matter whether it is here
  Copy find(const BlockKey& key) const;  // null: it is not here
  std::vector<BlockKey> keys() const;    // of all that are here
  std::uint64_t version() const { return version_; }  // changes with them
  Dropped take_dropped() { return std::exchange(dropped_, {}); }

  std::uint64_t cap() const { return cap_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t blocks() const { return by_key_.size(); }

 private:
  void make_room(std::uint64_t bytes);

  std::list<Kept> order_;  // the one that goes first in front
  Dropped dropped_;
  std::unordered_map<BlockKey, std::list<Kept>::iterator, DigestHash> by_key_;
  std::uint64_t cap_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace larder::storage
