// SPDX-License-Identifier: GPL-3.0-or-later
// IconStore: line icons of resources/icons as pixmaps. QtSvg paints currentColor black, so the text of the file is
// coloured before it is rendered; results are kept by name, colour, size and ratio.
// Errors:  an unknown name gives an empty pixmap and one warning.    Threads: GUI thread.
#pragma once

#include <QHash>
#include <QPixmap>
#include <QString>

class QColor;

namespace larder::gui {

class IconStore {
 public:
  QPixmap pixmap(const QString& name, const QColor& color, int side, qreal ratio);

 private:
  static constexpr int kMaxKept = 2000;
  QHash<QString, QPixmap> kept_;
};

}  // namespace larder::gui
