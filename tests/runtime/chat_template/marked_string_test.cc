// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/marked_string.h"

#include <gtest/gtest.h>

#include "runtime/base/rng.h"

namespace larder::chat_template {
namespace {

// One digit per byte: the source.
std::string marks(const MarkedString& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) out += static_cast<char>('0' + text.source_at(i));
  return out;
}

MarkedString mixed() {
  MarkedString text("ab");
  text.append("CD", 1);
  text.append("ef", 0);
  text.append("GH", 2);
  return text;
}

TEST(MarkedString, AppendingMergesNeighboursOfOneSource) {
  MarkedString text = mixed();
  EXPECT_EQ(marks(text), "00110022");
  text.append("I", 2);
  EXPECT_EQ(text.runs().size(), 4u);
  text.append(mixed(), 2, 4);
  EXPECT_EQ(marks(text), "00110022211");
  EXPECT_EQ(text.first_untrusted(), 1u);
  EXPECT_EQ(MarkedString("x").first_untrusted(), kTrusted);
}

TEST(MarkedString, SlicesKeepTheirMarks) {
  EXPECT_EQ(marks(mixed().slice(1, 7)), "011002");
  EXPECT_EQ(mixed().slice(3, 3).size(), 0u);
  EXPECT_EQ(mixed().slice(7, 99).bytes(), "H");
}

TEST(MarkedString, StripReplaceSplitAndCaseKeepMarks) {
  MarkedString text("  ", 0);
  text.append(" x ", 1);
  text.append(" ", 0);
  EXPECT_EQ(marks(strip(text, nullptr, true, true)), "1");
  const MarkedString replaced = replace(mixed(), "De", MarkedString("--", 3), -1);
  EXPECT_EQ(replaced.bytes(), "abC--fGH");
  EXPECT_EQ(marks(replaced), "00133022");
  const std::vector<MarkedString> parts = split(mixed(), "D", -1);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(marks(parts[0]), "001");
  EXPECT_EQ(marks(parts[1]), "0022");
  EXPECT_EQ(marks(change_case(mixed(), Case::kLower)), "00110022");
  EXPECT_EQ(change_case(MarkedString("ß", 4), Case::kUpper).bytes(), "SS");
  EXPECT_EQ(marks(change_case(MarkedString("ß", 4), Case::kUpper)), "44");
}

// Source of the pairs: Python's str.upper and str.lower of every letter of the blocks that the header names.
TEST(MarkedString, CaseIsPythonsInTheNamedBlocksAndNothingElseChanges) {
  const std::string large =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮ"
      "ĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБ"
      "ВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ";
  const std::string small =
      "abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąćĉċčďđēĕėęěĝğġģĥħĩīĭį"
      "ĳĵķĺļľŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷÿźżžαβγδεζηθικλμνξοπρστυφχψωѐёђѓєѕіїјљњћќѝўџаб"
      "вгдежзийклмнопрстуфхцчшщъыьэюя";
  EXPECT_EQ(change_case(MarkedString(large), Case::kLower).bytes(), small);
  EXPECT_EQ(change_case(MarkedString(small), Case::kUpper).bytes(), large);
  EXPECT_EQ(change_case(MarkedString("ıς"), Case::kUpper).bytes(), "IΣ");
  EXPECT_EQ(change_case(MarkedString("éLAN è"), Case::kCapitalised).bytes(), "Élan è");
  EXPECT_EQ(change_case(MarkedString("ßA"), Case::kCapitalised).bytes(), "Ssa");
  for (const char* stays : {"×÷ĸµŉſ", "İΆΐ", "ѠѡԱա", "ẀẁⅣⅳ", "日本", "👍𐐀𐐨", "\xc3", "\xff\x80"}) {
    EXPECT_EQ(change_case(MarkedString(stays), Case::kUpper).bytes(), stays);
    EXPECT_EQ(change_case(MarkedString(stays), Case::kLower).bytes(), stays);
  }
}

TEST(MarkedString, BrokenUtf8IsCountedByteByByte) {
  const std::string broken = "a\xc3 \xe2\x82z\xff";
  EXPECT_EQ(count_characters(broken), 7u);
  EXPECT_EQ(character_offset(broken, 3), 3u);
  EXPECT_EQ(change_case(MarkedString(broken), Case::kUpper).bytes(), "A\xc3 \xe2\x82Z\xff");
  EXPECT_EQ(strip(MarkedString("\x80\x80 "), nullptr, true, true).bytes(), "\x80\x80");
}

TEST(MarkedString, RunsAlwaysCoverTheBytes) {
  Rng rng(11);
  for (int round = 0; round < 500; ++round) {
    MarkedString text;
    for (std::uint64_t i = rng.below(12); i > 0; --i) {
      if (rng.below(3) == 0 && !text.empty()) {
        const std::size_t begin = rng.below(text.size() + 1);
        text.append(MarkedString(text), begin, begin + rng.below(6));
      } else {
        text.append(std::string(rng.below(4), 'x'), static_cast<Source>(rng.below(3)));
      }
    }
    std::size_t end = 0;
    for (std::size_t i = 0; i < text.runs().size(); ++i) {
      ASSERT_GT(text.runs()[i].end, end);
      if (i > 0) {
        ASSERT_NE(text.runs()[i].source, text.runs()[i - 1].source);
      }
      end = text.runs()[i].end;
    }
    ASSERT_EQ(end, text.size());
  }
}

}  // namespace
}  // namespace larder::chat_template
