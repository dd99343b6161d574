// SPDX-License-Identifier: GPL-3.0-or-later
// KeyModel: API keys by their shown part; the secret is never here.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/view.h"
#include "gui/models/row_table.h"

namespace larder::gui {

struct KeyRow {
  KeyInfo info;
  QString tenant;
  int mark = 0;
  bool operator==(const KeyRow&) const = default;
};

class KeyModel final : public RowTable<KeyRow, std::uint64_t> {
  Q_OBJECT

 public:
  enum Column { kPrefix, kLabel, kTenant, kRight, kCreated, kUsed, kColumns };
  using RowTable::RowTable;

  void setView(const SnapshotView& view);
  int columnCount(const QModelIndex& parent = QModelIndex()) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 protected:
  std::uint64_t idOf(const KeyRow& row) const override { return row.info.id.value; }
  bool same(const KeyRow& a, const KeyRow& b) const override { return a == b; }

 private:
  QString text(const KeyRow& row, int column) const;
  QVariant sortValue(const KeyRow& row, int column) const;
};

}  // namespace larder::gui
