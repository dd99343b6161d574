// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/verdict.h"

namespace larder::kv {

const char* verdict_name(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kFullPrefix: return "full_prefix";
    case VerdictKind::kCold: return "cold";
    case VerdictKind::kDiverged: return "diverged";
    case VerdictKind::kEvicted: return "evicted";
    case VerdictKind::kOtherIdentity: return "other_identity";
    case VerdictKind::kTooShort: return "too_short";
    case VerdictKind::kBypassed: return "bypassed";
  }
  return "cold";
}

Verdict redact(const Verdict& verdict, const Viewer& viewer) {
  Verdict seen = verdict;
  if (viewer.admin) return seen;
  if (seen.divergence && seen.divergence->cached >= 0 && seen.divergence->cached_owner != viewer.tenant) {
    seen.divergence.reset();
    seen.kind = VerdictKind::kCold;
  }
  if (seen.eviction && seen.eviction->by_tenant != viewer.tenant) {
    seen.eviction->by_request = RequestId{};
    seen.eviction->by_tenant = TenantId{};
  }
  return seen;
}

}  // namespace larder::kv
