// SPDX-License-Identifier: Apache-2.0
// ColdTier, for who moves single blocks by name. The memory and the store are those of writing behind and of restores;
// requests come first.
#include <algorithm>
#include <utility>

#include "kernels/layout/checksum.h"
#include "runtime/engine/block_mover.h"
#include "runtime/engine/cold_tier.h"

namespace larder::engine {
namespace {

constexpr std::size_t kMovingReads = 32;
constexpr std::size_t kMovingBytes = ColdTier::kReadBytes / 4;

}  // namespace

Status ColdTier::usable() const {
  RETURN_IF_ERROR(disk_.usable());
  if (!identity_->weights_known || list_ticket_ != 0) {
    return Error{ErrorCode::kUnavailable,
                 "the digest of the model's weights is not known yet, and its blocks stay in memory: wait until it is",
                 ""};
  }
  return {};
}

bool ColdTier::goes_down(NodeId node) const {
  return std::any_of(writing_.begin(), writing_.end(),
                     [node](const auto& each) { return each.second.node == node && !each.second.rounded; });
}

ColdTier::Taken ColdTier::write_block(NodeId node) {
  if (!storing()) return Taken::kNo;
  if (goes_down(node)) return Taken::kYes;
  if (writing_.size() >= kUndurable || !lost_.empty()) return Taken::kLater;
  const std::optional<kv::UnstoredBlock> block = cache_.unstored(node);
  if (!block) return Taken::kNo;
  return put(*block, Form::kExact);
}

// Copied into staging here and now, so that nothing has to be held until it is durable.
ColdTier::Taken ColdTier::put(const kv::UnstoredBlock& block, Form form) {
  std::unique_ptr<Buffer> buffer = disk_.take_buffer(executor_.layout().block_bytes());
  if (buffer == nullptr) return Taken::kLater;
  if (!executor_.read_block(block.block, *buffer).ok()) {
    disk_.give_buffer(std::move(buffer));
    return Taken::kNo;
  }
  storage::PutBlock put;
  Writing writing;
  writing.node = block.node;
  const kv::ColdBlock kept = form == Form::kExact ? block.cold : kept_as(block, *buffer, writing);
  writing.lineage = lineages_.identity_of(kept.lineage, kept.by_name);
  writing.name = {kept.scope, kept.key};
  writing.label = kept.label;
  put.block = stored(kept);
  put.layout = executor_.layout();
  put.bytes = *buffer;
  put.checksum = block.checksum;
  put.ticket = next_ticket_++;
  if (disk_.store()->put({&put, 1}) == 0) {
    disk_.give_buffer(std::move(buffer));
    return Taken::kLater;
  }
  writing.buffer = std::move(buffer);
  writing_[put.ticket] = std::move(writing);
  return Taken::kYes;
}

ColdTier::Taken ColdTier::read_block(const kv::ColdBlock& cold, BlockId into, std::uint64_t tag) {
  Moving moving;
  moving.tag = tag;
  moving.into = into;
  return get_moving(cold, std::move(moving));
}

ColdTier::Taken ColdTier::get_moving(const kv::ColdBlock& cold, Moving moving) {
  if (!disk_.serves()) return Taken::kNo;
  const std::size_t bytes = (moving_.size() + 1) * executor_.layout().block_bytes();
  const bool full = moving_.size() >= kMovingReads || (!moving_.empty() && bytes > kMovingBytes);
  if (full || !reading_.empty()) return Taken::kLater;
  storage::GetBlock get;
  get.block = stored(cold);
  get.layout = executor_.layout();
  if (moving.into != kNoBlock) get.into = executor_.host_memory(moving.into);
  if (get.into.empty()) {
    moving.buffer = disk_.take_buffer(executor_.layout().block_bytes());
    if (moving.buffer == nullptr) return Taken::kLater;
    get.into = *moving.buffer;
  }
  get.from_disk = moving.into == kNoBlock;  // it is proved where it is
  get.ticket = next_ticket_++;
  if (disk_.store()->get({&get, 1}) == 0) {
    disk_.give_buffer(std::move(moving.buffer));
    return Taken::kLater;
  }
  moving_.emplace(get.ticket, std::move(moving));
  return Taken::kYes;
}

// False: it was read for a request.
bool ColdTier::on_moved(const storage::StoreEvent& event) {
  const auto found = moving_.find(event.ticket);
  if (found == moving_.end()) return false;
  Moving moving = std::move(found->second);
  moving_.erase(found);
  storage::Miss miss = event.kind == storage::StoreEvent::Kind::kRead ? storage::Miss::kNone : event.miss;
  if (moving.rounds != nullptr) {
    on_read_to_round(std::move(moving), miss, event.checksum);
    return true;
  }
  const bool copies = miss == storage::Miss::kNone && moving.buffer != nullptr && moving.into != kNoBlock;
  if (copies && !executor_.write_block(moving.into, *moving.buffer).ok()) miss = storage::Miss::kReadFailed;
  disk_.give_buffer(std::move(moving.buffer));
  if (disk_.mover() != nullptr) disk_.mover()->read(moving.tag, miss, event.checksum);
  return true;
}

std::unordered_set<NodeId> ColdTier::in_ram(std::span<const NodeId> nodes) const {
  std::unordered_set<NodeId> there;
  if (!disk_.keeps_in_ram()) return there;
  for (const NodeId node : nodes) {
    const std::optional<kv::ColdBlock> copy = cache_.stored_block(node);
    if (copy && disk_.store()->in_ram(copy->scope, {&copy->key, 1}).front()) there.insert(node);
  }
  return there;
}

std::optional<std::uint64_t> ColdTier::checksum_of(BlockId block) {
  const std::span<const std::byte> memory = executor_.host_memory(block);
  if (!memory.empty()) return kernels::block_checksum(executor_.layout(), memory.data());
  std::unique_ptr<Buffer> buffer = disk_.take_buffer(executor_.layout().block_bytes());
  if (buffer == nullptr) return std::nullopt;
  const bool read = executor_.read_block(block, *buffer).ok();
  const std::uint64_t sum = read ? kernels::block_checksum(executor_.layout(), buffer->data()) : 0;
  disk_.give_buffer(std::move(buffer));
  if (!read) return std::nullopt;
  return sum;
}

}  // namespace larder::engine
