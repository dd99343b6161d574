// SPDX-License-Identifier: Apache-2.0
// CatalogFiles: lets SQLite reach its files through a Disk, so that whatever a test does to the disk happens to the
// catalog too. There is no locking and no shared memory: the catalog has one connection, in exclusive mode.
// Ensures:  a new file's name is durable with its first sync.
// Owns:     the registration under name(), until it goes; no connection may outlive it.
// Errors:   none of its own; SQLite's codes carry the disk's and a lack of memory: nothing is thrown through SQLite.
// Threads:  the connection's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "storage/disk_io.h"

namespace larder::storage {

class CatalogFiles {
 public:
  explicit CatalogFiles(Disk& disk);
  ~CatalogFiles();
  CatalogFiles(const CatalogFiles&) = delete;
  CatalogFiles& operator=(const CatalogFiles&) = delete;

  // False: SQLite had no memory for it, and no connection can be made.
  bool registered() const;
  const std::string& name() const;
  // Real bytes of the files that are open now.
  std::uint64_t allocated_bytes() const;
  // The disk's own words for the last failure; empty: none yet.
  std::string last_failure() const;
  std::uint64_t failures() const;

 private:
  friend struct CatalogCalls;
  struct Registration;
  std::unique_ptr<Registration> registration_;
};

}  // namespace larder::storage
