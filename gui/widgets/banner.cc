// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/banner.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace larder::gui {

Banner::Banner(const Theme& theme, QWidget* parent)
    : QFrame(parent), theme_(theme), glyph_(new QLabel), title_(new QLabel), text_(new QLabel) {
  setObjectName(QStringLiteral("banner"));
  row_ = new QHBoxLayout(this);
  row_->setContentsMargins(16, 12, 16, 12);
  row_->setSpacing(12);
  row_->addWidget(glyph_);
  auto* column = new QVBoxLayout;
  column->setSpacing(2);
  column->addWidget(title_);
  column->addWidget(text_);
  text_->setWordWrap(true);
  for (QLabel* label : {title_, text_}) label->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row_->addLayout(column, 1);
  connect(&theme, &Theme::changed, this, &Banner::restyle);
  hide();
}

void Banner::setContent(BannerContent content) {
  content_ = std::move(content);
  title_->setText(content_.title);
  text_->setText(content_.text);
  text_->setVisible(!content_.text.isEmpty());
  setAccessibleName(content_.title);
  setAccessibleDescription(content_.text);
  for (QPushButton* button : std::as_const(buttons_)) button->deleteLater();
  buttons_.clear();
  auto buttons = content_.buttons;
  if (content_.closable) buttons.prepend({tr("Close"), [this] { hide(); }});
  for (int i = 0; i < buttons.size(); ++i) {
    auto* button = new QPushButton(buttons[i].text);
    if (i + 1 == buttons.size() && !content_.buttons.isEmpty()) button->setProperty("role", QStringLiteral("primary"));
    connect(button, &QPushButton::clicked, this, [act = buttons[i].act] { act(); });
    row_->addWidget(button);
    buttons_.push_back(button);
  }
  restyle();
  show();
}

void Banner::restyle() {
  const MoodColors colors = moodColors(theme_, content_.mood);
  const QString icon = content_.mood == Mood::kError ? QStringLiteral("error")
                       : content_.mood == Mood::kOk  ? QStringLiteral("ok")
                                                     : QStringLiteral("warning");
  glyph_->setPixmap(theme_.pixmap(icon, colors.ink, 24, devicePixelRatioF()));
  title_->setFont(theme_.font(TextSize::kBody, true));
  text_->setFont(theme_.font(TextSize::kSmall));
  setStyleSheet(QStringLiteral("QFrame#banner { background: %1; border: 0; border-bottom: 2px solid %2; }")
                    .arg(colors.ground.name(), colors.ink.name()));
}

}  // namespace larder::gui
