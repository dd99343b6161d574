// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/shell/tray.h"

#include "gui/theme/theme.h"

namespace larder::gui {

SystemTray::SystemTray(const Theme& theme) : icon_(theme.appIcon()) {
  menu_.addAction(tr("Open Larder"), this, &Tray::openWanted);
  menu_.addAction(tr("Stop serving and quit"), this, &Tray::stopWanted);
  icon_.setContextMenu(&menu_);
  connect(&icon_, &QSystemTrayIcon::activated, this, [this](QSystemTrayIcon::ActivationReason reason) {
    if (reason == QSystemTrayIcon::Trigger || reason == QSystemTrayIcon::DoubleClick) Q_EMIT openWanted();
  });
}

void SystemTray::showIcon(const QString& tip) {
  icon_.setToolTip(tip);
  icon_.show();
}

}  // namespace larder::gui
