// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/pool_size.h"

#include <gtest/gtest.h>

namespace larder::engine {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

MemoryFacts with_available(std::uint64_t available) {
  MemoryFacts facts;
  facts.total = 16 * kGiB;
  facts.available = available;
  return facts;
}

TEST(PoolSize, TheDefaultIsAQuarterOfMemoryOrHalfOfWhatIsLeft) {
  EXPECT_EQ(default_pool_bytes(with_available(15 * kGiB), kGiB), 4 * kGiB);
  EXPECT_EQ(default_pool_bytes(with_available(5 * kGiB), kGiB), 2 * kGiB);
  EXPECT_EQ(default_pool_bytes(with_available(kGiB), 2 * kGiB), 0u);
}

TEST(PoolSize, WeightsArePackedWhereTheirCopyAndThePoolHaveRoom) {
  EXPECT_TRUE(weights_can_be_packed(with_available(13 * kGiB), 8 * kGiB, 4 * kGiB));
  EXPECT_FALSE(weights_can_be_packed(with_available(13 * kGiB - 1), 8 * kGiB, 4 * kGiB));
  EXPECT_FALSE(weights_can_be_packed(with_available(8 * kGiB), 8 * kGiB, 0));
  EXPECT_FALSE(weights_can_be_packed(with_available(0), kGiB, 0));
}

}  // namespace
}  // namespace larder::engine
