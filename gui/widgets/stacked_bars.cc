// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/stacked_bars.h"

#include <QFontMetrics>
#include <QLocale>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/theme/numbers.h"
#include "gui/widgets/tier_bar.h"

namespace larder::gui {
namespace {

QString shortCount(double value) {
  if (value >= 10'000) return withUnit(QLocale().toString(value / 1000, 'f', 0), QStringLiteral("k"));
  return QLocale().toString(value, 'f', 0);
}

}  // namespace

QVector<double> countTicks(double highest) {
  if (!(highest > 0)) return {0};
  constexpr double kSteps = 4;
  const double power = std::pow(10, std::floor(std::log10(highest / kSteps)));
  double step = 10 * power;
  for (const double one : {5.0, 2.0, 1.0}) {
    if (one * power * kSteps >= highest) step = one * power;
  }
  step = std::max(1.0, step);
  QVector<double> ticks{0};
  while (ticks.constLast() < highest) ticks.push_back(static_cast<double>(ticks.size()) * step);
  return ticks;
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
  const QVector<double> ticks = countTicks(highest);
  const double top = std::max(1.0, ticks.constLast());
  int gutter = 0;
  for (const double tick : ticks) gutter = std::max(gutter, metrics.horizontalAdvance(shortCount(tick)) + 10);
  const QRectF area(gutter, 8, width() - gutter - 2, height() - 8 - metrics.height() - 6);
  for (const double tick : ticks) {
    const double y = std::round(area.bottom() - area.height() * tick / top) + 0.5;
    painter.setPen(theme_.color(tick == 0 ? Tone::kBorder : Tone::kGrid));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(theme_.color(Tone::kTextMuted));
    painter.drawText(QRectF(0, y - 8, gutter - 6, 16), Qt::AlignRight | Qt::AlignVCenter, shortCount(tick));
  }
  if (columns_.isEmpty()) return;
  const double pitch = area.width() / static_cast<double>(columns_.size());
  const double wide = std::max(1.0, std::floor(std::min(pitch - 2, 26.0)));
  double label_end = -1;
  QString last_label;  // a minute of several columns is named once
  for (qsizetype i = 0; i < columns_.size(); ++i) {
    const double x = std::round(area.left() + pitch * static_cast<double>(i) + (pitch - wide) / 2);
    paintColumn(painter, area, columns_[i], x, wide, top);
    const int text = metrics.horizontalAdvance(columns_[i].label);
    const double begin = x + wide / 2 - text / 2.0;
    if (columns_[i].label.isEmpty() || columns_[i].label == last_label) continue;
    if (begin < label_end || begin + text > width()) continue;
    last_label = columns_[i].label;
    painter.setPen(theme_.color(Tone::kTextMuted));
    painter.drawText(QPointF(begin, height() - 4), columns_[i].label);
    label_end = begin + text + 24;
  }
}

}  // namespace larder::gui
