// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "gui/theme/theme.h"

namespace larder::gui {

Card::Card(const Theme& theme, const QString& title, QWidget* parent)
    : QFrame(parent), theme_(theme), title_(new QLabel(title)), note_(new QLabel), aside_(new QLabel) {
  setProperty("role", QStringLiteral("card"));
  body_ = new QVBoxLayout(this);
  const int padding = theme.metrics().padding;
  body_->setContentsMargins(padding, 12, padding, padding);
  body_->setSpacing(8);
  line_ = new QHBoxLayout;
  line_->setSpacing(8);
  line_->addWidget(title_);
  line_->addWidget(note_);
  line_->addStretch(1);
  line_->addWidget(aside_);
  body_->addLayout(line_);
  if (title.isEmpty()) title_->hide();
  connect(&theme, &Theme::changed, this, &Card::restyle);
  restyle();
}

void Card::setNote(const QString& text) { note_->setText(text); }
void Card::setAside(const QString& text) { aside_->setText(text); }

void Card::restyle() {
  title_->setFont(theme_.font(TextSize::kBody, true));
  for (QLabel* label : {note_, aside_}) {
    label->setFont(theme_.font(TextSize::kSmall));
    QPalette muted = label->palette();
    muted.setColor(QPalette::WindowText, theme_.color(Tone::kTextSecondary));
    label->setPalette(muted);
  }
}

}  // namespace larder::gui
