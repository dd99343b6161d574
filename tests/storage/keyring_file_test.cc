// SPDX-License-Identifier: Apache-2.0
#include "storage/keyring_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "tests/storage/temp_folder.h"

namespace larder::storage {
namespace {

using test::TempFolder;

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }
std::string text(const std::vector<std::uint8_t>& data) { return {data.begin(), data.end()}; }

TEST(KeyringFile, ReadsBackWhatWasWrittenAndStaysPrivate) {
  const TempFolder folder;
  EXPECT_EQ(read_keyring(folder.path()).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(write_keyring(folder.path(), 7, bytes("payload")).ok());
  const auto content = read_keyring(folder.path());
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content->generation, 7u);
  EXPECT_EQ(text(content->payload), "payload");
  EXPECT_EQ(content->notice, "");
  for (const char* name : {"keyring", "keyring.copy"}) {
    struct stat file {};
    ASSERT_EQ(::stat(folder.file(name).c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777u, 0600u);
  }
}

TEST(KeyringFile, EveryFlippedByteOfEitherCopyFallsBackToTheOtherAndSaysSo) {
  const TempFolder folder;
  ASSERT_TRUE(write_keyring(folder.path(), 7, bytes("payload")).ok());
  const std::string good = folder.read("keyring");
  for (const char* name : {"keyring", "keyring.copy"}) {
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
      folder.write(name, bad);
      const auto content = read_keyring(folder.path());
      ASSERT_TRUE(content.ok()) << name << " byte " << at << ": " << to_string(content.error());
      EXPECT_EQ(text(content->payload), "payload");
      EXPECT_NE(content->notice.find(name), std::string::npos);
      EXPECT_EQ(folder.read(name), good);  // mended
    }
  }
}

TEST(KeyringFile, BothCopiesBadIsRefusedByNameAndLeftAlone) {
  const TempFolder folder;
  ASSERT_TRUE(write_keyring(folder.path(), 7, bytes("payload")).ok());
  const std::string good = folder.read("keyring");
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    folder.write("keyring", bad);
    folder.write("keyring.copy", bad);
    const auto before = folder.all();
    const auto content = read_keyring(folder.path());
    ASSERT_FALSE(content.ok()) << at;
    EXPECT_TRUE(content.error().code == ErrorCode::kCorrupt || content.error().code == ErrorCode::kUnsupported);
    EXPECT_EQ(folder.all(), before);
  }
}

TEST(KeyringFile, EveryTruncationIsNoticed) {
  const TempFolder folder;
  ASSERT_TRUE(write_keyring(folder.path(), 7, bytes("payload")).ok());
  const std::string good = folder.read("keyring");
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 16) {
    folder.write("keyring", good.substr(0, size));
    const auto content = read_keyring(folder.path());
    ASSERT_TRUE(content.ok());
    EXPECT_EQ(text(content->payload), "payload");
    EXPECT_NE(content->notice, "");
  }
  folder.remove("keyring.copy");
  EXPECT_NE(read_keyring(folder.path())->notice.find("missing"), std::string::npos);
}

// Stops at every step of the write of both copies: afterwards it is the old payload or the new one, never neither.
TEST(KeyringFile, CrashAtAnyStepLeavesTheOldOrTheNew) {
  int stopped = 0;
  for (int stop = 0;; ++stop) {
    const TempFolder folder;
    ASSERT_TRUE(write_keyring(folder.path(), 1, bytes("old")).ok());
    int step = 0;
    const Status written = write_keyring(folder.path(), 2, bytes("newer"), [&](const char*) { return step++ != stop; });
    const auto content = read_keyring(folder.path());
    ASSERT_TRUE(content.ok()) << "step " << stop;
    if (written.ok()) {
      EXPECT_EQ(text(content->payload), "newer");
      break;
    }
    ++stopped;
    EXPECT_TRUE(text(content->payload) == "old" || text(content->payload) == "newer");
    // Once seen, it stays: the copies agree and a second look says nothing.
    const auto again = read_keyring(folder.path());
    EXPECT_EQ(again->payload, content->payload);
    EXPECT_EQ(again->notice, "");
    ASSERT_TRUE(write_keyring(folder.path(), 3, bytes("third")).ok());
    EXPECT_EQ(text(read_keyring(folder.path())->payload), "third");
    EXPECT_FALSE(folder.has("keyring.tmp"));
  }
  EXPECT_EQ(stopped, 10);  // five steps for each copy
}

