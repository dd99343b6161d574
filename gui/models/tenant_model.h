// SPDX-License-Identifier: GPL-3.0-or-later
// TenantModel: tenants with what they hold, in the order of the snapshot.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/view.h"
#include "gui/models/row_table.h"

namespace larder::gui {

struct TenantRow {
  TenantInfo info;
  int mark = 0;
  int keys = 0;
  bool operator==(const TenantRow&) const = default;
};

class TenantModel final : public RowTable<TenantRow, std::uint64_t> {
  Q_OBJECT

 public:
  enum Column { kName, kBytes, kBlocks, kPinned, kQuota, kRequests, kReused, kRunning, kKeys, kColumns };
  using RowTable::RowTable;

  void setView(const SnapshotView& view);
  int columnCount(const QModelIndex& parent = QModelIndex()) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 protected:
  std::uint64_t idOf(const TenantRow& row) const override { return row.info.id.value; }
  bool same(const TenantRow& a, const TenantRow& b) const override { return a == b; }

 private:
  QString text(const TenantRow& row, int column) const;
  QVariant sortValue(const TenantRow& row, int column) const;
};

}  // namespace larder::gui
