// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/chip.h"

#include <QFontMetrics>
#include <QPainter>

namespace larder::gui {
namespace {

constexpr int kPadding = 6;
constexpr int kGlyph = 14;
constexpr int kGap = 4;

}  // namespace

QSize chipSize(const Theme& theme, const Label& label) {
  const QFontMetrics metrics(theme.font(TextSize::kSmall));
  const int glyph = label.icon.isEmpty() ? 0 : kGlyph + kGap;
  return QSize(2 * kPadding + glyph + metrics.horizontalAdvance(label.text), 20);
}

void drawChip(QPainter& painter, const Theme& theme, const QRect& rect, const Label& label) {
  const MoodColors colors = moodColors(theme, label.mood);
  const QSize size = chipSize(theme, label);
  QRect box(rect.left(), rect.top() + (rect.height() - size.height()) / 2, qMin(size.width(), rect.width()),
            size.height());
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(label.mood == Mood::kNeutral ? QPen(theme.color(Tone::kBorder)) : QPen(Qt::NoPen));
  painter.setBrush(colors.ground);
  painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  int x = box.left() + kPadding;
  if (!label.icon.isEmpty()) {
    const qreal ratio = painter.device()->devicePixelRatioF();
    painter.drawPixmap(x, box.top() + (box.height() - kGlyph) / 2, theme.pixmap(label.icon, colors.ink, kGlyph, ratio));
    x += kGlyph + kGap;
  }
  painter.setFont(theme.font(TextSize::kSmall));
  painter.setPen(colors.ink);
  const QRect text(x, box.top(), box.right() - kPadding - x + 1, box.height());
  const QFontMetrics metrics(painter.font());
  painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(label.text, Qt::ElideRight, text.width() + 1));
  painter.restore();
}

Chip::Chip(const Theme& theme, Label label, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  setLabel(std::move(label));
}

void Chip::setLabel(Label label) {
  label_ = std::move(label);
  setAccessibleName(label_.text);
  updateGeometry();
  update();
}

QSize Chip::sizeHint() const { return chipSize(theme_, label_); }

void Chip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  drawChip(painter, theme_, rect(), label_);
}

}  // namespace larder::gui
