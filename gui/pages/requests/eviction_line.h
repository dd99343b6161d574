// SPDX-License-Identifier: GPL-3.0-or-later
// EvictionLine: the last moments of evicted tokens in order: last hit, evicted, asked again. Not to scale.
// Threads: GUI thread.
#pragma once

#include <QString>
#include <QVector>
#include <QWidget>

namespace larder::gui {

class Theme;

struct EvictionMoment {
  QString time, what;
  bool lost = false;  // from here on the tokens were gone
};

class EvictionLine final : public QWidget {
  Q_OBJECT

 public:
  explicit EvictionLine(const Theme& theme, QWidget* parent = nullptr);
  void setMoments(QVector<EvictionMoment> moments);
  QSize sizeHint() const override { return QSize(420, 54); }
  QSize minimumSizeHint() const override { return QSize(240, 54); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  QVector<EvictionMoment> moments_;
};

}  // namespace larder::gui
