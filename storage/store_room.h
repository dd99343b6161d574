// SPDX-License-Identifier: Apache-2.0
// StoreRoom: which extents of which segment files are free, and how many real bytes the files take. It creates, grows,
// punches and removes files; it does not decide what is evicted.
// Ensures:  real_bytes() is what the file system counted at the last change; an extent is given to one block at a time.
// Errors:   take: kResourceExhausted (the system has no room), kIo. For want of memory take, adopt and squeeze
//           throw and have changed nothing that they do not tell; giving back needs none.
// Owns:     the writer's side of the segment files.    Threads: the writer only.    Units: bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/catalog.h"
#include "storage/catalog_rows.h"
#include "storage/segment_file.h"

namespace larder::storage {

class StoreRoom {
 public:
  struct Segment {
    std::shared_ptr<SegmentFile> file;
    ScopeTag scope{};
    std::uint32_t extents = 0;             // the file reaches this far
    std::uint32_t used = 0;                // given out
    std::vector<std::uint32_t> backed;     // free, with real room
    std::vector<std::uint32_t> holes;      // free, without
    std::uint64_t writes = 0;
    std::uint64_t real_bytes = 0;
    bool closed = false;                   // a sync failed or its writes are spent: nothing more is written into it
  };
  struct Taken {
    std::shared_ptr<SegmentFile> file;
    std::uint32_t extent = 0;
  };

  StoreRoom(Disk& disk, std::string folder, std::uint64_t segment_bytes, Cipher cipher)
      : disk_(disk), folder_(std::move(folder)), segment_bytes_(segment_bytes), cipher_(cipher) {}

  // A file found at open, with the extents that blocks hold. Errors: kIo.
  Status adopt(std::shared_ptr<SegmentFile> file, const SegmentRow& row, std::vector<std::uint32_t> used_extents);

  // An extent that grows the files by at most `allowance`; nothing when that is not enough.
  Result<std::optional<Taken>> take(const ScopeKeys& keys, std::uint64_t extent_bytes, std::uint64_t allowance);
  void give_back(const ExtentId& at);
  // Turns free extents that this scope and size cannot use into free room of the disk, until `wanted` bytes are;
  // answers how many. Files with nothing in them go whole; their ids are appended to `removed`.
  std::uint64_t squeeze(const ScopeTag& scope, std::uint64_t extent_bytes, std::uint64_t wanted,
                        std::vector<std::uint32_t>& removed);
  // Writing may take room of its own (the file system's maps).
  void remeasure(std::uint32_t segment) { static_cast<void>(measure(segments_.at(segment))); }
  void close(std::uint32_t segment) { segments_.at(segment).closed = true; }
  // Takes the file out, with all its extents.
  std::shared_ptr<SegmentFile> forget(std::uint32_t segment);
  Status remove_file(std::uint32_t segment);

  std::map<std::uint32_t, Segment>& segments() { return segments_; }
  std::uint64_t real_bytes() const { return real_bytes_; }
  std::uint32_t next_segment() const { return next_segment_; }
  void set_next_segment(std::uint32_t id) { next_segment_ = id; }
  Cipher cipher() const { return cipher_; }

 private:
  bool writable(const Segment& segment, const ScopeTag& scope, std::uint64_t extent_bytes) const;
  Status grow(Segment& segment, std::uint64_t allowance);
  Result<Segment*> make_segment(const ScopeKeys& keys, std::uint64_t extent_bytes);
  Status measure(Segment& segment);
  std::uint32_t most_extents(std::uint64_t extent_bytes) const;
  std::string path_of(std::uint32_t segment) const;

  Disk& disk_;
  const std::string folder_;
  const std::uint64_t segment_bytes_;
  const Cipher cipher_;
  std::map<std::uint32_t, Segment> segments_;
  std::uint64_t real_bytes_ = 0;
  std::uint32_t next_segment_ = 1;
};

}  // namespace larder::storage
