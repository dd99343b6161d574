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
  qulonglong id() const { return info.id.value; }
  bool operator==(const EntryRow&) const = default;
};

class EntryModel final : public RowTable<EntryRow> {
  Q_OBJECT

 public:
  enum Column { kName, kTenant, kTokens, kBytes, kPinned, kHits, kSaved };
  explicit EntryModel(QObject* parent = nullptr);
  void setView(const SnapshotView& view);
};

}  // namespace larder::gui
