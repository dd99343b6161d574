// SPDX-License-Identifier: Apache-2.0
// SegmentFile: a file of equal extents that belongs to one scope and block size. It knows its header, its key and where
// an extent lies; which extents are used is the catalog's to say.
// Shapes:   storage/FORMAT.md, "Segment file".
// Ensures:  a file is locked while it is open: what a process that died had in flight is on disk before the next one
//           reads. A file that was created has a durable header and name. destroy_key leaves nothing that its extents
//           could be opened with, even to who knows the scope's secret.
// Errors:   create, open: kIo, kResourceExhausted, kConflict (another process holds the file); open: kCorrupt (header),
//           kUnsupported (newer format), kNotFound.
// Owns:     the file's descriptor, its key.    Threads: immutable but for growth, which is the writer's; readers read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "storage/disk_io.h"
#include "storage/seal.h"

namespace larder::storage {

inline constexpr std::uint64_t kSegmentHeader = 4096;
inline constexpr std::uint64_t kMaxSegmentWrites = std::uint64_t{1} << 28;  // of random nonces under one key

class SegmentFile {
 public:
  struct Owner {
    ScopeId scope{};
    ScopeSecret secret{};
  };
  static Result<std::shared_ptr<SegmentFile>> create(Disk& disk, const std::string& folder, std::uint32_t id,
                                                     const Owner& owner, Cipher cipher, std::uint64_t extent_bytes);
  static Result<std::shared_ptr<SegmentFile>> open(Disk& disk, const std::string& folder, std::uint32_t id,
                                                   const Owner& owner, std::uint64_t extent_bytes);
  static std::string name_of(std::uint32_t id);  // "00000007.seg"

  std::uint32_t id() const { return id_; }
  const ScopeId& scope() const { return scope_; }
  std::uint32_t version() const { return version_; }
  std::uint64_t extent_bytes() const { return extent_bytes_; }
  const std::shared_ptr<const CipherKey>& key() const { return key_; }
  DiskFile& file() const { return *file_; }
  std::uint64_t offset_of(std::uint32_t extent) const { return kSegmentHeader + extent * extent_bytes_; }

  // Real room for extents [first, first + count).
  Status allocate(std::uint32_t first, std::uint32_t count);
  Status punch(std::uint32_t extent);
  // Overwrites the salt and syncs.
  Status destroy_key();

 private:
  SegmentFile(std::uint32_t id, const ScopeId& scope, std::uint32_t version, std::uint64_t extent_bytes,
              std::shared_ptr<const CipherKey> key, std::unique_ptr<DiskFile> file);

  const std::uint32_t id_;
  const ScopeId scope_;
  const std::uint32_t version_;
  const std::uint64_t extent_bytes_;
  const std::shared_ptr<const CipherKey> key_;
  const std::unique_ptr<DiskFile> file_;
};

}  // namespace larder::storage
