// SPDX-License-Identifier: GPL-3.0-or-later
// Card: a framed surface with a title line. Knows no domain word.
// Threads: GUI thread.
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace larder::gui {

class Theme;

class Card : public QFrame {
  Q_OBJECT

 public:
  Card(const Theme& theme, const QString& title, QWidget* parent = nullptr);

  void setNote(const QString& text);   // beside the title
  void setAside(const QString& text);  // at the right end of the title line
  QVBoxLayout* body() const { return body_; }
  QHBoxLayout* titleLine() const { return line_; }

 private:
  void restyle();

  const Theme& theme_;
  QLabel* title_;
  QLabel* note_;
  QLabel* aside_;
  QHBoxLayout* line_;
  QVBoxLayout* body_;
};

}  // namespace larder::gui
