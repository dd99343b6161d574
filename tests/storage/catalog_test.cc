// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog.h"

#include <gtest/gtest.h>

#include "storage/catalog_rows.h"
#include "tests/storage/block_maker.h"
#include "tests/storage/temp_folder.h"

namespace larder::storage {
namespace {

class Catalogs : public ::testing::Test {
 protected:
  Catalogs() : disk_(open_disk(IoPath::kThreads).value()), keys_(scope().id, scope().secret, Bytes<32>{9}) {}
  static StoreScope scope() { return test::scope_of(1); }
  std::unique_ptr<Catalog> open() {
    auto catalog = Catalog::open(*disk_, folder_.file("catalog.db"));
    EXPECT_TRUE(catalog.ok()) << (catalog.ok() ? "" : to_string(catalog.error()));
    return catalog.ok() ? std::move(*catalog) : nullptr;
  }
  std::size_t count(Catalog& catalog) {
    std::size_t rows = 0;
    EXPECT_TRUE(catalog.each_block([&](const BlockRow&) { ++rows; }).ok());
    return rows;
  }

  const test::TempFolder folder_;
  const std::unique_ptr<Disk> disk_;
  const ScopeKeys keys_;
};

TEST_F(Catalogs, WhatWasCommittedComesBackAndWhatWasNotDoesNot) {
  const StoredBlock block = test::block_of(1, 0);
  {
    const auto catalog = open();
    ASSERT_TRUE(catalog->begin().ok());
    ASSERT_TRUE(catalog->put_scope({keys_.tag(), keys_.salt()}).ok());
    ASSERT_TRUE(catalog->put_segment({7, keys_.tag(), 8192, 12}).ok());
    ASSERT_TRUE(catalog->put_block(seal_block_row(keys_, {7, 3}, 99, block)).ok());
    ASSERT_TRUE(catalog->put_record(seal_record_row(keys_, {scope().id, 1, 5, {1, 2, 3}})).ok());
    ASSERT_TRUE(catalog->set_number(CatalogNumber::kNextGeneration, 100).ok());
    ASSERT_TRUE(catalog->commit().ok());
    ASSERT_TRUE(catalog->begin().ok());
    ASSERT_TRUE(catalog->put_block(seal_block_row(keys_, {7, 4}, 100, block)).ok());
    catalog->rollback();
    catalog->rollback();  // harmless
    EXPECT_EQ(count(*catalog), 1u);
  }
  const auto catalog = open();
  EXPECT_EQ(catalog->scopes()->at(0).salt, keys_.salt());
  const auto segments = catalog->segments();
  ASSERT_EQ(segments->size(), 1u);
  EXPECT_EQ(segments->at(0).id, 7u);
  EXPECT_EQ(segments->at(0).writes, 12u);
  EXPECT_EQ(*catalog->number(CatalogNumber::kNextGeneration), 100u);
  EXPECT_EQ(*catalog->number(CatalogNumber::kBudgetDay), 0u);
  const auto row = catalog->block({7, 3});
  ASSERT_TRUE(row.ok() && row->has_value());
  const auto found = open_block_row(keys_, **row);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->key, block.key);
  EXPECT_EQ(found->tokens, block.tokens);
  EXPECT_EQ((*row)->generation, 99u);
  EXPECT_FALSE(catalog->block({7, 4})->has_value());
  std::vector<StoredRecord> records;
  const auto take = [&](const RecordRow& one) { records.push_back(*open_record_row(keys_, one)); };
  ASSERT_TRUE(catalog->each_record(take).ok());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].bytes, (std::vector<std::uint8_t>{1, 2, 3}));
}

