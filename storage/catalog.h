// SPDX-License-Identifier: Apache-2.0
// Catalog: the SQLite file that says which extent holds which block, and keeps the sealed facts beside them. It sees
// sealed rows only (catalog_rows.h makes them), so it can leak nothing and trusts nothing it reads.
// Shapes:   storage/FORMAT.md, "catalog.db".
// Requires: one Catalog per file: it is the only connection, writes and checkpoints alike.
// Ensures:  commit answers ok only when the change survives power loss; after a failed one nothing of it is there for
//           this connection. A file of a newer version is left untouched. What cannot be read is not called damaged.
// Errors:   open: kUnsupported (newer), kCorrupt (not a whole catalog), kIo. Else kIo, kResourceExhausted, kCorrupt,
//           with SQLite's and the disk's words. kUnavailable or std::bad_alloc for want of memory. A rollback that
//           found none is made up for before the next transaction, listing or checkpoint.
// Owns:     the connection.    Threads: one.    Units: bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "storage/disk_io.h"

namespace larder::storage {

inline constexpr int kCatalogVersion = 1;

// Memory ran out, the store's or SQLite's own; told from a full disk by its code. The words need none.
inline Error no_memory() { return {ErrorCode::kUnavailable, "out of memory", ""}; }
inline bool lacks_memory(const Status& status) {
  return !status.ok() && status.error().code == ErrorCode::kUnavailable;
}

using ScopeTag = Bytes<16>;  // stands for a scope; made from its secret, tells nothing of its id

struct ExtentId {
  std::uint32_t segment = 0;
  std::uint32_t extent = 0;
  friend bool operator==(const ExtentId&, const ExtentId&) = default;
};

struct ScopeRow {
  ScopeTag tag{};
  Bytes<32> salt{};
};

struct SegmentRow {
  std::uint32_t id = 0;
  ScopeTag scope{};
  std::uint64_t extent_bytes = 0;
  std::uint64_t writes = 0;
};

struct BlockRow {
  ExtentId at;
  std::uint64_t generation = 0;
  std::vector<std::uint8_t> sealed;
};

struct RecordRow {
  ScopeTag scope{};
  std::uint32_t kind = 0;
  std::uint64_t id = 0;
  std::vector<std::uint8_t> sealed;
};

enum class CatalogNumber : std::uint8_t { kNextGeneration, kNextSegment, kBudgetDay, kBudgetBytes };

class Catalog {
 public:
  static Result<std::unique_ptr<Catalog>> open(Disk& disk, const std::string& path);
  // Removes the file and what SQLite keeps beside it.    Requires: not open.
  static Status remove(Disk& disk, const std::string& path);
  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  // Changes happen between begin and commit.
  Status begin();
  Status commit();
  void rollback();

  Status put_scope(const ScopeRow& row);
  Status remove_scope(const ScopeTag& tag);  // and its records
  Status put_segment(const SegmentRow& row);
  Status remove_segment(std::uint32_t id);
  // At most `limit` rows of blocks of the segment; answers how many went.
  Result<std::uint64_t> remove_blocks(std::uint32_t segment, std::uint64_t limit);
  Status put_block(const BlockRow& row);
  Status remove_block(const ExtentId& at);
  Status put_record(const RecordRow& row);
  Status remove_record(const ScopeTag& scope, std::uint32_t kind, std::uint64_t id);
  Status set_number(CatalogNumber number, std::uint64_t value);

  Result<std::vector<ScopeRow>> scopes();
  Result<std::vector<SegmentRow>> segments();
  Result<std::uint64_t> number(CatalogNumber number);  // 0 when it was never set
  Result<std::optional<BlockRow>> block(const ExtentId& at);
  Status each_block(const std::function<void(const BlockRow&)>& row);
  Status each_record(const std::function<void(const RecordRow&)>& row);

  // Moves the log into the file and cuts it to nothing, so that no deleted page stays in it.
  Status checkpoint();
  std::uint64_t allocated_bytes() const;

 private:
  class Connection;
  explicit Catalog(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace larder::storage
