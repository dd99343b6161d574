// SPDX-License-Identifier: Apache-2.0
// A pin as it is asked for, kept and answered, and what pins may take.
// Units:    blocks, tokens; times in ms since 1970.    Threads: values.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"

namespace larder::kv {

// What pins may take: together at most the budget, and one longest request still fits beside them in the pool.
struct PinBounds {
  std::uint32_t pool_blocks = 0;
  std::uint32_t budget_blocks = 0;
  std::uint32_t longest_request_blocks = 0;
};

struct PinRequest {
  NodeId node{};
  TenantId owner{};
  std::string reason;
  WallTime expires = 0;  // 0: never
  WallTime created = 0;  // 0: now
  bool dry_run = false;
};

struct PinRecord {
  PinId id{};
  NodeId node{};  // the last node it holds
  TenantId owner{};
  std::string reason;
  std::uint32_t blocks = 0;  // on its path
  std::uint32_t tokens = 0;
  WallTime created = 0;
  WallTime expires = 0;
};

struct PinAnswer {
  PinRecord pin;             // id 0 for a dry run
  std::uint32_t added = 0;   // blocks that no other pin held
  std::uint32_t pinned = 0;  // blocks pinned by all pins afterwards
  std::uint32_t budget = 0;
  std::string arithmetic;  // the sum in words, also the message of a refusal
};

}  // namespace larder::kv
