// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/search_field.h"

#include <QAction>
#include <QKeyEvent>
#include <QPainter>

#include "gui/theme/theme.h"

namespace larder::gui {

SearchField::SearchField(const Theme& theme, const QString& placeholder, const QString& shortcut, QWidget* parent)
    : QLineEdit(parent), theme_(theme), shortcut_(shortcut), lens_(new QAction(this)) {
  setPlaceholderText(placeholder);
  setAccessibleName(placeholder);
  setMaxLength(256);
  addAction(lens_, QLineEdit::LeadingPosition);
  setMinimumWidth(160);
  connect(&theme, &Theme::changed, this, &SearchField::restyle);
  restyle();
}

void SearchField::restyle() {
  lens_->setIcon(theme_.icon(QStringLiteral("search"), theme_.color(Tone::kTextSecondary)));
  update();
}

void SearchField::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && !text().isEmpty()) {
    clear();
    return;
  }
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    if (event->modifiers().testFlag(Qt::ShiftModifier)) {
      Q_EMIT previousWanted();
    } else {
      Q_EMIT nextWanted();
    }
  }
  QLineEdit::keyPressEvent(event);
}

void SearchField::paintEvent(QPaintEvent* event) {
  QLineEdit::paintEvent(event);
  if (!text().isEmpty() || shortcut_.isEmpty()) return;
  QPainter painter(this);
  painter.setFont(theme_.font(TextSize::kSmall));
  painter.setPen(theme_.color(Tone::kTextMuted));
  painter.drawText(rect().adjusted(0, 0, -10, 0), Qt::AlignRight | Qt::AlignVCenter, shortcut_);
}

}  // namespace larder::gui
