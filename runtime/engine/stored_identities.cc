// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/stored_identities.h"

#include <algorithm>
#include <cstring>

namespace larder::engine {
namespace {

constexpr std::uint32_t kByName = 1u << 16;
constexpr std::size_t kFixedBytes = 2 * sizeof(Digest256) + 4 * sizeof(std::uint32_t);

void put(std::vector<std::uint8_t>& bytes, const void* from, std::size_t size) {
  const auto* raw = static_cast<const std::uint8_t*>(from);
  bytes.insert(bytes.end(), raw, raw + size);
}

void put_u32(std::vector<std::uint8_t>& bytes, std::uint64_t value) {
  const auto narrow = static_cast<std::uint32_t>(value);
  put(bytes, &narrow, sizeof narrow);
}

std::uint32_t take_u32(std::span<const std::uint8_t>& bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return value;
}

std::uint64_t record_id(const Digest256& digest) {
  std::uint64_t id = 0;
  std::memcpy(&id, digest.data(), sizeof id);
  return id;
}

}  // namespace

std::vector<std::uint8_t> identity_bytes(const kv::Identity& identity) {
  std::vector<std::uint8_t> bytes;
  put(bytes, identity.weights.data(), identity.weights.size());
  put(bytes, identity.adapter.data(), identity.adapter.size());
  put_u32(bytes, static_cast<std::uint32_t>(identity.kv_type));
  put_u32(bytes, identity.layout_version);
  put_u32(bytes, static_cast<std::uint32_t>(identity.lineage) | (identity.by_name ? kByName : 0));
  put_u32(bytes, identity.rope.size());
  put(bytes, identity.rope.data(), identity.rope.size());
  put(bytes, identity.arithmetic_id.data(), identity.arithmetic_id.size());
  return bytes;
}

std::optional<kv::Identity> identity_from(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kFixedBytes) return std::nullopt;
  kv::Identity identity;
  std::memcpy(identity.weights.data(), bytes.data(), sizeof identity.weights);
  std::memcpy(identity.adapter.data(), bytes.data() + sizeof identity.weights, sizeof identity.adapter);
  bytes = bytes.subspan(sizeof identity.weights + sizeof identity.adapter);
  identity.kv_type = static_cast<kernels::KvType>(take_u32(bytes));
  identity.layout_version = take_u32(bytes);
  const std::uint32_t lineage = take_u32(bytes);
  identity.lineage = static_cast<kernels::KvScheme>(lineage & ~kByName);
  identity.by_name = (lineage & kByName) != 0;
  const std::uint32_t rope = take_u32(bytes);
  if (rope > bytes.size()) return std::nullopt;
  identity.rope.assign(bytes.begin(), bytes.begin() + rope);
  identity.arithmetic_id.assign(bytes.begin() + rope, bytes.end());
  return identity;
}

void StoredIdentities::note(const ScopeId& scope, const kv::Identity& identity, const Digest256& digest,
                            StoreRequests& store) {
  if (written_.contains({scope, digest})) return;
  storage::StoredRecord record{scope, kIdentityRecord, record_id(digest), identity_bytes(identity)};
  if (store.put_record(std::move(record))) written_.emplace(scope, digest);  // else with the next block
}

bool StoredIdentities::wrote(std::uint64_t record) const {
  return std::any_of(written_.begin(), written_.end(),
                     [record](const auto& each) { return record_id(each.second) == record; });
}

void StoredIdentities::drop(std::span<const std::pair<ScopeId, std::uint64_t>> stale, StoreRequests& store) {
  // One that finds the queue full is named again by the next listing.
  for (const auto& [scope, id] : stale) static_cast<void>(store.remove_record(scope, kIdentityRecord, id));
}

}  // namespace larder::engine
