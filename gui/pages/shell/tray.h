// SPDX-License-Identifier: GPL-3.0-or-later
// Tray: the icon in the desktop's tray while the window is out of sight, with a menu that brings the window back or
// ends the program.
// Requires: theme outlives the tray.    Threads: GUI thread.
#pragma once

#include <QMenu>
#include <QObject>
#include <QSystemTrayIcon>

namespace larder::gui {

class Theme;

class Tray : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  virtual bool available() const = 0;  // many desktops have none
  virtual void showIcon(const QString& tip) = 0;
  virtual void hideIcon() = 0;

 Q_SIGNALS:
  void openWanted();
  void stopWanted();
};

class SystemTray final : public Tray {
  Q_OBJECT

 public:
  explicit SystemTray(const Theme& theme);
  bool available() const override { return QSystemTrayIcon::isSystemTrayAvailable(); }
  void showIcon(const QString& tip) override;
  void hideIcon() override { icon_.hide(); }

 private:
  QMenu menu_;
  QSystemTrayIcon icon_;
};

}  // namespace larder::gui
