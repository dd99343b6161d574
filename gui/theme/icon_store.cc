// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/theme/icon_store.h"

#include <QColor>
#include <QFile>
#include <QPainter>
#include <QSvgRenderer>
#include <cmath>

namespace larder::gui {

QPixmap IconStore::pixmap(const QString& name, const QColor& color, int side, qreal ratio) {
  const QString key = QStringLiteral("%1/%2/%3/%4").arg(name, color.name(QColor::HexArgb)).arg(side).arg(ratio);
  if (const auto found = kept_.constFind(key); found != kept_.constEnd()) return *found;
  if (kept_.size() >= kMaxKept) kept_.clear();

  QPixmap drawn;
  QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
  if (file.open(QIODevice::ReadOnly)) {
    QByteArray svg = file.readAll();
    svg.replace("currentColor", color.name(QColor::HexRgb).toLatin1());
    QSvgRenderer renderer(svg);
    const int pixels = static_cast<int>(std::lround(side * ratio));
    drawn = QPixmap(pixels, pixels);
    drawn.fill(Qt::transparent);
    QPainter painter(&drawn);
    painter.setRenderHint(QPainter::Antialiasing);
    renderer.render(&painter);
    painter.end();
    drawn.setDevicePixelRatio(ratio);
  } else {
    qWarning("no icon \"%s\" in resources/icons", qPrintable(name));
  }
  kept_.insert(key, drawn);
  return drawn;
}

}  // namespace larder::gui
