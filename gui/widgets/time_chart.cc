// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/time_chart.h"

#include <QFontMetrics>
#include <QGraphicsLayout>
#include <QPainter>
#include <QtCharts/QAreaSeries>
#include <QtCharts/QChart>
#include <QtCharts/QLineSeries>
#include <QtCharts/QLogValueAxis>
#include <QtCharts/QValueAxis>
#include <algorithm>
#include <cmath>

#include "gui/theme/numbers.h"
#include "gui/widgets/stacked_bars.h"

namespace larder::gui {
namespace {

constexpr int kLeft = 58;
constexpr int kBottom = 20;
constexpr int kLabelGap = 14;
constexpr int kTimeWidth = 48;  // of a time and its distance to the next
constexpr double kMinuteMs = 60'000;

}  // namespace

double timeStep(double range_ms, int most) {
  constexpr double kMinutes[] = {1, 2, 5, 10, 15, 20, 30, 60, 120, 240, 480};
  for (const double minutes : kMinutes) {
    if (range_ms <= std::max(1, most) * minutes * kMinuteMs) return minutes * kMinuteMs;
  }
  return 1440 * kMinuteMs;
}

TimeChart::TimeChart(const Theme& theme, QVector<ChartLine> lines, Scale scale, Format format, QWidget* parent)
    : QChartView(parent), theme_(theme), lines_(std::move(lines)), scale_(scale), format_(std::move(format)) {
  if (lines_.size() > kMaxLines) lines_.resize(kMaxLines);
  setFrameShape(QFrame::NoFrame);
  setRenderHint(QPainter::Antialiasing);
  setFocusPolicy(Qt::NoFocus);
  setStyleSheet(QStringLiteral("QGraphicsView { background: transparent; border: 0; }"));
  setBackgroundBrush(Qt::NoBrush);
  setAttribute(Qt::WA_TransparentForMouseEvents);
  build();
  connect(&theme, &Theme::changed, this, &TimeChart::restyle);
  restyle();
}

void TimeChart::build() {
  QChart* plot = chart();
  plot->legend()->hide();
  plot->setBackgroundVisible(false);
  plot->setMargins(QMargins(0, 0, 0, 0));
  plot->layout()->setContentsMargins(0, 0, 0, 0);
  x_axis_ = new QValueAxis;
  y_axis_ = scale_ == Scale::kLog ? static_cast<QAbstractAxis*>(new QLogValueAxis) : new QValueAxis;
  plot->addAxis(x_axis_, Qt::AlignBottom);
  plot->addAxis(y_axis_, Qt::AlignLeft);
  for (const ChartLine& line : std::as_const(lines_)) {
    auto* series = new QLineSeries;
    series_.push_back(series);
    if (line.filled) {  // the area has no edge of its own: only its upper line is drawn, as a series
      auto* upper = new QLineSeries;
      auto* area = new QAreaSeries(upper);
      upper->setParent(area);
      plot->addSeries(area);
      area->attachAxis(x_axis_);
      area->attachAxis(y_axis_);
    }
    areas_.push_back(line.filled ? qobject_cast<QAreaSeries*>(plot->series().constLast()) : nullptr);
    plot->addSeries(series);
    series->attachAxis(x_axis_);
    series->attachAxis(y_axis_);
  }
  for (QAbstractAxis* axis : {x_axis_, y_axis_}) {
    axis->setLabelsVisible(false);
    axis->setLineVisible(false);
  }
  x_axis_->setGridLineVisible(false);
  y_axis_->setGridLineVisible(false);  // drawn in drawBackground, at the places of the axis texts
  y_axis_->setMinorGridLineVisible(false);
}

void TimeChart::restyle() {
  const QColor stale = theme_.color(Tone::kTextMuted);
  for (qsizetype i = 0; i < series_.size(); ++i) {
    const QColor color = stale_ ? stale : theme_.color(lines_[i].tone);
    QPen pen(color, lines_[i].dashed ? 1.25 : 2);
    if (lines_[i].dashed) pen.setDashPattern({4, 3});
    series_[i]->setPen(pen);
    series_[i]->setMarkerSize(2.5);
    if (areas_[i] != nullptr) {
      QColor ground = color;
      ground.setAlphaF(0.25F);
      areas_[i]->setPen(Qt::NoPen);
      areas_[i]->setBrush(ground);
    }
  }
  viewport()->update();
}

void TimeChart::setStale(bool stale) {
  if (stale == stale_) return;
  stale_ = stale;
  restyle();
}

void TimeChart::setYRange(double lowest, double highest) {
  ticks_.clear();
  if (scale_ == Scale::kPercent) {
    low_ = 0, high_ = 100;
    ticks_ = {0, 25, 50, 75, 100};
  } else if (scale_ == Scale::kCount) {
    ticks_ = countTicks(highest);
    low_ = 0, high_ = std::max(1.0, ticks_.constLast());
  } else if (highest <= 0) {
    low_ = 10, high_ = 10'000;
  } else {
    low_ = std::pow(10, std::floor(std::log10(std::max(lowest, 1e-2)) + 1e-9));
    high_ = std::pow(10, std::ceil(std::log10(std::max(highest, 1e-2)) - 1e-9));
    if (high_ <= low_) high_ = low_ * 10;
  }
  if (scale_ == Scale::kLog) {
    for (double value = low_; value <= high_ * 1.001; value *= 10) ticks_.push_back(value);
  }
  y_axis_->setRange(low_, high_);
}

void TimeChart::setPoints(const QVector<QVector<QPointF>>& points, double begin, double end) {
  begin_ = begin;
  end_ = std::max(end, begin + 1);
  double lowest = 0, highest = 0;
  bool any = false;
  for (qsizetype i = 0; i < series_.size() && i < points.size(); ++i) {
    QList<QPointF> shown;
    const qsizetype first = std::max<qsizetype>(0, points[i].size() - kMaxPoints);
    for (qsizetype p = first; p < points[i].size(); ++p) {
      const double y = points[i][p].y();
      if (y < 0 || (scale_ == Scale::kLog && y <= 0)) continue;
      shown.push_back(points[i][p]);
      lowest = any ? std::min(lowest, y) : y;
      highest = any ? std::max(highest, y) : y;
      any = true;
    }
    series_[i]->replace(shown);
    series_[i]->setPointsVisible(shown.size() == 1);  // one point makes no line
    if (areas_[i] != nullptr) areas_[i]->upperSeries()->replace(shown);
  }
  x_axis_->setRange(begin_, end_);
  setYRange(lowest, highest);
  placePlot();
}

void TimeChart::resizeEvent(QResizeEvent* event) {
  QChartView::resizeEvent(event);
  placePlot();
}

void TimeChart::placePlot() {
  const QFontMetrics metrics(theme_.font(TextSize::kAxis));
  int right = 8;
  for (const ChartLine& line : std::as_const(lines_)) {
    if (!line.label.isEmpty()) right = std::max(right, metrics.horizontalAdvance(line.label) + 14);
  }
  const QRectF plot(kLeft, 8, std::max(20, width() - kLeft - right), std::max(20, height() - 8 - kBottom));
  if (chart()->plotArea() != plot) chart()->setPlotArea(plot);
  viewport()->update();
}

void TimeChart::drawAxisTexts(QPainter& painter) const {
  const QRectF area = chart()->plotArea();
  painter.setPen(theme_.color(Tone::kTextMuted));
  for (const double value : ticks_) {
    const double y = heightOf(value);
    painter.drawText(QRectF(0, y - 8, kLeft - 8, 16), Qt::AlignRight | Qt::AlignVCenter, format_(value));
  }
  const double step = timeStep(end_ - begin_, static_cast<int>(area.width()) / kTimeWidth);
  for (double at = std::ceil(begin_ / step) * step; at <= end_; at += step) {
    const double x = area.left() + area.width() * (at - begin_) / (end_ - begin_);
    if (x + kTimeWidth / 3.0 > width()) break;  // it would be cut off
    painter.drawText(QRectF(x - kTimeWidth / 2.0, area.bottom() + 4, kTimeWidth, 16), Qt::AlignHCenter | Qt::AlignTop,
                     minuteText(static_cast<std::int64_t>(at)));
  }
}

void TimeChart::drawEndLabels(QPainter& painter) const {
  struct End {
    double y;
    qsizetype line;
  };
  QVector<End> ends;
  for (qsizetype i = 0; i < series_.size(); ++i) {
    if (lines_[i].label.isEmpty() || series_[i]->count() == 0) continue;
    const QPointF last = series_[i]->at(series_[i]->count() - 1);
    ends.push_back({heightOf(last.y()), i});
  }
  std::sort(ends.begin(), ends.end(),
            [](const End& a, const End& b) { return a.y != b.y ? a.y < b.y : a.line > b.line; });
  for (qsizetype i = 1; i < ends.size(); ++i) ends[i].y = std::max(ends[i].y, ends[i - 1].y + kLabelGap);
  for (const End& end : std::as_const(ends)) {
    painter.setPen(stale_ ? theme_.color(Tone::kTextMuted) : theme_.color(lines_[end.line].tone));
    painter.drawText(QRectF(chart()->plotArea().right() + 8, end.y - 8, width(), 16), Qt::AlignLeft | Qt::AlignVCenter,
                     lines_[end.line].label);
  }
}

// The same place that the chart gives a value, also before it has laid itself out.
double TimeChart::heightOf(double value) const {
  const QRectF area = chart()->plotArea();
  const double share = scale_ == Scale::kLog ? std::log(std::max(value, low_) / low_) / std::log(high_ / low_)
                                             : (value - low_) / (high_ - low_);
  return area.bottom() - area.height() * share;
}

void TimeChart::drawBackground(QPainter* painter, const QRectF&) {
  const QRectF area = chart()->plotArea();
  painter->setPen(QPen(theme_.color(Tone::kGrid), 1));
  for (const double value : ticks_) {
    const double y = std::round(heightOf(value)) + 0.5;
    painter->drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
  }
}

void TimeChart::drawForeground(QPainter* painter, const QRectF&) {
  painter->setFont(theme_.font(TextSize::kAxis));
  drawAxisTexts(*painter);
  drawEndLabels(*painter);
}

}  // namespace larder::gui
