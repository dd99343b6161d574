// SPDX-License-Identifier: GPL-3.0-or-later
// PackModel: household instruction sets.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/view.h"
#include "gui/models/row_table.h"

namespace larder::gui {

struct PackRow {
  PackInfo info;
  QString id() const { return info.id; }
  bool operator==(const PackRow&) const = default;
};

class PackModel final : public RowTable<PackRow> {
  Q_OBJECT

 public:
  enum Column { kName, kLanguage, kVersion, kTokens, kState };
  explicit PackModel(QObject* parent = nullptr);
  void setView(const SnapshotView& view);
};

}  // namespace larder::gui
