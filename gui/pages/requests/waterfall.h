// SPDX-License-Identifier: GPL-3.0-or-later
// Waterfall: where the time to the first token of one request went, step below step on one time axis; the part of the
// prefill that a miss cost is hatched.
// Units: ms.    Threads: GUI thread.
#pragma once

#include <QString>
#include <QVector>
#include <QWidget>

namespace larder::gui {

class Theme;

struct WaterfallStep {
  QString name;
  double begin_ms = 0, length_ms = 0;
  double lost_ms = 0;      // at the end of the step
  double restored_ms = 0;  // at the end of the step, in the disk tier's colour
  bool known = false;      // false: the step has not come to pass
};

class Waterfall final : public QWidget {
  Q_OBJECT

 public:
  explicit Waterfall(const Theme& theme, QWidget* parent = nullptr);
  void setSteps(QVector<WaterfallStep> steps, double end_ms);
  const QVector<WaterfallStep>& steps() const { return steps_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paintBar(QPainter& painter, const WaterfallStep& step, const QRectF& track) const;

  const Theme& theme_;
  QVector<WaterfallStep> steps_;
  double end_ms_ = 0;
};

}  // namespace larder::gui
