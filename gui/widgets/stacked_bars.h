// SPDX-License-Identifier: GPL-3.0-or-later
// StackedBars: amounts per interval, stacked, with at most five grid lines. A part is told by fill and hatch.
// Bounds: kMaxColumns columns, the newest are kept; kMaxParts parts.    Threads: GUI thread.
#pragma once

#include <QString>
#include <QVector>
#include <QWidget>
#include <array>

#include "gui/theme/theme.h"

namespace larder::gui {

inline constexpr int kMaxParts = 5;

struct BarColumn {
  QString label;  // below the axis where it fits
  std::array<double, kMaxParts> parts{};
  bool operator==(const BarColumn&) const = default;
};

// How one part is drawn: a tier's fill, or tokens that were computed.
struct BarPart {
  bool computed = false;
  Tier tier = Tier::kHost;
};

class StackedBars final : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kMaxColumns = 300;

  StackedBars(const Theme& theme, QVector<BarPart> parts, QWidget* parent = nullptr);
  void setColumns(QVector<BarColumn> columns);
  void setStale(bool stale);
  QSize sizeHint() const override { return QSize(360, 180); }
  QSize minimumSizeHint() const override { return QSize(160, 120); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paintColumn(QPainter& painter, const QRectF& area, const BarColumn& column, double x, double wide, double top);

  const Theme& theme_;
  QVector<BarPart> parts_;
  QVector<BarColumn> columns_;
  bool stale_ = false;
};

// Where an axis of counts from 0 to at least `highest` bears its figures: at most five whole numbers, 1, 2 or 5 x 10^n
// apart. Nothing counted: 0 alone.
QVector<double> countTicks(double highest);

}  // namespace larder::gui
