// SPDX-License-Identifier: GPL-3.0-or-later
// RequestModel: the requests of the snapshot, newest first.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/view.h"
#include "gui/models/row_table.h"

namespace larder::gui {

struct RequestRow {
  RequestPtr record;
  QString tenant, model;  // names
  int mark = 0;           // the tenant's shape
};

class RequestModel final : public RowTable<RequestRow, std::uint64_t> {
  Q_OBJECT

 public:
  enum Column {
    kId,
    kTime,
    kTenant,
    kModel,
    kState,
    kPrompt,
    kReused,
    kVerdict,
    kFirstToken,
    kTotal,
    kSaved,
    kColumns
  };
  using RowTable::RowTable;

  void setView(const SnapshotView& view);
  int columnCount(const QModelIndex& parent = QModelIndex()) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 protected:
  std::uint64_t idOf(const RequestRow& row) const override { return row.record->id.value; }
  bool same(const RequestRow& a, const RequestRow& b) const override;

 private:
  QString text(const RequestRow& row, int column) const;
  QVariant sortValue(const RequestRow& row, int column) const;
};

// The shape of a tenant: its place in the order of creation.
int tenantMark(const SnapshotView& view, TenantId id);

}  // namespace larder::gui
