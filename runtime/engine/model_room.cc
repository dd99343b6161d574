// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/model_room.h"

#include <algorithm>
#include <string>

namespace larder::engine {
namespace {

struct Staying {
  std::size_t models = 0;
  std::uint64_t weight_bytes = 0;

  bool fits(const RoomWish& wish) const {
    if (models == 0) return true;
    return models + 1 <= wish.max_models && weight_bytes + wish.weight_bytes + wish.kv_bytes <= wish.memory_bytes;
  }
};

std::string mib(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

Error refusal(const RoomWish& wish, const Staying& staying) {
  const std::string who =
      std::to_string(staying.models) + (staying.models == 1 ? " model that is" : " models that are");
  if (staying.models + 1 > wish.max_models) {
    return {ErrorCode::kResourceExhausted,
            "the model was not loaded beside " + who + " answering: with it there would be " +
                std::to_string(staying.models + 1) + " and engine.max_models is " + std::to_string(wish.max_models) +
                ": wait until one is idle, unload one, or raise the setting",
            "engine.max_models"};
  }
  const std::uint64_t sum = staying.weight_bytes + wish.weight_bytes + wish.kv_bytes;
  return {ErrorCode::kResourceExhausted,
          "the model was not loaded beside " + who + " answering: weights of " + mib(staying.weight_bytes) + " + " +
              mib(wish.weight_bytes) + " and " + mib(wish.kv_bytes) + " of KV are " + mib(sum) + ", and there are " +
              mib(wish.memory_bytes) + ": wait until one is idle, unload one, or lower pool.bytes",
          "pool.bytes"};
}

}  // namespace

Result<std::vector<ModelId>> room_for(const RoomWish& wish, const std::vector<ResidentFacts>& residents) {
  std::vector<ModelId> going;
  Staying staying;
  std::vector<ResidentFacts> idle;
  for (const ResidentFacts& each : residents) {
    if (each.replaced) {
      going.push_back(each.id);
      continue;
    }
    ++staying.models;
    staying.weight_bytes += each.weight_bytes;
    if (!each.busy) idle.push_back(each);
  }
  std::stable_sort(idle.begin(), idle.end(),
                   [](const ResidentFacts& a, const ResidentFacts& b) { return a.last_use < b.last_use; });
  for (const ResidentFacts& each : idle) {
    if (staying.fits(wish)) break;
    --staying.models;
    staying.weight_bytes -= each.weight_bytes;
    going.push_back(each.id);
  }
  if (!staying.fits(wish)) return refusal(wish, staying);
  return going;
}

}  // namespace larder::engine
