// SPDX-License-Identifier: Apache-2.0
#include "storage/store_index.h"

#include <algorithm>

#include "runtime/base/invariant.h"

namespace larder::storage {

StoreIndex::StoreIndex(std::unique_ptr<EvictionPolicy> policy)
    : order_(policy != nullptr ? std::move(policy) : std::make_unique<LeafLru>()) {
  order_.reserve(0, kPolicyQueues);
}

StoreIndex::Entry* StoreIndex::find(const ScopeId& scope, const BlockKey& key) {
  const auto at = by_key_.find(key);
  if (at == by_key_.end() || slots_[at->second].scope != scope) return nullptr;
  return &slots_[at->second];
}

void StoreIndex::insert(const StoredBlock& block, const ExtentId& at, std::uint64_t generation, std::uint64_t bytes) {
  const auto slot = free_slots_.empty() ? static_cast<std::uint32_t>(slots_.size()) : free_slots_.back();
  // What needs memory first.
  if (free_slots_.empty() && slots_.capacity() == slots_.size()) slots_.reserve(2 * slots_.size() + 64);
  free_slots_.reserve(slots_.capacity());
  order_.reserve(slots_.capacity(), kPolicyQueues);  // every entry may become a leaf that may go
  Slots named;
  named.emplace(block.key, slot);
  by_key_.reserve(by_key_.size() + 1);
  Children& siblings = children_[block.parent];
  if (free_slots_.empty()) {
    slots_.emplace_back();
  } else {
    free_slots_.pop_back();
  }
  ++siblings.all;
  ++siblings.staying;
  Entry& entry = slots_[slot];
  entry = Entry{};
  entry.scope = block.scope;
  entry.key = block.key;
  entry.parent = block.parent;
  entry.at = at;
  entry.generation = generation;
  entry.bytes = bytes;
  entry.first_position = block.first_position;
  entry.scheme = block.scheme;
  entry.slice_count = block.slice_count;
  entry.slice_bytes = block.slice_bytes;
  entry.owner = block.owner;
  entry.created = block.created;
  entry.last_hit = block.last_use;
  entry.last_use = ++stamp_;
  entry.pinned = block.pinned;
  pinned_blocks_ += entry.pinned ? 1 : 0;
  const bool inserted = by_key_.insert(named.extract(named.begin())).inserted;
  INVARIANT(inserted);
  settle_parent(block.parent);
}

void StoreIndex::erase(const BlockKey& key) {
  const auto at = by_key_.find(key);
  INVARIANT(at != by_key_.end());
  const std::uint32_t slot = at->second;
  Entry& entry = slots_[slot];
  if (entry.listed) order_.erase(slot, *entry.listed);
  entry.listed.reset();
  ram_.erase(key);
  if (entry.durable) {
    --durable_blocks_;
    durable_bytes_ -= entry.bytes;
    --scheme_count(entry).blocks;
    scheme_count(entry).bytes -= entry.bytes;
  }
  pinned_blocks_ -= entry.pinned ? 1 : 0;
  const BlockKey parent = entry.parent;
  by_key_.erase(at);
  free_slots_.push_back(slot);
  const auto siblings = children_.find(parent);
  siblings->second.staying -= entry.leaving ? 0 : 1;
  if (--siblings->second.all == 0) children_.erase(siblings);
  settle_parent(parent);
}

void StoreIndex::set_durable(Entry& entry) {
  INVARIANT(!entry.durable);
  entry.durable = true;
  ++durable_blocks_;
  durable_bytes_ += entry.bytes;
  ++scheme_count(entry).blocks;
  scheme_count(entry).bytes += entry.bytes;
  settle(entry);
}

void StoreIndex::set_pinned(Entry& entry, bool pinned) {
  pinned_blocks_ += (pinned ? 1 : 0) - (entry.pinned ? 1 : 0);
  entry.pinned = pinned;
  settle(entry);
}

void StoreIndex::begin_read(Entry& entry) {
  ++entry.reads;
  settle(entry);
}

void StoreIndex::end_read(Entry& entry) {
  INVARIANT(entry.reads > 0);
  --entry.reads;
  settle(entry);
}

void StoreIndex::touch(Entry& entry, WallTime now) {
  if (entry.listed) order_.erase(static_cast<std::uint32_t>(&entry - slots_.data()), *entry.listed);
  entry.listed.reset();
  entry.last_use = ++stamp_;
  entry.last_hit = now;
  ++entry.hits;
  entry.use_unsaved = true;
  settle(entry);
}

void StoreIndex::set_leaving(Entry& entry, bool leaving) {
  INVARIANT(entry.leaving != leaving);
  entry.leaving = leaving;
  std::uint32_t& staying = children_.find(entry.parent)->second.staying;
  leaving ? --staying : ++staying;
  settle(entry);
  settle_parent(entry.parent);
}

StoreIndex::Entry* StoreIndex::victim(WallTime now) {
  if (order_.empty()) return nullptr;
  return &slots_[order_.choose(now, [this](std::uint32_t slot) { return facts_of(slots_[slot]); })];
}

SchemeCount& StoreIndex::scheme_count(const Entry& entry) {
  return durable_by_scheme_[std::min(entry.scheme, kernels::kKvSchemes)];
}

LeafFacts StoreIndex::facts_of(const Entry& entry) const {
  LeafFacts facts;
  facts.last_use = entry.last_use;
  facts.last_hit = entry.last_hit;
  facts.created = entry.created;
  facts.tenant = entry.owner;
  facts.first_position = entry.first_position;
  facts.hits = entry.hits;
  return facts;
}

bool StoreIndex::evictable(const Entry& entry) const {
  if (!entry.durable || entry.pinned || entry.leaving || entry.reads > 0) return false;
  const auto children = children_.find(entry.key);
  return children == children_.end() || children->second.staying == 0;
}

void StoreIndex::settle(Entry& entry) {
  const bool wanted = evictable(entry);
  const auto slot = static_cast<std::uint32_t>(&entry - slots_.data());
  if (wanted && !entry.listed) entry.listed = order_.insert(slot, facts_of(entry));
  if (!wanted && entry.listed) {
    order_.erase(slot, *entry.listed);
    entry.listed.reset();
  }
}

void StoreIndex::settle_parent(const BlockKey& parent) {
  const auto at = by_key_.find(parent);
  if (at != by_key_.end()) settle(slots_[at->second]);
}

}  // namespace larder::storage
