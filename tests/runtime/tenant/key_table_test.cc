// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenant/key_table.h"

#include <gtest/gtest.h>

#include <thread>

#include "storage/seal.h"

namespace larder::tenant {
namespace {

Digest256 hash_of(std::string_view key) {
  return storage::keyed_hash({}, {reinterpret_cast<const std::uint8_t*>(key.data()), key.size()});
}

std::shared_ptr<const KeyTable> table_with(std::uint32_t id, std::string_view key) {
  KeyRecord record;
  record.id = KeyId{id};
  record.tenant = TenantId{5};
  record.hash = hash_of(key);
  return std::make_shared<const KeyTable>(Digest256{}, std::unordered_map<KeyId, KeyRecord>{{record.id, record}});
}

TEST(KeyTable, KnowsItsKeyAndNothingNearIt) {
  const std::string key = "lk-3-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  const auto table = table_with(3, key);
  ASSERT_TRUE(table->find(key).ok());
  EXPECT_EQ(table->find(key)->tenant, TenantId{5});
  for (std::size_t at = 0; at < key.size(); ++at) {
    std::string near = key;
    near[at] = near[at] == '0' ? '1' : '0';
    EXPECT_EQ(table->find(near).error().code, ErrorCode::kUnauthorized) << near;
    EXPECT_FALSE(table->find(key.substr(0, at)).ok());
  }
  for (const std::string& wrong : {std::string(""), std::string("lk-"), std::string("lk-3"), std::string("lk-3-"),
                                   key + "0", " " + key, std::string("lk-99999999999999999999-x"),
                                   std::string(1'000'000, 'k'), key + std::string(200, '0')}) {
    EXPECT_EQ(table->find(wrong).error().code, ErrorCode::kUnauthorized);
  }
}

TEST(KeyTable, RefusalIsTheSameSentenceWhateverWasWrong) {
  const auto table = table_with(3, "lk-3-a");
  EXPECT_EQ(table->find("lk-3-b").error().message, table->find("lk-4-a").error().message);
  EXPECT_EQ(table->find("lk-3-b").error().message, table->find("").error().message);
}

TEST(KeyTableSlot, ReadersSeeOneWholeTableWhileItIsExchanged) {
  KeyTableSlot slot;
  slot.set(table_with(1, "lk-1-a"));
  std::thread writer([&slot] {
    for (int i = 0; i < 2000; ++i) slot.set(i % 2 == 0 ? table_with(2, "lk-2-b") : table_with(1, "lk-1-a"));
  });
  for (int i = 0; i < 2000; ++i) {
    const auto table = slot.get();
    EXPECT_NE(table->find("lk-1-a").ok(), table->find("lk-2-b").ok());
  }
  writer.join();
}

}  // namespace
}  // namespace larder::tenant
