// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/arrival.h"

#include <algorithm>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/kv/cache_core.h"

namespace larder::kv {
namespace {

void give_back(CacheCore& core, ArrivingBlock& block) noexcept {
  core.pool.finish_arrival(block.to, block.cold.valid, false);
  block.to = kNoBlock;
  if (const NodeIndex node = core.tree.find(block.node); node != kNoNode) core.tree.at(node).arriving = false;
}

// The verified block takes its place in the tree; false when it has none any more.
bool place(CacheCore& core, ArrivingBlock& block) noexcept {
  const NodeIndex index = core.tree.find(block.node);
  if (index == kNoNode) return false;
  Node& node = core.tree.at(index);
  if (node.resident()) {  // computed meanwhile, by a request that would not wait
    give_back(core, block);
    block.to = node.block;
    core.hold(block.to);
    return true;
  }
  if (!core.tree.at(node.parent).is_root() && !core.tree.at(node.parent).resident()) return false;
  node.arriving = false;
  core.pool.finish_arrival(block.to, block.cold.valid, true);
  core.warm_node(index, block.to);
  return true;
}

// Is the node that the block belongs below still cold?
bool above_is_missing(const CacheCore& core, const ArrivingBlock& block) {
  const NodeIndex index = core.tree.find(block.node);
  if (index == kNoNode) return false;
  const Node& above = core.tree.at(core.tree.at(index).parent);
  return !above.is_root() && !above.resident();
}

// The path grows by what came to be resident above the first block; there is room for all of it.
void hold_above(CacheCore& core, ArrivalState& arrival) noexcept {
  const NodeIndex index = core.tree.find(arrival.blocks.front().node);
  if (index == kNoNode) return;
  const std::size_t held = arrival.path.size();
  std::size_t depth = core.tree.at(index).first_position / kernels::kBlockTokens;
  arrival.path.resize(depth, kNoBlock);
  for (NodeIndex at = core.tree.at(index).parent; depth > held; at = core.tree.at(at).parent) {
    const BlockId block = core.tree.at(at).block;
    arrival.path[--depth] = block;
    core.hold(block);
  }
}

// What is verified and complete above goes into the tree; what lies behind a missing one is given back.
void advance(CacheCore& core, ArrivalState& arrival) noexcept {
  while (!arrival.refused && arrival.warmed < arrival.blocks.size()) {
    const BlockFate fate = arrival.fates[arrival.warmed];
    if (fate == BlockFate::kOnItsWay) return;
    const bool waits = arrival.waits_above && above_is_missing(core, arrival.blocks.front());
    if (fate == BlockFate::kVerified && waits) return;
    if (std::exchange(arrival.waits_above, false) && !waits) hold_above(core, arrival);
    arrival.refused = fate == BlockFate::kMissed || !place(core, arrival.blocks[arrival.warmed]);
    if (!arrival.refused) ++arrival.warmed;
  }
  for (std::size_t i = arrival.warmed; i < arrival.blocks.size(); ++i) {
    const bool back = arrival.fates[i] != BlockFate::kOnItsWay;
    if (back && arrival.blocks[i].to != kNoBlock) give_back(core, arrival.blocks[i]);
  }
}

}  // namespace

Arrival::Arrival(Arrival&& other) noexcept : core_(std::exchange(other.core_, nullptr)), slot_(other.slot_) {}

Arrival& Arrival::operator=(Arrival&& other) noexcept {
  if (this != &other) {
    close();
    core_ = std::exchange(other.core_, nullptr);
    slot_ = other.slot_;
  }
  return *this;
}

Arrival::~Arrival() { close(); }

const std::vector<ArrivingBlock>& Arrival::blocks() const { return core_->arrivals[slot_].blocks; }

void Arrival::arrived(std::size_t index, std::uint64_t checksum) noexcept {
  ArrivalState& arrival = core_->arrivals[slot_];
  INVARIANT(arrival.fates[index] == BlockFate::kOnItsWay);
  arrival.fates[index] = BlockFate::kVerified;
  const BlockId block = arrival.blocks[index].to;
  core_->pool.set_checksum(block, checksum);
  advance(*core_, arrival);
}

void Arrival::missed(std::size_t index, bool gone) {
  ArrivalState& arrival = core_->arrivals[slot_];
  INVARIANT(arrival.fates[index] == BlockFate::kOnItsWay);
  arrival.fates[index] = BlockFate::kMissed;
  const NodeIndex node = core_->tree.find(arrival.blocks[index].node);
  advance(*core_, arrival);
  if (arrival.blocks[index].to != kNoBlock) give_back(*core_, arrival.blocks[index]);
  if (!gone || node == kNoNode || core_->tree.at(node).resident()) return;
  core_->forget_cold(node);
}

void Arrival::look_again() noexcept { advance(*core_, core_->arrivals[slot_]); }

bool Arrival::complete() const {
  const ArrivalState& arrival = core_->arrivals[slot_];
  return arrival.warmed == arrival.blocks.size();
}

bool Arrival::settled() const {
  const std::vector<BlockFate>& fates = core_->arrivals[slot_].fates;
  return std::find(fates.begin(), fates.end(), BlockFate::kOnItsWay) == fates.end();
}

std::uint32_t Arrival::warmed_tokens() const {
  const ArrivalState& arrival = core_->arrivals[slot_];
  std::uint32_t tokens = 0;
  for (std::uint32_t i = 0; i < arrival.warmed; ++i) tokens += arrival.blocks[i].cold.valid;
  return tokens;
}

void Arrival::close() noexcept {
  if (core_ == nullptr) return;
  INVARIANT(settled());
  CacheCore& core = *std::exchange(core_, nullptr);
  ArrivalState& arrival = core.arrivals[slot_];
  arrival.refused = true;  // what waits for a block above it waits no longer
  advance(core, arrival);
  for (auto block = arrival.blocks.rbegin(); block != arrival.blocks.rend(); ++block) {
    if (block->to != kNoBlock) core.release(block->to);
  }
  for (auto block = arrival.path.rbegin(); block != arrival.path.rend(); ++block) core.release(*block);
  arrival = ArrivalState{};
  ++core.version;
}

}  // namespace larder::kv
