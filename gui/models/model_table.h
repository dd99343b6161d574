// SPDX-License-Identifier: GPL-3.0-or-later
// ModelTable: model files and the loaded model.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/view.h"
#include "gui/models/row_table.h"

namespace larder::gui {

struct ModelRow {
  ModelInfo info;
  // The file names a row: a model keeps its row while it is loaded and let go.
  QString id() const { return info.path.isEmpty() ? info.name : info.path; }
  bool operator==(const ModelRow&) const = default;
};

class ModelTable final : public RowTable<ModelRow> {
  Q_OBJECT

 public:
  enum Column { kName, kState, kArchitecture, kQuantisation, kFile, kKv, kContext, kLongest };
  explicit ModelTable(QObject* parent = nullptr);
  void setView(const SnapshotView& view);
};

}  // namespace larder::gui
