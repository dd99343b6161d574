// SPDX-License-Identifier: GPL-3.0-or-later
// KpiCard: one figure with its unit, what it is made of, and its recent past. A button: it opens the page that
// explains. Threads: GUI thread.
#pragma once

#include <QFrame>
#include <QString>
#include <QVector>

class QLabel;

namespace larder::gui {

class Sparkline;
class Theme;

class KpiCard final : public QFrame {
  Q_OBJECT

 public:
  KpiCard(const Theme& theme, const QString& title, QWidget* parent = nullptr);
  // figure: "81 ms"; suffix follows the unit ("p50"); parts says what it is made of. `alarm` is set apart in the
  // error colour at the end of the parts.
  void setFigure(const QString& figure, const QString& suffix, const QString& parts, const QString& alarm = QString());
  void setPast(QVector<double> values);
  void setStale(bool stale);
  QString figureText() const { return figure_; }

 Q_SIGNALS:
  void clicked();

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void refill();

  const Theme& theme_;
  QLabel* title_;
  QLabel* value_;
  QLabel* parts_;
  Sparkline* past_;
  QString name_, figure_, suffix_, parts_text_, alarm_;
  bool stale_ = false;
};

}  // namespace larder::gui
