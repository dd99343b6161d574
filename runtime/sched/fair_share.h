// SPDX-License-Identifier: Apache-2.0
// FairShare: whose turn it is. Every row a tenant is served, prompt or answer, is charged to it; the tenant served
// least comes first. Who was away starts level with the least served of those who are there, so idling saves nothing
// up. Units:    rows.    Bounds: one number per tenant that has requests. Ensures:  over any time in which two tenants
// both wait, their rows differ by at most one step's rows. Threads:  engine thread.    Source: start-time fair
// queueing, Goyal, Vin & Cheng 1996. Errors:   join may throw for want of memory; nothing has changed then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "runtime/base/ids.h"

namespace larder::sched {

class FairShare {
 public:
  // A request of the tenant came in or left.
  void join(TenantId tenant) {
    Account& account = accounts_[tenant];
    if (account.requests++ > 0) return;
    account.served = std::max(account.served, least_served(tenant));
  }
  void leave(TenantId tenant) {
    const auto found = accounts_.find(tenant);
    if (found == accounts_.end()) return;
    if (--found->second.requests > 0) return;
    level_ = std::max(level_, found->second.served);
    accounts_.erase(found);
  }
  void charge(TenantId tenant, std::uint64_t rows) {
    const auto found = accounts_.find(tenant);
    if (found != accounts_.end()) found->second.served += rows;
  }
  std::uint64_t served(TenantId tenant) const {
    const auto found = accounts_.find(tenant);
    return found == accounts_.end() ? 0 : found->second.served;
  }
  std::size_t tenants() const { return accounts_.size(); }

 private:
  struct Account {
    std::uint64_t served = 0;
    std::uint32_t requests = 0;
  };

  std::uint64_t least_served(TenantId but) const {
    bool any = false;
    std::uint64_t least = 0;
    for (const auto& [tenant, account] : accounts_) {
      if (tenant == but) continue;
      least = any ? std::min(least, account.served) : account.served;
      any = true;
    }
    return any ? least : level_;
  }

  std::unordered_map<TenantId, Account> accounts_;
  std::uint64_t level_ = 0;  // where the last tenant to leave stood
};

}  // namespace larder::sched
