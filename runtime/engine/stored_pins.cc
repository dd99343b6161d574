// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/stored_pins.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

namespace larder::engine {
namespace {

struct PinFacts {
  BlockKey key{};
  WallTime created = 0;
  WallTime expires = 0;
  std::uint32_t owner = 0;
  std::string reason;
};

constexpr std::size_t kFixedBytes = sizeof(BlockKey) + 2 * sizeof(WallTime) + sizeof(std::uint32_t);

template <typename Value>
void put(std::vector<std::uint8_t>& bytes, const Value& value) {
  const auto* raw = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof value);
}

template <typename Value>
void take(const std::uint8_t*& at, Value& value) {
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
}

std::vector<std::uint8_t> encode(const PinFacts& facts) {
  std::vector<std::uint8_t> bytes;
  put(bytes, facts.key);
  put(bytes, facts.created);
  put(bytes, facts.expires);
  put(bytes, facts.owner);
  bytes.insert(bytes.end(), facts.reason.begin(), facts.reason.end());
  return bytes;
}

std::optional<PinFacts> decode(const std::vector<std::uint8_t>& bytes) {
  if (bytes.size() < kFixedBytes) return std::nullopt;
  PinFacts facts;
  const std::uint8_t* at = bytes.data();
  take(at, facts.key);
  take(at, facts.created);
  take(at, facts.expires);
  take(at, facts.owner);
  facts.reason.assign(bytes.begin() + kFixedBytes, bytes.end());
  return facts;
}

// Two pins of one node differ in their time at least.
std::uint64_t record_of(const BlockKey& key, WallTime created, PinId pin) {
  std::uint64_t id = 0;
  std::memcpy(&id, key.data(), sizeof id);
  return id ^ (static_cast<std::uint64_t>(created) << 16) ^ pin.value;
}

}  // namespace

void StoredPins::bring_back(std::span<const storage::StoredRecord> records, kv::PrefixCache& cache,
                            StoreRequests& store, WallTime now) {
  for (; brought_ < records.size(); ++brought_) {
    const storage::StoredRecord& record = records[brought_];
    if (record.kind != kPinRecord) continue;
    const std::optional<PinFacts> facts = decode(record.bytes);
    const std::optional<NodeId> node = facts ? cache.find_stored(facts->key) : std::nullopt;
    if (facts && !node) continue;  // of another model's tree, or its blocks are gone
    const bool over = !facts || (facts->expires != 0 && facts->expires <= now);
    if (!over && bring_back_one(record, *node, cache)) continue;
    static_cast<void>(store.remove_record(record.scope, kPinRecord, record.id));
  }
  brought_ = 0;
}

// False: it does not fit any more.
bool StoredPins::bring_back_one(const storage::StoredRecord& record, NodeId node, kv::PrefixCache& cache) {
  const std::optional<PinFacts> facts = decode(record.bytes);
  kv::PinRequest request;
  request.node = node;
  request.owner = TenantId{facts->owner};
  request.reason = facts->reason;
  request.expires = facts->expires;
  request.created = facts->created;
  // Its place is made before it is pinned.
  std::unordered_map<PinId, Written> known;
  known.emplace(PinId{}, Written{record.scope, record.id, cache.stored_path(node)});
  written_.reserve(written_.size() + 1);
  const Result<kv::PinAnswer> pinned = cache.pin(request);
  if (!pinned.ok()) return false;
  auto place = known.extract(known.begin());
  place.key() = pinned->pin.id;
  written_.insert(std::move(place));
  return true;
}

void StoredPins::write(const kv::PinRecord& pin, const kv::PrefixCache& cache, StoreRequests& store) {
  std::vector<BlockKey> path = cache.stored_path(pin.node);
  const std::optional<ScopeId> scope = cache.scope_of(pin.node);
  if (path.empty() || !scope) return;
  storage::StoredRecord record{*scope, kPinRecord, record_of(path.back(), pin.created, pin.id), {}};
  record.bytes = encode({path.back(), pin.created, pin.expires, pin.owner.value, pin.reason});
  const std::uint64_t id = record.id;
  if (!store.set_pinned(*scope, path, true) || !store.put_record(std::move(record))) return;
  written_[pin.id] = {*scope, id, std::move(path)};
}

bool StoredPins::drop(const Written& gone, StoreRequests& store) const {
  std::unordered_set<BlockKey, DigestHash> kept;
  for (const auto& [id, other] : written_) {
    if (&other != &gone) kept.insert(other.keys.begin(), other.keys.end());
  }
  std::vector<BlockKey> free;
  std::copy_if(gone.keys.begin(), gone.keys.end(), std::back_inserter(free),
               [&](const BlockKey& key) { return kept.count(key) == 0; });
  return store.remove_record(gone.scope, kPinRecord, gone.record) &&
         (free.empty() || store.set_pinned(gone.scope, std::move(free), false));
}

void StoredPins::sync(const kv::PrefixCache& cache, StoreRequests& store) {
  std::unordered_set<PinId> present;
  for (const kv::PinRecord& pin : cache.pins()) {
    present.insert(pin.id);
    if (written_.count(pin.id) == 0) write(pin, cache, store);
  }
  for (auto each = written_.begin(); each != written_.end();) {
    const bool gone = present.count(each->first) == 0 && drop(each->second, store);
    each = gone ? written_.erase(each) : std::next(each);
  }
}

}  // namespace larder::engine
