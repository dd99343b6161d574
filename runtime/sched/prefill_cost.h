// SPDX-License-Identifier: Apache-2.0
// PrefillCost: what prompt rows cost on this device, as far as it was measured. A row costs more the deeper it stands,
// because attention does, so a prompt's end is dearer than its start.
// Units:    ns; depth in tokens.    Threads: value.
#pragma once

#include <cstdint>

namespace larder::sched {

struct PrefillCost {
  double row_ns = 0;        // at depth 0; 0: not measured yet
  double row_depth_ns = 0;  // more for each token of depth

  bool known() const { return row_ns > 0; }
  // Rows at positions from..to-1; 0: not measured yet.
  double ns(std::uint32_t from, std::uint32_t to) const {
    if (!known() || to <= from) return 0;
    const double rows = to - from;
    return rows * (row_ns + (from + rows / 2) * row_depth_ns);
  }
  double ms(std::uint32_t from, std::uint32_t to) const { return ns(from, to) * 1e-6; }
};

}  // namespace larder::sched
