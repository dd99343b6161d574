// SPDX-License-Identifier: Apache-2.0
// How large the block pool is when nobody says (DESIGN.md contract 7): the lesser of a quarter of the memory this
// process may use (RAM or the control group's limit) and half of what is free after the weights.
// Units:    bytes.
// Threads:  pure, but for read_memory_facts, which reads /proc and /sys.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/result.h"

namespace larder::engine {

struct MemoryFacts {
  std::uint64_t total = 0;      // RAM, or the control group's limit where that is less
  std::uint64_t available = 0;  // of it, what could be taken now
  std::uint64_t resident = 0;   // of this process
  std::uint64_t own = 0;        // of it, what is not in a file: the pools

  // All that this process can have: mapped files give way.
  std::uint64_t reachable() const { return std::min(total, available + own); }
};

MemoryFacts read_memory_facts();

std::uint64_t default_pool_bytes(const MemoryFacts& memory, std::uint64_t weight_bytes);

// Whether a second form of the weights, which no file backs, and the pool have room before the first is given back.
bool weights_can_be_packed(const MemoryFacts& memory, std::uint64_t weight_bytes, std::uint64_t pool_bytes);

struct PoolPlan {
  std::uint32_t blocks = 0;
  std::uint32_t max_request_tokens = 0;
};

struct PoolWish {
  std::uint64_t pool_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::uint32_t model_context = 0;
  std::uint32_t max_tokens = 0;  // engine.max_tokens
};

// Blocks that so many tokens of one request take.
constexpr std::uint32_t request_blocks(std::uint32_t tokens) {
  return (tokens + kernels::kBlockTokens - 1) / kernels::kBlockTokens;
}

// Errors: kResourceExhausted with the arithmetic when not even a short request would fit.
Result<PoolPlan> plan_pool(const PoolWish& wish);

}  // namespace larder::engine
