// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/requests/waterfall.h"

#include <QPainter>
#include <QStringList>
#include <algorithm>

#include "gui/theme/numbers.h"
#include "gui/theme/theme.h"
#include "gui/widgets/tier_bar.h"

namespace larder::gui {
namespace {

constexpr int kRow = 20;
constexpr int kNames = 96;
constexpr int kValues = 76;
constexpr double kLeast = 2;  // a step that took place is seen

}  // namespace

Waterfall::Waterfall(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void Waterfall::setSteps(QVector<WaterfallStep> steps, double end_ms) {
  const bool grown = steps.size() != steps_.size();
  steps_ = std::move(steps);
  end_ms_ = end_ms;
  QStringList parts;
  for (const WaterfallStep& step : std::as_const(steps_)) {
    parts.push_back(step.name + QLatin1Char(' ') + (step.known ? durationText(step.length_ms) : noData()));
  }
  setAccessibleName(parts.join(QStringLiteral(", ")));
  if (grown) updateGeometry();
  update();
}

QSize Waterfall::sizeHint() const { return QSize(420, kRow * static_cast<int>(std::max<qsizetype>(1, steps_.size()))); }
QSize Waterfall::minimumSizeHint() const { return QSize(kNames + kValues + 60, sizeHint().height()); }

void Waterfall::paintBar(QPainter& painter, const WaterfallStep& step, const QRectF& track) const {
  const double scale = end_ms_ > 0 ? track.width() / end_ms_ : 0;
  const double left = track.left() + std::min(step.begin_ms * scale, track.width() - kLeast);
  const double wide = std::clamp(step.length_ms * scale, kLeast, track.right() - left);
  const double lost = std::min(step.lost_ms * scale, wide);
  const QColor accent = theme_.color(Tone::kAccent);
  painter.fillRect(QRectF(left, track.top(), wide - lost, track.height()), accent);
  if (const double restored = std::min(step.restored_ms * scale, wide); restored > 0) {
    drawTierFill(painter, theme_, Tier::kDisk, QRectF(left + wide - restored, track.top(), restored, track.height()),
                 false);
  }
  if (lost <= 0) return;
  const QRectF miss(left + wide - lost, track.top(), lost, track.height());
  painter.fillRect(miss, theme_.color(Tone::kSurface));
  painter.fillRect(miss, theme_.hatch(Hatch::kComputed, theme_.color(Tone::kControl)));
  painter.setPen(accent);
  painter.drawRect(miss.adjusted(0.5, 0.5, -0.5, -0.5));
}

void Waterfall::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(theme_.font(TextSize::kSmall));
  int top = 0;
  for (const WaterfallStep& step : std::as_const(steps_)) {
    const QRectF track(kNames, top + 5, width() - kNames - kValues, kRow - 10);
    painter.setPen(theme_.color(Tone::kTextSecondary));
    painter.drawText(QRect(0, top, kNames - 8, kRow), Qt::AlignLeft | Qt::AlignVCenter, step.name);
    painter.setPen(theme_.color(Tone::kGrid));
    painter.drawLine(QPointF(track.left(), track.bottom() + 1.5), QPointF(track.right(), track.bottom() + 1.5));
    painter.setPen(theme_.color(Tone::kText));
    painter.drawText(QRect(width() - kValues, top, kValues, kRow), Qt::AlignRight | Qt::AlignVCenter,
                     step.known ? durationText(step.length_ms) : noData());
    if (step.known) paintBar(painter, step, track);
    top += kRow;
  }
}

}  // namespace larder::gui
