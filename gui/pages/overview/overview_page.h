// SPDX-License-Identifier: GPL-3.0-or-later
// OverviewPage: one glance: what is reused, what it saved, how long people waited, what the pool holds, what was lost
// and why. Without a model it shows the one step that is missing. Threads: GUI thread. Cards follow every half second,
// charts in turn, so that no one paint carries all of them.
#pragma once

#include <array>

#include "gui/pages/overview/figures.h"
#include "gui/pages/page.h"

class QGridLayout;
class QLabel;
class QStackedWidget;

namespace larder::gui {

class Card;
class ConnectCard;
class EmptyState;
class KpiCard;
class MissList;
class OccupancyCard;
class StackedBars;
class TimeChart;

class OverviewPage final : public Page {
  Q_OBJECT

 public:
  OverviewPage(const QString& title, PageContext context);

 protected:
  void showSnapshot(const SnapshotView& view) override;
  void themeChanged() override;

 private:
  enum Kpi { kReused, kSaved, kWarm, kCold, kPool, kEvictions, kKpis };

  QWidget* buildLive();
  QWidget* buildEmpty();
  void showCards(const SnapshotView& view, const OverviewFigures& figures);
  void showEmpty(const SnapshotView& view);
  void showNextChart();
  void showAllCharts();
  void showLatency();
  void showShares();
  void showOrigin();
  void showStale();
  void loadFirst();

  std::array<KpiCard*, kKpis> kpis_{};
  QStackedWidget* states_ = nullptr;
  QLabel* resident_ = nullptr;
  OccupancyCard* occupancy_ = nullptr;
  Card* origin_card_ = nullptr;
  StackedBars* origin_ = nullptr;
  TimeChart* latency_ = nullptr;
  TimeChart* evictions_ = nullptr;
  TimeChart* share_ = nullptr;
  TimeChart* pool_ = nullptr;
  Card* miss_card_ = nullptr;
  MissList* misses_ = nullptr;
  EmptyState* empty_ = nullptr;
  ConnectCard* connect_ = nullptr;
  QString first_model_path_;
  OverviewFigures figures_;
  std::uint64_t blocks_total_ = 0;
  WallTime at_ = 0;
  qint64 range_ms_ = 0;
  int next_chart_ = 0;
  QTimer charts_;
};

}  // namespace larder::gui
