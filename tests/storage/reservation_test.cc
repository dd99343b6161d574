// SPDX-License-Identifier: Apache-2.0
#include "storage/reservation.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/base/rng.h"

namespace larder::storage {
namespace {

constexpr TenantId kTenant{3};

TEST(Reservation, IsGivenBackWhenItGoes) {
  Ledger ledger(100);
  {
    Result<Reservation> one = ledger.reserve(kTenant, "restore", 60);
    ASSERT_TRUE(one.ok());
    EXPECT_EQ(ledger.used(), 60u);
    Reservation moved = std::move(*one);
    EXPECT_EQ(ledger.used(), 60u);
    moved.shrink(25);
    EXPECT_EQ(ledger.used(), 25u);
  }
  EXPECT_EQ(ledger.used(), 0u);
  EXPECT_TRUE(ledger.rows().empty());
}

TEST(Reservation, RefusesWithTheArithmetic) {
  Ledger ledger(100);
  const Result<Reservation> held = ledger.reserve(kTenant, "restore", 60);
  const Result<Reservation> refused = ledger.reserve(kTenant, "spill", 41);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(refused.error().message, "41 bytes for spill do not fit: 60 of 100 are taken, 40 are left");
  EXPECT_FALSE(ledger.reserve(kTenant, "spill", ~std::uint64_t{0}).ok());
  EXPECT_TRUE(ledger.reserve(kTenant, "spill", 40).ok());
}

TEST(Reservation, AssignmentGivesTheOldBytesBack) {
  Ledger ledger(100);
  Reservation held = ledger.reserve(kTenant, "a", 30).value();
  held = ledger.reserve(kTenant, "b", 20).value();
  EXPECT_EQ(ledger.used(), 20u);
  EXPECT_EQ(held.purpose(), "b");
  EXPECT_EQ(held.tenant(), kTenant);
}

TEST(Reservation, RowsAddUpToWhatIsUsedFromManyThreads) {
  Ledger ledger(1'000'000);
  std::vector<std::thread> threads;
  for (std::uint32_t who = 0; who < 4; ++who) {
    threads.emplace_back([&ledger, who] {
      Rng rng(who);
      std::vector<Reservation> held;
      for (int i = 0; i < 2000; ++i) {
        Result<Reservation> got = ledger.reserve(TenantId{who}, i % 2 == 0 ? "a" : "b", rng.below(200));
        if (got.ok()) held.push_back(std::move(*got));
        if (held.size() > 10) held.erase(held.begin());
        std::uint64_t sum = 0;
        for (const Ledger::Row& row : ledger.rows()) sum += row.bytes;
        ASSERT_LE(sum, ledger.capacity());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger.used(), 0u);
}

}  // namespace
}  // namespace larder::storage
