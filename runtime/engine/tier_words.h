// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a verb over tiers in words, for who reads the API and the log.
// Threads:  pure.
#pragma once

#include <string>

#include "runtime/engine/tier_work.h"

namespace larder::engine {

// What an order did, or (dry_run) would do now. `pool`: "host" or "device".
std::string tier_words(const TierOrder& order, const TierTally& tally, const CodecFigures& codec, std::uint64_t blocks,
                       std::uint64_t block_bytes, const std::string& pool, bool dry_run);

// "job 3 (move of run 17)"
std::string job_name(JobId id, const TierOrder& order);

}  // namespace larder::engine
