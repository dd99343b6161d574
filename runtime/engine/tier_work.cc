// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/tier_work.h"

#include <algorithm>
#include <unordered_map>

namespace larder::engine {

const char* tier_verb_name(TierVerb verb) {
  switch (verb) {
    case TierVerb::kCopy:
      return "copy";
    case TierVerb::kMove:
      return "move";
    case TierVerb::kVerify:
      return "verify";
    case TierVerb::kCompress:
      return "compress";
    case TierVerb::kDecompress:
      return "decompress";
  }
  return "verify";
}

void count_staying(TierTally& tally, kv::Staying staying) {
  switch (staying) {
    case kv::Staying::kNone:
      return;
    case kv::Staying::kGone:
      ++tally.gone;
      return;
    case kv::Staying::kAlready:
      ++tally.already;
      return;
    case kv::Staying::kGrowing:
      ++tally.growing;
      return;
    case kv::Staying::kPinned:
      ++tally.pinned;
      return;
    case kv::Staying::kInUse:
      ++tally.in_use;
      return;
    case kv::Staying::kBelow:
      ++tally.below;
      return;
    case kv::Staying::kNoCopy:
      return;  // counted where its copy was refused, or it was not brought up
  }
}

std::vector<NodeId> leaving_of(std::span<const NodeId> nodes, const kv::PrefixCache& cache, TierTally& tally) {
  std::vector<NodeId> leaving;
  std::unordered_map<NodeId, std::uint32_t> going;  // children that leave, by parent
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    kv::BlockFacts block = cache.facts(*node);
    block.children -= going[*node];
    const kv::Staying staying = kv::stays_anywhere(block);
    count_staying(tally, staying);
    if (staying != kv::Staying::kNone) continue;
    leaving.push_back(*node);
    ++going[block.parent];
  }
  std::reverse(leaving.begin(), leaving.end());
  return leaving;
}

void TierWork::count_miss(storage::Miss miss) {
  if (storage::is_damage(miss))
    ++tally_.damaged;
  else if (copy_is_gone(miss))
    ++tally_.missing;
  else
    ++tally_.unread;
}

// The first reason is the cause: what hangs on that block is refused for want of it.
void TierWork::count_refused(storage::Refusal refusal) {
  ++tally_.refused;
  if (tally_.refusal.empty()) tally_.refusal = storage::refusal_name(refusal);
}

std::optional<kv::BlockFacts> TierWork::replace_leaf(kv::PrefixCache& cache, NodeId node, NodeId twin,
                                                     const char* word) {
  const kv::BlockFacts block = cache.facts(node);
  const kv::Staying staying = cache.drop_leaf(node, word);
  count_staying(tally_, staying);
  if (staying != kv::Staying::kNone) return std::nullopt;
  tally_.left_pool += block.resident() ? 1 : 0;
  tally_.left_disk += block.stored ? 1 : 0;
  replaced_.emplace_back(node, twin);
  return block;
}

// Only some verbs round, read or have something computed.
void TierWork::rounded(kv::PrefixCache& /*cache*/, const Rounded& /*what*/) {}
void TierWork::read(kv::PrefixCache& /*cache*/, std::uint64_t /*tag*/, storage::Miss /*miss*/,
                    std::uint64_t /*checksum*/) {}
void TierWork::computed(kv::PrefixCache& /*cache*/, const Status& /*how*/) {}

}  // namespace larder::engine
