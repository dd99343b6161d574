// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/entry/entry_book.h"
#include "runtime/entry/pack.h"

namespace larder::entry {
namespace {

TEST(Pack, FrontMatterAndTextAreRead) {
  const auto pack = parse_pack(
      "---\nid: casa-it\nname: Casa\nlanguage: it\nversion: 3\nlicence: Apache-2.0\n---\n\nSei la casa.\n", "x");
  ASSERT_TRUE(pack.ok()) << to_string(pack.error());
  EXPECT_EQ(pack->id, "casa-it");
  EXPECT_EQ(pack->language, "it");
  EXPECT_EQ(pack->version, 3u);
  EXPECT_EQ(pack->text, "Sei la casa.");
}

TEST(Pack, WhatIsNotAPackIsRefused) {
  EXPECT_FALSE(parse_pack("", "x").ok());
  EXPECT_FALSE(parse_pack("id: a\n", "x").ok());
  EXPECT_FALSE(parse_pack("---\nid: a\nname: b\n", "x").ok());
  EXPECT_FALSE(parse_pack("---\nid: a\nname: b\nversion: two\n---\ntext", "x").ok());
  EXPECT_FALSE(parse_pack("---\nid: a\nname: b\n---\n  \n", "x").ok());
  EXPECT_FALSE(parse_pack("---\nno colon\n---\ntext", "x").ok());
  EXPECT_FALSE(parse_pack(std::string(kMaxPackBytes + 1, 'x'), "x").ok());
}

TEST(Pack, AFolderGivesItsPacksOnceAndNamesTheRest) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "entry_packs";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.md") << "---\nid: a\nname: A\n---\ntext a";
  std::ofstream(folder / "b.md") << "---\nid: a\nname: B\n---\ntext b";
  std::ofstream(folder / "c.md") << "no pack";
  std::ofstream(folder / "d.txt") << "---\nid: d\nname: D\n---\ntext d";
  const PacksRead read = read_packs(folder.string());
  ASSERT_EQ(read.packs.size(), 1u);
  EXPECT_EQ(read.packs[0].name, "A");
  EXPECT_EQ(read.refused.size(), 2u);
  EXPECT_TRUE(read_packs((folder / "missing").string()).packs.empty());
  std::filesystem::remove_all(folder);
}

EntryFacts facts_of(std::uint32_t reused, WallTime now) {
  EntryFacts facts;
  facts.tenant = TenantId{1};
  facts.now = now;
  facts.reused_tokens = reused;
  facts.saved_ms = reused;
  kv::TreeRow system;
  system.id = NodeId{10};
  system.tokens = 64;
  kv::TreeRow rest;
  rest.id = NodeId{11};
  rest.first_position = 64;
  rest.tokens = 40;
  facts.path = {system, rest};
  facts.sections = {{SectionKind::kTemplate, "template", 0, 0, 0, 2},
                    {SectionKind::kSystem, "system", 0, 0, 2, 70},
                    {SectionKind::kMessage, "user message 2", 0, 0, 70, 100}};
  return facts;
}

TEST(EntryBook, SystemPromptAndConversationBecomeEntries) {
  EntryBook book;
  book.note(facts_of(0, 1));
  book.note(facts_of(64, 2));
  const std::vector<Entry> entries = book.list();
  ASSERT_EQ(entries.size(), 2u);
  const Entry& system = entries[0].node == NodeId{10} ? entries[0] : entries[1];
  EXPECT_EQ(system.name, "system");
  EXPECT_EQ(system.tokens, 64u);
  EXPECT_EQ(system.hits, 1u);
  EXPECT_EQ(system.saved_ms, 64);
}

TEST(EntryBook, EntriesGoWithTheirNodeAndTheirTenant) {
  EntryBook book;
  book.note(facts_of(0, 1));
  book.sweep([](NodeId node) { return node == NodeId{10}; });
  ASSERT_EQ(book.list().size(), 1u);
  book.forget_tenant(TenantId{1});
  EXPECT_TRUE(book.list().empty());
}

TEST(EntryBook, StaysBounded) {
  EntryBook book;
  for (std::uint32_t i = 0; i < 2 * kMaxEntries; ++i) {
    EntryFacts facts = facts_of(0, i);
    facts.path[0].id = NodeId{2 * i + 100};
    facts.path[1].id = NodeId{2 * i + 101};
    book.note(facts);
  }
  EXPECT_EQ(book.list().size(), kMaxEntries);
}

}  // namespace
}  // namespace larder::entry
