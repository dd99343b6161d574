// SPDX-License-Identifier: GPL-3.0-or-later
// The menu and the command field of MainWindow: both list the same actions.
#include <QAction>
#include <QCompleter>
#include <QMenu>
#include <QStackedWidget>
#include <QToolButton>

#include "gui/pages/shell/main_window.h"
#include "gui/pages/shell/navigation.h"
#include "gui/pages/shell/tool_strip.h"
#include "gui/widgets/search_field.h"

namespace larder::gui {

void MainWindow::buildMenu() {
  auto* menu = new QMenu(this);
  for (QAction* action : std::as_const(command_order_)) menu->addAction(action);
  qobject_cast<QToolButton*>(navigation_->menuButton())->setMenu(menu);
}

void MainWindow::buildCommandField() {
  QStringList texts;
  for (const QAction* action : std::as_const(command_order_)) texts.push_back(action->text());
  SearchField* field = tools_->commandField();
  auto* completer = new QCompleter(texts, field);
  completer->setCaseSensitivity(Qt::CaseInsensitive);
  completer->setFilterMode(Qt::MatchContains);
  completer->setMaxVisibleItems(12);
  field->setCompleter(completer);
  const auto run = [this, field](const QString& text) {
    QAction* action = commands_.value(text);
    if (action == nullptr) return;
    // The completer writes its text into the field after this signal.
    QMetaObject::invokeMethod(field, &QLineEdit::clear, Qt::QueuedConnection);
    stack_->setFocus();
    action->trigger();
  };
  connect(completer, qOverload<const QString&>(&QCompleter::activated), this, run);
  connect(field, &QLineEdit::returnPressed, this, [run, field] { run(field->text()); });
}

}  // namespace larder::gui
