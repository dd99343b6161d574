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
  qulonglong id() const { return info.id.value; }
  bool operator==(const TenantRow&) const = default;
};

class TenantModel final : public RowTable<TenantRow> {
  Q_OBJECT

 public:
  enum Column { kName, kBytes, kBlocks, kPinned, kQuota, kRequests, kReused, kRunning, kKeys };
  explicit TenantModel(QObject* parent = nullptr);
  void setView(const SnapshotView& view);
};

}  // namespace larder::gui
