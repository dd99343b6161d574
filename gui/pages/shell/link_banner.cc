// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/shell/link_banner.h"

#include <QCoreApplication>

#include "gui/bridge/engine_client.h"

namespace larder::gui {
namespace {

struct LinkWords {
  Q_DECLARE_TR_FUNCTIONS(LinkBanner)
};

}  // namespace

std::optional<BannerContent> linkBanner(EngineClient& client, const Theme&) {
  BannerContent content;
  content.closable = false;
  switch (client.linkState()) {
    case LinkState::kConnecting:
      return std::nullopt;
    case LinkState::kLost:
      content.title = LinkWords::tr("Lost the connection to %1").arg(client.place());
      content.text = client.linkReason();
      content.buttons = {{LinkWords::tr("Try now"), [&client] { client.retryNow(); }}};
      return content;
    case LinkState::kRefused:
      content.title = LinkWords::tr("This window cannot use %1").arg(client.place());
      content.text = client.linkReason();
      content.buttons = {{LinkWords::tr("Try now"), [&client] { client.retryNow(); }}};
      return content;
    case LinkState::kFailed:
      content.title = client.attached() ? LinkWords::tr("%1 does not answer").arg(client.place())
                                        : LinkWords::tr("The engine did not start");
      content.text = client.linkReason();
      if (client.attached()) content.buttons = {{LinkWords::tr("Try now"), [&client] { client.retryNow(); }}};
      return content;
    case LinkState::kConnected:
      break;
  }
  if (client.apiError().isEmpty()) return std::nullopt;
  content.mood = Mood::kWarning;
  content.closable = true;
  content.title = LinkWords::tr("Other programs cannot reach this engine");
  content.text = client.apiError();
  return content;
}

}  // namespace larder::gui
