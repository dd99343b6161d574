// SPDX-License-Identifier: Apache-2.0
#include "storage/ram_tier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "runtime/base/rng.h"
#include "tests/storage/block_maker.h"

namespace larder::storage {
namespace {

using test::key_of;
using Because = RamTier::Because;

constexpr std::size_t kPage = 4096;

std::shared_ptr<const RamCopy> copy(std::size_t pages = 1) { return RamCopy::make(pages * kPage); }

std::vector<std::uint64_t> here(const RamTier& ram, std::uint64_t most) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t n = 0; n < most; ++n) {
    if (ram.find(key_of(1, n)) != nullptr) found.push_back(n);
  }
  return found;
}

using Found = std::vector<std::uint64_t>;

TEST(RamTier, TakesNothingWithoutACap) {
  RamTier ram;
  EXPECT_FALSE(ram.takes(kPage, Because::kLeftPool));
  ram.keep(key_of(1, 0), copy(), Because::kLeftPool);
  EXPECT_EQ(ram.blocks(), 0u);
  EXPECT_EQ(ram.bytes(), 0u);
}

TEST(RamTier, WhatIsWrittenTakesFreeRoomOnlyAndGoesFirst) {
  RamTier ram;
  ram.set_cap(3 * kPage);
  for (std::uint64_t n = 0; n < 5; ++n) ram.keep(key_of(1, n), copy(), Because::kWritten);
  EXPECT_EQ(here(ram, 5), (Found{0, 1, 2}));
  ram.keep(key_of(1, 5), copy(), Because::kLeftPool);
  EXPECT_EQ(here(ram, 6), (Found{0, 1, 5})) << "the newest of those that are in the pool as well";
}

TEST(RamTier, ItsVersionChangesWithItsKeysAndWithNothingElse) {
  RamTier ram;
  ram.set_cap(2 * kPage);
  EXPECT_TRUE(ram.keys().empty());
  std::uint64_t before = ram.version();
  const auto changed = [&] { return std::exchange(before, ram.version()) != before; };
  ram.keep(key_of(1, 0), copy(), Because::kLeftPool);
  EXPECT_TRUE(changed());
  ram.keep(key_of(1, 1), copy(), Because::kWritten);
  EXPECT_TRUE(changed());
  ram.keep(key_of(1, 2), copy(3), Because::kWritten);  // no room
  ram.left_pool(key_of(1, 0));
  ram.read(key_of(1, 0));
  ram.erase(key_of(1, 9));
  EXPECT_FALSE(changed());
  std::vector<BlockKey> keys = ram.keys();
  std::sort(keys.begin(), keys.end());
  std::vector<BlockKey> wanted{key_of(1, 0), key_of(1, 1)};
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(keys, wanted);
  ram.set_cap(kPage);
  EXPECT_TRUE(changed());
  EXPECT_EQ(ram.keys().size(), 1u);
}

TEST(RamTier, WhatLeftThePoolPushesOutWhatLeftItBefore) {
  RamTier ram;
  ram.set_cap(3 * kPage);
  for (std::uint64_t n = 0; n < 5; ++n) ram.keep(key_of(1, n), copy(), Because::kLeftPool);
  EXPECT_EQ(here(ram, 5), (Found{2, 3, 4}));
  EXPECT_TRUE(ram.left_pool(key_of(1, 2)));
  EXPECT_FALSE(ram.left_pool(key_of(1, 0)));
  ram.keep(key_of(1, 5), copy(2), Because::kLeftPool);
  EXPECT_EQ(here(ram, 6), (Found{2, 5}));
}

TEST(RamTier, WhatWasReadIsInThePoolAgainAndGoesFirst) {
  RamTier ram;
  ram.set_cap(3 * kPage);
  for (std::uint64_t n = 0; n < 3; ++n) ram.keep(key_of(1, n), copy(), Because::kLeftPool);
  ram.read(key_of(1, 2));
  ram.keep(key_of(1, 3), copy(), Because::kLeftPool);
  EXPECT_EQ(here(ram, 4), (Found{0, 1, 3}));
}

TEST(RamTier, NothingLargerThanTheCapAndNothingForIt) {
  RamTier ram;
  ram.set_cap(2 * kPage);
  ram.keep(key_of(1, 0), copy(), Because::kLeftPool);
  ram.keep(key_of(1, 1), copy(3), Because::kLeftPool);
  EXPECT_EQ(here(ram, 2), (Found{0}));
}

