// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tree/memory_corner.h"

#include <QPainter>
#include <QPolygonF>
#include <algorithm>

#include "gui/theme/label.h"
#include "gui/theme/theme.h"

namespace larder::gui {

void drawMemoryCorner(QPainter& painter, const Theme& theme, const QRectF& box, bool whole) {
  const double side = std::min({kMemoryCorner, box.width(), 0.6 * box.height()});
  if (side < 3) return;
  const QPolygonF corner{{box.topRight(), box.topRight() - QPointF(side, 0), box.topRight() + QPointF(0, side)}};
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.color(Tone::kText), 1));
  painter.setBrush(whole ? theme.tierFill(Tier::kHost) : theme.color(Tone::kSurface));
  painter.drawPolygon(corner);
  painter.restore();
}

}  // namespace larder::gui
