// SPDX-License-Identifier: Apache-2.0
#include "storage/disk_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "tests/storage/temp_folder.h"

namespace larder::storage {
namespace {

// Both ways of the program; io_uring is left out where the kernel forbids it.
class DiskIo : public ::testing::TestWithParam<IoPath> {
 protected:
  void SetUp() override {
    auto disk = open_disk(GetParam());
    if (!disk.ok()) GTEST_SKIP() << to_string(disk.error());
    disk_ = std::move(*disk);
  }
  std::unique_ptr<DiskFile> make(const std::string& name, bool direct = true) {
    auto file = disk_->open(folder_.file(name), OpenAs::kCreateNew, direct);
    EXPECT_TRUE(file.ok()) << (file.ok() ? "" : to_string(file.error()));
    return std::move(*file);
  }

  test::TempFolder folder_;
  std::unique_ptr<Disk> disk_;
};
INSTANTIATE_TEST_SUITE_P(Paths, DiskIo, ::testing::Values(IoPath::kUring, IoPath::kThreads), [](const auto& path) {
  return path.param == IoPath::kUring ? "Uring" : "Threads";
});

TEST_P(DiskIo, PiecesInFlightComeBackWithTheirTagsAndBytes) {
  const auto file = make("f");
  const auto queue = disk_->make_queue(8);
  ASSERT_EQ(queue->pieces(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    std::memset(queue->piece(i).data(), static_cast<int>(i + 1), kStagingPiece);
    queue->submit({DiskOp::Kind::kWrite, file.get(), i * kStagingPiece, i, kStagingPiece, 100 + i});
  }
  std::map<std::uint64_t, std::size_t> done;
  for (int i = 0; i < 8; ++i) {
    const DiskDone one = queue->wait();
    ASSERT_TRUE(one.status.ok());
    done[one.tag] = one.bytes;
  }
  EXPECT_EQ(done.size(), 8u);
  ASSERT_TRUE(file->sync().ok());
  // Read in another order, into other pieces.
  for (std::size_t i = 0; i < 8; ++i) {
    queue->submit({DiskOp::Kind::kRead, file.get(), i * kStagingPiece, 7 - i, kStagingPiece, i});
  }
  for (int i = 0; i < 8; ++i) {
    const DiskDone one = queue->wait();
    ASSERT_TRUE(one.status.ok());
    ASSERT_EQ(one.bytes, kStagingPiece);
    const auto piece = queue->piece(7 - one.tag);
    EXPECT_EQ(piece.front(), static_cast<std::byte>(one.tag + 1));
    EXPECT_EQ(piece.back(), static_cast<std::byte>(one.tag + 1));
  }
}

TEST_P(DiskIo, ReadPastTheEndAnswersWhatIsThere) {
  const auto file = make("f");
  const auto queue = disk_->make_queue(1);
  ASSERT_TRUE(file->allocate(0, 2 * kDiskAlign).ok());
  queue->submit({DiskOp::Kind::kRead, file.get(), kDiskAlign, 0, 4 * kDiskAlign, 1});
  const DiskDone half = queue->wait();
  EXPECT_TRUE(half.status.ok());
  EXPECT_EQ(half.bytes, kDiskAlign);
  queue->submit({DiskOp::Kind::kRead, file.get(), 64 * kDiskAlign, 0, kDiskAlign, 2});
  EXPECT_EQ(queue->wait().bytes, 0u);
}

TEST_P(DiskIo, FailureOfAnOperationNamesTheFile) {
  const auto file = make("f");
  const auto queue = disk_->make_queue(1);
  // Beyond what a file may hold.
  queue->submit({DiskOp::Kind::kWrite, file.get(), std::uint64_t{1} << 62, 0, kDiskAlign, 5});
  const DiskDone failed = queue->wait();
  EXPECT_EQ(failed.tag, 5u);
  ASSERT_FALSE(failed.status.ok());
  EXPECT_NE(failed.status.error().context.find("/f"), std::string::npos);
}

TEST_P(DiskIo, RoomIsRealAndCanBeGivenBack) {
  const auto file = make("f");
  ASSERT_TRUE(file->allocate(0, 64 * kDiskAlign).ok());
  EXPECT_GE(file->sizes()->allocated, 64 * kDiskAlign);
  EXPECT_EQ(file->sizes()->length, 64 * kDiskAlign);
  ASSERT_TRUE(file->punch(8 * kDiskAlign, 32 * kDiskAlign).ok());
  EXPECT_LE(file->sizes()->allocated, 34 * kDiskAlign);
  EXPECT_EQ(file->sizes()->length, 64 * kDiskAlign);
  ASSERT_TRUE(file->truncate(kDiskAlign).ok());
  EXPECT_EQ(file->sizes()->length, kDiskAlign);
}

TEST_P(DiskIo, ErrorsSayWhichKind) {
  EXPECT_EQ(disk_->open(folder_.file("none"), OpenAs::kExisting, true).error().code, ErrorCode::kNotFound);
  make("there");
  EXPECT_EQ(disk_->open(folder_.file("there"), OpenAs::kCreateNew, true).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(disk_->remove(folder_.file("there")).ok());
  EXPECT_TRUE(disk_->remove(folder_.file("there")).ok());
  EXPECT_FALSE(*disk_->exists(folder_.file("there")));
  EXPECT_TRUE(disk_->make_folder(folder_.file("sub")).ok());
  EXPECT_TRUE(disk_->make_folder(folder_.file("sub")).ok());
  EXPECT_EQ(*disk_->list(folder_.path()), std::vector<std::string>{"sub"});
  EXPECT_TRUE(disk_->sync_folder(folder_.path()).ok());
  EXPECT_FALSE(disk_->sync_folder(folder_.file("none")).ok());
  const auto space = disk_->space(folder_.path());
  ASSERT_TRUE(space.ok());
  EXPECT_GT(space->total, space->free);
}

TEST(OpenDisk, ProbeTakesAPathAndNamesIt) {
  const auto probed = open_disk(IoPath::kProbe);
  ASSERT_TRUE(probed.ok());
  const std::string path = (*probed)->io_path();
  EXPECT_TRUE(path == "io_uring" || path.rfind("threads (io_uring: ", 0) == 0) << path;
  EXPECT_EQ((*open_disk(IoPath::kThreads))->io_path(), "threads (chosen)");
}

TEST(OpenDisk, ASymbolicLinkIsNotFollowed) {
  const test::TempFolder folder;
  folder.write("target", "x");
  ASSERT_EQ(::symlink("target", folder.file("link").c_str()), 0);
  const auto disk = open_disk(IoPath::kThreads);
  EXPECT_FALSE((*disk)->open(folder.file("link"), OpenAs::kExisting, false).ok());
}

}  // namespace
}  // namespace larder::storage
