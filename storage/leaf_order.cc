// SPDX-License-Identifier: Apache-2.0
#include "storage/leaf_order.h"

#include "runtime/base/invariant.h"

namespace larder::storage {

void LeafOrder::reserve(std::size_t leaves, std::size_t queues) {
  const std::size_t wanted = leaves > size_ ? leaves - size_ : 0;
  spare_leaves_.reserve(leaves);
  Leaves made;
  for (std::uint32_t i = 0; spare_leaves_.size() < wanted; ++i) {
    made.emplace(0, i);
    spare_leaves_.push_back(made.extract(made.begin()));
  }
  spare_queues_.reserve(queues);
  while (queues_.size() + spare_queues_.size() < queues) {
    Queues queue;
    queue.try_emplace(0);
    spare_queues_.push_back(queue.extract(queue.begin()));
  }
}

LeafOrder::Place LeafOrder::insert(std::uint32_t leaf, const LeafFacts& facts) {
  const Place place{policy_->queue(facts), facts.last_use};
  Leaves::node_type node;
  if (spare_leaves_.empty()) {
    Leaves made{{place.last_use, leaf}};
    node = made.extract(made.begin());
  } else {
    node = std::move(spare_leaves_.back());
    spare_leaves_.pop_back();
    node.value() = {place.last_use, leaf};
  }
  auto queue = queues_.find(place.queue);
  if (queue == queues_.end() && !spare_queues_.empty()) {
    spare_queues_.back().key() = place.queue;
    queue = queues_.insert(std::move(spare_queues_.back())).position;
    spare_queues_.pop_back();
  } else if (queue == queues_.end()) {
    queue = queues_.try_emplace(place.queue).first;
  }
  const bool inserted = queue->second.insert(std::move(node)).inserted;
  INVARIANT(inserted);
  ++size_;
  return place;
}

void LeafOrder::erase(std::uint32_t leaf, const Place& place) {
  const auto queue = queues_.find(place.queue);
  INVARIANT(queue != queues_.end());
  Leaves::node_type node = queue->second.extract({place.last_use, leaf});
  INVARIANT(!node.empty());
  --size_;
  if (spare_leaves_.size() < spare_leaves_.capacity()) spare_leaves_.push_back(std::move(node));
  if (!queue->second.empty()) return;
  if (spare_queues_.size() < spare_queues_.capacity()) {
    spare_queues_.push_back(queues_.extract(queue));
  } else {
    queues_.erase(queue);
  }
}

}  // namespace larder::storage
