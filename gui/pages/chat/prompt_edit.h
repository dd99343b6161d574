// SPDX-License-Identifier: GPL-3.0-or-later
// PromptEdit: where a prompt is written. Enter sends, Shift+Enter starts a new line, Tab goes on to the next control.
// Bounds: kMaxLetters; more is cut with a notice from the page.    Threads: GUI thread.
#pragma once

#include <QPlainTextEdit>

namespace larder::gui {

class PromptEdit final : public QPlainTextEdit {
  Q_OBJECT

 public:
  static constexpr int kMaxLetters = 400'000;

  explicit PromptEdit(const QString& placeholder, QWidget* parent = nullptr);

 Q_SIGNALS:
  void sendWanted();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
};

}  // namespace larder::gui
