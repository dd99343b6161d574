// SPDX-License-Identifier: GPL-3.0-or-later
// Sparkline: the last values of one figure as a line with a dot at its end. A value below zero is a gap: no data.
// Bounds: kMaxPoints, the newest are kept.    Threads: GUI thread.
#pragma once

#include <QVector>
#include <QWidget>

namespace larder::gui {

class Theme;

class Sparkline final : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kMaxPoints = 60;

  explicit Sparkline(const Theme& theme, QWidget* parent = nullptr);
  void setValues(QVector<double> values);
  void setStale(bool stale);  // grey: the values are not of now
  QSize sizeHint() const override { return QSize(56, 24); }
  QSize minimumSizeHint() const override { return QSize(32, 24); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  QVector<double> values_;
  bool stale_ = false;
};

}  // namespace larder::gui
