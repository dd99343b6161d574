// SPDX-License-Identifier: Apache-2.0
// LeafOrder: the leaves that pressure may take, in the lists the policy asked for, oldest use first. Knows no tree.
// Bounds:   one entry per evictable leaf. Cost: O(log leaves) per change, O(queues) more per choice.
// Errors:   insert may throw for want of memory, and has changed nothing then; not while there are no more leaves and
//           lists than reserve said.
// Threads:  one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "storage/placement.h"

namespace larder::storage {

class LeafOrder {
 public:
  struct Place {
    std::uint64_t queue = 0;
    std::uint64_t last_use = 0;
  };

  explicit LeafOrder(std::unique_ptr<EvictionPolicy> policy) : policy_(std::move(policy)) {}

  // Memory for `leaves` leaves in all, in `queues` lists.
  void reserve(std::size_t leaves, std::size_t queues = 1);
  // Requires: the leaf is not in it.
  Place insert(std::uint32_t leaf, const LeafFacts& facts);
  void erase(std::uint32_t leaf, const Place& place);

  // The leaf to give way. `facts_of(leaf)` answers LeafFacts as they are now.    Requires: not empty.
  template <typename FactsOf>
  std::uint32_t choose(WallTime now, FactsOf facts_of) const {
    std::uint32_t best = queues_.begin()->second.begin()->second;
    double best_score = 0;
    bool first = true;
    for (const auto& [queue, leaves] : queues_) {
      const std::uint32_t head = leaves.begin()->second;
      const double score = policy_->score(facts_of(head), now);
      if (first || score < best_score) {
        best = head;
        best_score = score;
        first = false;
      }
    }
    return best;
  }

  double score(const LeafFacts& facts, WallTime now) const { return policy_->score(facts, now); }
  bool empty() const { return queues_.empty(); }
  std::size_t size() const { return size_; }
  std::string policy_name() const { return policy_->name(); }

 private:
  using Leaves = std::set<std::pair<std::uint64_t, std::uint32_t>>;  // last use, leaf

  std::unique_ptr<EvictionPolicy> policy_;
  using Queues = std::map<std::uint64_t, Leaves>;

  Queues queues_;  // none is empty
  std::vector<Leaves::node_type> spare_leaves_;
  std::vector<Queues::node_type> spare_queues_;
  std::size_t size_ = 0;
};

}  // namespace larder::storage
