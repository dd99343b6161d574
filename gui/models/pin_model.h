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
  qulonglong id() const { return info.id.value; }
  bool operator==(const PinRow&) const = default;
};

class PinModel final : public RowTable<PinRow> {
  Q_OBJECT

 public:
  enum Column { kLabel, kReason, kTenant, kBlocks, kBytes, kCreated, kExpires };
  explicit PinModel(QObject* parent = nullptr);
  void setView(const SnapshotView& view);
};

}  // namespace larder::gui
