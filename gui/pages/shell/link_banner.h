// SPDX-License-Identifier: GPL-3.0-or-later
// linkBanner: what to say above the pages when the engine cannot be reached, did not start, or has no API.
// Threads: GUI thread.
#pragma once

#include <optional>

#include "gui/widgets/banner.h"

namespace larder::gui {

class EngineClient;

// Nothing when all is well.
std::optional<BannerContent> linkBanner(EngineClient& client, const Theme& theme);

}  // namespace larder::gui
