// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

namespace larder::gui {

Page::Page(const QString& title, Body body, PageContext context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      title_(new QLabel(title)),
      subtitle_(new QLabel),
      title_row_(new QHBoxLayout) {
  const Metrics& metrics = context.theme.metrics();
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  auto* content = new QWidget;
  body_ = new QVBoxLayout(content);
  body_->setContentsMargins(metrics.padding, 8, metrics.padding, metrics.padding);
  body_->setSpacing(metrics.gap);

  auto* titles = new QHBoxLayout;
  titles->setSpacing(metrics.gap);
  titles->addWidget(title_);
  titles->addWidget(subtitle_);
  titles->addStretch(1);
  titles->addLayout(title_row_);
  body_->addLayout(titles);

  if (body == Body::kScrolling) {
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setStyleSheet(
        QStringLiteral("QScrollArea, QScrollArea > QWidget > QWidget#pageContent { background: "
                       "transparent; border: 0; }"));
    content->setObjectName(QStringLiteral("pageContent"));
    scroll->setWidget(content);
    scroll->setFocusPolicy(Qt::NoFocus);
    outer->addWidget(scroll);
  } else {
    outer->addWidget(content);
  }

  due_.setSingleShot(true);
  connect(&due_, &QTimer::timeout, this, &Page::refreshNow);
  connect(&context_.client, &EngineClient::viewChanged, this, &Page::viewArrived);
  connect(&context_.theme, &Theme::changed, this, [this] {
    restyle();
    themeChanged();
    update();
  });
  restyle();
}

QString Page::title() const { return title_->text(); }

void Page::openWith(const QVariant&) {}

void Page::setSubtitle(const QString& text) { subtitle_->setText(text); }

void Page::restyle() {
  title_->setFont(theme().font(TextSize::kTitle, true));
  title_->setMinimumHeight(32);
  QPalette muted = subtitle_->palette();
  muted.setColor(QPalette::WindowText, theme().color(Tone::kTextSecondary));
  subtitle_->setPalette(muted);
}

void Page::refreshNow() {
  due_.stop();
  shown_.start();
  showSnapshot(*client().view());
}

void Page::viewArrived() {
  if (!isVisible() || due_.isActive()) return;
  const qint64 passed = shown_.isValid() ? shown_.elapsed() : refreshMs();
  if (passed >= refreshMs()) {
    refreshNow();
  } else {
    due_.start(static_cast<int>(refreshMs() - passed));
  }
}

void Page::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refreshNow();
}

}  // namespace larder::gui
