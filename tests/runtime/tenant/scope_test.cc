// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenant/scope.h"

#include <gtest/gtest.h>

#include <new>

namespace larder::tenant {
namespace {

TEST(ScopeKeyMaterial, SecretIsWipedWhenItsHolderGoes) {
  ScopeSecret secret;
  secret.fill(0xab);
  alignas(ScopeKeyMaterial) unsigned char place[sizeof(ScopeKeyMaterial)];
  auto* scope = new (place) ScopeKeyMaterial(ScopeId{}, secret);
  EXPECT_EQ(scope->secret()[0], 0xab);
  const volatile unsigned char* bytes = place;
  scope->~ScopeKeyMaterial();
  for (std::size_t i = 0; i < sizeof place; ++i) EXPECT_NE(bytes[i], 0xab) << i;
}

}  // namespace
}  // namespace larder::tenant
