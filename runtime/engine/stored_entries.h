// SPDX-License-Identifier: Apache-2.0
// StoredEntries: the entries of the loaded model's tree as records of the store, so that a run keeps its name, hits and
// what it saved after a restart. An entry is written down once its last block has a durable copy.
// Shapes:   a record is key of its last block (32) | tenant, tokens (u32 each) | hits (u64) | saved ms (f64) |
//           last use (i64) | name, at most kMaxNameBytes; little-endian. Its id is made of key and tenant.
// Bounds:   one record per entry of the book. New ones are written at the next sync, new numbers once a minute and at a
//           stop. A request that finds the store's queue full is made again at the next sync.
// Threads:  engine thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>

#include "runtime/engine/store_requests.h"
#include "runtime/entry/entry_book.h"
#include "runtime/kv/prefix_cache.h"

namespace larder::engine {

inline constexpr std::uint32_t kEntryRecord = 4;  // StoredRecord::kind

class StoredEntries {
 public:
  static constexpr std::size_t kMaxNameBytes = 256;

  // Puts what the records say into the book; `known` says whether a tenant exists. A record whose node or tenant is
  // gone is dropped from the store. Called once more with the same records after std::bad_alloc, it goes on where it
  // was.
  void bring_back(std::span<const storage::StoredRecord> records, const kv::PrefixCache& cache, entry::EntryBook& book,
                  StoreRequests& store, const std::function<bool(TenantId)>& known);
  void sync(const entry::EntryBook& book, const kv::PrefixCache& cache, StoreRequests& store, WallTime now, bool all);

 private:
  struct Written {
    ScopeId scope{};
    std::uint64_t record = 0;
    std::uint64_t hits = 0;
    WallTime last_used = 0;
    WallTime at = 0;
  };

  void write(const entry::Entry& entry, const kv::PrefixCache& cache, StoreRequests& store, WallTime now);

  std::unordered_map<EntryId, Written> written_;
  std::size_t brought_ = 0;  // records of bring_back that are done
};

}  // namespace larder::engine
