// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenant/registry.h"

#include <gtest/gtest.h>

#include <thread>

#include "storage/data_dir.h"
#include "storage/keyring_file.h"
#include "tests/storage/temp_folder.h"

namespace larder::tenant {
namespace {

using storage::test::TempFolder;

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() { dir_ = storage::DataDir::open(folder_.path()).value(); }

  std::unique_ptr<Registry> open() {
    auto registry = Registry::open(*dir_, clock_);
    EXPECT_TRUE(registry.ok()) << to_string(registry.error());
    return registry.ok() ? std::move(*registry) : nullptr;
  }

  TempFolder folder_;
  ManualClock clock_;
  std::unique_ptr<storage::DataDir> dir_;
};

TEST_F(RegistryTest, FirstRunMakesHomeAndLocal) {
  const auto registry = open();
  ASSERT_EQ(registry->tenants().size(), 2u);
  EXPECT_EQ(registry->tenant(kHome)->name, "home");
  EXPECT_EQ(registry->tenant(kLocal)->name, "local");
  EXPECT_NE(registry->tenant(kHome)->scope->id(), registry->tenant(kLocal)->scope->id());
  EXPECT_TRUE(registry->notices().empty());
  EXPECT_EQ(registry->authenticate("").error().code, ErrorCode::kUnauthorized);
}

TEST_F(RegistryTest, TenantsKeysScopesQuotasAndGroupsPersist) {
  std::string secret;
  ScopeSecret scope;
  TenantId anna;
  {
    const auto registry = open();
    anna = registry->create_tenant("Anna", 1000)->id;
    scope = registry->tenant(anna)->scope->secret();
    secret = registry->create_key(anna, "phone", false, false)->secret;
    ASSERT_TRUE(registry->set_quota(kHome, 77).ok());
    ASSERT_TRUE(registry->set_foreign(kHome, true).ok());
    ASSERT_TRUE(registry->set_foreign(anna, true).ok());
    ASSERT_TRUE(registry->set_foreign(anna, false).ok());
    EXPECT_EQ(registry->set_foreign(TenantId{99}, true).error().code, ErrorCode::kNotFound);
    ASSERT_TRUE(registry->create_group("family", {anna, kHome, anna}).ok());
  }
  const auto registry = open();
  EXPECT_EQ(registry->tenant_named("Anna")->id, anna);
  EXPECT_EQ(registry->tenant(anna)->quota_bytes, 1000u);
  EXPECT_EQ(registry->tenant(kHome)->quota_bytes, 77u);
  EXPECT_TRUE(registry->tenant(kHome)->foreign);
  EXPECT_FALSE(registry->tenant(anna)->foreign);
  EXPECT_EQ(registry->tenant(anna)->scope->secret(), scope);
  const auto who = registry->authenticate(secret);
  ASSERT_TRUE(who.ok());
  EXPECT_EQ(who->tenant, anna);
  EXPECT_EQ(who->tenant_name, "Anna");
  EXPECT_FALSE(who->admin);
  const auto chain = registry->scopes(anna);
  ASSERT_TRUE(chain.ok());
  ASSERT_EQ(chain->size(), 2u);  // the group's first, its own last
  EXPECT_EQ((*chain)[1]->secret(), scope);
  EXPECT_EQ((*chain)[0]->id(), (*registry->scopes(kHome))[0]->id());
  EXPECT_EQ(registry->scopes(kLocal)->size(), 1u);
}

TEST_F(RegistryTest, KeyIsShownOnceAndStoredHashed) {
  const auto registry = open();
  const auto key = registry->create_key(kHome, "laptop", true, false);
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->secret.substr(0, key->record.prefix.size()), key->record.prefix);
  EXPECT_EQ(key->secret.size(), std::string("lk-1-").size() + 64);
  const std::string random = key->secret.substr(5);
  for (const auto& [name, bytes] : folder_.all()) {
    EXPECT_EQ(bytes.find(random), std::string::npos) << name;
    EXPECT_EQ(bytes.find(random.substr(8, 16)), std::string::npos) << name;
  }
}

