// SPDX-License-Identifier: GPL-3.0-or-later
// Banner: a strip above the pages that pushes them down: what is wrong, since when, and what can be done. Never modal.
// Threads: GUI thread.
#pragma once

#include <QFrame>
#include <QVector>
#include <functional>

#include "gui/theme/label.h"

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace larder::gui {

struct BannerButton {
  QString text;
  std::function<void()> act;
};

struct BannerContent {
  Mood mood = Mood::kError;
  QString title, text;
  QVector<BannerButton> buttons;  // the last is the primary one
  bool closable = true;
};

class Banner final : public QFrame {
  Q_OBJECT

 public:
  explicit Banner(const Theme& theme, QWidget* parent = nullptr);
  void setContent(BannerContent content);  // and shows
  const BannerContent& content() const { return content_; }

 private:
  void restyle();

  const Theme& theme_;
  BannerContent content_;
  QLabel* glyph_;
  QLabel* title_;
  QLabel* text_;
  QHBoxLayout* row_;
  QVector<QPushButton*> buttons_;
};

}  // namespace larder::gui
