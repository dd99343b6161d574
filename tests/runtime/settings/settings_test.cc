// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings/settings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace larder::settings {
namespace {

using Overrides = std::vector<std::pair<std::string, std::string>>;

class SettingsFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("settings_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "config.toml").string(); }
  void write(const std::string& text) const { std::ofstream(path()) << text; }

  std::filesystem::path folder_;
};

TEST(SettingsTable, EveryRowStandsAtItsKeyWithALegalDefaultAndHelp) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < table().size(); ++i) {
    const SettingRow& each = table()[i];
    EXPECT_EQ(static_cast<std::size_t>(each.key), i) << each.name;
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_FALSE(each.help.empty()) << each.name;
    const auto checked = checked_value(each, each.default_value);
    ASSERT_TRUE(checked.ok()) << each.name;
    EXPECT_EQ(*checked, each.default_value);
  }
}

TEST(Settings, UnknownKeyNamesTheNearest) {
  const auto loaded = Settings::load("", Overrides{{"engine.max_token", "5000"}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(loaded.error().message.find("did you mean engine.max_tokens?"), std::string::npos);
}

TEST(Settings, OutOfRangeNamesTheRange) {
  const auto loaded = Settings::load("", Overrides{{"engine.step_ms", "1"}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message, "engine.step_ms = 1: use a whole number from 5 to 2000 ms");
  EXPECT_FALSE(Settings::load("", Overrides{{"engine.step_ms", "fast"}}).ok());
  EXPECT_FALSE(Settings::load("", Overrides{{"api.lan", "maybe"}}).ok());
  EXPECT_FALSE(Settings::load("", Overrides{{"pool.kv_type", "f8"}}).ok());
}

TEST_F(SettingsFile, MissingFileIsAllDefaults) {
  const auto loaded = Settings::load(path(), Overrides{});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ((*loaded)->integer(Key::kEngineMaxTokens), 32768);
  EXPECT_FALSE((*loaded)->flag(Key::kApiKeylessLoopback));
  EXPECT_EQ((*loaded)->text(Key::kPoolKvType), "f16");
}

TEST_F(SettingsFile, OverridesBeatTheFileWhichBeatsTheDefault) {
  write("[engine]\nmax_batch = 7\nstep_ms = 9\n[api]\nlan = true\n");
  const auto loaded = Settings::load(path(), Overrides{{"engine.step_ms", "11"}});
  ASSERT_TRUE(loaded.ok()) << to_string(loaded.error());
  EXPECT_EQ((*loaded)->integer(Key::kEngineMaxBatch), 7);
  EXPECT_EQ((*loaded)->integer(Key::kEngineStepMs), 11);
  EXPECT_TRUE((*loaded)->flag(Key::kApiLan));
}

TEST_F(SettingsFile, WhatIsSetSurvivesAReloadAndOverridesAreNotSaved) {
  {
    const auto loaded = Settings::load(path(), Overrides{{"engine.max_batch", "3"}});
    ASSERT_TRUE(loaded.ok());
    const auto now = (*loaded)->set("engine.step_ms", "77");
    ASSERT_TRUE(now.ok());
    EXPECT_FALSE(*now);
    EXPECT_EQ((*loaded)->integer(Key::kEngineStepMs), 77);
    const auto later = (*loaded)->set("pool.kv_type", "f32");
    ASSERT_TRUE(later.ok());
    EXPECT_TRUE(*later);
    EXPECT_EQ((*loaded)->text(Key::kPoolKvType), "f16");
    EXPECT_FALSE((*loaded)->set("pool.kv_type", "f33").ok());
  }
  const auto again = Settings::load(path(), Overrides{});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->integer(Key::kEngineStepMs), 77);
  EXPECT_EQ((*again)->text(Key::kPoolKvType), "f32");
  EXPECT_EQ((*again)->integer(Key::kEngineMaxBatch), 32);
}

TEST_F(SettingsFile, BrokenFilesAreRefusedWithTheLine) {
  write("[engine]\nstep_ms = \n");
  const auto broken = Settings::load(path(), Overrides{});
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(broken.error().message.find("line 2"), std::string::npos) << broken.error().message;
  write("[engine]\nstep_mss = 5\n");
  EXPECT_FALSE(Settings::load(path(), Overrides{}).ok());
  write("step_ms = 5\n");
  EXPECT_FALSE(Settings::load(path(), Overrides{}).ok());
  write("[engine]\nstep_ms = [1]\n");
  EXPECT_FALSE(Settings::load(path(), Overrides{}).ok());
}

}  // namespace
}  // namespace larder::settings
