// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/shell/needs_server_page.h"

#include <QVBoxLayout>

#include "gui/widgets/empty_state.h"

namespace larder::gui {

NeedsServerPage::NeedsServerPage(const QString& title, PageContext context) : Page(title, Body::kFixed, context) {
  auto* empty = new EmptyState(context.theme, EmptyState::Outline::kNone);
  empty->setText(
      tr("This page needs the window at the server"),
      tr("This window is attached to %1. Overview, Prefix tree and Requests work from here; for %2 open Larder "
         "on that computer.")
          .arg(context.client.place(), title));
  body()->addWidget(empty, 1);
}

}  // namespace larder::gui
