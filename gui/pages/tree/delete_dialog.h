// SPDX-License-Identifier: GPL-3.0-or-later
// DeleteDialog: lists what a delete takes, from the engine's own dry run. Focus is on Cancel; the button carries the
// verb and the bytes. Not modal to the engine: figures are those of the moment it was asked.
// Threads: GUI thread.
#pragma once

#include <QDialog>

#include "gui/bridge/command.h"

namespace larder::gui {

class Theme;

class DeleteDialog final : public QDialog {
  Q_OBJECT

 public:
  DeleteDialog(const Theme& theme, const QString& label, const CommandOutcome& dry_run, double compute_ms,
               QWidget* parent);
};

}  // namespace larder::gui
