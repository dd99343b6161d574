// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/overview/miss_list.h"

#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include "gui/models/words.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/chip.h"

namespace larder::gui {

MissRow::MissRow(const Theme& theme, QWidget* parent) : QAbstractButton(parent), theme_(theme) {
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void MissRow::setMiss(const Miss& miss, const QString& tenant) {
  miss_ = miss;
  tenant_ = tenant;
  setAccessibleName(QStringLiteral("%1: %2, %3, %4")
                        .arg(verdictLabel(miss.kind).text, miss.sentence, tenant, durationText(miss.lost_ms)));
  update();
}

void MissRow::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(theme_.color(Tone::kGrid));
  painter.drawLine(0, height() - 1, width(), height() - 1);
  if (underMouse()) painter.fillRect(rect().adjusted(0, 0, 0, -1), theme_.color(Tone::kSurfaceAlt));
  const Label label = verdictLabel(miss_.kind);
  const int chip = qMax(92, chipSize(theme_, label).width());
  drawChip(painter, theme_, QRect(0, 0, chip, height()), label);
  const int right = 72;
  const QRect words(chip + 12, 4, width() - chip - 12 - right - 20, height() - 8);
  painter.setFont(theme_.font(TextSize::kBody));
  painter.setPen(theme_.color(Tone::kText));
  painter.drawText(words, Qt::AlignTop | Qt::AlignLeft,
                   painter.fontMetrics().elidedText(miss_.sentence, Qt::ElideRight, words.width()));
  const QRect figures(width() - right - 20, 4, right, height() - 8);
  painter.setFont(theme_.font(TextSize::kBody, true));
  painter.drawText(figures, Qt::AlignTop | Qt::AlignRight, durationText(miss_.lost_ms));
  painter.setFont(theme_.font(TextSize::kSmall));
  painter.setPen(theme_.color(Tone::kTextSecondary));
  painter.drawText(
      words, Qt::AlignBottom | Qt::AlignLeft,
      painter.fontMetrics().elidedText(QStringLiteral("%1 \u00b7 #%2").arg(tenant_).arg(miss_.newest.value),
                                       Qt::ElideMiddle, words.width()));
  painter.drawText(
      figures, Qt::AlignBottom | Qt::AlignRight,
      miss_.count == 1
          ? tr("once")
          : QStringLiteral("%1 \u00d7 %2").arg(miss_.count).arg(durationText(miss_.lost_ms / miss_.count)));
  painter.drawPixmap(
      width() - 16, (height() - 14) / 2,
      theme_.pixmap(QStringLiteral("right"), theme_.color(Tone::kTextSecondary), 14, devicePixelRatioF()));
  if (hasFocus()) {
    painter.setPen(QPen(theme_.color(Tone::kAccent), 2));
    painter.drawRect(rect().adjusted(1, 1, -1, -2));
  }
}

MissList::MissList(const Theme& theme, QWidget* parent) : QWidget(parent), none_(new QLabel) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  none_->setText(tr("Nothing was lost in this time: every prompt reused what was there."));
  none_->setWordWrap(true);
  none_->setEnabled(false);
  column->addWidget(none_);
  for (int i = 0; i < kRows; ++i) {
    auto* row = new MissRow(theme);
    rows_.push_back(row);
    column->addWidget(row);
    row->hide();
    connect(row, &QAbstractButton::clicked, this, [this, row] { Q_EMIT requestWanted(row->request().value); });
  }
  column->addStretch(1);
}

void MissList::setMisses(const QVector<Miss>& misses, const SnapshotView& view) {
  none_->setVisible(misses.isEmpty());
  for (int i = 0; i < rows_.size(); ++i) {
    rows_[i]->setVisible(i < misses.size());
    if (i >= misses.size()) continue;
    const TenantInfo* tenant = findTenant(view, misses[i].tenant);
    rows_[i]->setMiss(misses[i], tenant != nullptr ? tenant->name : noData());
  }
}

}  // namespace larder::gui
