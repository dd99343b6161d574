// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/view.h"

#include <algorithm>

namespace larder::gui {

const TenantInfo* findTenant(const SnapshotView& view, TenantId id) {
  const auto at = std::find_if(view.tenants.begin(), view.tenants.end(), [&](const auto& one) { return one.id == id; });
  return at == view.tenants.end() ? nullptr : &*at;
}

int tenantMark(const SnapshotView& view, TenantId id) {
  if (findTenant(view, id) == nullptr) return 0;
  return static_cast<int>(
      std::count_if(view.tenants.begin(), view.tenants.end(), [&](const auto& one) { return one.id < id; }));
}

const ModelInfo* findModel(const SnapshotView& view, ModelId id) {
  const auto at = std::find_if(view.models.begin(), view.models.end(), [&](const auto& one) { return one.id == id; });
  return at == view.models.end() ? nullptr : &*at;
}

RequestPtr findRequest(const SnapshotView& view, RequestId id) {
  const auto at = std::lower_bound(view.requests.begin(), view.requests.end(), id,
                                   [](const RequestPtr& one, RequestId wanted) { return one->id < wanted; });
  return at == view.requests.end() || (*at)->id != id ? nullptr : *at;
}

const ModelInfo* readyModel(const SnapshotView& view) {
  const auto at = std::find_if(view.models.begin(), view.models.end(),
                               [](const auto& one) { return one.state == ModelInfo::State::kReady; });
  return at == view.models.end() ? nullptr : &*at;
}

QString verdictWord(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kFullPrefix:
      return QStringLiteral("full_prefix");
    case VerdictKind::kCold:
      return QStringLiteral("cold");
    case VerdictKind::kDiverged:
      return QStringLiteral("diverged");
    case VerdictKind::kEvicted:
      return QStringLiteral("evicted");
    case VerdictKind::kOtherIdentity:
      return QStringLiteral("other_identity");
    case VerdictKind::kTooShort:
      return QStringLiteral("too_short");
    case VerdictKind::kBypassed:
      return QStringLiteral("bypassed");
  }
  return QString();
}

}  // namespace larder::gui
