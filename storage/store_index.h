// SPDX-License-Identifier: Apache-2.0
// StoreIndex: which blocks are on disk, where, and which of them may leave first. It knows no tokens, no files, no keys
// of ciphers. An entry is evictable when it is durable, not pinned, not being read and nobody's parent. One that was
// chosen to give way is leaving: not found by reads, and no child to its parent; it may be told to stay after all.
// Ensures:  victim() answers the policy's choice among exactly the evictable ones; counts equal recounts.
// Errors:   insert may throw for want of memory and has changed nothing then; nothing else needs any (with up to
//           kPolicyQueues lists of the policy).
// Bounds:   the caller's; about 400 bytes an entry.    Threads: one at a time (the store's mutex).    Units: bytes, ms.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "storage/catalog.h"
#include "storage/leaf_order.h"
#include "storage/ram_tier.h"
#include "storage/store_counters.h"
#include "storage/stored_block.h"

namespace larder::storage {

inline constexpr std::size_t kPolicyQueues = 64;

class StoreIndex {
 public:
  struct Entry {
    ScopeId scope{};
    BlockKey key{};
    BlockKey parent{};
    ExtentId at;
    std::uint64_t generation = 0;
    std::uint64_t bytes = 0;  // of its extent
    std::uint32_t first_position = 0;
    std::uint32_t scheme = 0;
    std::uint32_t slice_count = 0;
    std::uint32_t slice_bytes = 0;
    TenantId owner{};
    WallTime created = 0;
    WallTime last_hit = 0;
    std::uint64_t last_use = 0;  // stamp
    std::uint64_t hits = 0;
    std::uint32_t reads = 0;  // in flight
    bool pinned = false;
    bool durable = false;
    bool leaving = false;
    bool use_unsaved = false;  // read since its row was written
    std::optional<LeafOrder::Place> listed;
  };

  explicit StoreIndex(std::unique_ptr<EvictionPolicy> policy);

  // Null when it is not there or belongs to another scope. Pointers hold until the next insert or erase.
  Entry* find(const ScopeId& scope, const BlockKey& key);
  bool has(const BlockKey& key) const { return by_key_.contains(key); }
  // Not durable yet.    Requires: the key is not there.
  void insert(const StoredBlock& block, const ExtentId& at, std::uint64_t generation, std::uint64_t bytes);
  void erase(const BlockKey& key);

  void set_durable(Entry& entry);
  void set_pinned(Entry& entry, bool pinned);
  void begin_read(Entry& entry);
  void end_read(Entry& entry);
  void touch(Entry& entry, WallTime now);

  // The block to give way; null: none may.
  Entry* victim(WallTime now);
  void set_leaving(Entry& entry, bool leaving);

  std::uint64_t durable_blocks() const { return durable_blocks_; }
  std::uint64_t durable_bytes() const { return durable_bytes_; }
  std::uint64_t pinned_blocks() const { return pinned_blocks_; }
  // By scheme; the last is for schemes that this program does not know.
  const std::array<SchemeCount, kernels::kKvSchemes + 1>& durable_by_scheme() const { return durable_by_scheme_; }
  std::size_t size() const { return by_key_.size(); }

  // Copies in memory of blocks that are here; they go with them.
  RamTier& ram() { return ram_; }
  const RamTier& ram() const { return ram_; }

  template <typename Visit>
  void each(Visit visit) {
    for (const auto& [key, slot] : by_key_) visit(slots_[slot]);
  }

 private:
  SchemeCount& scheme_count(const Entry& entry);
  LeafFacts facts_of(const Entry& entry) const;
  bool evictable(const Entry& entry) const;
  void settle(Entry& entry);  // lists or unlists it, as it is now
  void settle_parent(const BlockKey& parent);

  LeafOrder order_;
  RamTier ram_;
  std::vector<Entry> slots_;
  std::vector<std::uint32_t> free_slots_;
  using Slots = std::unordered_map<BlockKey, std::uint32_t, DigestHash>;

  struct Children {
    std::uint32_t all = 0;
    std::uint32_t staying = 0;  // that are not leaving
  };

  Slots by_key_;
  std::unordered_map<BlockKey, Children, DigestHash> children_;  // by parent key, which need not be there
  std::uint64_t stamp_ = 0;
  std::uint64_t durable_blocks_ = 0;
  std::uint64_t durable_bytes_ = 0;
  std::uint64_t pinned_blocks_ = 0;
  std::array<SchemeCount, kernels::kKvSchemes + 1> durable_by_scheme_{};
};

}  // namespace larder::storage