TEST_F(Catalogs, RowsOpenOnlyInTheirPlaceUnderTheirKey) {
  const BlockRow row = seal_block_row(keys_, {7, 3}, 99, test::block_of(1, 0));
  EXPECT_TRUE(open_block_row(keys_, row).ok());
  const auto refused = [&](auto change) {
    BlockRow other = row;
    change(other);
    return !open_block_row(keys_, other).ok();
  };
  EXPECT_TRUE(refused([](BlockRow& r) { r.at.extent = 4; }));
  EXPECT_TRUE(refused([](BlockRow& r) { r.at.segment = 8; }));
  EXPECT_TRUE(refused([](BlockRow& r) { r.generation = 98; }));
  EXPECT_TRUE(refused([](BlockRow& r) { r.sealed.pop_back(); }));
  EXPECT_TRUE(refused([](BlockRow& r) { r.sealed.clear(); }));
  for (std::size_t at = 0; at < row.sealed.size(); ++at) {
    EXPECT_TRUE(refused([&](BlockRow& r) { r.sealed[at] ^= 1; })) << at;
  }
  EXPECT_FALSE(open_block_row(ScopeKeys(scope().id, scope().secret, Bytes<32>{8}), row).ok());
  const RecordRow record = seal_record_row(keys_, {scope().id, 1, 5, {1}});
  RecordRow moved = record;
  moved.id = 6;
  EXPECT_TRUE(open_record_row(keys_, record).ok());
  EXPECT_FALSE(open_record_row(keys_, moved).ok());
}

TEST_F(Catalogs, DeletedRowsLeaveNoBytesBehindAfterACheckpoint) {
  const auto catalog = open();
  ASSERT_TRUE(catalog->begin().ok());
  std::vector<std::string> pieces;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const BlockRow row = seal_block_row(keys_, {7, i}, i, test::block_of(1, i));
    pieces.emplace_back(row.sealed.begin() + 30, row.sealed.begin() + 62);
    ASSERT_TRUE(catalog->put_block(row).ok());
  }
  ASSERT_TRUE(catalog->commit().ok());
  const auto on_disk = [&] {
    const std::string bytes = folder_.read("catalog.db") + folder_.read("catalog.db-wal");
    return std::count_if(pieces.begin(), pieces.end(),
                         [&](const std::string& piece) { return bytes.find(piece) != std::string::npos; });
  };
  EXPECT_EQ(on_disk(), 300);  // control
  EXPECT_EQ(*catalog->remove_blocks(7, 100), 100u);
  EXPECT_EQ(*catalog->remove_blocks(7, 1000), 200u);
  ASSERT_TRUE(catalog->checkpoint().ok());
  EXPECT_EQ(on_disk(), 0);
  EXPECT_EQ(folder_.read("catalog.db-wal").size(), 0u);
}

TEST_F(Catalogs, NewerVersionIsRefusedAndTheFolderUntouched) {
  open();
  std::string file = folder_.read("catalog.db");
  file[63] = kCatalogVersion + 1;  // user_version, big-endian
  folder_.write("catalog.db", file);
  const auto before = folder_.all();
  const auto refused = Catalog::open(*disk_, folder_.file("catalog.db"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(refused.error().message.find("version 2"), std::string::npos) << refused.error().message;
  EXPECT_EQ(folder_.all(), before);
}

TEST_F(Catalogs, DamageIsSaidAndRemovalMakesRoomForANewOne) {
  {
    const auto catalog = open();
    ASSERT_TRUE(catalog->begin().ok());
    for (std::uint32_t i = 0; i < 300; ++i) {
      ASSERT_TRUE(catalog->put_block(seal_block_row(keys_, {7, i}, i, test::block_of(1, i))).ok());
    }
    ASSERT_TRUE(catalog->commit().ok());
  }
  std::string file = folder_.read("catalog.db");
  for (std::size_t at = 4096; at < file.size(); at += 4096) file.replace(at, 64, std::string(64, '\x5a'));
  folder_.write("catalog.db", file);
  const auto damaged = Catalog::open(*disk_, folder_.file("catalog.db"));
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  folder_.write("catalog.db", "no catalog, but long enough to be read as a page" + std::string(5000, 'x'));
  EXPECT_EQ(Catalog::open(*disk_, folder_.file("catalog.db")).error().code, ErrorCode::kCorrupt);
  ASSERT_TRUE(Catalog::remove(*disk_, folder_.file("catalog.db")).ok());
  EXPECT_EQ(count(*open()), 0u);
}

}  // namespace
}  // namespace larder::storage