TEST(RamTier, WhatIsDroppedIsHandedOutOnceAndACopyThatIsReadStaysWhole) {
  RamTier ram;
  ram.set_cap(4 * kPage);
  for (std::uint64_t n = 0; n < 4; ++n) ram.keep(key_of(1, n), copy(), Because::kLeftPool);
  const RamTier::Copy held = ram.find(key_of(1, 0));
  ram.erase(key_of(1, 3));
  ram.erase(key_of(1, 3));
  ram.set_cap(kPage);
  EXPECT_EQ(ram.bytes(), kPage);
  EXPECT_EQ(ram.take_dropped().size(), 3u);
  EXPECT_TRUE(ram.take_dropped().empty());
  EXPECT_EQ(held->bytes().size(), kPage);
  EXPECT_EQ(held->bytes()[kPage - 1], std::byte{0});
}

// Against the plainest list that keeps the rules.
TEST(RamTier, EveryRandomStepIsAsTheRulesSay) {
  struct Plain {
    std::uint64_t n;
    std::size_t bytes;
  };
  std::vector<Plain> plain;  // the one that goes first in front
  std::size_t cap = 0;
  const auto bytes = [&plain] {
    std::size_t sum = 0;
    for (const Plain& one : plain) sum += one.bytes;
    return sum;
  };
  const auto find = [&plain](std::uint64_t n) {
    return std::find_if(plain.begin(), plain.end(), [n](const Plain& one) { return one.n == n; });
  };
  RamTier ram;
  Rng rng(5);
  std::size_t most = 0;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t n = rng.below(24);
    const auto at = find(n);
    switch (rng.below(6)) {
      case 0:
        cap = rng.below(12) * kPage;
        ram.set_cap(cap);
        while (bytes() > cap) plain.erase(plain.begin());
        break;
      case 1:
        ram.erase(key_of(1, n));
        if (at != plain.end()) plain.erase(at);
        break;
      case 2:
        ram.read(key_of(1, n));
        if (at != plain.end()) std::rotate(plain.begin(), at, at + 1);
        break;
      default: {
        const Because why = rng.below(2) == 0 ? Because::kWritten : Because::kLeftPool;
        if (at != plain.end()) {
          if (why == Because::kWritten) break;
          ASSERT_TRUE(ram.left_pool(key_of(1, n)));
          std::rotate(at, at + 1, plain.end());
          break;
        }
        const std::size_t size = (1 + rng.below(3)) * kPage;
        ram.keep(key_of(1, n), copy(size / kPage), why);
        if (size > cap || (why == Because::kWritten && bytes() + size > cap)) break;
        while (bytes() + size > cap) plain.erase(plain.begin());
        plain.insert(why == Because::kWritten ? plain.begin() : plain.end(), {n, size});
      }
    }
    if (step % 7 == 0) static_cast<void>(ram.take_dropped());
    ASSERT_EQ(ram.bytes(), bytes());
    ASSERT_LE(ram.bytes(), cap);
    ASSERT_EQ(ram.blocks(), plain.size());
    for (const Plain& one : plain) ASSERT_NE(ram.find(key_of(1, one.n)), nullptr);
    most = std::max(most, plain.size());
  }
  EXPECT_GT(most, 7u);
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages >> pages;
  return pages * kPage;
}

TEST(RamTier, TheSystemHasTheMemoryBackAtOnce) {
  constexpr std::size_t kCopies = 96;
  constexpr std::size_t kBytes = 1u << 20;
  RamTier ram;
  ram.set_cap(kCopies * kBytes);
  const std::uint64_t before = resident_bytes();
  for (std::uint64_t n = 0; n < kCopies; ++n) {
    const std::shared_ptr<RamCopy> made = RamCopy::make(kBytes);
    std::fill(made->bytes().begin(), made->bytes().end(), std::byte{7});
    ram.keep(key_of(1, n), made, Because::kLeftPool);
  }
  const std::uint64_t full = resident_bytes();
  EXPECT_GT(full - before, kCopies * kBytes * 9 / 10);  // control
  ram.set_cap(kBytes);
  static_cast<void>(ram.take_dropped());
  EXPECT_LT(resident_bytes(), before + (16u << 20));
}

}  // namespace
}  // namespace larder::storage
