// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/digest.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/gguf/file.h"
#include "runtime/model/digest_cache.h"
#include "test_paths.h"

namespace larder::model {
namespace {

constexpr const char* kF32 = LARDER_TEST_DATA "/models-tiny/stories260K-f32.gguf";
constexpr const char* kF16 = LARDER_TEST_DATA "/models-tiny/stories260K-f16.gguf";

class Digests : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "larder-digest-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    options_.cache_path = (folder_ / "digests").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::shared_ptr<const gguf::File> open(const std::string& path) {
    auto file = gguf::File::open(path);
    EXPECT_TRUE(file.ok());
    return std::move(file).value();
  }
  std::string digest(const std::string& path) {
    const auto digest = weights_digest(*open(path), options_);
    return digest.ok() ? to_hex(digest.value()) : to_string(digest.error());
  }

  std::filesystem::path folder_;
  DigestOptions options_;
};

TEST_F(Digests, OfAFileIsTheSameEachTimeAndOtherForOtherBytes) {
  options_.cache_path.clear();
  const std::string first = digest(kF32);
  EXPECT_EQ(first.size(), 64u);
  EXPECT_EQ(digest(kF32), first);
  EXPECT_NE(digest(kF16), first);
  // One bit, in the last byte of the last tensor.
  const std::string copy = (folder_ / "copy.gguf").string();
  std::filesystem::copy_file(kF32, copy);
  EXPECT_EQ(digest(copy), first);
  std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
  {
    std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const char last = static_cast<char>(file.get() ^ 1);
    file.seekp(-1, std::ios::end);
    file.put(last);
  }
  EXPECT_NE(digest(copy), first);
}

TEST_F(Digests, AreRememberedUntilTheFileChanges) {
  const std::string first = digest(kF32);
  std::vector<double> progress;
  options_.progress = [&](double done) { progress.push_back(done); };
  EXPECT_EQ(digest(kF32), first);
  EXPECT_TRUE(progress.empty()) << "hashed again in spite of the cache";
  digest(kF16);
  ASSERT_FALSE(progress.empty());
  EXPECT_DOUBLE_EQ(progress.back(), 1.0);
  gguf::FileStamp stamp = open(kF32)->stamp();
  ASSERT_TRUE(find_cached_digest(options_.cache_path, stamp).has_value());
  stamp.changed_ns += 1;
  EXPECT_FALSE(find_cached_digest(options_.cache_path, stamp).has_value());
}

TEST_F(Digests, ADamagedCacheIsAMissAndIsMended) {
  const std::string first = digest(kF32);
  std::string text;
  {
    std::ifstream in(options_.cache_path);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (const std::size_t at : {std::size_t{3}, text.size() / 2, text.size() - 3}) {
    std::string damaged = text;
    damaged[at] = damaged[at] == '0' ? '1' : '0';
    std::ofstream(options_.cache_path, std::ios::trunc) << damaged;
    EXPECT_FALSE(find_cached_digest(options_.cache_path, open(kF32)->stamp()).has_value()) << "byte " << at;
  }
  EXPECT_EQ(digest(kF32), first);
  EXPECT_TRUE(find_cached_digest(options_.cache_path, open(kF32)->stamp()).has_value());
}

TEST_F(Digests, TheCacheIsBoundedAndTheOldestGivesWay) {
  gguf::FileStamp stamp;
  Digest256 value{};
  for (std::uint64_t i = 1; i <= kMaxDigestCacheEntries + 1; ++i) {
    stamp.inode = i;
    value[0] = static_cast<std::uint8_t>(i);
    store_cached_digest(options_.cache_path, stamp, value);
  }
  EXPECT_EQ(find_cached_digest(options_.cache_path, stamp), value);
  stamp.inode = 1;
  EXPECT_FALSE(find_cached_digest(options_.cache_path, stamp).has_value());
  stamp.inode = 2;
  EXPECT_TRUE(find_cached_digest(options_.cache_path, stamp).has_value());
}

TEST_F(Digests, AFileThatIsChangedMeanwhileHasNoneAndNothingIsRemembered) {
  const std::string copy = (folder_ / "copy.gguf").string();
  std::filesystem::copy_file(kF32, copy);
  std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
  const std::uintmax_t size = std::filesystem::file_size(copy);
  for (const std::uintmax_t other : {size + 1, size - 1, size / 2}) {
    std::filesystem::resize_file(copy, size);
    const auto file = open(copy);
    std::filesystem::resize_file(copy, other);
    const auto digest = weights_digest(*file, options_);
    ASSERT_FALSE(digest.ok()) << other;
    EXPECT_EQ(digest.error().code, ErrorCode::kIo);
    EXPECT_NE(digest.error().message.find("changed"), std::string::npos) << digest.error().message;
  }
  EXPECT_FALSE(std::filesystem::exists(options_.cache_path));
}

// Whoever updates a model puts another file in its place; what is mapped, and hashed, is still the old one.
TEST_F(Digests, AFileThatIsReplacedByRenameKeepsItsOwn) {
  const std::string copy = (folder_ / "copy.gguf").string();
  std::filesystem::copy_file(kF32, copy);
  const auto file = open(copy);
  std::filesystem::copy_file(kF16, folder_ / "new.gguf");
  std::filesystem::rename(folder_ / "new.gguf", copy);
  const auto replaced = weights_digest(*file, options_);
  ASSERT_TRUE(replaced.ok()) << to_string(replaced.error());
  EXPECT_EQ(to_hex(*replaced), digest(kF32));
}

TEST_F(Digests, HashingLeavesTheProcessorToOthers) {
  int priority = 0;
  options_.progress = [&](double) { priority = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); };
  digest(kF32);
  EXPECT_EQ(priority, 19);
  EXPECT_EQ(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())), ::getpriority(PRIO_PROCESS, 0));
}

TEST_F(Digests, CancelStopsTheHashing) {
  const std::atomic<bool> cancel{true};
  options_.cancel = &cancel;
  const auto digest = weights_digest(*open(kF32), options_);
  ASSERT_FALSE(digest.ok());
  EXPECT_EQ(digest.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(options_.cache_path));
}

}  // namespace
}  // namespace larder::model
