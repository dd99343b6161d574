// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/model_room.h"

#include <gtest/gtest.h>

namespace larder::engine {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

RoomWish wish(std::uint64_t weight_mib, std::uint64_t memory_mib, std::uint32_t max_models) {
  return {weight_mib * kMiB, 100 * kMiB, memory_mib * kMiB, max_models};
}

ResidentFacts resident(std::uint32_t id, std::uint64_t weight_mib, Ticks last_use, bool busy = false) {
  return {ModelId{id}, weight_mib * kMiB, busy, false, last_use};
}

TEST(ModelRoom, AllStayWhereAllFit) {
  const auto going = room_for(wish(300, 1000, 3), {resident(1, 300, 5), resident(2, 300, 4)});
  ASSERT_TRUE(going.ok());
  EXPECT_TRUE(going->empty()) << "300 + 300 + 300 + 100 = 1000";
}

TEST(ModelRoom, TheIdleOneUsedLongestAgoGoesAndNoMoreThanNeeded) {
  const std::vector<ResidentFacts> three = {resident(1, 300, 5), resident(2, 300, 4), resident(3, 300, 9)};
  auto going = room_for(wish(300, 1000, 4), three);
  ASSERT_TRUE(going.ok());
  EXPECT_EQ(*going, (std::vector<ModelId>{ModelId{2}})) << "one MiB too many";
  going = room_for(wish(300, 100'000, 2), three);
  ASSERT_TRUE(going.ok());
  EXPECT_EQ(*going, (std::vector<ModelId>{ModelId{2}, ModelId{1}})) << "engine.max_models";
}

TEST(ModelRoom, WhoAnswersStaysWhateverItsAge) {
  const auto going = room_for(wish(300, 1000, 2), {resident(1, 300, 1, true), resident(2, 300, 9)});
  ASSERT_TRUE(going.ok());
  EXPECT_EQ(*going, (std::vector<ModelId>{ModelId{2}}));
}

TEST(ModelRoom, WhereOnlyBusyOnesAreLeftTheRefusalSaysTheSum) {
  const auto memory = room_for(wish(500, 999, 3), {resident(1, 400, 1, true), resident(2, 300, 2)});
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().code, ErrorCode::kResourceExhausted);
  for (const char* part : {"400 MiB", "500 MiB", "100 MiB", "1000 MiB", "999 MiB", "1 model"}) {
    EXPECT_NE(memory.error().message.find(part), std::string::npos) << part << ": " << memory.error().message;
  }
  const auto count = room_for(wish(1, 9999, 2), {resident(1, 1, 1, true), resident(2, 1, 2, true)});
  ASSERT_FALSE(count.ok());
  EXPECT_NE(count.error().message.find("engine.max_models is 2"), std::string::npos) << count.error().message;
}

TEST(ModelRoom, TheSameFileIsReplacedEvenWhileItAnswers) {
  std::vector<ResidentFacts> two = {resident(1, 300, 1, true), resident(2, 300, 2, true)};
  two[0].replaced = true;
  const auto going = room_for(wish(300, 700, 2), two);
  ASSERT_TRUE(going.ok());
  EXPECT_EQ(*going, (std::vector<ModelId>{ModelId{1}}));
}

TEST(ModelRoom, AloneMemoryIsNotAsked) {
  EXPECT_TRUE(room_for(wish(5000, 100, 1), {}).ok());
  const auto going = room_for(wish(5000, 100, 1), {resident(1, 300, 1)});
  ASSERT_TRUE(going.ok());
  EXPECT_EQ(going->size(), 1u);
}

}  // namespace
}  // namespace larder::engine
