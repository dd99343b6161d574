// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenant/registry_state.h"

#include <gtest/gtest.h>

#include "runtime/base/rng.h"

namespace larder::tenant {
namespace {

storage::SealKey master() {
  storage::SealKey key;
  key.fill(9);
  return key;
}

Scope scope(std::uint8_t fill) {
  ScopeId id;
  ScopeSecret secret;
  id.fill(fill);
  secret.fill(fill);
  return std::make_shared<const ScopeKeyMaterial>(id, secret);
}

Registry::State sample() {
  Registry::State state;
  state.tenants.emplace(kHome, TenantRecord{kHome, "home", 5, 10, scope(1)});
  state.tenants.emplace(kLocal, TenantRecord{kLocal, "local", 0, 11, scope(2)});
  KeyRecord key;
  key.id = KeyId{1};
  key.tenant = kHome;
  key.label = "laptop";
  key.prefix = "lk-1-abcdef";
  key.admin = true;
  key.hash.fill(3);
  state.keys.emplace(key.id, key);
  KeyRecord passing = key;
  passing.id = KeyId{2};
  passing.ephemeral = true;
  state.keys.emplace(passing.id, passing);
  state.groups.emplace(1, ShareGroup{1, "family", 12, scope(3), {kHome, kLocal}});
  state.next_tenant = 3;
  state.next_key = 3;
  state.next_group = 2;
  return state;
}

TEST(RegistryState, ComesBackWholeWithoutEphemeralKeys) {
  const auto payload = sample().encode(master());
  const auto state = Registry::State::decode(payload, master());
  ASSERT_TRUE(state.ok()) << to_string(state.error());
  EXPECT_EQ(state->tenants.at(kHome).name, "home");
  EXPECT_EQ(state->tenants.at(kHome).quota_bytes, 5u);
  EXPECT_EQ(state->tenants.at(kLocal).scope->secret(), scope(2)->secret());
  ASSERT_EQ(state->keys.size(), 1u);
  EXPECT_TRUE(state->keys.at(KeyId{1}).admin);
  EXPECT_EQ(state->keys.at(KeyId{1}).prefix, "lk-1-abcdef");
  EXPECT_EQ(state->groups.at(1).members, (std::vector<TenantId>{kHome, kLocal}));
  EXPECT_EQ(state->next_tenant, 3u);
  EXPECT_TRUE(*Registry::State::belongs_to(payload, master()));
  storage::SealKey other = master();
  other[0] ^= 1;
  EXPECT_FALSE(*Registry::State::belongs_to(payload, other));
  EXPECT_EQ(Registry::State::decode(payload, other).error().code, ErrorCode::kCorrupt);
}

TEST(RegistryState, NoSecretIsReadableInThePayload) {
  const auto payload = sample().encode(master());
  const std::string text(payload.begin(), payload.end());
  for (const char fill : {'\1', '\2'}) {
    EXPECT_NE(text.find(std::string(16, fill)), std::string::npos);  // the scope's id, which is no secret
    EXPECT_EQ(text.find(std::string(17, fill)), std::string::npos);
  }
}

// The bytes are untrusted even behind a good checksum: every cut and many random changes end in an error or in a state.
TEST(RegistryState, DamagedPayloadsAreRefusedWithoutHarm) {
  const auto payload = sample().encode(master());
  for (std::size_t size = 0; size < payload.size(); ++size) {
    EXPECT_FALSE(Registry::State::decode(std::span(payload).first(size), master()).ok()) << size;
  }
  Rng rng(1);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto bad = payload;
    for (std::uint64_t i = 0; i <= rng.below(4); ++i)
      bad[rng.below(bad.size())] = static_cast<std::uint8_t>(rng.next());
    const auto state = Registry::State::decode(bad, master());
    if (state.ok()) continue;
    ++refused;
    EXPECT_EQ(state.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_GT(refused, 10'000);
}

TEST(RegistryState, BrokenLinksAreNamed) {
  Registry::State nobody = sample();
  nobody.keys.at(KeyId{1}).tenant = TenantId{77};
  EXPECT_NE(Registry::State::decode(nobody.encode(master()), master()).error().message.find("belongs to nobody"),
            std::string::npos);
  Registry::State reused = sample();
  reused.next_tenant = 2;
  EXPECT_NE(Registry::State::decode(reused.encode(master()), master()).error().message.find("never given"),
            std::string::npos);
  Registry::State homeless = sample();
  homeless.tenants.erase(kLocal);
  homeless.groups.clear();
  EXPECT_FALSE(Registry::State::decode(homeless.encode(master()), master()).ok());
}

}  // namespace
}  // namespace larder::tenant
