// SPDX-License-Identifier: GPL-3.0-or-later
// TreeLegend: what fills and edges of the tree mean, in as many rows as its width takes.
// Threads: GUI thread.
#pragma once

#include <QVector>
#include <QWidget>
#include <cstdint>

namespace larder::gui {

class Theme;

class TreeLegend final : public QWidget {
  Q_OBJECT

 public:
  explicit TreeLegend(const Theme& theme, QWidget* parent = nullptr);
  QSize sizeHint() const override { return QSize(420, heightForWidth(width())); }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  enum class Sign : std::uint8_t { kDevice, kHost, kDisk, kCopied, kPinned, kHit, kGone, kNone };
  struct Entry {
    Sign sign = Sign::kNone;
    QString text;
  };

  static QVector<Entry> entries();
  QVector<QPoint> places(int width) const;  // of each entry
  void paintSwatch(QPainter& painter, Sign sign, const QRectF& box) const;

  const Theme& theme_;
};

}  // namespace larder::gui
