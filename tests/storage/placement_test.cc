// SPDX-License-Identifier: Apache-2.0
#include "storage/placement.h"

#include <gtest/gtest.h>

namespace larder::storage {
namespace {

LeafFacts leaf(std::uint64_t last_use, std::uint32_t tenant, bool over_quota) {
  LeafFacts facts;
  facts.last_use = last_use;
  facts.tenant = TenantId{tenant};
  facts.over_quota = over_quota;
  return facts;
}

TEST(LeafLru, OrdersByUseAlone) {
  const LeafLru policy;
  EXPECT_LT(policy.score(leaf(1, 1, false), 0), policy.score(leaf(2, 2, true), 0));
  EXPECT_EQ(policy.queue(leaf(1, 1, false)), policy.queue(leaf(2, 2, true)));
  EXPECT_STREQ(policy.name(), "lru");
}

TEST(QuotaLru, TenantsOverQuotaGiveWayFirstAndThenByUse) {
  const QuotaLru policy;
  EXPECT_LT(policy.score(leaf(1'000'000, 1, true), 0), policy.score(leaf(1, 2, false), 0));
  EXPECT_LT(policy.score(leaf(1, 1, true), 0), policy.score(leaf(2, 2, true), 0));
  EXPECT_LT(policy.score(leaf(1, 1, false), 0), policy.score(leaf(2, 2, false), 0));
  EXPECT_NE(policy.queue(leaf(1, 1, false)), policy.queue(leaf(1, 2, false)));
  EXPECT_STREQ(policy.name(), "quota_lru");
}

}  // namespace
}  // namespace larder::storage
