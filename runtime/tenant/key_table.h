// SPDX-License-Identifier: Apache-2.0
// KeyTable: who an API key belongs to. Immutable once made; the registry publishes a new one at each change.
// A key reads "lk-<id>-<64 hex digits>"; only its keyed BLAKE2b-256 is held, and compared in constant time.
// Threads:  KeyTable any (immutable); KeyTableSlot any.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/base/mutex.h"
#include "runtime/base/result.h"

namespace larder::tenant {

struct KeyRecord {
  KeyId id{};
  TenantId tenant{};
  std::string tenant_name;
  std::string label;
  std::string prefix;  // the shown part: "lk-3-a1b2c3"
  bool admin = false;
  bool ephemeral = false;  // this process only
  WallTime created = 0;
  Digest256 hash{};
};

class KeyTable {
 public:
  KeyTable(const Digest256& hash_key, std::unordered_map<KeyId, KeyRecord> records)
      : hash_key_(hash_key), records_(std::move(records)) {}
  ~KeyTable();
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  // Errors: kUnauthorized, the same sentence whatever was wrong.
  Result<KeyRecord> find(std::string_view key) const;
  const std::unordered_map<KeyId, KeyRecord>& records() const { return records_; }

 private:
  Digest256 hash_key_;
  std::unordered_map<KeyId, KeyRecord> records_;
};

class KeyTableSlot {
 public:
  std::shared_ptr<const KeyTable> get() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return table_;
  }
  void set(std::shared_ptr<const KeyTable> table) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    table_.swap(table);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const KeyTable> table_ GUARDED_BY(mutex_);
};

}  // namespace larder::tenant
