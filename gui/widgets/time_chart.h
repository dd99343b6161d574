// SPDX-License-Identifier: GPL-3.0-or-later
// TimeChart: the one place where Qt Charts is used: up to four lines over time on a scale of counts, of percent or of
// decades. Labels stand at the line ends, not in a legend; axis texts are our own, so that they follow the theme and
// the language. Bounds:  kMaxLines lines of kMaxPoints points, replaced whole; raster only.    Units: x in ms since
// 1970; y as given,
//          negative: no data.    Threads: GUI thread.
#pragma once

#include <QString>
#include <QVector>
#include <QtCharts/QChartView>
#include <functional>

#include "gui/theme/theme.h"

class QAbstractAxis;
class QAreaSeries;
class QLineSeries;

namespace larder::gui {

struct ChartLine {
  QString label;
  Tone tone = Tone::kAccent;
  bool dashed = false;
  bool filled = false;
};

class TimeChart final : public QChartView {
  Q_OBJECT

 public:
  enum class Scale { kCount, kPercent, kLog };
  static constexpr int kMaxLines = 4;
  static constexpr int kMaxPoints = 300;
  using Format = std::function<QString(double)>;

  TimeChart(const Theme& theme, QVector<ChartLine> lines, Scale scale, Format format, QWidget* parent = nullptr);
  // One list of points per line. Shows begin..end whatever the points cover.
  void setPoints(const QVector<QVector<QPointF>>& points, double begin, double end);
  void setStale(bool stale);
  QSize sizeHint() const override { return QSize(320, 190); }
  QSize minimumSizeHint() const override { return QSize(160, 140); }

 protected:
  void drawBackground(QPainter* painter, const QRectF& rect) override;
  void drawForeground(QPainter* painter, const QRectF& rect) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void build();
  void restyle();
  void placePlot();
  double heightOf(double value) const;
  void setYRange(double lowest, double highest);
  void drawAxisTexts(QPainter& painter) const;
  void drawEndLabels(QPainter& painter) const;

  const Theme& theme_;
  QVector<ChartLine> lines_;
  Scale scale_;
  Format format_;
  QVector<QLineSeries*> series_;
  QVector<QAreaSeries*> areas_;  // below a filled line, else null
  QAbstractAxis* x_axis_ = nullptr;
  QAbstractAxis* y_axis_ = nullptr;
  double begin_ = 0, end_ = 1, low_ = 0, high_ = 1;
  QVector<double> ticks_{0};
  bool stale_ = false;
};

// The distance of the times below a chart: whole minutes, at most about `most` of them over the range.
double timeStep(double range_ms, int most);

}  // namespace larder::gui
