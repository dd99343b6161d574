// SPDX-License-Identifier: Apache-2.0
#include "storage/segment_file.h"

#include <gtest/gtest.h>

#include "storage/sealed_block.h"
#include "tests/storage/block_maker.h"
#include "tests/storage/temp_folder.h"

namespace larder::storage {
namespace {

class SegmentFiles : public ::testing::Test {
 protected:
  SegmentFiles() : disk_(open_disk(IoPath::kThreads).value()) {}
  static SegmentFile::Owner owner(std::uint64_t scope) {
    const StoreScope made = test::scope_of(scope);
    return {made.id, made.secret};
  }
  std::shared_ptr<SegmentFile> create(Cipher cipher = Cipher::kAes256Gcm) {
    auto file = SegmentFile::create(*disk_, folder_.path(), 3, owner(1), cipher, 8192);
    EXPECT_TRUE(file.ok()) << (file.ok() ? "" : to_string(file.error()));
    return *file;
  }
  ErrorCode error_of(std::uint64_t scope, std::uint64_t bytes = 8192) {
    const auto opened = SegmentFile::open(*disk_, folder_.path(), 3, owner(scope), bytes);
    return opened.ok() ? ErrorCode::kInternal : opened.error().code;
  }

  const test::TempFolder folder_;
  const std::unique_ptr<Disk> disk_;
};

TEST_F(SegmentFiles, KeyComesBackFromTheSecretAndTheSaltInTheHeader) {
  for (const Cipher cipher : {Cipher::kAes256Gcm, Cipher::kXChaCha20Poly1305}) {
    const auto made_key = create(cipher)->key();
    const auto opened = SegmentFile::open(*disk_, folder_.path(), 3, owner(1), 8192);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ((*opened)->key()->key(), made_key->key());
    EXPECT_EQ((*opened)->key()->cipher(), cipher);
    EXPECT_EQ((*opened)->version(), format_word(cipher));
  }
  EXPECT_NE(create()->key()->key(), create()->key()->key());  // another salt each time
}

TEST_F(SegmentFiles, AnotherScopeOrExtentSizeDoesNotOpen) {
  create();
  EXPECT_EQ(error_of(2), ErrorCode::kCorrupt);
  EXPECT_EQ(error_of(1, 4096), ErrorCode::kCorrupt);
  EXPECT_EQ(error_of(1), ErrorCode::kInternal);
}

TEST_F(SegmentFiles, EveryBitOfTheHeaderCounts) {
  create();
  const std::string whole = folder_.read("00000003.seg");
  ASSERT_EQ(whole.size(), kSegmentHeader);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    folder_.write("00000003.seg", damaged);
    EXPECT_NE(error_of(1), ErrorCode::kInternal) << at;
  }
  folder_.write("00000003.seg", whole.substr(0, 4095));
  EXPECT_EQ(error_of(1), ErrorCode::kCorrupt);
  folder_.write("00000003.seg", whole);
  EXPECT_EQ(error_of(1), ErrorCode::kInternal);
}

TEST_F(SegmentFiles, NewerFormatIsRefusedByName) {
  create();
  std::string file = folder_.read("00000003.seg");
  file[8] = 2;
  folder_.write("00000003.seg", file);
  EXPECT_EQ(error_of(1), ErrorCode::kUnsupported);
}

TEST_F(SegmentFiles, DestroyedKeyLeavesNothingToDeriveItFrom) {
  auto file = create();
  ASSERT_TRUE(file->allocate(0, 2).ok());
  EXPECT_EQ(folder_.read("00000003.seg").size(), kSegmentHeader + 2 * 8192);
  ASSERT_TRUE(file->destroy_key().ok());
  EXPECT_EQ(folder_.read("00000003.seg").substr(0, kSegmentHeader), std::string(kSegmentHeader, '\0'));
  EXPECT_EQ(error_of(1), ErrorCode::kConflict);  // still held
  file.reset();
  EXPECT_EQ(error_of(1), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace larder::storage
