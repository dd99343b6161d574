// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/chat/prompt_edit.h"

#include <QKeyEvent>

namespace larder::gui {

PromptEdit::PromptEdit(const QString& placeholder, QWidget* parent) : QPlainTextEdit(parent) {
  setPlaceholderText(placeholder);
  setAccessibleName(placeholder);
  setTabChangesFocus(true);
}

void PromptEdit::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (enter && !event->modifiers().testFlag(Qt::ShiftModifier)) {
    Q_EMIT sendWanted();
    return;
  }
  QPlainTextEdit::keyPressEvent(event);
}

}  // namespace larder::gui