TEST_F(RegistryTest, EphemeralKeyWorksNowAndIsGoneAtExit) {
  std::string passing;
  {
    const auto registry = open();
    const auto before = folder_.all();
    const auto key = registry->create_key(kHome, "printed", true, true);
    passing = key->secret;
    EXPECT_EQ(folder_.all(), before);
    EXPECT_TRUE(registry->authenticate(passing)->admin);
    const auto stored = registry->create_key(kHome, "stored", false, false);
    EXPECT_NE(stored->record.id, key->record.id);
    EXPECT_TRUE(registry->authenticate(passing).ok());
    ASSERT_TRUE(registry->revoke_key(key->record.id).ok());
    EXPECT_FALSE(registry->authenticate(passing).ok());
    passing = registry->create_key(kHome, "printed", true, true)->secret;
  }
  EXPECT_FALSE(open()->authenticate(passing).ok());
}

TEST_F(RegistryTest, RevokedKeyNeverWorksAgainAndItsIdIsNotReused) {
  const auto registry = open();
  const auto key = registry->create_key(kHome, "old", false, false);
  ASSERT_TRUE(registry->revoke_key(key->record.id).ok());
  EXPECT_FALSE(registry->authenticate(key->secret).ok());
  EXPECT_EQ(registry->revoke_key(key->record.id).error().code, ErrorCode::kNotFound);
  EXPECT_GT(registry->create_key(kHome, "new", false, false)->record.id, key->record.id);
  EXPECT_FALSE(open()->authenticate(key->secret).ok());
}

