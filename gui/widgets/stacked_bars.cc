// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/stacked_bars.h"

#include <QFontMetrics>
#include <QLocale>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/widgets/tier_bar.h"

namespace larder::gui {
namespace {

constexpr int kGridLines = 4;

QString shortCount(double value) {
  if (value >= 10'000) return QStringLiteral("%1 k").arg(QLocale().toString(value / 1000, 'f', 0));
  return QLocale().toString(value, 'f', value < 10 && value != std::floor(value) ? 1 : 0);
}

}  // namespace

double roundAxisEnd(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 4.0, 5.0, 10.0}) {
    if (value <= step * power) return step * power;
  }
  return 10 * power;
}

StackedBars::StackedBars(const Theme& theme, QVector<BarPart> parts, QWidget* parent)
    : QWidget(parent), theme_(theme), parts_(std::move(parts)) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void StackedBars::setColumns(QVector<BarColumn> columns) {
  if (columns.size() > kMaxColumns) columns.remove(0, columns.size() - kMaxColumns);
  if (columns == columns_) return;
  columns_ = std::move(columns);
  update();
}

void StackedBars::setStale(bool stale) {
  if (stale == stale_) return;
  stale_ = stale;
  update();
}

void StackedBars::paintColumn(QPainter& painter, const QRectF& area, const BarColumn& column, double x, double wide,
                              double top) {
  double below = 0;
  for (int p = 0; p < parts_.size(); ++p) {
    const double amount = column.parts[static_cast<std::size_t>(p)];
    if (amount <= 0) continue;
    const double y0 = area.bottom() - area.height() * below / top;
    below += amount;
    const double y1 = area.bottom() - area.height() * below / top;
    const QRectF part(x, std::round(y1), wide, std::max(1.0, std::round(y0) - std::round(y1)));
    if (parts_[p].computed) {
      painter.fillRect(part, theme_.color(Tone::kSurface));
      painter.fillRect(part, theme_.hatch(Hatch::kComputed, theme_.color(Tone::kTextSecondary)));
      painter.setPen(theme_.color(Tone::kControl));
      painter.drawRect(part.adjusted(0.5, 0.5, -0.5, -0.5));
    } else {
      drawTierFill(painter, theme_, parts_[p].tier, part, stale_);
    }
  }
}

void StackedBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(theme_.font(TextSize::kAxis));
  const QFontMetrics metrics(painter.font());
  double highest = 0;
  for (const BarColumn& column : std::as_const(columns_)) {
    double sum = 0;
    for (const double part : column.parts) sum += part;
    highest = std::max(highest, sum);
  }
  const double top = roundAxisEnd(highest);
  const int gutter = metrics.horizontalAdvance(shortCount(top)) + 10;
  const QRectF area(gutter, 8, width() - gutter - 2, height() - 8 - metrics.height() - 6);
  for (int line = 0; line <= kGridLines; ++line) {
    const double y = std::round(area.bottom() - area.height() * line / kGridLines) + 0.5;
    painter.setPen(theme_.color(line == 0 ? Tone::kBorder : Tone::kGrid));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(theme_.color(Tone::kTextMuted));
    painter.drawText(QRectF(0, y - 8, gutter - 6, 16), Qt::AlignRight | Qt::AlignVCenter,
                     highest > 0 ? shortCount(top * line / kGridLines) : QString());
  }
  if (columns_.isEmpty()) return;
  const double pitch = area.width() / static_cast<double>(columns_.size());
  const double wide = std::max(1.0, std::floor(std::min(pitch - 2, 26.0)));
  double label_end = -1;
  QString shown;  // the last one drawn; the next columns may lie in the same minute
  for (qsizetype i = 0; i < columns_.size(); ++i) {
    const double x = std::round(area.left() + pitch * static_cast<double>(i) + (pitch - wide) / 2);
    paintColumn(painter, area, columns_[i], x, wide, top);
    const int text = metrics.horizontalAdvance(columns_[i].label);
    const double begin = x + wide / 2 - text / 2.0;
    const bool told = columns_[i].label.isEmpty() || columns_[i].label == shown;
    if (told || begin < label_end || begin + text > width()) continue;
    painter.setPen(theme_.color(Tone::kTextMuted));
    painter.drawText(QPointF(begin, height() - 4), columns_[i].label);
    label_end = begin + text + 24;
    shown = columns_[i].label;
  }
}

}  // namespace larder::gui
