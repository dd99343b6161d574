// SPDX-License-Identifier: GPL-3.0-or-later
// Navigation: the list of pages at the left, in groups, with badges; collapses to icons. Up and Down move along it.
// Threads: GUI thread.
#pragma once

#include <QAbstractButton>
#include <QHash>
#include <QVector>
#include <QWidget>

#include "gui/pages/page.h"

class QLabel;
class QVBoxLayout;

namespace larder::gui {

class NavButton final : public QAbstractButton {
  Q_OBJECT

 public:
  NavButton(const Theme& theme, const QString& icon, const QString& text, QWidget* parent = nullptr);
  void setCollapsed(bool collapsed);
  void setBadge(int count);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  QString icon_name_;
  int badge_ = 0;
  bool collapsed_ = false;
};

class Navigation final : public QWidget {
  Q_OBJECT

 public:
  Navigation(const Theme& theme, const QVector<PageSpec>& pages, QWidget* parent = nullptr);
  void setCurrent(const QString& id);
  void setBadge(const QString& id, int count);
  void setCollapsed(bool collapsed);
  bool collapsed() const { return collapsed_; }
  QAbstractButton* menuButton() const;
  void focusCurrent();

 Q_SIGNALS:
  void chosen(const QString& id);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void addGroup(PageSpec::Group group, const QString& title, const QVector<PageSpec>& pages);
  void restyle();
  void step(int by);

  const Theme& theme_;
  QVBoxLayout* column_;
  QAbstractButton* menu_;
  QLabel* logo_;
  QLabel* name_;
  QVector<QLabel*> heads_;
  QHash<QString, NavButton*> buttons_;
  QVector<QString> order_;
  QString current_;
  bool collapsed_ = false;
};

}  // namespace larder::gui
