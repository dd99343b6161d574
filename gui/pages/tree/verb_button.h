// SPDX-License-Identifier: GPL-3.0-or-later
// VerbButton: a verb with its cost on a second line and its key at the right.
// Threads: GUI thread.
#pragma once

#include <QAbstractButton>

namespace larder::gui {

class Theme;

class VerbButton final : public QAbstractButton {
  Q_OBJECT

 public:
  VerbButton(const Theme& theme, const QString& icon, const QString& verb, const QString& key, bool danger,
             QWidget* parent = nullptr);
  void setCost(const QString& cost);
  QSize sizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QRect textRect(int width) const;

  const Theme& theme_;
  QString icon_name_, key_, cost_;
  bool danger_;
};

}  // namespace larder::gui
