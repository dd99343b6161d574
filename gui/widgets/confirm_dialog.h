// SPDX-License-Identifier: GPL-3.0-or-later
// ConfirmDialog: asks before a verb that cannot be undone. Focus is on Cancel, the button carries the verb; for the
// gravest ones a name must be typed first. Knows no domain word.
// Threads: GUI thread.
#pragma once

#include <QDialog>
#include <QVector>

#include "gui/widgets/figure_grid.h"

class QLineEdit;
class QPushButton;

namespace larder::gui {

class Theme;

struct Question {
  QString title;         // "Delete the tenant coder?"
  QString text;          // what goes with it
  QString verb;          // on the button
  QString name_to_type;  // empty: none
  bool harmless = false;  // it can be undone: the button looks like any other
  QVector<CaptionedFigure> figures{};  // above the text
};

class ConfirmDialog final : public QDialog {
  Q_OBJECT

 public:
  ConfirmDialog(const Theme& theme, const Question& question, QWidget* parent);

 private:
  QLineEdit* typed_ = nullptr;
  QPushButton* act_;
};

}  // namespace larder::gui
