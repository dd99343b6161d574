// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/copy_buffers.h"

#include <gtest/gtest.h>

#include "runtime/base/rng.h"
#include "tests/support/failing_memory.h"

namespace larder::engine {
namespace {

constexpr std::size_t kSmall = 20'480;
constexpr std::size_t kLarge = 1u << 20;

TEST(CopyBuffers, LendAsMuchAsTheBoundAndOneLargerOne) {
  CopyBuffers buffers;
  std::vector<CopyBuffers::Lent> lent;
  for (CopyBuffers::Lent next = buffers.take(kLarge); next; next = buffers.take(kLarge)) {
    EXPECT_EQ(next->size(), kLarge);
    lent.push_back(std::move(next));
  }
  EXPECT_EQ(lent.size(), CopyBuffers::kBytes / kLarge);
  EXPECT_FALSE(buffers.has(kSmall));
  lent.clear();
  EXPECT_EQ(buffers.bytes_lent(), 0u);
  const CopyBuffers::Lent larger = buffers.take(2 * CopyBuffers::kBytes);
  ASSERT_TRUE(larger);
  EXPECT_EQ(buffers.bytes_kept(), 0u);
  EXPECT_FALSE(buffers.take(1));
}

TEST(CopyBuffers, AreUsedAgainForTheSameSizeAndGiveWayToAnother) {
  CopyBuffers buffers;
  CopyBuffers::Lent first = buffers.take(kSmall);
  const std::byte* const memory = first->data();
  first.reset();
  EXPECT_EQ(buffers.bytes_kept(), kSmall);
  first = buffers.take(kSmall);
  EXPECT_EQ(first->data(), memory);
  Rng rng(5);
  std::vector<CopyBuffers::Lent> lent;
  for (int i = 0; i < 4000; ++i) {
    const std::size_t bytes = rng.below(2) == 0 ? kSmall : kLarge;
    if (CopyBuffers::Lent next = buffers.take(bytes)) {
      EXPECT_EQ(next->size(), bytes);
      EXPECT_EQ(next->capacity(), bytes) << "it holds more than is counted";
      lent.push_back(std::move(next));
    } else {
      lent.erase(lent.begin(), lent.begin() + static_cast<std::ptrdiff_t>(rng.below(lent.size()) + 1));
    }
    EXPECT_LE(buffers.bytes_lent() + buffers.bytes_kept(), CopyBuffers::kBytes);
  }
}

TEST(CopyBuffers, AFailedAllocationChangesNothingAndGivingBackNeedsNone) {
  CopyBuffers buffers;
  std::vector<CopyBuffers::Lent> lent;
  lent.reserve(CopyBuffers::kBytes / kSmall);
  std::uint64_t failures = 0;
  for (int i = 0; i < 40; ++i) {
    const std::size_t before = buffers.bytes_lent();
    failures += test::each_allocation([&] { lent.push_back(buffers.take(kSmall)); },
                                      [&] { EXPECT_EQ(buffers.bytes_lent(), before); });
  }
  EXPECT_GT(failures, 60u);
  test::arm_memory(1, ~std::uint64_t{0});
  lent.clear();
  EXPECT_EQ(test::disarm_memory().allocations, 0u);
  EXPECT_EQ(buffers.bytes_lent(), 0u);
  EXPECT_EQ(buffers.bytes_kept(), 40 * kSmall);
}

}  // namespace
}  // namespace larder::engine