TEST_F(RegistryTest, DeletedTenantLeavesNoKeyScopeOrNameBehind) {
  const auto registry = open();
  const auto anna = registry->create_tenant("Annamaria", 0);
  const auto key = registry->create_key(anna->id, "Annamarias phone", false, false);
  ASSERT_TRUE(registry->create_group("family", {anna->id, kHome}).ok());
  const auto scope = registry->delete_tenant(anna->id);
  ASSERT_TRUE(scope.ok());
  EXPECT_EQ(*scope, anna->scope->id());
  EXPECT_FALSE(registry->authenticate(key->secret).ok());
  EXPECT_EQ(registry->tenant(anna->id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(registry->groups()[0].members, (std::vector<TenantId>{kHome}));
  const std::string id(scope->begin(), scope->end());
  for (const auto& [name, bytes] : folder_.all()) {
    EXPECT_EQ(bytes.find("Annamaria"), std::string::npos) << name;
    EXPECT_EQ(bytes.find(id), std::string::npos) << name;
  }
  EXPECT_GT(registry->create_tenant("Berta", 0)->id, anna->id);
}

TEST_F(RegistryTest, HomeAndLocalStay) {
  const auto registry = open();
  EXPECT_EQ(registry->delete_tenant(kHome).error().code, ErrorCode::kConflict);
  EXPECT_EQ(registry->delete_tenant(kLocal).error().code, ErrorCode::kConflict);
}

TEST_F(RegistryTest, NamesAreChecked) {
  const auto registry = open();
  for (const std::string& bad : {std::string(), std::string(65, 'a'), std::string("a/b"), std::string("tab\t"),
                                 std::string("\xc3\xa8"), std::string(" a"), std::string("a\0b", 3)}) {
    EXPECT_EQ(registry->create_tenant(bad, 0).error().code, ErrorCode::kInvalidArgument) << bad;
    EXPECT_EQ(registry->create_group(bad, {}).error().code, ErrorCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(registry->create_tenant("home", 0).error().code, ErrorCode::kConflict);
  EXPECT_EQ(registry->create_key(kHome, "line\nbreak", false, false).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(registry->create_key(TenantId{99}, "x", false, false).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(registry->create_group("g", {TenantId{99}}).error().code, ErrorCode::kNotFound);
}

TEST_F(RegistryTest, DeletedGroupGivesItsScopeUp) {
  const auto registry = open();
  const auto group = registry->create_group("family", {kHome});
  EXPECT_EQ(registry->create_group("family", {}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(*registry->delete_group(group->id), group->scope->id());
  EXPECT_EQ(registry->delete_group(group->id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(registry->scopes(kHome)->size(), 1u);
}

TEST_F(RegistryTest, LostMasterKeySetsTheStoreAsideAndSaysSo) {
  const auto key = open()->create_key(kHome, "laptop", false, false);
  for (const bool damaged : {false, true}) {
    if (damaged) {
      folder_.write("master.key", "nonsense");
    } else {
      folder_.remove("master.key");
    }
    const auto registry = open();
    ASSERT_NE(registry, nullptr);
    ASSERT_EQ(registry->notices().size(), 1u);
    EXPECT_NE(registry->notices()[0].find(damaged ? "damaged" : "missing"), std::string::npos);
    EXPECT_NE(registry->notices()[0].find("set-aside-"), std::string::npos);
    EXPECT_FALSE(registry->authenticate(key->secret).ok());
    EXPECT_TRUE(registry->tenant(kHome).ok());
    EXPECT_TRUE(folder_.has(damaged ? "set-aside-2/keyring" : "set-aside-1/keyring"));
    EXPECT_TRUE(open()->notices().empty());
  }
}

TEST_F(RegistryTest, MasterKeyOfAnotherStoreSetsItAsideToo) {
  (void)open();
  storage::SealKey other;
  other.fill(1);
  ASSERT_TRUE(storage::write_master_key(folder_.path(), other).ok());
  EXPECT_NE(open()->notices().at(0).find("another store"), std::string::npos);
}

TEST_F(RegistryTest, DamagedCopyIsMendedAndNamed) {
  const auto key = open()->create_key(kHome, "laptop", false, false);
  std::string bytes = folder_.read("keyring");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  folder_.write("keyring", bytes);
  const auto registry = open();
  EXPECT_NE(registry->notices().at(0).find("keyring was damaged"), std::string::npos);
  EXPECT_TRUE(registry->authenticate(key->secret).ok());
  folder_.write("keyring", bytes);
  folder_.write("keyring.copy", bytes);
  EXPECT_EQ(Registry::open(*dir_, clock_).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(folder_.read("keyring"), bytes);
}

TEST_F(RegistryTest, ChangeThatCannotBeWrittenChangesNothing) {
  const auto registry = open();
  const auto before = folder_.read("keyring");
  std::filesystem::create_directory(folder_.file("keyring.tmp"));  // the write of every copy fails
  EXPECT_EQ(registry->create_tenant("Anna", 0).error().code, ErrorCode::kIo);
  EXPECT_EQ(registry->tenants().size(), 2u);
  EXPECT_EQ(folder_.read("keyring"), before);
  std::filesystem::remove(folder_.file("keyring.tmp"));
  std::filesystem::create_directory(folder_.file("keyring.copy.tmp"));  // only the second copy fails
  EXPECT_FALSE(registry->create_tenant("Anna", 0).ok());
  std::filesystem::remove(folder_.file("keyring.copy.tmp"));
  EXPECT_EQ(open()->tenants().size(), 2u);
  EXPECT_TRUE(registry->create_tenant("Anna", 0).ok());
  EXPECT_EQ(open()->tenants().size(), 3u);
}

TEST_F(RegistryTest, LastUseIsRememberedForKnownKeysOnly) {
  const auto registry = open();
  const auto key = registry->create_key(kHome, "laptop", false, false);
  EXPECT_EQ(registry->last_used(key->record.id), 0);
  registry->touch_key(key->record.id, 123);
  registry->touch_key(KeyId{999}, 123);
  EXPECT_EQ(registry->last_used(key->record.id), 123);
  EXPECT_EQ(registry->last_used(KeyId{999}), 0);
}

TEST_F(RegistryTest, ReadersOnOtherThreadsSeeWholeStates) {
  const auto registry = open();
  const auto key = registry->create_key(kHome, "laptop", false, false);
  std::thread writer([&registry] {
    for (int i = 0; i < 40; ++i) {
      const auto tenant = registry->create_tenant("Anna", 0);
      (void)registry->create_key(tenant->id, "x", false, true);
      (void)registry->delete_tenant(tenant->id);
    }
  });
  for (int i = 0; i < 4000; ++i) {
    EXPECT_TRUE(registry->authenticate(key->secret).ok());
    EXPECT_GE(registry->tenants().size(), 2u);
    EXPECT_TRUE(registry->scopes(kHome).ok());
  }
  writer.join();
}

}  // namespace
}  // namespace larder::tenant
