// SPDX-License-Identifier: Apache-2.0
#include "storage/placement.h"

namespace larder::storage {

std::uint64_t LeafLru::queue(const LeafFacts&) const { return 0; }

double LeafLru::score(const LeafFacts& head, WallTime) const { return static_cast<double>(head.last_use); }

std::uint64_t QuotaLru::queue(const LeafFacts& leaf) const { return leaf.tenant.value; }

double QuotaLru::score(const LeafFacts& head, WallTime) const {
  constexpr double kBeforeAllOthers = -0x1p52;  // stamps stay far below, and sums stay exact
  return static_cast<double>(head.last_use) + (head.over_quota ? kBeforeAllOthers : 0.0);
}

}  // namespace larder::storage
