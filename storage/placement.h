// SPDX-License-Identifier: Apache-2.0
// EvictionPolicy: which cached block gives way next. Pure: facts in, an order out; it never sees tokens, bytes or
// files. The caller (runtime/kv) offers only leaves that nobody uses or pins, keeps one list per queue(), oldest use
// first, and at each eviction compares the heads of the lists by score(): the lowest goes. So an eviction costs
// O(queues + log leaves), and a policy may age its scores without touching every leaf.
// Ensures:  equal facts give equal answers; a policy keeps no state.
// Threads:  any.    Units: stamps count uses; times in ms.
#pragma once

#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"

namespace larder::storage {

struct LeafFacts {
  std::uint64_t last_use = 0;  // stamp: grows with every use in the cache, so it orders uses within one millisecond
  WallTime last_hit = 0;
  WallTime created = 0;
  TenantId tenant{};
  std::uint32_t first_position = 0;
  std::uint64_t hits = 0;
  bool over_quota = false;  // its tenant holds more than its quota now
};

class EvictionPolicy {
 public:
  virtual ~EvictionPolicy() = default;
  virtual const char* name() const = 0;  // stable API word
  // The list this leaf waits in. May not depend on over_quota.    Bounds: keep the number of queues in the hundreds.
  virtual std::uint64_t queue(const LeafFacts& leaf) const = 0;
  virtual double score(const LeafFacts& head, WallTime now) const = 0;
};

// "lru": the leaf that was used longest ago, whoever owns it.
class LeafLru final : public EvictionPolicy {
 public:
  const char* name() const override { return "lru"; }
  std::uint64_t queue(const LeafFacts& leaf) const override;
  double score(const LeafFacts& head, WallTime now) const override;
};

// "quota_lru": leaves of tenants over their quota first, then as LeafLru. One queue per tenant.
class QuotaLru final : public EvictionPolicy {
 public:
  const char* name() const override { return "quota_lru"; }
  std::uint64_t queue(const LeafFacts& leaf) const override;
  double score(const LeafFacts& head, WallTime now) const override;
};

}  // namespace larder::storage
