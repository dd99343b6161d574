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
  if (!identity_->weights_known || adopting_) {
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
  Writing writing;
  writing.node = block.node;
  writing.buffer = disk_.buffers().take(executor_.layout().block_bytes());
  if (writing.buffer == nullptr) return Taken::kLater;
  if (!executor_.read_block(block.block, *writing.buffer).ok()) return Taken::kNo;
  const kv::ColdBlock kept = form == Form::kExact ? block.cold : kept_as(block, *writing.buffer, writing);
  writing.lineage = lineages_.identity_of(kept.lineage, kept.by_name);
  writing.name = {kept.scope, kept.key};
  writing.label = kept.label;
  storage::PutBlock put;
  put.block = stored(kept);
  put.checksum = block.checksum;
  return give_to_store(put, std::move(writing));
}

ColdTier::Taken ColdTier::give_to_store(storage::PutBlock put, Writing writing) {
  put.layout = executor_.layout();
  put.bytes = *writing.buffer;
  put.ticket = next_ticket_++;
  const bool taken =
      writing_.ask(put.ticket, std::move(writing), [&] { return disk_.store()->put({&put, 1}) == 1; });
  return taken ? Taken::kYes : Taken::kLater;
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
  moving.copy = cold.key;
  storage::GetBlock get;
  get.block = stored(cold);
  get.layout = executor_.layout();
  if (moving.into != kNoBlock) get.into = executor_.host_memory(moving.into);
  if (get.into.empty()) {
    moving.buffer = disk_.buffers().take(executor_.layout().block_bytes());
    if (moving.buffer == nullptr) return Taken::kLater;
    get.into = *moving.buffer;
  }
  get.from_disk = moving.into == kNoBlock;  // it is proved where it is
  get.ticket = next_ticket_++;
  const bool taken =
      moving_.ask(get.ticket, std::move(moving), [&] { return disk_.store()->get({&get, 1}) == 1; });
  return taken ? Taken::kYes : Taken::kLater;
}

// False: it was read for a request. Its entry goes last, so that all of it can be done once more.
bool ColdTier::on_moved(const storage::StoreEvent& event) {
  Moving* const moving = moving_.find(event.ticket);
  if (moving == nullptr) return false;
  storage::Miss miss = event.kind == storage::StoreEvent::Kind::kRead ? storage::Miss::kNone : event.miss;
  if (moving->rounds != nullptr) {
    Moving read = std::move(*moving);
    moving_.erase(event.ticket);
    on_read_to_round(std::move(read), miss, event.checksum);
    return true;
  }
  const bool copies = miss == storage::Miss::kNone && moving->buffer != nullptr && moving->into != kNoBlock;
  if (copies && !executor_.write_block(moving->into, *moving->buffer).ok()) miss = storage::Miss::kReadFailed;
  if (miss != storage::Miss::kNone && copy_is_gone(miss)) forget_gone(moving->copy);
  if (disk_.mover() != nullptr) disk_.mover()->read(moving->tag, miss, event.checksum);
  moving_.erase(event.ticket);
  return true;
}

std::unordered_set<NodeId> ColdTier::in_ram(std::span<const NodeId> nodes) const {
  std::unordered_set<NodeId> there;
  const std::optional<ScopeId> scope = nodes.empty() ? std::nullopt : cache_.scope_of(nodes.front());
  if (!scope || !disk_.keeps_in_ram()) return there;
  std::vector<NodeId> stored;
  std::vector<BlockKey> keys;
  for (const NodeId node : nodes) {
    if (!cache_.facts(node).stored) continue;
    stored.push_back(node);
    keys.push_back(cache_.stored_block(node)->key);
  }
  const std::vector<bool> copied = disk_.store()->in_ram(*scope, keys);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (copied[i]) there.insert(stored[i]);
  }
  return there;
}

// A cold block whose copy cannot be had any more, and what hangs on it, leaves the tree. Whoever is told of it then
// needs no memory to take note.
void ColdTier::forget_gone(const BlockKey& copy) {
  const std::optional<NodeId> node = cache_.find_stored(copy);
  if (node && !cache_.facts(*node).resident()) cache_.drop_stored(copy);
}

std::optional<std::uint64_t> ColdTier::checksum_of(BlockId block) {
  const std::span<const std::byte> memory = executor_.host_memory(block);
  if (!memory.empty()) return kernels::block_checksum(executor_.layout(), memory.data());
  const CopyBuffers::Lent buffer = disk_.buffers().take(executor_.layout().block_bytes());
  if (buffer == nullptr || !executor_.read_block(block, *buffer).ok()) return std::nullopt;
  return kernels::block_checksum(executor_.layout(), buffer->data());
}

}  // namespace larder::engine
