// SPDX-License-Identifier: Apache-2.0
// share_pool: how much of one byte budget for KV each loaded model may use. A pure function of what it is shown; asked
// before each step.
// Rules:    a model that is alone has all of it, and what runs in it already comes to its end. Beside others a
//           model's limit grows by chunks: where its free blocks run short, from what nobody has, then from what
//           others have and do not use, then from the others' cached blocks, the model used longest ago first. A
//           model that answers keeps an even share against that, but for a request that would not fit at all
//           otherwise; what is in use or pinned, and what the largest running request needs to come to its end, is
//           never taken.
// Ensures:  limits and what is still taken beyond a lowered limit stay within the budget together, so a limit is raised
//           only as what it takes has left.
// Units:    blocks of each model's own size; bytes.    Threads: pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/clock.h"

namespace larder::engine {

inline constexpr std::uint64_t kPoolChunkBytes = 64u << 20;

struct PoolShare {
  std::uint64_t block_bytes = 1;
  std::uint32_t limit = 0;
  std::uint32_t taken = 0;     // cached or in use, beyond the limit too
  std::uint32_t kept = 0;      // of them, what is pinned or in use
  std::uint32_t headroom = 0;  // free blocks that it wants to have for its next steps; 0: it has nothing to do
  std::uint32_t running = 0;   // limit with which its largest running request comes to its end; 0: none runs
  std::uint32_t waiting = 0;   // the same for those in the queue
  Ticks last_use = 0;
};

// 64 MiB, or a sixteenth of a small budget.
std::uint64_t pool_chunk_bytes(std::uint64_t budget_bytes);

// The new limits, in the order of the shares.
std::vector<std::uint32_t> share_pool(std::uint64_t budget_bytes, std::span<const PoolShare> shares);

}  // namespace larder::engine
