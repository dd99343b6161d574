// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/kpi_card.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QVBoxLayout>

#include "gui/theme/numbers.h"
#include "gui/theme/theme.h"
#include "gui/widgets/sparkline.h"

namespace larder::gui {

KpiCard::KpiCard(const Theme& theme, const QString& title, QWidget* parent)
    : QFrame(parent),
      theme_(theme),
      title_(new QLabel(title)),
      value_(new QLabel),
      parts_(new QLabel),
      past_(new Sparkline(theme)),
      name_(title) {
  setProperty("role", QStringLiteral("card"));
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(14, 8, 12, 10);
  column->setSpacing(2);
  column->addWidget(title_);
  auto* line = new QHBoxLayout;
  line->setSpacing(4);
  line->addWidget(value_);
  line->addStretch(1);
  line->addWidget(past_);
  column->addLayout(line);
  column->addWidget(parts_);
  parts_->setTextFormat(Qt::RichText);
  value_->setTextFormat(Qt::RichText);
  for (QLabel* label : {title_, value_, parts_}) label->setMinimumWidth(1);
  connect(&theme, &Theme::changed, this, &KpiCard::refill);
  setFigure(noData(), QString(), QString());
}

void KpiCard::setFigure(const QString& figure, const QString& suffix, const QString& parts, const QString& alarm) {
  if (figure == figure_ && suffix == suffix_ && parts == parts_text_ && alarm == alarm_) return;
  figure_ = figure;
  suffix_ = suffix;
  parts_text_ = parts;
  alarm_ = alarm;
  refill();
}

void KpiCard::setPast(QVector<double> values) { past_->setValues(std::move(values)); }

void KpiCard::setStale(bool stale) {
  if (stale == stale_) return;
  stale_ = stale;
  past_->setStale(stale);
  refill();
}

void KpiCard::refill() {
  const QString muted = theme_.color(Tone::kTextSecondary).name();
  const QString ink = stale_ ? muted : theme_.color(Tone::kText).name();
  const Figure split = splitFigure(figure_);
  title_->setFont(theme_.font(TextSize::kSmall));
  title_->setStyleSheet(QStringLiteral("color: %1").arg(muted));
  value_->setFont(theme_.font(TextSize::kKpi, true));
  const bool percent = split.unit == QLatin1String("%");
  value_->setText(QStringLiteral("<span style='color:%1'>%2%3</span><span style='color:%4; font-size:12px; "
                                 "font-weight:400'> %5 %6</span>")
                      .arg(ink, split.number.toHtmlEscaped(), percent ? QStringLiteral(" %") : QString(), muted,
                           percent ? QString() : split.unit.toHtmlEscaped(), suffix_.toHtmlEscaped()));
  parts_->setFont(theme_.font(TextSize::kSmall));
  const QString alarm = alarm_.isEmpty()
                            ? QString()
                            : QStringLiteral(" \u00b7 <b style='color:%1'>%2</b>")
                                  .arg(stale_ ? muted : theme_.color(Tone::kError).name(), alarm_.toHtmlEscaped());
  parts_->setText(QStringLiteral("<span style='color:%1'>%2</span>%3").arg(muted, parts_text_.toHtmlEscaped(), alarm));
  setAccessibleName(QStringLiteral("%1: %2 %3, %4 %5").arg(name_, figure_, suffix_, parts_text_, alarm_));
}

void KpiCard::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && rect().contains(event->pos())) Q_EMIT clicked();
}

void KpiCard::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space) {
    Q_EMIT clicked();
    return;
  }
  QFrame::keyPressEvent(event);
}

}  // namespace larder::gui
