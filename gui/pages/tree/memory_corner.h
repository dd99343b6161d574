// SPDX-License-Identifier: GPL-3.0-or-later
// The folded corner of a box in the prefix tree: what lies on disk there has a copy in memory. It has the memory tier's
// fill and an edge of the text's colour, so that shape and fill tell it on every tier.
// Units:    pixels.    Threads: GUI thread.
#pragma once

class QPainter;
class QRectF;

namespace larder::gui {

class Theme;

inline constexpr double kMemoryCorner = 11;  // at most; less in a smaller box

// At the upper right of the box; whole: all of it has a copy, else the corner is hollow.
void drawMemoryCorner(QPainter& painter, const Theme& theme, const QRectF& box, bool whole);

}  // namespace larder::gui
