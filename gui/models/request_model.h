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
  qulonglong id() const { return record->id.value; }
  bool operator==(const RequestRow&) const = default;
};

class RequestModel final : public RowTable<RequestRow> {
  Q_OBJECT

 public:
  enum Column { kId, kTime, kTenant, kModel, kState, kPrompt, kReused, kVerdict, kFirstToken, kTotal, kSaved };
  explicit RequestModel(QObject* parent = nullptr);
  void setView(const SnapshotView& view);
};

}  // namespace larder::gui
