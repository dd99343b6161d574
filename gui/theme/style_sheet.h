// SPDX-License-Identifier: GPL-3.0-or-later
// The application's style sheet: edges and paddings of controls that Fusion draws otherwise. Colours come from the
// theme; nothing here knows a page.
// Words:   buttons take the dynamic property "role": "primary", "danger", "quiet", "link"; frames take "role": "card".
// Threads: GUI thread.
#pragma once

#include <QString>

namespace larder::gui {

class Theme;

QString styleSheet(const Theme& theme);

}  // namespace larder::gui
