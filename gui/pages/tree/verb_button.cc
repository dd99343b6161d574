// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tree/verb_button.h"

#include <QPainter>

#include "gui/theme/theme.h"

namespace larder::gui {

VerbButton::VerbButton(const Theme& theme, const QString& icon, const QString& verb, const QString& key, bool danger,
                       QWidget* parent)
    : QAbstractButton(parent), theme_(theme), icon_name_(icon), key_(key), danger_(danger) {
  setText(verb);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(verb);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void VerbButton::setCost(const QString& cost) {
  if (cost == cost_) return;
  cost_ = cost;
  setAccessibleDescription(cost);
  updateGeometry();
  update();
}

QRect VerbButton::textRect(int width) const { return QRect(38, 8, width - 38 - 44, 400); }

int VerbButton::heightForWidth(int width) const {
  const QFontMetrics body(theme_.font(TextSize::kBody)), small(theme_.font(TextSize::kSmall));
  const QRect room = textRect(width);
  const int cost = cost_.isEmpty() ? 0 : small.boundingRect(room, Qt::TextWordWrap, cost_).height();
  return 16 + body.height() + cost;
}

QSize VerbButton::sizeHint() const { return QSize(240, heightForWidth(qMax(240, width()))); }

void VerbButton::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor ink = !isEnabled() ? theme_.color(Tone::kTextMuted) : theme_.color(danger_ ? Tone::kError : Tone::kText);
  painter.setBrush(theme_.color(isDown() ? Tone::kAccentSoft : underMouse() ? Tone::kSurfaceAlt : Tone::kSurface));
  painter.setPen(hasFocus() ? QPen(theme_.color(Tone::kAccent), 2) : QPen(theme_.color(Tone::kBorder), 1));
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
  painter.drawPixmap(12, (height() - 16) / 2, theme_.pixmap(icon_name_, ink, 16, devicePixelRatioF()));
  QRect room = textRect(width());
  painter.setFont(theme_.font(TextSize::kBody));
  painter.setPen(ink);
  painter.drawText(room, Qt::AlignLeft | Qt::AlignTop, text());
  room.translate(0, painter.fontMetrics().height());
  painter.setFont(theme_.font(TextSize::kSmall));
  painter.setPen(theme_.color(Tone::kTextSecondary));
  painter.drawText(room, static_cast<int>(Qt::AlignLeft | Qt::AlignTop) | Qt::TextWordWrap, cost_);
  painter.setFont(theme_.monoFont(TextSize::kSmall));
  painter.drawText(rect().adjusted(0, 0, -12, 0), Qt::AlignRight | Qt::AlignVCenter, key_);
}

}  // namespace larder::gui
