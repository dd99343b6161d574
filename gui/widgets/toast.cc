// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/toast.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <utility>

#include "gui/theme/theme.h"

namespace larder::gui {

Toast::Toast(const Theme& theme, QWidget* over)
    : QFrame(over), theme_(theme), text_(new QLabel), action_(new QPushButton), timer_(this) {
  setObjectName(QStringLiteral("toast"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 8, 8, 8);
  row->setSpacing(16);
  row->addWidget(text_);
  row->addWidget(action_);
  action_->setObjectName(QStringLiteral("toastAction"));
  timer_.setSingleShot(true);
  timer_.setInterval(kShownMs);
  connect(&timer_, &QTimer::timeout, this, &QWidget::hide);
  connect(action_, &QPushButton::clicked, this, &Toast::act);
  connect(&theme, &Theme::changed, this, &Toast::restyle);
  over->installEventFilter(this);
  restyle();
  hide();
}

QString Toast::text() const { return text_->text(); }

void Toast::say(const QString& text, const QString& action, std::function<void()> act) {
  text_->setText(text);
  action_->setText(action);
  action_->setVisible(!action.isEmpty());
  act_ = std::move(act);
  setAccessibleName(text);
  place();
  show();
  raise();
  timer_.start();
}

bool Toast::act() {
  if (!isVisible() || !act_) return false;
  hide();
  timer_.stop();
  std::exchange(act_, {})();
  return true;
}

void Toast::place() {
  adjustSize();
  const QWidget* over = parentWidget();
  move((over->width() - width()) / 2, over->height() - height() - 16 - theme_.metrics().status_bar);
}

bool Toast::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible()) place();
  return QFrame::eventFilter(watched, event);
}

void Toast::restyle() {
  setStyleSheet(
      QStringLiteral("QFrame#toast { background: %1; border-radius: 6px; } QFrame#toast QLabel { color: %2; } "
                     "QFrame#toast QPushButton { background: transparent; color: %2; border: 1px solid %2; }")
          .arg(theme_.color(Tone::kText).name(), theme_.color(Tone::kSurface).name()));
}

}  // namespace larder::gui
