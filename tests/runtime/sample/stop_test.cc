// SPDX-License-Identifier: Apache-2.0
#include "runtime/sample/stop.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/base/rng.h"

namespace larder::sample {
namespace {

struct Seen {
  std::string text;
  bool stopped = false;
};

Seen feed(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopMatcher matcher(stops);
  Seen seen;
  for (const std::string& piece : pieces) {
    const StopMatcher::Out out = matcher.push(piece);
    seen.text += out.text;
    seen.stopped = out.stopped;
  }
  seen.text += matcher.finish();
  return seen;
}

TEST(StopMatcher, FindsAStringAcrossPieces) {
  const Seen seen = feed({"</end>"}, {"hello <", "/e", "nd", "> after", "more"});
  EXPECT_EQ(seen.text, "hello ");
  EXPECT_TRUE(seen.stopped);
}

TEST(StopMatcher, GivesBackWhatOnlyLookedLikeAStart) {
  StopMatcher matcher({"</end>"});
  EXPECT_EQ(matcher.push("a </en").text, "a ");
  EXPECT_EQ(matcher.held_bytes(), 4u);
  EXPECT_EQ(matcher.push("x").text, "</enx");
  EXPECT_EQ(matcher.push("</e").text, "");
  EXPECT_EQ(matcher.finish(), "</e");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, TheMatchThatIsCompleteFirstWins) {
  StopMatcher matcher({"abcd", "bc"});
  const StopMatcher::Out out = matcher.push("xabcd");
  EXPECT_EQ(out.text, "xa");
  EXPECT_EQ(out.stop_index, 1u);
  EXPECT_EQ(feed({"abcd", "bc"}, {"x", "a", "b", "c", "d"}).text, "xa");
  EXPECT_EQ(feed({"bc", "abc"}, {"xabc"}).text, "x") << "of two that end together, the longer";
}

TEST(StopMatcher, CharactersThatShareBytesAreNotCut) {
  StopMatcher matcher({"é!", "€uro"});
  EXPECT_EQ(matcher.push("caffè").text, "caffè") << "è begins with the byte that é begins with";
  EXPECT_EQ(matcher.push("₨").text, "₨") << "two bytes of €";
  EXPECT_EQ(matcher.push("perché").text, "perch");
  EXPECT_EQ(matcher.push("!").text, "");
  EXPECT_TRUE(matcher.stopped());
}

TEST(StopMatcher, WithoutStopStringsEverythingPasses) {
  EXPECT_EQ(feed({}, {"a", "b"}).text, "ab");
  EXPECT_EQ(feed({""}, {"a", "b"}).text, "ab") << "an empty stop string never matches";
}

TEST(StopMatcher, PiecesNeverChangeTheResult) {
  Rng rng(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> stops(1 + rng.below(3));
    for (std::string& stop : stops) {
      for (std::size_t n = 1 + rng.below(4); n > 0; --n) stop += static_cast<char>('a' + rng.below(2));
    }
    std::string text;
    for (std::size_t n = rng.below(24); n > 0; --n) text += static_cast<char>('a' + rng.below(3));
    std::vector<std::string> bytes;
    std::vector<std::string> pieces(1);
    for (char c : text) {
      bytes.emplace_back(1, c);
      if (rng.below(3) == 0) pieces.emplace_back();
      pieces.back() += c;
    }
    const Seen one = feed(stops, bytes);
    const Seen other = feed(stops, pieces);
    const Seen whole = feed(stops, {text});
    ASSERT_EQ(one.text, other.text) << text;
    ASSERT_EQ(one.text, whole.text) << text;
    ASSERT_EQ(one.stopped, whole.stopped);
    for (const std::string& stop : stops) ASSERT_EQ(one.text.find(stop), std::string::npos);
    if (!one.stopped) {
      ASSERT_EQ(one.text, text);
    }
  }
}

}  // namespace
}  // namespace larder::sample
