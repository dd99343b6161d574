// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/tier_work.h"

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

void TierWork::count_miss(storage::Miss miss) {
  if (storage::is_damage(miss))
    ++tally_.damaged;
  else if (copy_is_gone(miss))
    ++tally_.missing;
  else
    ++tally_.unread;
}

// Only some verbs round, read or have something computed.
void TierWork::rounded(kv::PrefixCache& /*cache*/, const Rounded& /*what*/) {}
void TierWork::read(kv::PrefixCache& /*cache*/, std::uint64_t /*tag*/, storage::Miss /*miss*/,
                    std::uint64_t /*checksum*/) {}
void TierWork::computed(kv::PrefixCache& /*cache*/, const Status& /*how*/) {}

}  // namespace larder::engine
