// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/stored_entries.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

namespace larder::engine {
namespace {

constexpr WallTime kRewriteEveryMs = 60'000;

struct Fixed {
  BlockKey key{};
  std::uint32_t tenant = 0;
  std::uint32_t tokens = 0;
  std::uint64_t hits = 0;
  double saved_ms = 0;
  WallTime last_used = 0;
};
constexpr std::size_t kFixedBytes =
    sizeof(BlockKey) + 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t) + sizeof(double) + sizeof(WallTime);

template <typename Each>
void each_field(Fixed& fixed, Each each) {
  each(&fixed.key, sizeof fixed.key);
  each(&fixed.tenant, sizeof fixed.tenant);
  each(&fixed.tokens, sizeof fixed.tokens);
  each(&fixed.hits, sizeof fixed.hits);
  each(&fixed.saved_ms, sizeof fixed.saved_ms);
  each(&fixed.last_used, sizeof fixed.last_used);
}

std::vector<std::uint8_t> encode(Fixed fixed, const std::string& name) {
  std::vector<std::uint8_t> bytes;
  each_field(fixed, [&bytes](const void* field, std::size_t size) {
    const auto* raw = static_cast<const std::uint8_t*>(field);
    bytes.insert(bytes.end(), raw, raw + size);
  });
  const std::size_t length = std::min(name.size(), StoredEntries::kMaxNameBytes);
  bytes.insert(bytes.end(), name.begin(), name.begin() + static_cast<std::ptrdiff_t>(length));
  return bytes;
}

std::optional<std::pair<Fixed, std::string>> decode(const std::vector<std::uint8_t>& bytes) {
  if (bytes.size() < kFixedBytes || bytes.size() > kFixedBytes + StoredEntries::kMaxNameBytes) return std::nullopt;
  Fixed fixed;
  const std::uint8_t* at = bytes.data();
  each_field(fixed, [&at](void* field, std::size_t size) {
    std::memcpy(field, at, size);
    at += size;
  });
  return std::pair(fixed, std::string(bytes.begin() + kFixedBytes, bytes.end()));
}

std::uint64_t record_of(const BlockKey& key, TenantId tenant) {
  std::uint64_t id = 0;
  std::memcpy(&id, key.data(), sizeof id);
  return id ^ (std::uint64_t{tenant.value} << 32);
}

}  // namespace

void StoredEntries::bring_back(std::span<const storage::StoredRecord> records, const kv::PrefixCache& cache,
                               entry::EntryBook& book, StoreRequests& store,
                               const std::function<bool(TenantId)>& known) {
  for (; brought_ < records.size(); ++brought_) {
    const storage::StoredRecord& record = records[brought_];
    if (record.kind != kEntryRecord) continue;
    const auto facts = decode(record.bytes);
    const std::optional<NodeId> node = facts ? cache.find_stored(facts->first.key) : std::nullopt;
    if (facts && !node) continue;  // of another model's tree, or its blocks are gone
    std::optional<EntryId> entry;
    if (facts && known(TenantId{facts->first.tenant})) {
      const Fixed& fixed = facts->first;
      entry = book.bring_back({EntryId{}, *node, TenantId{fixed.tenant}, facts->second, fixed.tokens, fixed.hits,
                               fixed.saved_ms, fixed.last_used});
    }
    if (!entry) {
      static_cast<void>(store.remove_record(record.scope, kEntryRecord, record.id));
      continue;
    }
    // Not noted, it is written down once more.
    static_cast<void>(had_memory([&] {
      written_[*entry] = {record.scope, record.id, facts->first.hits, facts->first.last_used, 0};
    }));
  }
  brought_ = 0;
}

void StoredEntries::write(const entry::Entry& entry, const kv::PrefixCache& cache, StoreRequests& store, WallTime now) {
  const Result<BlockKey> key = cache.key_of(entry.node);
  const std::optional<ScopeId> scope = cache.scope_of(entry.node);
  if (!key.ok() || !scope || cache.find_stored(*key) != entry.node) return;
  storage::StoredRecord record{*scope, kEntryRecord, record_of(*key, entry.tenant), {}};
  record.bytes =
      encode({*key, entry.tenant.value, entry.tokens, entry.hits, entry.saved_ms, entry.last_used}, entry.name);
  const std::uint64_t id = record.id;
  if (store.put_record(std::move(record))) written_[entry.id] = {*scope, id, entry.hits, entry.last_used, now};
}

void StoredEntries::sync(const entry::EntryBook& book, const kv::PrefixCache& cache, StoreRequests& store, WallTime now,
                         bool all) {
  std::unordered_set<EntryId> present;
  for (const entry::Entry& entry : book.list()) {
    present.insert(entry.id);
    const auto known = written_.find(entry.id);
    const bool due = known == written_.end() || all || now - known->second.at >= kRewriteEveryMs;
    const bool changed =
        known == written_.end() || known->second.last_used != entry.last_used || known->second.hits != entry.hits;
    if (due && changed) write(entry, cache, store, now);
  }
  for (auto each = written_.begin(); each != written_.end();) {
    const bool gone =
        present.count(each->first) == 0 && store.remove_record(each->second.scope, kEntryRecord, each->second.record);
    each = gone ? written_.erase(each) : std::next(each);
  }
}

}  // namespace larder::engine
