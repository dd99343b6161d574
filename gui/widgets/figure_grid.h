// SPDX-License-Identifier: GPL-3.0-or-later
// FigureGrid: figures with their captions above them, in columns. Knows no domain word.
// Threads: GUI thread.
#pragma once

#include <QVector>
#include <QWidget>

class QGridLayout;
class QLabel;

namespace larder::gui {

class Theme;

struct CaptionedFigure {
  QString caption, figure;
  bool operator==(const CaptionedFigure&) const = default;
};

class FigureGrid final : public QWidget {
  Q_OBJECT

 public:
  FigureGrid(const Theme& theme, int columns, QWidget* parent = nullptr);
  void setFigures(const QVector<CaptionedFigure>& figures);
  const QVector<CaptionedFigure>& figures() const { return shown_; }
  // Empty where no figure has this caption.
  QString figureOf(const QString& caption) const;

 private:
  void restyle();

  const Theme& theme_;
  const int columns_;
  QGridLayout* grid_;
  QVector<QLabel*> captions_, values_;
  QVector<CaptionedFigure> shown_;
};

}  // namespace larder::gui
