// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/requests/prompt_strip.h"

#include <QPainter>
#include <QPolygonF>
#include <QStringList>
#include <algorithm>

#include "gui/theme/numbers.h"
#include "gui/theme/theme.h"

namespace larder::gui {
namespace {

constexpr int kTop = 9;
constexpr int kBar = 16;
constexpr int kLabelTop = kTop + kBar + 2;

}  // namespace

PromptStrip::PromptStrip(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void PromptStrip::setPrompt(std::uint32_t tokens, std::uint32_t reused, std::uint32_t marker,
                            QVector<StripPart> parts) {
  tokens_ = tokens;
  reused_ = std::min(reused, tokens);
  marker_ = marker;
  parts_ = std::move(parts);
  QStringList names;
  for (const StripPart& part : std::as_const(parts_)) {
    names.push_back(QStringLiteral("%1 %2").arg(part.label, countText(part.end - part.begin)));
  }
  setAccessibleName(tr("Prompt of %1 tokens, %2 reused: %3")
                        .arg(countText(tokens_), countText(reused_), names.join(QStringLiteral(", "))));
  setToolTip(names.join(QLatin1Char('\n')));
  update();
}

double PromptStrip::xOf(std::uint32_t token) const {
  return tokens_ == 0 ? 0 : static_cast<double>(width() - 1) * std::min(token, tokens_) / tokens_;
}

void PromptStrip::paintLabels(QPainter& painter) const {
  painter.setFont(theme_.font(TextSize::kAxis));
  painter.setPen(theme_.color(Tone::kTextSecondary));
  const QFontMetrics metrics(painter.font());
  double free_from = 0;
  for (qsizetype i = 0; i < parts_.size(); ++i) {
    const StripPart& part = parts_[i];
    const double left = xOf(part.begin);
    const QString text = QStringLiteral("%1 %2").arg(part.label, countText(part.end - part.begin));
    const double wide = metrics.horizontalAdvance(text);
    // A label may run on below later parts as long as it meets no other label and stays inside.
    const bool large = xOf(part.end) - left >= 24;
    if (!large || left < free_from || left + wide > width()) continue;
    painter.drawText(QPointF(left, kLabelTop + metrics.ascent() + 1), text);
    free_from = left + wide + 12;
  }
}

void PromptStrip::paintEvent(QPaintEvent*) {
  if (tokens_ == 0) return;
  QPainter painter(this);
  const QRectF bar(0, kTop, width() - 1, kBar);
  painter.fillRect(bar, theme_.color(Tone::kSurface));
  painter.fillRect(bar, theme_.hatch(Hatch::kComputed, theme_.color(Tone::kControl)));
  painter.fillRect(QRectF(0, kTop, xOf(reused_), kBar), theme_.color(Tone::kAccent));
  painter.setPen(theme_.color(Tone::kControl));
  painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5));
  for (qsizetype i = 1; i < parts_.size(); ++i) {
    const double x = xOf(parts_[i].begin);
    painter.fillRect(QRectF(x - 1, kTop + 1, 2, kBar - 2), theme_.color(Tone::kSurface));
  }
  paintLabels(painter);
  if (marker_ >= tokens_) return;
  const double x = std::clamp(xOf(marker_), 5.0, width() - 6.0);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme_.color(Tone::kText));
  painter.drawPolygon(QPolygonF({{x - 5, 0}, {x + 5, 0}, {x, 7}}));
  painter.fillRect(QRectF(x - 1, 6, 2, kTop + kBar - 3), theme_.color(Tone::kText));
}

}  // namespace larder::gui
