// SPDX-License-Identifier: Apache-2.0
// The power goes at a random call of a random life: writes that were not synced are dropped, come late or are torn, and
// names too. Whatever is left opens, holds every block that was reported durable, and serves nothing wrong.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/storage/memory_disk.h"
#include "tests/storage/store_story.h"

namespace larder::storage {
namespace {

using test::config_in;
using test::MemoryDisk;
using test::StoreRig;
using test::StoreStory;

constexpr int kStatesPerTrace = 8;

int count_from(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

StoreConfig config(bool capped) {
  StoreConfig made = config_in("/store");
  if (capped) made.limits.cap_bytes = (2u << 20) + (600u << 10);
  made.segment_bytes = 128u << 10;
  return made;
}

struct Trace {
  StoreStory story;
  std::unique_ptr<MemoryDisk> disk = std::make_unique<MemoryDisk>();
  explicit Trace(std::uint64_t seed) : story(seed) {}
};

// Lives until the power goes at `cut`; 0: it never does. Answers the calls made.
std::uint64_t live(Trace& trace, std::uint64_t cut, bool capped, int& wrong) {
  trace.disk->cut_power(cut);
  StoreRig rig(*trace.disk);
  if (rig.open(config(capped), StoreStory::kScopes)) {
    wrong += trace.story.live(rig, 25);
    trace.story.take_evictions(rig);
    rig.close();
  }
  return trace.disk->calls();
}

// Wrong answers, lost blocks, stores that do not open and sums that do not add up, in one state after the cut.
int faults_of(Trace& trace, std::uint64_t seed, bool capped) {
  const std::unique_ptr<MemoryDisk> after = trace.disk->after_power_cut(seed);
  StoreRig rig(*after);
  if (!rig.open(config(capped), StoreStory::kScopes)) {
    std::printf("does not open: %s\n", rig.error().c_str());
    return 1;
  }
  StoreStory story = trace.story;
  rig.flush();
  story.take_evictions(rig);  // the cap holds from the start
  const int wrong = story.check(rig);
  const Refusal refusal = rig.put(test::block_of(99, 0));
  const bool sums_up = rig.store().counters().bytes_on_disk == after->used();
  if (wrong == 0 && refusal == Refusal::kNone && sums_up) return 0;
  std::printf("state %d: %d wrong, %s, sums %d\n", static_cast<int>(seed), wrong, refusal_name(refusal), sums_up);
  return 1;
}

TEST(StorePower, EveryDurableBlockSurvivesEveryCut) {
  const int wanted = count_from("LARDER_CRASH_STATES", 1000);
  int passed = 0;
  int failed = 0;
  int wrong = 0;
  std::size_t stored = 0;
  for (int number = 0; passed + failed < wanted; ++number) {
    const auto seed = static_cast<std::uint64_t>(number);
    const bool capped = number % 3 == 2;
    Trace trace(seed);
    const std::uint64_t cut = 40 + Rng::at(77, seed, 0) % 900;
    live(trace, cut, capped, wrong);
    stored += trace.story.must_have().size();
    for (int state = 0; state < kStatesPerTrace; ++state) {
      faults_of(trace, seed * 100 + static_cast<std::uint64_t>(state), capped) == 0 ? ++passed : ++failed;
    }
  }
  std::printf("crash states: %d passed, %d failed (%zu durable blocks looked for, %d wrong answers)\n", passed, failed,
              stored * kStatesPerTrace, wrong);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(stored, static_cast<std::size_t>(wanted) / 2);  // else nothing was put to the test
}

TEST(StorePower, ControlWithoutACutFindsEverything) {
  int wrong = 0;
  Trace trace(5);
  live(trace, 0, false, wrong);
  EXPECT_GT(trace.story.must_have().size(), 5u);
  EXPECT_EQ(faults_of(trace, 1, false), 0);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace larder::storage
