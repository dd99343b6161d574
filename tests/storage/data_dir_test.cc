// SPDX-License-Identifier: Apache-2.0
#include "storage/data_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "storage/keyring_file.h"
#include "tests/storage/temp_folder.h"

namespace larder::storage {
namespace {

using test::TempFolder;

TEST(DataDir, MakesTheLayoutPrivate) {
  const TempFolder folder;
  const std::string path = folder.file("deep/er/larder");
  const auto dir = DataDir::open(path);
  ASSERT_TRUE(dir.ok()) << to_string(dir.error());
  for (const char* name : {"", "/models", "/packs", "/logs"}) {
    struct stat there {};
    ASSERT_EQ(::stat((path + name).c_str(), &there), 0) << name;
    EXPECT_EQ(there.st_mode & 0777u, 0700u) << name;
  }
  EXPECT_EQ((*dir)->file("config.toml"), path + "/config.toml");
}

TEST(DataDir, SecondHolderIsToldWhoHasIt) {
  const TempFolder folder;
  const auto first = DataDir::open(folder.path());
  ASSERT_TRUE(first.ok());
  (*first)->set_url("http://127.0.0.1:4242");
  const auto second = DataDir::open(folder.path());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos);
  EXPECT_EQ(second.error().context, "http://127.0.0.1:4242");
  const auto holder = ask_holder(folder.path());
  ASSERT_TRUE(holder.ok());
  EXPECT_EQ(holder->pid, ::getpid());
  EXPECT_EQ(holder->url, "http://127.0.0.1:4242");
}

TEST(DataDir, IsFreeAgainWhenItsHolderGoes) {
  const TempFolder folder;
  for (int round = 0; round < 3; ++round) {
    const auto dir = DataDir::open(folder.path());
    ASSERT_TRUE(dir.ok()) << to_string(dir.error());
  }
  EXPECT_EQ(ask_holder(folder.path()).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(folder.has("holder.sock"));
}

TEST(DataDir, StaleSocketOfADeadHolderIsReplaced) {
  const TempFolder folder;
  folder.write("holder.sock", "left behind");
  ASSERT_TRUE(DataDir::open(folder.path()).ok());
}

TEST(DataDir, FolderDeeperThanASocketNameWorks) {
  const TempFolder folder;
  const std::string path = folder.file(std::string(120, 'd') + "/" + std::string(120, 'e'));
  const auto dir = DataDir::open(path);
  ASSERT_TRUE(dir.ok()) << to_string(dir.error());
  EXPECT_EQ(ask_holder(path)->pid, ::getpid());
}

TEST(DataDir, NewerKeyringIsRefusedAndTheFolderLeftUntouched) {
  const TempFolder folder;
  std::string newer = "LARDKEYS";
  newer += std::string("\x02\0\0\0", 4) + std::string(12, '\0');
  const Digest256 sum = hash256({reinterpret_cast<const std::uint8_t*>(newer.data()), newer.size()});
  newer.append(sum.begin(), sum.end());
  folder.write("keyring", newer);
  const auto before = folder.all();
  const auto dir = DataDir::open(folder.path());
  ASSERT_FALSE(dir.ok());
  EXPECT_EQ(dir.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(folder.all(), before);
}

TEST(DataDir, RefusesWhatIsNoFolder) {
  const TempFolder folder;
  folder.write("file", "x");
  EXPECT_EQ(DataDir::open(folder.file("file")).error().code, ErrorCode::kIo);
  EXPECT_EQ(DataDir::open(folder.file("file/below")).error().code, ErrorCode::kIo);
  EXPECT_EQ(DataDir::open("").error().code, ErrorCode::kInvalidArgument);
  folder.write("models", "x");
  EXPECT_EQ(DataDir::open(folder.path()).error().code, ErrorCode::kIo);
}

TEST(DataDir, DefaultFollowsXdgThenHome) {
  ::setenv("XDG_DATA_HOME", "/x/data", 1);
  EXPECT_EQ(*default_data_dir(), "/x/data/larder");
  ::setenv("XDG_DATA_HOME", "relative", 1);
  ::setenv("HOME", "/home/a", 1);
  EXPECT_EQ(*default_data_dir(), "/home/a/.local/share/larder");
  ::unsetenv("XDG_DATA_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(default_data_dir().error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace larder::storage
