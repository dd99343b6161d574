// SPDX-License-Identifier: GPL-3.0-or-later
// ModelTable: model files and the loaded model.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/view.h"
#include "gui/models/row_table.h"

namespace larder::gui {

struct ModelRow {
  ModelInfo info;
  bool operator==(const ModelRow&) const = default;
};

class ModelTable final : public RowTable<ModelRow, QString> {
  Q_OBJECT

 public:
  enum Column { kName, kState, kArchitecture, kQuantisation, kFile, kKv, kContext, kLongest, kColumns };
  using RowTable::RowTable;

  void setView(const SnapshotView& view);
  int columnCount(const QModelIndex& parent = QModelIndex()) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 protected:
  // The file names a row: a model keeps its row while it is loaded and let go.
  QString idOf(const ModelRow& row) const override { return row.info.path.isEmpty() ? row.info.name : row.info.path; }
  bool same(const ModelRow& a, const ModelRow& b) const override { return a == b; }

 private:
  QString text(const ModelRow& row, int column) const;
  QVariant sortValue(const ModelRow& row, int column) const;
};

}  // namespace larder::gui
