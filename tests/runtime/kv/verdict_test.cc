// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/verdict.h"

#include <gtest/gtest.h>

namespace larder::kv {
namespace {

constexpr TenantId kMe{1};
constexpr TenantId kOther{2};

Verdict diverged(TenantId owner) {
  Verdict verdict;
  verdict.kind = VerdictKind::kDiverged;
  verdict.divergence = Divergence{};
  verdict.divergence->cached = 5;
  verdict.divergence->cached_owner = owner;
  return verdict;
}

Verdict evicted(TenantId by) {
  Verdict verdict;
  verdict.kind = VerdictKind::kEvicted;
  verdict.eviction = Eviction{123, RequestId{9}, by, "lru", 64, 100};
  return verdict;
}

TEST(Verdict, OwnCausesAreSeenWhole) {
  EXPECT_EQ(redact(diverged(kMe), {kMe, false}).divergence->cached, 5);
  EXPECT_EQ(redact(evicted(kMe), {kMe, false}).eviction->by_request, RequestId{9});
}

TEST(Verdict, AnotherTenantsDivergenceReadsCold) {
  const Verdict seen = redact(diverged(kOther), {kMe, false});
  EXPECT_EQ(seen.kind, VerdictKind::kCold);
  EXPECT_FALSE(seen.divergence.has_value());
}

TEST(Verdict, AnotherTenantsEvictionReadsEvictedWithoutNames) {
  const Verdict seen = redact(evicted(kOther), {kMe, false});
  EXPECT_EQ(seen.kind, VerdictKind::kEvicted);
  EXPECT_EQ(seen.eviction->by_request, RequestId{});
  EXPECT_EQ(seen.eviction->by_tenant, TenantId{});
  EXPECT_EQ(seen.eviction->lost_tokens, 64u);
}

TEST(Verdict, EndOfWhatWasCachedIsNobodysSecret) {
  Verdict verdict = diverged(TenantId{});
  verdict.divergence->cached = -1;
  EXPECT_EQ(redact(verdict, {kMe, false}).kind, VerdictKind::kDiverged);
}

TEST(Verdict, AdminSeesEverything) {
  EXPECT_EQ(redact(diverged(kOther), {kMe, true}).kind, VerdictKind::kDiverged);
  EXPECT_EQ(redact(evicted(kOther), {kMe, true}).eviction->by_tenant, kOther);
}

TEST(Verdict, NamesAreStableWords) {
  EXPECT_STREQ(verdict_name(VerdictKind::kFullPrefix), "full_prefix");
  EXPECT_STREQ(verdict_name(VerdictKind::kCold), "cold");
  EXPECT_STREQ(verdict_name(VerdictKind::kDiverged), "diverged");
  EXPECT_STREQ(verdict_name(VerdictKind::kEvicted), "evicted");
  EXPECT_STREQ(verdict_name(VerdictKind::kOtherIdentity), "other_identity");
  EXPECT_STREQ(verdict_name(VerdictKind::kTooShort), "too_short");
  EXPECT_STREQ(verdict_name(VerdictKind::kBypassed), "bypassed");
}

}  // namespace
}  // namespace larder::kv
