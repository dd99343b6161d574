// SPDX-License-Identifier: GPL-3.0-or-later
// TierBar: the capacity of one tier as a bar, cut by tenant, with a bracket below what is pinned. drawTierFill paints
// fill and hatch of a tier anywhere else.
// Threads: GUI thread.
#pragma once

#include <QVector>
#include <QWidget>

#include "gui/theme/theme.h"

namespace larder::gui {

void drawTierFill(QPainter& painter, const Theme& theme, Tier tier, const QRectF& rect, bool stale = false);

struct BarCut {
  double amount = 0;
  int mark = 0;  // the tenant's shape; negative: none
  bool operator==(const BarCut&) const = default;
};

class TierBar final : public QWidget {
  Q_OBJECT

 public:
  TierBar(const Theme& theme, Tier tier, QWidget* parent = nullptr);
  void setAmounts(double capacity, QVector<BarCut> cuts, double pinned);
  void setTier(Tier tier);
  void setStale(bool stale);
  QSize sizeHint() const override { return QSize(240, 22); }
  QSize minimumSizeHint() const override { return QSize(80, 22); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  Tier tier_;
  double capacity_ = 0, pinned_ = 0;
  QVector<BarCut> cuts_;
  bool stale_ = false;
};

// A swatch of one tier for legends and tables.
class TierSwatch final : public QWidget {
  Q_OBJECT

 public:
  TierSwatch(const Theme& theme, Tier tier, QWidget* parent = nullptr);
  QSize sizeHint() const override { return QSize(14, 12); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  Tier tier_;
};

}  // namespace larder::gui
