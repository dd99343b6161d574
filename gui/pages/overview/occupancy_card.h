// SPDX-License-Identifier: GPL-3.0-or-later
// OccupancyCard: what the pool holds: its capacity as a bar cut by tenant, and the same numbers as a table.
// Ensures:  the row "All" is the sum of the rows above it.    Threads: GUI thread.
#pragma once

#include <QVector>

#include "gui/bridge/view.h"
#include "gui/widgets/card.h"

class QGridLayout;
class QLabel;

namespace larder::gui {

class TierBar;

class OccupancyCard final : public Card {
  Q_OBJECT

 public:
  explicit OccupancyCard(const Theme& theme, QWidget* parent = nullptr);
  void showView(const SnapshotView& view);
  void setStale(bool stale);

 private:
  void setRows(const QVector<QStringList>& rows, const QVector<int>& marks);

  const Theme& theme_;
  QLabel* tier_name_;
  TierBar* bar_;
  QLabel* amount_;
  QLabel* share_;
  QGridLayout* table_;
  QVector<QStringList> shown_;
  QVector<QWidget*> cells_;
};

}  // namespace larder::gui
