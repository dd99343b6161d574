// SPDX-License-Identifier: GPL-3.0-or-later
// Chip: a glyph and a word on a soft ground; never a colour alone. drawChip paints the same for delegates.
// Threads: GUI thread.
#pragma once

#include <QString>
#include <QWidget>

#include "gui/theme/label.h"

class QPainter;

namespace larder::gui {

QSize chipSize(const Theme& theme, const Label& label);
void drawChip(QPainter& painter, const Theme& theme, const QRect& rect, const Label& label);

class Chip final : public QWidget {
  Q_OBJECT

 public:
  explicit Chip(const Theme& theme, Label label = {}, QWidget* parent = nullptr);
  void setLabel(Label label);
  const Label& label() const { return label_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  Label label_;
};

}  // namespace larder::gui
