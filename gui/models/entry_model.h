// SPDX-License-Identifier: GPL-3.0-or-later
// EntryModel: named runs from the root, as a person sees and acts on them.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/view.h"
#include "gui/models/row_table.h"

namespace larder::gui {

struct EntryRow {
  EntryInfo info;
  QString tenant;
  int mark = 0;
  bool operator==(const EntryRow&) const = default;
};

class EntryModel final : public RowTable<EntryRow, std::uint64_t> {
  Q_OBJECT

 public:
  enum Column { kName, kTenant, kTokens, kBytes, kPinned, kHits, kSaved, kColumns };
  using RowTable::RowTable;

  void setView(const SnapshotView& view);
  int columnCount(const QModelIndex& parent = QModelIndex()) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 protected:
  std::uint64_t idOf(const EntryRow& row) const override { return row.info.id.value; }
  bool same(const EntryRow& a, const EntryRow& b) const override { return a == b; }

 private:
  QString text(const EntryRow& row, int column) const;
  QVariant sortValue(const EntryRow& row, int column) const;
};

}  // namespace larder::gui
