// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tree/tree_legend.h"

#include <QPainter>

#include "gui/models/words.h"
#include "gui/theme/label.h"
#include "gui/widgets/tier_bar.h"

namespace larder::gui {

TreeLegend::TreeLegend(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TreeLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(theme_.font(TextSize::kSmall));
  int x = 0;
  const auto say = [&](const QString& text) {
    painter.setPen(theme_.color(Tone::kTextSecondary));
    painter.drawText(QRect(x + 20, 0, 400, height()), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += 20 + painter.fontMetrics().horizontalAdvance(text) + 14;
  };
  const auto box = [&] { return QRectF(x + 0.5, 3.5, 14, 11); };
  for (const Tier tier : {Tier::kDevice, Tier::kHost, Tier::kDisk}) {
    drawTierFill(painter, theme_, tier, box());
    painter.setPen(theme_.color(Tone::kControl));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box());
    say(tierLabel(tier));
  }
  painter.setPen(theme_.color(Tone::kControl));
  painter.drawRect(box());
  painter.fillRect(QRectF(x, 3, 15, 3), theme_.color(Tone::kText));
  say(tr("pinned"));
  painter.setPen(QPen(theme_.color(Tone::kOk), 2));
  painter.drawRect(box());
  say(tr("hit just now"));
  painter.setPen(QPen(theme_.color(Tone::kError), 1, Qt::DashLine));
  painter.drawRect(box());
  say(tr("gone just now"));
  say(tr("paler: older"));
}

}  // namespace larder::gui
