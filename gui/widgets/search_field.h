// SPDX-License-Identifier: GPL-3.0-or-later
// SearchField: a line edit with a lens, the shortcut that reaches it and a clear button. Esc clears, Enter and
// Shift+Enter walk the matches.
// Threads: GUI thread.
#pragma once

#include <QLineEdit>

namespace larder::gui {

class Theme;

class SearchField final : public QLineEdit {
  Q_OBJECT

 public:
  SearchField(const Theme& theme, const QString& placeholder, const QString& shortcut, QWidget* parent = nullptr);

 Q_SIGNALS:
  void nextWanted();
  void previousWanted();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void restyle();

  const Theme& theme_;
  QString shortcut_;
  QAction* lens_;
};

}  // namespace larder::gui
