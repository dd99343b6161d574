// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/row_delegate.h"

#include <QHeaderView>
#include <QPainter>
#include <QTableView>

#include "gui/theme/label.h"
#include "gui/theme/roles.h"
#include "gui/theme/theme.h"
#include "gui/widgets/chip.h"
#include "gui/widgets/tenant_mark.h"
#include "gui/widgets/tier_bar.h"

namespace larder::gui {

RowDelegate::RowDelegate(const Theme& theme, QAbstractItemView* view)
    : QStyledItemDelegate(view), theme_(theme), view_(view) {}

QSize RowDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QSize size = QStyledItemDelegate::sizeHint(option, index);
  if (index.data(kMoodRole).isValid()) {
    const Label label{index.data().toString(), index.data(kIconRole).toString(), Mood::kNeutral};
    size.setWidth(qMax(size.width(), chipSize(theme_, label).width() + 20));
  } else if (index.data(kMarkRole).isValid() || index.data(kTierRole).isValid() || index.data(kIconRole).isValid()) {
    size.rwidth() += 24;
  }
  if (index.data(kShareRole).isValid()) size.rwidth() += 56;
  size.setHeight(theme_.metrics().row);
  return size;
}

void RowDelegate::paintText(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index,
                            QRect box) const {
  const auto align = Qt::Alignment(index.data(Qt::TextAlignmentRole).toInt());
  painter.setFont(theme_.font(TextSize::kBody));
  painter.setPen(option.state.testFlag(QStyle::State_Enabled) ? theme_.color(Tone::kText)
                                                              : theme_.color(Tone::kTextMuted));
  const QFontMetrics metrics(painter.font());
  const QString text = metrics.elidedText(index.data().toString(), Qt::ElideMiddle, box.width());
  painter.drawText(box, static_cast<int>(align | Qt::AlignVCenter) | Qt::TextSingleLine, text);
}

void RowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  painter->save();
  const bool selected = option.state.testFlag(QStyle::State_Selected);
  if (selected) painter->fillRect(option.rect, theme_.color(Tone::kAccentSoft));
  painter->setPen(theme_.color(Tone::kGrid));
  painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
  if (selected && index.column() == 0) {
    const QRect edge(0, option.rect.top(), 3, option.rect.height());
    painter->fillRect(edge, theme_.color(view_->hasFocus() ? Tone::kAccent : Tone::kControl));
  }
  QRect box = option.rect.adjusted(8, 0, -8, 0);
  const qreal ratio = painter->device()->devicePixelRatioF();
  if (const QVariant mood = index.data(kMoodRole); mood.isValid()) {
    drawChip(*painter, theme_, box, {index.data().toString(), index.data(kIconRole).toString(), Mood(mood.toInt())});
    painter->restore();
    return;
  }
  if (const QVariant mark = index.data(kMarkRole); mark.isValid()) {
    drawTenantMark(*painter, QRectF(box.left(), box.center().y() - 5, 12, 12), mark.toInt(), theme_.color(Tone::kText));
    box.setLeft(box.left() + 18);
  }
  if (const QVariant tier = index.data(kTierRole); tier.isValid()) {
    const QRectF swatch(box.left() + 0.5, box.center().y() - 5.5, 13, 11);
    drawTierFill(*painter, theme_, Tier(tier.toInt()), swatch);
    painter->setPen(theme_.color(Tone::kControl));
    painter->drawRect(swatch);
    box.setLeft(box.left() + 20);
  }
  if (const QString icon = index.data(kIconRole).toString(); !icon.isEmpty()) {
    painter->drawPixmap(box.left(), box.center().y() - 7,
                        theme_.pixmap(icon, theme_.color(Tone::kTextSecondary), 14, ratio));
    box.setLeft(box.left() + 18);
  }
  if (const QVariant share = index.data(kShareRole); share.isValid()) {
    const QRectF bar(box.left(), box.center().y() - 4, 48, 8);
    painter->fillRect(bar, theme_.color(Tone::kTrackFree));
    painter->fillRect(QRectF(bar.left(), bar.top(), bar.width() * qBound(0.0, share.toDouble(), 1.0), bar.height()),
                      theme_.color(Tone::kAccent));
    box.setLeft(box.left() + 56);
  }
  paintText(*painter, option, index, box);
  painter->restore();
}

void setUpTable(const Theme& theme, QTableView& table) {
  table.setItemDelegate(new RowDelegate(theme, &table));
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setSelectionMode(QAbstractItemView::SingleSelection);
  table.setShowGrid(false);
  table.setWordWrap(false);
  table.verticalHeader()->hide();
  table.verticalHeader()->setDefaultSectionSize(theme.metrics().row);
  table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table.horizontalHeader()->setHighlightSections(false);
  table.horizontalHeader()->setStretchLastSection(true);
  table.setTabKeyNavigation(false);
  table.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
}

}  // namespace larder::gui
