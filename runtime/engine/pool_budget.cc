// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/pool_budget.h"

#include <algorithm>
#include <numeric>

namespace larder::engine {
namespace {

class Sharing {
 public:
  Sharing(std::uint64_t budget_bytes, std::span<const PoolShare> shares) : budget_(budget_bytes), shares_(shares) {
    for (const PoolShare& share : shares_) limits_.push_back(share.limit);
  }

  std::vector<std::uint32_t> run() {
    lower_to_budget();
    std::vector<std::size_t> order(shares_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return shares_[a].last_use > shares_[b].last_use; });
    // Who cannot run at all comes before who would like more room.
    for (const std::size_t each : order) grow(each, std::max(shares_[each].running, shares_[each].waiting), true);
    for (const std::size_t each : order) {
      const PoolShare& share = shares_[each];
      if (share.headroom > 0) grow(each, share.taken + share.headroom, false);
    }
    return limits_;
  }

 private:
  std::uint32_t blocks(std::size_t of, std::uint64_t bytes) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / shares_[of].block_bytes, 0x7fffffff));
  }
  std::uint64_t bytes(std::size_t of, std::uint32_t count) const { return count * shares_[of].block_bytes; }
  // What the model holds once its limit is as it is here: free blocks beyond it leave at once, others later.
  std::uint64_t held(std::size_t of) const { return bytes(of, std::max(limits_[of], shares_[of].taken)); }
  std::uint64_t granted() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < limits_.size(); ++i) sum += bytes(i, limits_[i]);
    return sum;
  }
  std::uint64_t all_held() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < limits_.size(); ++i) sum += held(i);
    return sum;
  }
  std::uint32_t even(std::size_t of) const { return blocks(of, budget_ / shares_.size()); }

  // What cannot be taken from it.
  std::uint32_t floor_of(std::size_t of, bool urgent) const {
    const PoolShare& share = shares_[of];
    const std::uint32_t needed = std::max({share.kept, share.running, 1u});
    const bool answers = share.running > 0 || share.headroom > 0;
    return urgent || !answers ? needed : std::max(needed, std::min(limits_[of], even(of)));
  }

  // Down to `least`, as far as `missing` asks for it; answers what came of it.
  std::uint64_t lower(std::size_t of, std::uint32_t least, std::uint64_t missing) {
    if (limits_[of] <= least) return 0;
    const std::uint64_t block = shares_[of].block_bytes;
    const auto wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>((missing + block - 1) / block, limits_[of]));
    const std::uint32_t given = std::min(limits_[of] - least, wanted);
    limits_[of] -= given;
    return given * block;
  }

  std::vector<std::size_t> oldest_first(std::size_t but) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      if (i != but) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return shares_[a].last_use < shares_[b].last_use; });
    return order;
  }

  // A budget that was lowered, or a model that came: the one used longest ago gives first.
  void lower_to_budget() {
    for (const std::size_t each : oldest_first(shares_.size())) {
      const std::uint64_t sum = granted();
      if (sum <= budget_) return;
      lower(each, std::max(shares_[each].kept, 1u), sum - budget_);
    }
  }

  // urgent: it cannot run otherwise.
  void grow(std::size_t who, std::uint32_t wanted, bool urgent) {
    if (wanted <= limits_[who]) return;
    const std::uint64_t chunk = pool_chunk_bytes(budget_);
    const std::uint64_t missing = bytes(who, wanted - limits_[who]);
    std::uint64_t ask = std::min((missing + chunk - 1) / chunk * chunk, budget_);
    const std::uint64_t spare = budget_ - std::min(budget_, granted());
    std::uint64_t more = ask > spare ? ask - spare : 0;
    const std::vector<std::size_t> others = oldest_first(who);
    for (const std::size_t other : others) {  // what they do not use
      const PoolShare& share = shares_[other];
      const std::uint32_t own = std::max({share.taken + share.headroom, share.waiting, floor_of(other, true)});
      more -= std::min(more, lower(other, own, more));
    }
    for (const std::size_t other : others) {
      const bool older = shares_[other].last_use < shares_[who].last_use;
      if (urgent || older) more -= std::min(more, lower(other, floor_of(other, urgent), more));
    }
    ask -= more;
    // Only what has left already: the rest follows when it is asked again.
    const std::uint64_t free = budget_ - std::min(budget_, all_held());
    limits_[who] += blocks(who, std::min(ask, free));
  }

  const std::uint64_t budget_;
  const std::span<const PoolShare> shares_;
  std::vector<std::uint32_t> limits_;
};

}  // namespace

std::uint64_t pool_chunk_bytes(std::uint64_t budget_bytes) {
  return std::max<std::uint64_t>(1, std::min(kPoolChunkBytes, budget_bytes / 16));
}

std::vector<std::uint32_t> share_pool(std::uint64_t budget_bytes, std::span<const PoolShare> shares) {
  if (shares.size() == 1) {
    // More than the budget only while what runs began under a larger one.
    const PoolShare& one = shares.front();
    const std::uint64_t all = budget_bytes / one.block_bytes;
    const std::uint64_t least = std::max(1u, std::min(one.running, one.limit));
    return {static_cast<std::uint32_t>(std::min<std::uint64_t>(std::max(all, least), 0x7fffffff))};
  }
  return Sharing(budget_bytes, shares).run();
}

}  // namespace larder::engine
