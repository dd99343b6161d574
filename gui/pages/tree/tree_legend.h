// SPDX-License-Identifier: GPL-3.0-or-later
// TreeLegend: what fills and edges of the tree mean.
// Threads: GUI thread.
#pragma once

#include <QWidget>

namespace larder::gui {

class Theme;

class TreeLegend final : public QWidget {
  Q_OBJECT

 public:
  explicit TreeLegend(const Theme& theme, QWidget* parent = nullptr);
  QSize sizeHint() const override { return QSize(420, 18); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
};

}  // namespace larder::gui
