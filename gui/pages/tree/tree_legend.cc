// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tree/tree_legend.h"

#include <QPainter>

#include "gui/models/words.h"
#include "gui/pages/tree/memory_corner.h"
#include "gui/theme/label.h"
#include "gui/widgets/tier_bar.h"

namespace larder::gui {
namespace {

constexpr int kRow = 18, kSwatch = 20, kGap = 14;

}  // namespace

TreeLegend::TreeLegend(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

QVector<TreeLegend::Entry> TreeLegend::entries() {
  return {{Sign::kDevice, tierLabel(Tier::kDevice)},
          {Sign::kHost, tierLabel(Tier::kHost)},
          {Sign::kDisk, tierLabel(Tier::kDisk)},
          {Sign::kCopied, tr("with a copy in memory")},
          {Sign::kPinned, tr("pinned")},
          {Sign::kHit, tr("hit just now")},
          {Sign::kGone, tr("gone just now")},
          {Sign::kNone, tr("paler: older")}};
}

QVector<QPoint> TreeLegend::places(int width) const {
  const QFontMetrics metrics(theme_.font(TextSize::kSmall));
  QVector<QPoint> places;
  QPoint at(0, 0);
  for (const Entry& entry : entries()) {
    const int wide = (entry.sign == Sign::kNone ? 0 : kSwatch) + metrics.horizontalAdvance(entry.text);
    if (at.x() > 0 && at.x() + wide > width) at = QPoint(0, at.y() + kRow);
    places.push_back(at);
    at.rx() += wide + kGap;
  }
  return places;
}

int TreeLegend::heightForWidth(int width) const { return places(width).back().y() + kRow; }

void TreeLegend::paintSwatch(QPainter& painter, Sign sign, const QRectF& box) const {
  const auto frame = [&](const QPen& pen) {
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box);
  };
  switch (sign) {
    case Sign::kDevice:
      drawTierFill(painter, theme_, Tier::kDevice, box);
      return frame(theme_.color(Tone::kControl));
    case Sign::kHost:
      drawTierFill(painter, theme_, Tier::kHost, box);
      return frame(theme_.color(Tone::kControl));
    case Sign::kDisk:
      drawTierFill(painter, theme_, Tier::kDisk, box);
      return frame(theme_.color(Tone::kControl));
    case Sign::kCopied:
      drawTierFill(painter, theme_, Tier::kDisk, box);
      drawMemoryCorner(painter, theme_, box, true);
      return frame(theme_.color(Tone::kControl));
    case Sign::kPinned:
      frame(theme_.color(Tone::kControl));
      return painter.fillRect(QRectF(box.left() - 0.5, box.top() - 0.5, box.width() + 1, 3), theme_.color(Tone::kText));
    case Sign::kHit:
      return frame(QPen(theme_.color(Tone::kOk), 2));
    case Sign::kGone:
      return frame(QPen(theme_.color(Tone::kError), 1, Qt::DashLine));
    case Sign::kNone:
      return;
  }
}

void TreeLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(theme_.font(TextSize::kSmall));
  const QVector<QPoint> all = places(width());
  const QVector<Entry> named = entries();
  for (qsizetype i = 0; i < named.size(); ++i) {
    const QPoint at = all[i];
    paintSwatch(painter, named[i].sign, QRectF(at.x() + 0.5, at.y() + 3.5, 14, 11));
    const int left = at.x() + (named[i].sign == Sign::kNone ? 0 : kSwatch);
    painter.setPen(theme_.color(Tone::kTextSecondary));
    painter.drawText(QRect(left, at.y(), 400, kRow), Qt::AlignLeft | Qt::AlignVCenter, named[i].text);
  }
}

}  // namespace larder::gui
