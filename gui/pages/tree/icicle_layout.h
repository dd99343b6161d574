// SPDX-License-Identifier: GPL-3.0-or-later
// Icicle: which boxes of the prefix tree are drawn where. Root on top; the width of a box is its own share plus all
// below, so the free strip under a box is its own. Children too narrow to see are joined with their neighbours.
// Units:    device-independent pixels; x relative to the viewport, rounded to device pixels.
// Ensures:  boxes of one level never overlap; shown + joined + outside = runs below the root; parents before children.
// Bounds:   kMaxBoxes boxes, the rest is counted as joined.    Threads: pure, any.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/bridge/tree_rows.h"

namespace larder::gui {

enum class WidthBy : std::uint8_t { kTokens, kBytes, kCompute };

inline constexpr int kMaxBoxes = 30'000;

struct IcicleBox {
  int row = -1;     // index into TreeRows::rows; -1: several joined
  int parent = -1;  // index into Icicle::boxes
  int level = 0;
  double x = 0, width = 0;
  int first_row = -1, rows = 0;    // the joined siblings are contiguous
  std::uint32_t joined_nodes = 0;  // runs in a joined box, with everything below
};

struct Icicle {
  std::vector<IcicleBox> boxes;
  int levels = 0;
  std::uint32_t shown = 0, joined = 0, outside = 0;  // runs
  std::uint32_t joined_boxes = 0;
};

struct IcicleFrame {
  int root = 0;
  double viewport = 0;        // width
  double scale = 1;           // content width = viewport * scale
  double offset = 0;          // content x at the viewport's left edge
  double join_share = 0.001;  // of the viewport; at least one pixel
  double ratio = 1;           // device pixels per pixel
  WidthBy by = WidthBy::kTokens;
};

Icicle layIcicle(const TreeRows& rows, const IcicleFrame& frame);
double weightOf(const TreeSums& sums, WidthBy by);
// Index of the box at a place, or -1.
int boxAt(const Icicle& icicle, double x, int level);

}  // namespace larder::gui
