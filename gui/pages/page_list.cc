// SPDX-License-Identifier: GPL-3.0-or-later
// The list of pages: one line each, in the order of the navigation and of Ctrl+1..9.
#include <QCoreApplication>

#include "gui/pages/chat/chat_page.h"
#include "gui/pages/models/models_page.h"
#include "gui/pages/overview/overview_page.h"
#include "gui/pages/packs/packs_page.h"
#include "gui/pages/page.h"
#include "gui/pages/requests/requests_page.h"
#include "gui/pages/settings/settings_page.h"
#include "gui/pages/tenants/tenants_page.h"
#include "gui/pages/tiers/tiers_page.h"
#include "gui/pages/tree/tree_page.h"

namespace larder::gui {
namespace {

struct PageWords {
  Q_DECLARE_TR_FUNCTIONS(PageList)
};

template <typename Made>
PageSpec spec(const char* id, const char* icon, PageSpec::Group group, bool works_attached, const QString& title) {
  return {QString::fromLatin1(id),
          QString::fromLatin1(icon),
          group,
          works_attached,
          title,
          [title](PageContext context) -> Page* { return new Made(title, context); }};
}

}  // namespace

QVector<PageSpec> pageList() {
  using Group = PageSpec::Group;
  return {
      spec<OverviewPage>("overview", "overview", Group::kWatch, true, PageWords::tr("Overview")),
      spec<TreePage>("tree", "tree", Group::kWatch, true, PageWords::tr("Prefix tree")),
      spec<RequestsPage>("requests", "requests", Group::kWatch, true, PageWords::tr("Requests")),
      spec<PacksPage>("packs", "packs", Group::kManage, false, PageWords::tr("Packs")),
      spec<TenantsPage>("tenants", "tenants", Group::kManage, false, PageWords::tr("Tenants & keys")),
      spec<ModelsPage>("models", "models", Group::kMachine, false, PageWords::tr("Models")),
      spec<TiersPage>("tiers", "tiers", Group::kMachine, true, PageWords::tr("Tiers")),
      spec<ChatPage>("chat", "chat", Group::kTry, false, PageWords::tr("Chat")),
      spec<SettingsPage>("settings", "settings", Group::kBottom, false, PageWords::tr("Settings")),
  };
}

}  // namespace larder::gui
