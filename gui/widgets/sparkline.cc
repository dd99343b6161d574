// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/sparkline.h"

#include <QPainter>
#include <algorithm>

#include "gui/theme/theme.h"

namespace larder::gui {

Sparkline::Sparkline(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setAttribute(Qt::WA_TransparentForMouseEvents);
}

void Sparkline::setValues(QVector<double> values) {
  if (values.size() > kMaxPoints) values.remove(0, values.size() - kMaxPoints);
  if (values == values_) return;
  values_ = std::move(values);
  update();
}

void Sparkline::setStale(bool stale) {
  if (stale == stale_) return;
  stale_ = stale;
  update();
}

void Sparkline::paintEvent(QPaintEvent*) {
  double low = 0, high = 0;
  bool any = false;
  for (const double value : std::as_const(values_)) {
    if (value < 0) continue;
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
  }
  if (!any) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor ink = stale_ ? theme_.color(Tone::kTextMuted) : theme_.color(Tone::kAccent);
  painter.setPen(QPen(ink, 1.5));
  const QRectF area = QRectF(rect()).adjusted(2, 4, -4, -4);
  const double span = high - low;
  const auto point = [&](qsizetype i) {
    const double x = area.left() + area.width() * static_cast<double>(i) / (kMaxPoints - 1);
    const double y = span <= 0 ? area.center().y() : area.bottom() - area.height() * (values_[i] - low) / span;
    return QPointF(x + area.width() * static_cast<double>(kMaxPoints - values_.size()) / (kMaxPoints - 1), y);
  };
  QPolygonF line;
  QPointF end;
  for (qsizetype i = 0; i < values_.size(); ++i) {
    if (values_[i] < 0) {
      painter.drawPolyline(line);
      line.clear();
      continue;
    }
    end = point(i);
    line << end;
  }
  painter.drawPolyline(line);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ink);
  painter.drawEllipse(end, 2.5, 2.5);
}

}  // namespace larder::gui
