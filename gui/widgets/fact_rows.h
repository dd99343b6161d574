// SPDX-License-Identifier: GPL-3.0-or-later
// FactRows: what is known of one thing, a row each: a muted name at the left, its value at the right. For narrow
// places; FigureGrid has the captions above. Knows no domain word.
// Threads: GUI thread.
#pragma once

#include <QString>
#include <QVector>
#include <QWidget>
#include <utility>

#include "gui/theme/theme.h"

class QGridLayout;
class QLabel;

namespace larder::gui {

class FactRows final : public QWidget {
  Q_OBJECT

 public:
  using Facts = QVector<std::pair<QString, QString>>;

  FactRows(const Theme& theme, TextSize size, QWidget* parent = nullptr);
  void setFacts(const Facts& facts);
  // Empty where no fact has this name.
  QString valueOf(const QString& name) const;

 private:
  void restyle();

  const Theme& theme_;
  const TextSize size_;
  QGridLayout* grid_;
  QVector<QLabel*> names_, values_;
  Facts shown_;
};

}  // namespace larder::gui
