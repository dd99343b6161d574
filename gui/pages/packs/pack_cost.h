// SPDX-License-Identifier: GPL-3.0-or-later
// PackCost: what warming or pinning a pack takes, at the measured rate, before it is done.
// Units:   ms, bytes; -1 and 0: not known.    Threads: pure.
#pragma once

#include "gui/bridge/view.h"

namespace larder::gui {

struct PackCost {
  std::uint32_t tokens = 0;
  std::uint64_t blocks = 0, bytes = 0;  // whole blocks, as the pool keeps them
  double compute_ms = -1;               // 0: kept already
};

// Known only with a ready model and a counted pack. An upper bound: a prefix that is kept already costs nothing again.
PackCost packCost(const SnapshotView& view, const PackInfo& pack);
// Of the pool, by all pins.
std::uint64_t pinnedBytes(const SnapshotView& view);

}  // namespace larder::gui
