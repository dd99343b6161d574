// SPDX-License-Identifier: GPL-3.0-or-later
// PinModel: claims that keep blocks.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/view.h"
#include "gui/models/row_table.h"

namespace larder::gui {

struct PinRow {
  PinInfo info;
  QString tenant, label;
  int mark = 0;
  bool operator==(const PinRow&) const = default;
};

class PinModel final : public RowTable<PinRow, std::uint64_t> {
  Q_OBJECT

 public:
  enum Column { kLabel, kReason, kTenant, kBlocks, kBytes, kCreated, kExpires, kColumns };
  using RowTable::RowTable;

  void setView(const SnapshotView& view);
  int columnCount(const QModelIndex& parent = QModelIndex()) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 protected:
  std::uint64_t idOf(const PinRow& row) const override { return row.info.id.value; }
  bool same(const PinRow& a, const PinRow& b) const override { return a == b; }

 private:
  QString text(const PinRow& row, int column) const;
  QVariant sortValue(const PinRow& row, int column) const;
};

}  // namespace larder::gui
