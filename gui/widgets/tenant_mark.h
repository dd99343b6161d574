// SPDX-License-Identifier: GPL-3.0-or-later
// TenantMark: the shape that stands for a tenant (never a colour): circle, square, triangle, diamond, pentagon, star,
// then the same again with a digit.
// Source: resources/theme/tokens.json "tenantMark".    Threads: GUI thread.
#pragma once

#include <QWidget>

class QPainter;

namespace larder::gui {

class Theme;

inline constexpr int kMarkShapes = 6;

void drawTenantMark(QPainter& painter, const QRectF& box, int mark, const QColor& ink);

class TenantMark final : public QWidget {
  Q_OBJECT

 public:
  TenantMark(const Theme& theme, int mark, QWidget* parent = nullptr);
  QSize sizeHint() const override { return QSize(14, 14); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  int mark_;
};

}  // namespace larder::gui
