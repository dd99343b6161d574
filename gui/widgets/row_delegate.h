// SPDX-License-Identifier: GPL-3.0-or-later
// RowDelegate: cells by the roles of RowTable: chips, tenant shapes, tier swatches, shares as bars, icons. A focused
// row has an accent bar at its left, so that selection and focus differ without colour. Threads: GUI thread.
#pragma once

#include <QStyledItemDelegate>

class QAbstractItemView;
class QTableView;

namespace larder::gui {

class Theme;

class RowDelegate final : public QStyledItemDelegate {
  Q_OBJECT

 public:
  RowDelegate(const Theme& theme, QAbstractItemView* view);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  void paintText(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index, QRect box) const;

  const Theme& theme_;
  const QAbstractItemView* view_;
};

// What all tables share: row height, no grid of columns, one selected row, RowDelegate.
void setUpTable(const Theme& theme, QTableView& table);

}  // namespace larder::gui
