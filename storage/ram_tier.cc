// SPDX-License-Identifier: Apache-2.0
#include "storage/ram_tier.h"

#include <sys/mman.h>

#include "runtime/base/invariant.h"

namespace larder::storage {

std::shared_ptr<RamCopy> RamCopy::make(std::size_t bytes) {
  auto copy = std::make_shared<RamCopy>();
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  copy->data_ = static_cast<std::byte*>(pages);
  copy->bytes_ = bytes;
  return copy;
}

RamCopy::~RamCopy() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

void RamTier::set_cap(std::uint64_t bytes) {
  cap_ = bytes;
  make_room(0);
}

bool RamTier::takes(std::uint64_t bytes, Because why) const {
  return bytes <= cap_ && (why == Because::kLeftPool || bytes_ + bytes <= cap_);
}

void RamTier::keep(const BlockKey& key, Copy copy, Because why) {
  const std::uint64_t bytes = copy->bytes().size();
  if (!takes(bytes, why)) return;
  std::list<Kept> one;
  one.push_back({key, std::move(copy)});
  const bool added = by_key_.emplace(key, one.begin()).second;
  INVARIANT(added);
  make_room(bytes);
  bytes_ += bytes;
  ++version_;
  order_.splice(why == Because::kLeftPool ? order_.end() : order_.begin(), one);
}

bool RamTier::left_pool(const BlockKey& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return false;
  order_.splice(order_.end(), order_, found->second);
  return true;
}

void RamTier::read(const BlockKey& key) {
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) order_.splice(order_.begin(), order_, found->second);
}

void RamTier::erase(const BlockKey& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  bytes_ -= found->second->copy->bytes().size();
  dropped_.splice(dropped_.end(), order_, found->second);
  by_key_.erase(found);
  ++version_;
}

std::vector<BlockKey> RamTier::keys() const {
  std::vector<BlockKey> keys;
  keys.reserve(by_key_.size());
  for (const Kept& kept : order_) keys.push_back(kept.key);
  return keys;
}

RamTier::Copy RamTier::find(const BlockKey& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second->copy;
}

void RamTier::make_room(std::uint64_t bytes) {
  while (bytes_ + bytes > cap_) {
    INVARIANT(!order_.empty());
    erase(order_.front().key);
  }
}

}  // namespace larder::storage
