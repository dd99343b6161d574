// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "runtime/observe/history.h"
#include "runtime/observe/metrics.h"

namespace larder::observe {
namespace {

constexpr WallTime kStart = 1'700'000'000'000;

RequestFacts facts(double first_token_ms, bool warm) {
  RequestFacts f;
  f.warm = warm;
  f.full_prefix = warm;
  f.prompt_tokens = 100;
  f.cached_tokens = warm ? 90 : 0;
  f.completion_tokens = 10;
  f.saved_ms = warm ? 45 : 0;
  f.first_token_ms = first_token_ms;
  return f;
}

TEST(Quantile, IsTheNearestRank) {
  EXPECT_EQ(quantile({}, 0.5), -1);
  EXPECT_EQ(quantile({7}, 0.99), 7);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.99), 4);
}

TEST(History, SumsARequestIntoItsInterval) {
  History history(kStart);
  history.add_request(kStart + 100, facts(20, true));
  history.add_request(kStart + 200, facts(200, false));
  history.set_levels(kStart + 300, 40, 4, 3);
  history.add_request(kStart + kIntervalMs + 1, facts(30, true));
  const auto intervals = history.intervals(kStart + kIntervalMs + 2);
  ASSERT_EQ(intervals.size(), 2u);
  EXPECT_EQ(intervals[0].requests, 2u);
  EXPECT_EQ(intervals[0].full_prefix, 1u);
  EXPECT_EQ(intervals[0].prompt_tokens, 200u);
  EXPECT_EQ(intervals[0].cached_tokens, 90u);
  EXPECT_EQ(intervals[0].evicted_blocks, 3u);
  EXPECT_EQ(intervals[0].warm_p50_ms, 20);
  EXPECT_EQ(intervals[0].cold_p99_ms, 200);
  EXPECT_EQ(intervals[1].requests, 1u);
  EXPECT_EQ(intervals[1].cold_p50_ms, -1);
  EXPECT_EQ(intervals[1].blocks_used, 40u);
}

TEST(History, StaysBoundedAfterAnyTime) {
  History history(kStart);
  for (int i = 0; i < 10000; ++i) history.add_request(kStart, facts(i, i % 2 == 0));
  EXPECT_EQ(history.intervals(kStart)[0].requests, 10000u);
  const auto later = history.intervals(kStart + WallTime{100} * 24 * 3600 * 1000);
  EXPECT_LE(later.size(), kMaxIntervals);
  for (std::size_t i = 1; i < later.size(); ++i) EXPECT_EQ(later[i].begin - later[i - 1].begin, kIntervalMs);
}

TEST(Metrics, CountersGrowAndGoOnWhenASumRestarts) {
  Metrics metrics("0.1");
  Levels levels;
  levels.steps = 10;
  levels.blocks_free = 5;
  metrics.set_levels(levels);
  levels.steps = 4;  // another model
  metrics.set_levels(levels);
  metrics.request_done({3, "full_prefix", "done", 100, 90, 10, 0.5, 0.02, true});
  metrics.request_refused("resource_exhausted");
  const std::string text = metrics.text();
  EXPECT_NE(text.find("larder_steps_total 14"), std::string::npos) << text;
  EXPECT_NE(text.find("larder_blocks{state=\"free\"} 5"), std::string::npos);
  EXPECT_NE(text.find("larder_tokens_total{kind=\"cached\",tenant=\"3\"} 90"), std::string::npos);
  EXPECT_NE(text.find("verdict=\"full_prefix\""), std::string::npos);
}

TEST(Metrics, TenantLabelsAreBounded) {
  Metrics metrics("0.1");
  for (std::uint32_t tenant = 1; tenant <= 1000; ++tenant) metrics.request_done({tenant, "cold", "done"});
  const std::string text = metrics.text();
  EXPECT_NE(text.find("larder_requests_total{outcome=\"done\",tenant=\"other\",verdict=\"cold\"} 936"),
            std::string::npos);
}

}  // namespace
}  // namespace larder::observe
