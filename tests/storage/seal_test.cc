// SPDX-License-Identifier: Apache-2.0
#include "storage/seal.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace larder::storage {
namespace {

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

SealKey key(std::uint8_t fill) {
  SealKey made;
  made.fill(fill);
  return made;
}

TEST(Seal, WrappedSecretOpensOnlyWithItsKeyAndItsName) {
  const auto wrapped = wrap(key(1), bytes("a secret"), bytes("tenant 3"));
  EXPECT_EQ(wrapped.size(), 8 + kWrapOverhead);
  EXPECT_EQ(*unwrap(key(1), wrapped, bytes("tenant 3")), bytes("a secret"));
  EXPECT_EQ(unwrap(key(2), wrapped, bytes("tenant 3")).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(unwrap(key(1), wrapped, bytes("tenant 4")).error().code, ErrorCode::kCorrupt);
}

TEST(Seal, EveryAlteredByteAndEveryCutIsRefused) {
  const auto wrapped = wrap(key(1), bytes("a secret"), {});
  for (std::size_t at = 0; at < wrapped.size(); ++at) {
    auto altered = wrapped;
    altered[at] ^= 0x10;
    EXPECT_FALSE(unwrap(key(1), altered, {}).ok()) << at;
    EXPECT_FALSE(unwrap(key(1), std::span(wrapped).first(at), {}).ok()) << at;
  }
}

TEST(Seal, NothingIsWrappedTwiceAlike) {
  EXPECT_NE(wrap(key(1), bytes("a"), {}), wrap(key(1), bytes("a"), {}));
}

TEST(Seal, DerivedKeysDifferByPurposeAndMaster) {
  const std::set<SealKey> keys{derive_key(key(1), "a"), derive_key(key(1), "b"), derive_key(key(2), "a")};
  EXPECT_EQ(keys.size(), 3u);
  EXPECT_EQ(derive_key(key(1), "a"), derive_key(key(1), "a"));
}

TEST(Seal, ComparisonAndWipeDoWhatTheySay) {
  Digest256 a{};
  Digest256 b{};
  EXPECT_TRUE(equal_constant_time(a, b));
  b[31] = 1;
  EXPECT_FALSE(equal_constant_time(a, b));
  wipe(b);
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace larder::storage
