// SPDX-License-Identifier: GPL-3.0-or-later
// PackModel: household instruction sets.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/view.h"
#include "gui/models/row_table.h"

namespace larder::gui {

struct PackRow {
  PackInfo info;
  bool operator==(const PackRow&) const = default;
};

class PackModel final : public RowTable<PackRow, QString> {
  Q_OBJECT

 public:
  enum Column { kName, kLanguage, kVersion, kTokens, kState, kColumns };
  using RowTable::RowTable;

  void setView(const SnapshotView& view);
  int columnCount(const QModelIndex& parent = QModelIndex()) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 protected:
  QString idOf(const PackRow& row) const override { return row.info.id; }
  bool same(const PackRow& a, const PackRow& b) const override { return a == b; }

 private:
  QString text(const PackRow& row, int column) const;
  QVariant sortValue(const PackRow& row, int column) const;
};

}  // namespace larder::gui
