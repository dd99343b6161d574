// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/kv/cache_core.h"

namespace larder::kv {
namespace {

constexpr std::size_t kMaxPins = 4096;

std::uint32_t unpinned_on_path(const CacheCore& core, NodeIndex node) {
  std::uint32_t blocks = 0;
  for (; !core.tree.at(node).is_root() && core.tree.at(node).pins == 0; node = core.tree.at(node).parent) ++blocks;
  return blocks;
}

std::string arithmetic(const CacheCore& core, std::uint32_t path, std::uint32_t added) {
  const std::uint32_t after = core.pinned + added;
  return "the path has " + std::to_string(path) + " blocks, of which other pins hold " + std::to_string(path - added) +
         "; pinned " + std::to_string(core.pinned) + " + " + std::to_string(added) + " = " + std::to_string(after) +
         " of a budget of " + std::to_string(core.options.pin_budget_blocks) + ", and one longest request of " +
         std::to_string(core.options.longest_request_blocks) + " blocks must fit beside them in " +
         std::to_string(core.options.block_count);
}

}  // namespace

Result<PinAnswer> PrefixCache::pin(const PinRequest& request) {
  CacheCore& core = *core_;
  core.expire_pins();
  NodeIndex node = core.tree.find(request.node);
  if (node == kNoNode) {
    return Error{ErrorCode::kNotFound,
                 "no cached run " + std::to_string(request.node.value) + " to pin; it may have been evicted", {}};
  }
  if (!core.tree.at(node).sealed) node = core.tree.at(node).parent;
  const Node& end = core.tree.at(node);
  if (end.is_root()) {
    return Error{ErrorCode::kConflict, "the run is still being computed; pin it when its first block is full", {}};
  }
  PinAnswer answer;
  answer.pin.node = end.id;
  answer.pin.owner = request.owner;
  answer.pin.reason = request.reason;
  answer.pin.tokens = end.first_position + end.valid;
  answer.pin.blocks = blocks_for(answer.pin.tokens);
  answer.pin.created = request.created != 0 ? request.created : core.options.clock->wall();
  answer.pin.expires = request.expires;
  answer.added = unpinned_on_path(core, node);
  answer.pinned = core.pinned + answer.added;
  answer.budget = core.options.pin_budget_blocks;
  answer.arithmetic = arithmetic(core, answer.pin.blocks, answer.added);
  const bool in_budget = answer.pinned <= answer.budget;
  const std::uint64_t beside = std::uint64_t{answer.pinned} + core.options.longest_request_blocks;
  if (!in_budget || beside > core.options.block_count) {
    const char* which =
        in_budget ? "the pin would leave no room for one longest request: " : "the pin is over budget: ";
    return Error{ErrorCode::kResourceExhausted, which + answer.arithmetic, {}};
  }
  if (core.pins.size() >= kMaxPins) {
    return Error{ErrorCode::kResourceExhausted, std::to_string(kMaxPins) + " pins are held already; unpin one", {}};
  }
  if (request.dry_run) return answer;
  answer.pin.id = PinId{core.ids.pins + 1};
  const std::vector<NodeIndex> unstored = core.unstored_path(node);
  core.pins.push_back(answer.pin);
  ++core.ids.pins;
  core.pin_path(node, true);
  // What is pinned is written down exact, whatever was written instead of it before.
  for (const NodeIndex index : unstored) core.note_unstored(index);
  return answer;
}

Status PrefixCache::set_pin_bounds(const PinBounds& bounds) {
  CacheCore& core = *core_;
  core.expire_pins();
  if (core.pinned > bounds.budget_blocks ||
      std::uint64_t{core.pinned} + bounds.longest_request_blocks > bounds.pool_blocks) {
    return Error{ErrorCode::kConflict,
                 "pins hold " + std::to_string(core.pinned) + " blocks; a pool of " +
                     std::to_string(bounds.pool_blocks) + " lets them have " + std::to_string(bounds.budget_blocks) +
                     ", and one longest request of " + std::to_string(bounds.longest_request_blocks) +
                     " must fit beside them: unpin some first",
                 {}};
  }
  core.options.block_count = bounds.pool_blocks;
  core.options.pin_budget_blocks = bounds.budget_blocks;
  core.options.longest_request_blocks = bounds.longest_request_blocks;
  return {};
}

Status PrefixCache::unpin(PinId id) {
  CacheCore& core = *core_;
  const auto found = std::find_if(core.pins.begin(), core.pins.end(), [id](const auto& pin) { return pin.id == id; });
  if (found == core.pins.end()) {
    return Error{ErrorCode::kNotFound, "no pin " + std::to_string(id.value) + "; it may have expired", {}};
  }
  core.pin_path(core.tree.find(found->node), false);
  core.pins.erase(found);
  return {};
}

std::uint32_t PrefixCache::unpin_node(NodeId node) {
  std::vector<PinId> ending;
  for (const PinRecord& pin : core_->pins) {
    if (pin.node == node) ending.push_back(pin.id);
  }
  for (const PinId pin : ending) (void)unpin(pin);
  return static_cast<std::uint32_t>(ending.size());
}

std::uint32_t CacheCore::expire_pins() {
  const WallTime now = options.clock->wall();
  const auto expired = std::stable_partition(pins.begin(), pins.end(), [now](const PinRecord& pin) {
    return pin.expires == 0 || now < pin.expires;
  });
  const auto count = static_cast<std::uint32_t>(pins.end() - expired);
  for (auto pin = expired; pin != pins.end(); ++pin) pin_path(tree.find(pin->node), false);
  pins.erase(expired, pins.end());
  return count;
}

std::uint32_t PrefixCache::expire_pins() { return core_->expire_pins(); }
std::vector<PinRecord> PrefixCache::pins() const { return core_->pins; }

}  // namespace larder::kv
