// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/requests/eviction_line.h"

#include <QPainter>
#include <QStringList>

#include "gui/theme/theme.h"

namespace larder::gui {
namespace {

constexpr int kLine = 10;
constexpr int kEdge = 12;

}  // namespace

EvictionLine::EvictionLine(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void EvictionLine::setMoments(QVector<EvictionMoment> moments) {
  moments_ = std::move(moments);
  QStringList parts;
  for (const EvictionMoment& moment : std::as_const(moments_))
    parts.push_back(moment.time + QLatin1Char(' ') + moment.what);
  setAccessibleName(parts.join(QStringLiteral(", ")));
  update();
}

void EvictionLine::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const qsizetype last = moments_.size() - 1;
  if (last < 1) return;
  const auto place = [&](qsizetype i) {
    return kEdge + static_cast<double>(width() - 2 * kEdge) * static_cast<double>(i) / static_cast<double>(last);
  };
  for (qsizetype i = 0; i < last; ++i) {
    const bool gone = moments_[i].lost;
    painter.setPen(gone ? QPen(theme_.color(Tone::kControl), 2, Qt::DashLine) : QPen(theme_.color(Tone::kAccent), 3));
    painter.drawLine(QPointF(place(i), kLine), QPointF(place(i + 1), kLine));
  }
  for (qsizetype i = 0; i <= last; ++i) {
    const EvictionMoment& moment = moments_[i];
    const QColor ink = theme_.color(moment.lost ? Tone::kError : i == last ? Tone::kControl : Tone::kAccent);
    painter.setPen(QPen(ink, 2));
    painter.setBrush(i == last ? theme_.color(Tone::kSurface) : ink);
    painter.drawEllipse(QPointF(place(i), kLine), 5, 5);
    const int align = i == 0 ? Qt::AlignLeft : i == last ? Qt::AlignRight : Qt::AlignHCenter;
    const double left = i == 0 ? 0 : i == last ? width() - 220.0 : place(i) - 110;
    painter.setFont(theme_.font(TextSize::kSmall));
    painter.setPen(theme_.color(Tone::kText));
    painter.drawText(QRectF(left, 18, 220, 16), align | Qt::AlignVCenter, moment.time);
    painter.setPen(theme_.color(moment.lost ? Tone::kError : Tone::kTextSecondary));
    painter.drawText(QRectF(left, 34, 220, 16), align | Qt::AlignVCenter, moment.what);
  }
}

}  // namespace larder::gui
