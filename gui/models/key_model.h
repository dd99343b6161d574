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
  qulonglong id() const { return info.id.value; }
  bool operator==(const KeyRow&) const = default;
};

class KeyModel final : public RowTable<KeyRow> {
  Q_OBJECT

 public:
  enum Column { kPrefix, kLabel, kTenant, kRight, kCreated, kUsed };
  explicit KeyModel(QObject* parent = nullptr);
  void setView(const SnapshotView& view);
};

}  // namespace larder::gui
