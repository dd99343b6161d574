// SPDX-License-Identifier: Apache-2.0
#include "storage/leaf_order.h"

#include "runtime/base/invariant.h"

namespace larder::storage {

LeafOrder::Place LeafOrder::insert(std::uint32_t leaf, const LeafFacts& facts) {
  const Place place{policy_->queue(facts), facts.last_use};
  const bool inserted = queues_[place.queue].emplace(place.last_use, leaf).second;
  INVARIANT(inserted);
  ++size_;
  return place;
}

void LeafOrder::erase(std::uint32_t leaf, const Place& place) {
  const auto queue = queues_.find(place.queue);
  INVARIANT(queue != queues_.end() && queue->second.erase({place.last_use, leaf}) == 1);
  if (queue->second.empty()) queues_.erase(queue);
  --size_;
}

}  // namespace larder::storage