TEST(KeyringFile, HigherGenerationWinsWhicheverCopyHoldsIt) {
  for (const char* older : {"keyring", "keyring.copy"}) {
    const TempFolder folder;
    ASSERT_TRUE(write_keyring(folder.path(), 1, bytes("old")).ok());
    const std::string old = folder.read("keyring");
    ASSERT_TRUE(write_keyring(folder.path(), 2, bytes("new")).ok());
    folder.write(older, old);
    const auto content = read_keyring(folder.path());
    EXPECT_EQ(text(content->payload), "new");
    EXPECT_EQ(content->notice.find(std::string(older) + " was older"), 0u) << content->notice;
    EXPECT_EQ(folder.read("keyring"), folder.read("keyring.copy"));
  }
}

TEST(KeyringFile, NewerVersionIsRefusedAndNothingIsTouched) {
  const TempFolder folder;
  ASSERT_TRUE(write_keyring(folder.path(), 1, bytes("payload")).ok());
  std::string newer = folder.read("keyring").substr(0, 31);
  newer[8] = 2;
  const Digest256 sum = hash256({reinterpret_cast<const std::uint8_t*>(newer.data()), newer.size()});
  newer.append(sum.begin(), sum.end());
  for (const bool both : {false, true}) {
    folder.write("keyring", newer);
    if (both) folder.write("keyring.copy", newer);
    const auto before = folder.all();
    const auto content = read_keyring(folder.path());
    ASSERT_FALSE(content.ok());
    EXPECT_EQ(content.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(check_keyring_version(folder.path()).error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(folder.all(), before);
  }
}

TEST(KeyringFile, MasterKeyWithAnyCharacterChangedIsRefused) {
  const TempFolder folder;
  EXPECT_EQ(read_master_key(folder.path()).error().code, ErrorCode::kNotFound);
  SealKey key;
  random_bytes(key);
  ASSERT_TRUE(write_master_key(folder.path(), key).ok());
  EXPECT_EQ(*read_master_key(folder.path()), key);
  const std::string good = folder.read("master.key");
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char replacement : {'0', 'f', 'F', ' ', '\0'}) {
      if (good[at] == replacement) continue;
      std::string bad = good;
      bad[at] = replacement;
      folder.write("master.key", bad);
      EXPECT_EQ(read_master_key(folder.path()).error().code, ErrorCode::kCorrupt) << at;
    }
  }
}

TEST(KeyringFile, MasterKeyIsMadePrivateAgain) {
  const TempFolder folder;
  ASSERT_TRUE(write_master_key(folder.path(), SealKey{}).ok());
  ASSERT_EQ(::chmod(folder.file("master.key").c_str(), 0644), 0);
  ASSERT_TRUE(read_master_key(folder.path()).ok());
  struct stat file {};
  ASSERT_EQ(::stat(folder.file("master.key").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777u, 0600u);
}

TEST(KeyringFile, SetAsideMovesWhatIsThereIntoANewFolderEachTime) {
  const TempFolder folder;
  ASSERT_TRUE(write_keyring(folder.path(), 1, bytes("a")).ok());
  const auto first = set_keyring_aside(folder.path());
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(folder.has("keyring"));
  EXPECT_TRUE(folder.has("set-aside-1/keyring"));
  EXPECT_TRUE(folder.has("set-aside-1/keyring.copy"));
  EXPECT_NE(*set_keyring_aside(folder.path()), *first);
}

}  // namespace
}  // namespace larder::storage
