// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/ticket_table.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/failing_memory.h"

namespace larder::engine {
namespace {

using Table = TicketTable<std::unique_ptr<int>>;

TEST(TicketTable, AnEntryIsThereWhileTheStoreIsAskedAndGoesWhereItWasNotTaken) {
  Table table;
  EXPECT_TRUE(table.ask(7, std::make_unique<int>(1), [&] { return table.find(7) != nullptr; }));
  EXPECT_EQ(**table.find(7), 1);
  EXPECT_FALSE(table.ask(8, std::make_unique<int>(2), [] { return false; }));
  EXPECT_EQ(table.find(8), nullptr);
  EXPECT_EQ(table.size(), 1u);
  table.erase(7);
  EXPECT_TRUE(table.empty());
}

TEST(TicketTable, WhereMemoryRunsOutNothingWasAskedOrNothingIsLeft) {
  Table table;
  int asked = 0;
  std::uint64_t ticket = 0;
  const std::uint64_t failures = test::each_allocation(
      [&] {
        ++ticket;
        const auto ask = [&] {
          const std::string answer(100, 'x');
          ++asked;
          return answer.size() == 100;
        };
        table.ask(ticket, std::make_unique<int>(1), ask);
      },
      [&] {
        EXPECT_EQ(asked, 0);
        EXPECT_TRUE(table.empty());
      });
  EXPECT_GE(failures, 3u);  // the value, its place, and what the store needs
  EXPECT_EQ(asked, 1);
  EXPECT_NE(table.find(ticket), nullptr);
}

}  // namespace
}  // namespace larder::engine
