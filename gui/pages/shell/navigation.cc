// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/shell/navigation.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace larder::gui {

NavButton::NavButton(const Theme& theme, const QString& icon, const QString& text, QWidget* parent)
    : QAbstractButton(parent), theme_(theme), icon_name_(icon) {
  setText(text);
  setAccessibleName(text);
  setCheckable(true);
  setAutoExclusive(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void NavButton::setCollapsed(bool collapsed) {
  collapsed_ = collapsed;
  setToolTip(collapsed ? text() : QString());
  update();
}

void NavButton::setBadge(int count) {
  if (count == badge_) return;
  badge_ = count;
  setAccessibleDescription(count > 0 ? tr("%n to look at", nullptr, count) : QString());
  update();
}

QSize NavButton::sizeHint() const { return QSize(theme_.metrics().navigation - 16, 28); }

void NavButton::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
  painter.setPen(Qt::NoPen);
  if (isChecked() || underMouse()) {
    painter.setBrush(theme_.color(isChecked() ? Tone::kAccentSoft : Tone::kSurface));
    painter.drawRoundedRect(box, 4, 4);
  }
  if (isChecked()) painter.fillRect(QRectF(0, 4, 3, height() - 8), theme_.color(Tone::kAccent));
  if (hasFocus()) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme_.color(Tone::kAccent), 2));
    painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 4, 4);
  }
  const QColor ink = isChecked() ? theme_.color(Tone::kAccent) : theme_.color(Tone::kTextSecondary);
  const int left = collapsed_ ? (width() - 16) / 2 : 10;
  painter.drawPixmap(left, (height() - 16) / 2, theme_.pixmap(icon_name_, ink, 16, devicePixelRatioF()));
  if (collapsed_) return;
  painter.setFont(theme_.font(TextSize::kBody, isChecked()));
  painter.setPen(theme_.color(Tone::kText));
  painter.drawText(QRect(36, 0, width() - 40, height()), Qt::AlignLeft | Qt::AlignVCenter, text());
  if (badge_ > 0) {
    const QString text = badge_ > 99 ? QStringLiteral("99+") : QString::number(badge_);
    painter.setFont(theme_.font(TextSize::kAxis, true));
    const int wide = std::max(18, painter.fontMetrics().horizontalAdvance(text) + 10);
    const QRectF pill(width() - wide - 8, (height() - 18) / 2.0, wide, 18);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme_.color(Tone::kWarningSoft));
    painter.drawRoundedRect(pill, 9, 9);
    painter.setPen(theme_.color(Tone::kWarning));
    painter.drawText(pill, Qt::AlignCenter, text);
  }
}

Navigation::Navigation(const Theme& theme, const QVector<PageSpec>& pages, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      column_(new QVBoxLayout(this)),
      logo_(new QLabel),
      name_(new QLabel(QStringLiteral("Larder"))) {
  auto* menu = new QToolButton;
  menu->setAccessibleName(tr("Menu"));
  menu->setObjectName(QStringLiteral("menuButton"));
  menu->setPopupMode(QToolButton::InstantPopup);
  menu->setStyleSheet(QStringLiteral("QToolButton::menu-indicator { image: none; }"));
  menu_ = menu;
  column_->setContentsMargins(8, 8, 8, 12);
  column_->setSpacing(3);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(0, 0, 0, 0);
  head->addWidget(menu_);
  head->addWidget(logo_);
  head->addWidget(name_, 1);
  column_->addLayout(head);
  addGroup(PageSpec::Group::kWatch, tr("Watch"), pages);
  addGroup(PageSpec::Group::kManage, tr("Manage"), pages);
  addGroup(PageSpec::Group::kMachine, tr("Machine"), pages);
  addGroup(PageSpec::Group::kTry, tr("Try"), pages);
  column_->addStretch(1);
  addGroup(PageSpec::Group::kBottom, QString(), pages);
  connect(&theme, &Theme::changed, this, &Navigation::restyle);
  setCollapsed(false);
  restyle();
}

void Navigation::addGroup(PageSpec::Group group, const QString& title, const QVector<PageSpec>& pages) {
  bool any = false;
  for (const PageSpec& page : pages) {
    if (page.group != group) continue;
    if (!any && !title.isEmpty()) {
      auto* label = new QLabel(title);
      label->setContentsMargins(8, 10, 0, 2);
      heads_.push_back(label);
      column_->addWidget(label);
    }
    any = true;
    auto* button = new NavButton(theme_, page.icon, page.title);
    button->setObjectName(QStringLiteral("nav-") + page.id);
    connect(button, &QAbstractButton::clicked, this, [this, id = page.id] { Q_EMIT chosen(id); });
    buttons_.insert(page.id, button);
    order_.push_back(page.id);
    column_->addWidget(button);
  }
}

QAbstractButton* Navigation::menuButton() const { return menu_; }

void Navigation::setCurrent(const QString& id) {
  current_ = id;
  if (NavButton* button = buttons_.value(id)) button->setChecked(true);
}

void Navigation::setBadge(const QString& id, int count) {
  if (NavButton* button = buttons_.value(id)) button->setBadge(count);
}

void Navigation::setCollapsed(bool collapsed) {
  collapsed_ = collapsed;
  setFixedWidth(collapsed ? theme_.metrics().navigation_collapsed : theme_.metrics().navigation);
  for (QLabel* head : std::as_const(heads_)) head->setVisible(!collapsed);
  logo_->setVisible(!collapsed);
  name_->setVisible(!collapsed);
  for (NavButton* button : std::as_const(buttons_)) button->setCollapsed(collapsed);
}

void Navigation::focusCurrent() {
  if (NavButton* button = buttons_.value(current_)) button->setFocus(Qt::TabFocusReason);
}

void Navigation::step(int by) {
  for (int i = 0; i < order_.size(); ++i) {
    if (!buttons_.value(order_[i])->hasFocus()) continue;
    const int next = std::clamp(i + by, 0, static_cast<int>(order_.size()) - 1);
    buttons_.value(order_[next])->setFocus(Qt::TabFocusReason);
    return;
  }
}

void Navigation::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Up || event->key() == Qt::Key_Down) {
    step(event->key() == Qt::Key_Up ? -1 : 1);
    return;
  }
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    if (auto* button = qobject_cast<QAbstractButton*>(focusWidget())) button->click();
    return;
  }
  QWidget::keyPressEvent(event);
}

void Navigation::restyle() {
  qobject_cast<QToolButton*>(menu_)->setIcon(theme_.icon(QStringLiteral("menu")));
  logo_->setPixmap(theme_.pixmap(QStringLiteral("larder-app"), Qt::black, 24, devicePixelRatioF()));
  name_->setFont(theme_.font(TextSize::kEmphasis, true));
  for (QLabel* head : std::as_const(heads_)) {
    head->setFont(theme_.font(TextSize::kAxis));
    QPalette palette = head->palette();
    palette.setColor(QPalette::WindowText, theme_.color(Tone::kTextMuted));
    head->setPalette(palette);
  }
  update();
}

void Navigation::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_.color(Tone::kNavigation));
  painter.setPen(theme_.color(Tone::kBorder));
  painter.drawLine(rect().topRight(), rect().bottomRight());
}

}  // namespace larder::gui
