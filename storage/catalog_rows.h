// SPDX-License-Identifier: Apache-2.0
// ScopeKeys and the sealed rows of the catalog: a scope's secret and salt give its row key, and every fact of a block
// or record is wrapped under it, bound to the place of its row.
// Shapes:   storage/FORMAT.md, "Sealed rows".
// Errors:   open_*: kCorrupt (altered, moved to another row, another scope's key).
// Owns:     the secret; it is wiped when the last holder goes.    Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "storage/catalog.h"
#include "storage/seal.h"
#include "storage/stored_block.h"

namespace larder::storage {

inline constexpr std::size_t kMaxRecordBytes = 64u << 10;

ScopeTag scope_tag(const ScopeSecret& secret);

class ScopeKeys {
 public:
  ScopeKeys(const ScopeId& id, const ScopeSecret& secret, const Bytes<32>& salt);
  ~ScopeKeys();
  ScopeKeys(const ScopeKeys&) = delete;
  ScopeKeys& operator=(const ScopeKeys&) = delete;

  const ScopeId& id() const { return id_; }
  const ScopeTag& tag() const { return tag_; }
  const ScopeSecret& secret() const { return secret_; }
  const Bytes<32>& salt() const { return salt_; }
  const SealKey& row_key() const { return row_key_; }

 private:
  const ScopeId id_;
  ScopeSecret secret_;
  const ScopeTag tag_;
  const Bytes<32> salt_;
  SealKey row_key_;
};

BlockRow seal_block_row(const ScopeKeys& keys, const ExtentId& at, std::uint64_t generation, const StoredBlock& block);
Result<StoredBlock> open_block_row(const ScopeKeys& keys, const BlockRow& row);

// What stands behind a block row's seal. Errors: kCorrupt.
Result<StoredBlock> open_block_row_plain(const ScopeKeys& keys, std::span<const std::uint8_t> bytes);

RecordRow seal_record_row(const ScopeKeys& keys, const StoredRecord& record);
Result<StoredRecord> open_record_row(const ScopeKeys& keys, const RecordRow& row);

}  // namespace larder::storage
