// SPDX-License-Identifier: Apache-2.0
// An engine that serves on while its thread runs out of memory: every allocation of a round of requests, a cancel and
// verbs fails once, alone or with those behind it, in one engine that is never restarted. What needed that memory ends
// with kResourceExhausted; every other answer is the one that an undamaged engine gives, every stream ends, every verb
// is answered, every block comes back, and the next request is answered.
// LARDER_FAILED_ALLOCATIONS: about how many of them are tried, most at the start of the round; 0: all.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <future>

#include "tests/support/engine_rig.h"
#include "tests/support/failing_memory.h"

namespace larder::engine {
namespace {

using test::Collected;
using test::EngineRig;

// As engine/loop.cc calls it.
constexpr const char* kEngineThread = "engine";

class Rounds {
 public:
  Rounds() : rig_(options()), who_(rig_.admin()) {
    for (std::size_t i = 0; i < prompts_.size(); ++i) answers_.push_back(rig_.ask(who_, request(i)));
  }

  // A round with the nth allocation of the engine thread failing; how many there were and how many failed.
  test::MemorySeen play(std::uint64_t nth, std::uint64_t burst) {
    test::arm_memory_of(kEngineThread, nth, burst);
    std::vector<std::shared_ptr<TokenStream>> streams;
    for (std::size_t i = 0; i < prompts_.size(); ++i) streams.push_back(rig_.submit(who_, request(i)));
    streams.push_back(rig_.submit(who_, several()));
    const std::shared_ptr<TokenStream> cancelled = rig_.submit(who_, request(0));
    cancelled->cancel();
    std::uint64_t refused = 0;
    std::vector<Collected> got;
    for (const auto& stream : streams) got.push_back(rig_.collect(*stream));
    const Collected broken_off = rig_.collect(*cancelled);
    EXPECT_TRUE(broken_off.ok() || broken_off.error);
    refused += verbs();
    const test::MemorySeen seen = test::disarm_memory();
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
      if (got[i].ok()) {
        EXPECT_EQ(got[i].tokens, answers_[i].tokens) << "prompt " << i;
        EXPECT_EQ(got[i].texts, answers_[i].texts) << "prompt " << i;
      } else {
        ++refused;
      }
    }
    for (const Collected& each : got) {
      if (!each.ok()) {
        EXPECT_TRUE(each.error && each.error->code == ErrorCode::kResourceExhausted);
      }
    }
    if (seen.failed == 0) {
      EXPECT_EQ(refused, 0u);
    }
    EXPECT_TRUE(rig_.wait_idle());
    const Collected next = rig_.ask(who_, request(nth % prompts_.size()));
    EXPECT_TRUE(next.ok());
    EXPECT_EQ(next.tokens, answers_[nth % prompts_.size()].tokens);
    EXPECT_TRUE(rig_.knobs().violations().empty());
    refused_ += refused;
    return seen;
  }

  std::uint64_t refused() const { return refused_; }

 private:
  static test::EngineRigOptions options() {
    test::EngineRigOptions made;
    made.n_context = 2048;
    made.settings.emplace_back("pool.bytes", "2097152");
    return made;
  }

  Request request(std::size_t index) { return EngineRig::text_request(prompts_[index], 8); }

  Request several() {
    Request request = EngineRig::text_request(prompts_[1], 4);
    request.n = 3;
    return request;
  }

  // Pin and unpin, delete, warm up what was deleted; how many were refused for want of memory.
  std::uint64_t verbs() {
    const auto snapshot = rig_.fresh(who_);
    NodeId node{};
    if (snapshot->tree && !snapshot->tree->empty()) node = snapshot->tree->back().id;
    std::uint64_t refused = 0;
    const auto run = [&](Verb verb) {
      const Result<VerbResult> result = rig_.perform(who_, std::move(verb));
      if (result.ok()) return;
      EXPECT_NE(result.error().code, ErrorCode::kDeadlineExceeded) << "it was not answered";
      refused += result.error().code == ErrorCode::kResourceExhausted ? 1 : 0;
    };
    PinNode pin;
    pin.node = node;
    pin.reason = "a reason that is too long to lie in the string itself";
    run(pin);
    run(Locate{node});
    Unpin unpin;
    unpin.node = node;
    run(unpin);
    DeleteNode remove;
    remove.node = node;
    run(remove);
    return refused;
  }

  EngineRig rig_;
  const Principal who_;
  const std::vector<std::string> prompts_{
      "Once upon a time there was a jar of plums that stood on the third shelf of a larder, and nobody knew of it.",
      "Once upon a time there was a jar of plums that stood on the third shelf of a larder, and a mouse knew of it, "
      "for it lived behind the flour and came out when the house was asleep and the lamp was cold.",
      "A list of what is in the house: flour, sugar, salt, oil, twelve jars of plums, a bag of rice, and a cheese.",
  };
  std::vector<Collected> answers_;
  std::uint64_t refused_ = 0;
};

TEST(EngineMemory, TheEngineServesOnWhateverAllocationOfItsThreadFails) {
  Rounds rounds;
  std::uint64_t all = 0;
  for (int warm = 0; warm < 3; ++warm) all = std::max(all, rounds.play(0, 1).allocations);
  ASSERT_FALSE(::testing::Test::HasFailure());
  ASSERT_GT(all, 500u);
  const char* set = std::getenv("LARDER_FAILED_ALLOCATIONS");
  const std::uint64_t wanted = set == nullptr ? 80 : std::strtoull(set, nullptr, 10);
  std::uint64_t runs = 0;
  std::uint64_t failed = 0;
  // Closer together at the start, where the requests come in; turns without work follow.
  for (std::uint64_t nth = 1; nth <= all; nth += 1 + (wanted == 0 ? 0 : nth * 10 / wanted), ++runs) {
    SCOPED_TRACE(nth);
    failed += rounds.play(nth, runs % 4 == 3 ? 6 : 1).failed;
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(failed, runs / 2);
  EXPECT_GT(rounds.refused(), 0u);
  std::printf("%llu of about %llu allocations failed, %llu requests and verbs were refused, 0 were wrong or lost\n",
              static_cast<unsigned long long>(failed), static_cast<unsigned long long>(all),
              static_cast<unsigned long long>(rounds.refused()));
}

// Nobody else would wake the engine: it would sleep for half a second after each.
TEST(EngineMemory, AStepThatCouldNotBeHandedOverIsTriedAgainSoon) {
  EngineRig rig;
  const Request asked = EngineRig::text_request("Once upon a time there was a jar of plums", 60);
  const Collected right = rig.ask(rig.admin(), asked);
  ASSERT_TRUE(right.ok());
  rig.knobs().lose_hand_overs(2);
  const auto begin = std::chrono::steady_clock::now();
  const Collected again = rig.ask(rig.admin(), asked);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.tokens, right.tokens);
  const std::uint64_t lost = rig.knobs().lost_hand_overs();
  EXPECT_GE(lost, 50u);
  EXPECT_LT(took.count(), 0.25 * static_cast<double>(lost));
}

}  // namespace
}  // namespace larder::engine
