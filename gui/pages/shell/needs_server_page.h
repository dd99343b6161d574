// SPDX-License-Identifier: GPL-3.0-or-later
// NeedsServerPage: stands for a page that works only in the window at the server itself, and says so.
// Threads: GUI thread.
#pragma once

#include "gui/pages/page.h"

namespace larder::gui {

class NeedsServerPage final : public Page {
  Q_OBJECT

 public:
  NeedsServerPage(const QString& title, PageContext context);

 protected:
  void showSnapshot(const SnapshotView&) override {}
};

}  // namespace larder::gui
