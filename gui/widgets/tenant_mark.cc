// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/tenant_mark.h"

#include <QPainter>
#include <QPolygonF>
#include <cmath>
#include <numbers>

#include "gui/theme/theme.h"

namespace larder::gui {
namespace {

QPolygonF regular(const QRectF& box, int corners, double inner) {
  QPolygonF shape;
  const double radius = box.width() / 2;
  const int points = inner > 0 ? 2 * corners : corners;
  for (int i = 0; i < points; ++i) {
    const double angle = -std::numbers::pi / 2 + 2 * std::numbers::pi * i / points;
    const double r = inner > 0 && i % 2 == 1 ? radius * inner : radius;
    shape << QPointF(box.center().x() + r * std::cos(angle), box.center().y() + r * std::sin(angle));
  }
  return shape;
}

}  // namespace

void drawTenantMark(QPainter& painter, const QRectF& box, int mark, const QColor& ink) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ink);
  const QRectF inner = box.adjusted(1, 1, -1, -1);
  switch (mark % kMarkShapes) {
    case 0:
      painter.drawEllipse(inner.adjusted(0.5, 0.5, -0.5, -0.5));
      break;
    case 1:
      painter.drawRect(inner.adjusted(1, 1, -1, -1));
      break;
    case 2:
      painter.drawPolygon(regular(inner, 3, 0));
      break;
    case 3:
      painter.drawPolygon(regular(inner, 4, 0));
      break;
    case 4:
      painter.drawPolygon(regular(inner, 5, 0));
      break;
    default:
      painter.drawPolygon(regular(inner, 5, 0.45));
      break;
  }
  if (mark >= kMarkShapes) {
    QFont font = painter.font();
    font.setPixelSize(9);
    painter.setFont(font);
    painter.setPen(ink);
    painter.drawText(QPointF(box.right() - 1, box.bottom() + 1), QString::number(mark / kMarkShapes + 1));
  }
  painter.restore();
}

TenantMark::TenantMark(const Theme& theme, int mark, QWidget* parent) : QWidget(parent), theme_(theme), mark_(mark) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void TenantMark::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  drawTenantMark(painter, QRectF(0, 0, 12, 12), mark_, theme_.color(Tone::kText));
}

}  // namespace larder::gui
