// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/column_fit.h"

#include <QHeaderView>
#include <QTableView>
#include <algorithm>

namespace larder::gui {
namespace {

constexpr int kCellPadding = 14;  // RowDelegate's margins beyond those of the style

}  // namespace

void stretchColumn(QTableView& table, int stretched) {
  QHeaderView* head = table.horizontalHeader();
  head->setStretchLastSection(false);
  head->setSectionResizeMode(QHeaderView::Interactive);
  head->setSectionResizeMode(stretched, QHeaderView::Stretch);
  growColumns(table);
}

void growColumns(QTableView& table) {
  QHeaderView* head = table.horizontalHeader();
  const QAbstractItemView& cells = table;
  for (int column = 0; column < head->count(); ++column) {
    if (head->isSectionHidden(column) || head->sectionResizeMode(column) == QHeaderView::Stretch) continue;
    const int wanted = std::max(head->sectionSizeHint(column), cells.sizeHintForColumn(column) + kCellPadding);
    // The first fit takes away Qt's default width; from then on a column only grows.
    const bool first = head->property("fitted").toInt() <= column;
    if (first || wanted > head->sectionSize(column)) head->resizeSection(column, wanted);
  }
  head->setProperty("fitted", head->count());
}

}  // namespace larder::gui
