// SPDX-License-Identifier: GPL-3.0-or-later
// EmptyState: what will stand here and the one step that brings it, with an outline of it.
// Threads: GUI thread.
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace larder::gui {

class Theme;

class EmptyState final : public QWidget {
  Q_OBJECT

 public:
  enum class Outline { kNone, kTree };

  EmptyState(const Theme& theme, Outline outline, QWidget* parent = nullptr);
  void setText(const QString& title, const QString& text);
  // Empty text hides a button.
  void setActions(const QString& primary, const QString& second = QString());
  void setDropHint(const QString& title, const QString& text);

 Q_SIGNALS:
  void primaryWanted();
  void secondWanted();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void restyle();

  const Theme& theme_;
  Outline outline_;
  QWidget* picture_;
  QLabel* title_;
  QLabel* text_;
  QPushButton* primary_;
  QPushButton* second_;
  QWidget* drop_;
  QLabel* drop_title_;
  QLabel* drop_text_;
};

}  // namespace larder::gui
