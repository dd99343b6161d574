// SPDX-License-Identifier: GPL-3.0-or-later
// Toast: one line above the lower edge for a few seconds, with at most one action. A newer one takes its place.
// Threads: GUI thread.
#pragma once

#include <QFrame>
#include <QTimer>
#include <functional>

class QLabel;
class QPushButton;

namespace larder::gui {

class Theme;

class Toast final : public QFrame {
  Q_OBJECT

 public:
  static constexpr int kShownMs = 10'000;

  Toast(const Theme& theme, QWidget* over);
  void say(const QString& text, const QString& action, std::function<void()> act);
  QString text() const;
  // Runs the action if the toast is still shown (Ctrl+Z). False: nothing to undo.
  bool act();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();
  void restyle();

  const Theme& theme_;
  QLabel* text_;
  QPushButton* action_;
  QTimer timer_;
  std::function<void()> act_;
};

}  // namespace larder::gui
