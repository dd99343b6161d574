// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/tier_bar.h"

#include <QPainter>
#include <QPainterPath>

#include "gui/widgets/tenant_mark.h"

namespace larder::gui {
namespace {

constexpr int kBarHeight = 16;

}  // namespace

void drawTierFill(QPainter& painter, const Theme& theme, Tier tier, const QRectF& rect, bool stale) {
  const QColor fill =
      stale ? mixed(theme.color(Tone::kSurface), theme.color(Tone::kTextMuted), 0.5) : theme.tierFill(tier);
  painter.fillRect(rect, fill);
  const Hatch hatch = theme.tierHatch(tier);
  if (hatch != Hatch::kNone) painter.fillRect(rect, theme.hatch(hatch, theme.tierText(tier)));
}

TierBar::TierBar(const Theme& theme, Tier tier, QWidget* parent) : QWidget(parent), theme_(theme), tier_(tier) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TierBar::setAmounts(double capacity, QVector<BarCut> cuts, double pinned) {
  if (capacity == capacity_ && pinned == pinned_ && cuts == cuts_) return;
  capacity_ = capacity;
  pinned_ = pinned;
  cuts_ = std::move(cuts);
  update();
}

void TierBar::setTier(Tier tier) {
  if (tier == tier_) return;
  tier_ = tier;
  update();
}

void TierBar::setStale(bool stale) {
  if (stale == stale_) return;
  stale_ = stale;
  update();
}

void TierBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QRectF bar(0.5, 0.5, width() - 1, kBarHeight);
  painter.fillRect(bar, theme_.color(Tone::kTrackFree));
  double x = bar.left();
  if (capacity_ > 0) {
    for (const BarCut& cut : std::as_const(cuts_)) {
      const double wide = bar.width() * cut.amount / capacity_;
      if (wide < 0.5) continue;
      const QRectF part(x, bar.top(), qMin(wide, bar.right() - x), bar.height());
      drawTierFill(painter, theme_, tier_, part, stale_);
      if (cut.mark >= 0 && part.width() >= 18) {
        const QRectF box(part.center().x() - 6, part.center().y() - 6, 12, 12);
        painter.setPen(Qt::NoPen);
        drawTenantMark(painter, box, cut.mark, theme_.tierText(tier_));
      }
      x += wide;
      painter.fillRect(QRectF(x - 1.5, bar.top(), 1.5, bar.height()), theme_.color(Tone::kSurface));
    }
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(theme_.color(Tone::kControl));
  painter.drawRect(bar);
  if (pinned_ > 0 && capacity_ > 0) {
    const double right = bar.left() + qMax(4.0, bar.width() * qMin(1.0, pinned_ / capacity_));
    painter.setPen(QPen(theme_.color(Tone::kText), 1.5));
    QPainterPath bracket(QPointF(bar.left() + 0.5, kBarHeight + 2));
    bracket.lineTo(bar.left() + 0.5, kBarHeight + 5);
    bracket.lineTo(right, kBarHeight + 5);
    bracket.lineTo(right, kBarHeight + 2);
    painter.drawPath(bracket);
  }
}

TierSwatch::TierSwatch(const Theme& theme, Tier tier, QWidget* parent) : QWidget(parent), theme_(theme), tier_(tier) {
  setFixedSize(14, 12);
}

void TierSwatch::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QRectF box(0.5, 0.5, 13, 11);
  drawTierFill(painter, theme_, tier_, box);
  painter.setPen(theme_.color(Tone::kControl));
  painter.drawRect(box);
}

}  // namespace larder::gui
