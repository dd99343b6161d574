// SPDX-License-Identifier: Apache-2.0
// room_for: which resident models go so that another one can be loaded. A pure function of what it is shown.
// Rules:    a model stays beside the new one while there are no more than may be and the weights of all, with the KV
//           that all may hold, fit the memory; else those go that answer nothing now, the one used longest ago first,
//           and no more of them than needed. Where no other one would stay, memory is not asked: weights are mapped, so
//           a model alone is loaded as far as its pool can be had.
// Errors:   kResourceExhausted with the arithmetic when those that answer leave no room; then none goes.
// Units:    bytes.    Threads: pure.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/base/result.h"

namespace larder::engine {

struct ResidentFacts {
  ModelId id{};
  std::uint64_t weight_bytes = 0;
  bool busy = false;      // it answers a request
  bool replaced = false;  // the new one takes its place, whatever it does
  Ticks last_use = 0;
};

struct RoomWish {
  std::uint64_t weight_bytes = 0;  // of the new one
  std::uint64_t kv_bytes = 0;      // that all models together may hold
  std::uint64_t memory_bytes = 0;  // that this process can have
  std::uint32_t max_models = 1;    // engine.max_models
};

// Those that go, in order.
Result<std::vector<ModelId>> room_for(const RoomWish& wish, const std::vector<ResidentFacts>& residents);

}  // namespace larder::engine
