// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/empty_state.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <array>

#include "gui/theme/theme.h"

namespace larder::gui {
namespace {

constexpr int kPictureWidth = 348;
constexpr int kPictureHeight = 108;

}  // namespace

EmptyState::EmptyState(const Theme& theme, Outline outline, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      outline_(outline),
      picture_(new QWidget),
      title_(new QLabel),
      text_(new QLabel),
      primary_(new QPushButton),
      second_(new QPushButton),
      drop_(new QWidget),
      drop_title_(new QLabel),
      drop_text_(new QLabel) {
  auto* column = new QVBoxLayout(this);
  column->setSpacing(12);
  column->addStretch(1);
  picture_->setFixedSize(kPictureWidth, outline == Outline::kTree ? kPictureHeight : 0);
  column->addWidget(picture_, 0, Qt::AlignHCenter);
  column->addSpacing(20);
  for (QLabel* label : {title_, text_, drop_title_, drop_text_}) {
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
  }
  column->addWidget(title_);
  auto* middle = new QHBoxLayout;  // a label that wraps knows its height only when it may take the width
  middle->addStretch(1);
  middle->addWidget(text_, 6);
  middle->addStretch(1);
  column->addLayout(middle);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch(1);
  buttons->addWidget(primary_);
  buttons->addWidget(second_);
  buttons->addStretch(1);
  primary_->setProperty("role", QStringLiteral("primary"));
  primary_->setObjectName(QStringLiteral("emptyPrimary"));
  second_->setObjectName(QStringLiteral("emptySecond"));
  column->addLayout(buttons);
  column->addSpacing(12);
  drop_->setFixedSize(500, 96);
  auto* inside = new QVBoxLayout(drop_);
  inside->setSpacing(4);
  inside->addStretch(1);
  inside->addWidget(drop_title_);
  inside->addWidget(drop_text_);
  inside->addStretch(1);
  column->addWidget(drop_, 0, Qt::AlignHCenter);
  column->addStretch(1);
  connect(primary_, &QPushButton::clicked, this, &EmptyState::primaryWanted);
  connect(second_, &QPushButton::clicked, this, &EmptyState::secondWanted);
  connect(&theme, &Theme::changed, this, &EmptyState::restyle);
  setActions(QString());
  setDropHint(QString(), QString());
  restyle();
}

void EmptyState::setText(const QString& title, const QString& text) {
  title_->setText(title);
  text_->setText(text);
}

void EmptyState::setActions(const QString& primary, const QString& second) {
  primary_->setText(primary.isEmpty() ? primary : QLatin1Char(' ') + primary);
  primary_->setVisible(!primary.isEmpty());
  second_->setText(second);
  second_->setVisible(!second.isEmpty());
}

void EmptyState::setDropHint(const QString& title, const QString& text) {
  drop_title_->setText(title);
  drop_text_->setText(text);
  drop_->setVisible(!title.isEmpty());
}

void EmptyState::restyle() {
  title_->setFont(theme_.font(TextSize::kHero, true));
  text_->setFont(theme_.font(TextSize::kBody));
  drop_title_->setFont(theme_.font(TextSize::kBody, true));
  drop_text_->setFont(theme_.font(TextSize::kSmall));
  primary_->setIcon(theme_.icon(QStringLiteral("play"), theme_.color(Tone::kOnAccent)));
  for (QLabel* label : {text_, drop_text_}) {
    QPalette muted = label->palette();
    muted.setColor(QPalette::WindowText, theme_.color(Tone::kTextSecondary));
    label->setPalette(muted);
  }
  update();
}

void EmptyState::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(QPen(theme_.color(Tone::kControl), 1, Qt::DashLine));
  if (outline_ == Outline::kTree) {
    painter.save();
    painter.translate(picture_->pos());
    // Boxes of a tree to come: x, row and width in the picture.
    constexpr std::array<std::array<int, 3>, 8> kBoxes = {
        {{0, 0, 347}, {0, 1, 223}, {228, 1, 119}, {0, 2, 117}, {122, 2, 101}, {228, 2, 69}, {0, 3, 62}, {122, 3, 48}}};
    for (const auto& box : kBoxes) painter.drawRect(QRectF(box[0] + 0.5, box[1] * 27 + 0.5, box[2], 23));
    painter.restore();
  }
  if (drop_->isVisible()) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme_.color(Tone::kControl), 2, Qt::DashLine));
    painter.drawRoundedRect(QRectF(drop_->geometry()).adjusted(1, 1, -1, -1), 6, 6);
  }
}

}  // namespace larder::gui
