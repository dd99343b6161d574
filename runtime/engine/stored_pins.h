// SPDX-License-Identifier: Apache-2.0
// StoredPins: the pins of the loaded model's tree as records of the store, so that they outlive a restart and keep
// their blocks on disk. A pin is written down once every block on its path has a durable copy.
// Shapes:   a record is key of the last block (32) | created, expires (i64) | owner (u32) | reason; little-endian.
// Bounds:   one record per pin.    Errors: a request that finds the store's queue full is made again at the next sync.
// Threads:  engine thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/engine/store_requests.h"
#include "runtime/kv/prefix_cache.h"

namespace larder::engine {

inline constexpr std::uint32_t kPinRecord = 2;  // StoredRecord::kind

class StoredPins {
 public:
  // Pins what the records say; a record whose node or time is gone is dropped from the store. Called once more with
  // the same records after std::bad_alloc, it goes on where it was.
  void bring_back(std::span<const storage::StoredRecord> records, kv::PrefixCache& cache, StoreRequests& store,
                  WallTime now);
  // Writes new pins down and drops those that are gone, as far as the store's queue takes it.
  void sync(const kv::PrefixCache& cache, StoreRequests& store);

 private:
  struct Written {
    ScopeId scope{};
    std::uint64_t record = 0;
    std::vector<BlockKey> keys;  // of its path
  };

  void write(const kv::PinRecord& pin, const kv::PrefixCache& cache, StoreRequests& store);
  bool drop(const Written& gone, StoreRequests& store) const;
  bool bring_back_one(const storage::StoredRecord& record, NodeId node, kv::PrefixCache& cache);

  std::unordered_map<PinId, Written> written_;
  std::size_t brought_ = 0;  // records of bring_back that are done
};

}  // namespace larder::engine
